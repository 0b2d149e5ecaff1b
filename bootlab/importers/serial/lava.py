"""Logs of test labs -> Recording: LAVA's YAML, and the text that KernelCI makes of it. The lab's host stamps each line.

    - {"dt": "2024-03-04T10:00:00.123456", "lvl": "target", "msg": "[    0.000000] Linux version 6.6"}
    10:00:00.123456  [    0.000000] Linux version 6.6

What the board wrote has the level `target`; what the lab says of itself is kept as events of its own.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.serial.console_lines import ConsoleLine
from bootlab.importers.serial.console_recording import console_recording
from bootlab.timeline.event import Event
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

_YAML = re.compile(r'- \{"dt": "(?P<at>[^"]{19,40})", "lvl": "(?P<level>\w{1,20})", "msg": ')
_TEXT = re.compile(r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)\.(?P<micros>\d{6})(?:  (?P<text>.*))?")
_DAY_US: Final = 24 * 3600 * 1_000_000
_BOARD: Final = ("target", "feedback")
_LONGEST_TEXT: Final = 4096
# LAVA writes YAML, whose strings have more escapes than JSON's, such as "\e[0m". Figures of its own bear a tag: ! "149"
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|.)")
_OF_YAML: Final = {
    "e": "\\u001b", "0": "\\u0000", "a": "\\u0007", "v": "\\u000b", "_": "\\u00a0", "N": "\\u0085", "L": "\\u2028",
    "P": "\\u2029", " ": " ",
}  # fmt: skip


def recognise(head: Head) -> str:
    """Return the first line in either form, where at least half of the lines are in it."""
    rows = [row for row in head.rows[:200] if row.strip()]
    told = [row for row in rows if _YAML.match(row) or _TEXT.fullmatch(row)]
    return told[0] if len(told) >= 2 and 2 * len(told) >= len(rows) else ""


def read(source: Source, options: Options) -> Recording:
    """Return what the board wrote, on the lab's clock. Raises FormatError when there is no line of a board."""
    lines: list[ConsoleLine] = []
    lab: list[Event] = []
    for t_ns, level, text in _stamped(source):
        if level in _BOARD:
            source.tally.used("lines of the board")
            lines.append(ConsoleLine(t_ns, text))
        elif len(lab) < MOST_SPANS:
            source.tally.used("what the lab says of itself")
            lab.append(Event(t_ns, "lab", text[:_LONGEST_TEXT]))
        else:
            source.tally.leave_out(f"more than {MOST_SPANS} lines of the lab")
        if level in _BOARD and len(lines) > MOST_SPANS:
            source.tally.leave_out(f"more than {MOST_SPANS} lines of the board")
    if not lines:
        raise source.expected(
            'lines of a board: `- {"dt": "2024-03-04T10:00:00.123456", "lvl": "target", "msg": "..."}` or '
            "`10:00:00.123456  ...`"
        )
    one = console_recording(
        lines,
        format_name=IMPORTER.name,
        tool="LAVA",
        about_clock="the lab's host as it received each line; zero is the first line of the log",
    )
    timeline = Timeline.of(one.timeline.clock, [*one.timeline.events, *lab], one.timeline.spans)
    return replace(one, timeline=timeline)


def _stamped(source: Source) -> Iterator[tuple[int, str, str]]:
    # Time since the first line, level and text of each line that has a stamp.
    zero: int | None = None
    days, before = 0, 0
    for _, row in source.rows():
        if (found := _TEXT.fullmatch(row)) is not None:
            micros = (int(found["hour"]) * 60 + int(found["minute"])) * 60 + int(found["second"])
            micros = micros * 1_000_000 + int(found["micros"])
            # A time of day, which begins anew at midnight.
            days += micros + _DAY_US // 2 < before
            before, at, level, text = micros, micros + days * _DAY_US, _BOARD[0], found["text"] or ""
        elif (record := _record(row)) is not None:
            at, level, text = record
        else:
            continue
        zero = at if zero is None else zero
        yield max(at - zero, 0) * 1_000, level, text


def _record(row: str) -> tuple[int, str, str] | None:
    found = _YAML.match(row)
    if found is None or not row.rstrip().endswith("}"):
        return None
    try:
        since = datetime.fromisoformat(found["at"]).replace(tzinfo=None) - datetime(1970, 1, 1)
    except (ValueError, OverflowError):
        return None
    micros = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    written = row[found.end() :].rstrip().removesuffix("}")
    return micros, found["level"], _message(written)


def _message(written: str) -> str:
    # As it was written where it is neither JSON nor a string of YAML: what a board said must not be lost.
    for text in (written, _ESCAPE.sub(_as_json, written)):
        try:
            message: Any = json.loads(text)
        except (ValueError, RecursionError):
            continue
        return message if isinstance(message, str) else written
    return written


def _as_json(found: "re.Match[str]") -> str:
    escape = found[1]
    if escape[0] == "x" and len(escape) > 1:
        return f"\\u00{escape[1:]}"
    if escape[0] == "U" and len(escape) > 1:
        code = int(escape[1:], 16)
        return json.dumps(chr(code))[1:-1] if code <= 0x10FFFF else "\\ufffd"
    return _OF_YAML.get(escape, found[0])


IMPORTER: Final = Importer(
    "lava", "test labs' logs with the host's stamps: LAVA's YAML, KernelCI's text", recognise, read
)
