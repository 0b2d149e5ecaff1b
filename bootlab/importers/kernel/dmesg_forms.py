"""What dmesg's options make of the kernel's stamps -> printk's own form: -d, -e and -H, -T, --time-format iso, -J.

By sys-utils/dmesg.c of util-linux 2.38. It makes wall clock times of the kernel's stamps and one boot time, so that
their differences are exact; zero is then the first line.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bootlab.importers.kernel.line import KernelLine, without_control

_NS: Final = 1_000_000_000
# Colours, and `kern  :info  : ` of -x.
_BEFORE: Final = r"(?P<before>(?:\x1b\[[0-9;]{0,9}m|\w{2,8} {0,6}:\w{2,7} {0,6}: ){0,4})"
_ISO = re.compile(rf"{_BEFORE}(?P<at>\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{{6}}[+-]\d\d:\d\d) ")
_CTIME = re.compile(rf"{_BEFORE}\[(?P<at>[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d \d{{4}})\] ")
# [Nov20 23:59] for the first line of a minute, [  +0.000004] for those behind it
_RELATIVE = re.compile(
    rf"{_BEFORE}\[(?:(?P<minute>[A-Z][a-z]{{2}}[ \d]\d \d\d:\d\d)| {{0,9}}(?P<delta>[+-]\d{{1,9}}\.\d{{6}}))\] "
)
# [    0.072265 <    0.000005>]
_DELTA = re.compile(rf"(?m)^({_BEFORE}\[[^\]<>\n]{{8,30}}) < {{0,9}}-?\d{{1,9}}\.\d{{6}}>\]")
_JSON = re.compile(r'\s{0,9}\{\s{0,9}"dmesg":\s{0,9}\[')
_RECORD = re.compile(
    r'"pri":\s{0,9}"?(?P<level>\w{1,7})"?,\s{0,40}"time":\s{0,20}(?P<seconds>\d{1,10})\.(?P<micros>\d{6}),'
    r'(?:\s{0,40}"caller":\s{0,9}"(?P<caller>[TC]\d{1,9})",)?\s{0,40}"msg":\s{0,9}(?P<text>"(?:[^"\\]++|\\.){0,2000}+")'
)
_KEY = re.compile(r'"pri":')
_LEVELS: Final = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")
# dmesg -F -J of util-linux 2.38 does not end a message where its line ends, but where the file does.
_NEXT = re.compile(r"\n<\d{1,3}>\[")
_LONGEST_TEXT: Final = 4096


@dataclass(frozen=True, slots=True)
class PrintkText:
    """A log with printk's stamps, the least step that they had before, and what was lost on the way."""

    text: str
    resolution_ns: int = 1_000
    notes: tuple[str, ...] = ()
    messages: tuple[KernelLine, ...] | None = None
    """The log itself, where it was no text but records."""
    records: int = 0
    """How many of those there were, damaged ones included."""


def is_dressed(row: str) -> bool:
    """Return whether a line has a stamp as one of dmesg's options writes it, or opens its JSON."""
    return any(form.match(row) for form in (_ISO, _CTIME, _RELATIVE)) or '"dmesg": [' in row[:40]


def as_printk(text: str) -> PrintkText:
    """Return a log with printk's stamps for those that dmesg's options made."""
    if _JSON.match(text):
        return PrintkText("", messages=tuple(_records(text)), records=len(_KEY.findall(text)))
    text = _DELTA.sub(r"\1]", text)
    first = text.lstrip()[:100]
    if _ISO.match(first):
        return PrintkText(_dated(text, _ISO, "%Y-%m-%dT%H:%M:%S,%f%z"))
    if _CTIME.match(first):
        note = "Stamps are in whole seconds (dmesg -T): dmesg without -T has microseconds."
        return PrintkText(_dated(text, _CTIME, "%a %b %d %H:%M:%S %Y"), _NS, (note,))
    if _RELATIVE.match(first):
        return _added_up(text)
    return PrintkText(text)


def _dated(text: str, form: "re.Pattern[str]", words: str) -> str:
    zero: datetime | None = None

    def stamp_us(found: "re.Match[str]") -> int | None:
        nonlocal zero
        try:
            at = datetime.strptime(found["at"], words)
            zero = zero or at
            return max(round((at - zero).total_seconds() * 1e6), 0)
        except (ValueError, OverflowError):
            return None

    return _restamped(text, form, stamp_us)


def _added_up(text: str) -> PrintkText:
    # A minute's first line has no difference to the line before: from the second minute on nothing has a place. And
    # record_count_delta() takes a last time of zero for none.
    minutes, at_us = 0, 0

    def stamp_us(found: "re.Match[str]") -> int | None:
        nonlocal minutes, at_us
        if found["minute"] is not None:
            minutes += 1
        else:
            at_us = max(at_us + int(found["delta"].replace(".", "")), 0)
        return at_us if minutes < 2 else None

    restamped = _restamped(text, _RELATIVE, stamp_us)
    notes = [
        "Times are differences added up (dmesg -e, -H): the first one after stamps of zero is printed as 0 and is "
        "missing in all that follow. dmesg without these options has stamps."
    ]
    if minutes > 1:
        notes.append("The log goes over a full minute, whose first line has no difference: what follows has no time.")
    return PrintkText(restamped, notes=tuple(notes))


def _restamped(text: str, form: "re.Pattern[str]", stamp_us: Callable[["re.Match[str]"], int | None]) -> str:
    rows = []
    for row in text.split("\n"):
        found = form.match(row)
        if found is None:
            rows.append(row)
        elif (us := stamp_us(found)) is None:
            rows.append(row[found.end() :])
        else:
            rows.append(f"{found['before']}[{us // 1_000_000:5d}.{us % 1_000_000:06d}] {row[found.end() :]}")
    return "\n".join(rows)


def _records(text: str) -> Iterator[KernelLine]:
    for found in _RECORD.finditer(text):
        word = found["level"]
        level = int(word) & 7 if word.isdecimal() else _LEVELS.index(word) if word in _LEVELS else 6
        try:
            said = str(json.loads(found["text"][: _LONGEST_TEXT * 16], strict=False))
        except ValueError:
            continue
        first, *more = _NEXT.split(said, maxsplit=1)[0].rstrip("\n")[:_LONGEST_TEXT].split("\n")
        said = "\n".join([first, *(row.strip() for row in more)])
        t_ns = (int(found["seconds"]) * 1_000_000 + int(found["micros"])) * 1_000
        yield KernelLine(t_ns, level, found["caller"], without_control(said))
