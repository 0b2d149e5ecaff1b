"""Host-stamped console: bytes with their arrival times -> lines, and the text files that grabserial writes.

A line's time is when its first byte came: the byte that ends it may be seconds away (a prompt, a progress dot).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bootlab.errors import InputError

_NS_PER_S = 1_000_000_000
# [0.702447 0.670621] [    0.000000] Command line: ...        elapsed and delta (grabserial -t)
# board1 [00:34:30.698897] Booting from ROM...                label, time of day, no delta (-T -n)
# A kernel stamp has its seconds padded to five places, so it never looks like one of these below 10000 s.
_STAMP = re.compile(
    r"(?P<label>[^\s\[]\S* )?\[(?:(?P<hour>\d\d):(?P<minute>\d\d):)?(?P<seconds>\d+\.\d{1,9})"
    r"(?: (?P<delta>\d+\.\d{1,9}))?\] ?(?P<text>.*)"
)
# The inlinepat: "Run /init as init process" was matched at 2.282892
_TRAILER = re.compile(r'The (?:inlinepat|instantpat): ".*" was matched at [\d.]+$')
# grabserial prints microseconds, each rounded on its own.
_ROUNDING_NS = 3_000


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """One line without its line end. `t_ns` is when its first byte came, on the clock that stamped the bytes."""

    t_ns: int
    text: str
    complete: bool = True
    """False for a last line that no line end has closed: a prompt, or a console that fell silent."""
    end_offset: int = field(default=0, compare=False)
    """Bytes of the console up to and including this line's end."""


@dataclass(frozen=True, slots=True)
class GrabbedConsole:
    """What a grabserial file holds. Times are ns since its first line."""

    lines: tuple[ConsoleLine, ...]
    resets: tuple[int, ...]
    """Indexes of the lines before which grabserial started its clock anew (its option -m).

    How long the line before took to arrive is lost there: every later time is early by that much.
    """


class LineSplitter:
    """Makes lines of a console that arrives in pieces.

    Bytes are decoded a line at a time, so a character cut in two by a read survives; what is not UTF-8 becomes U+FFFD.
    Carriage returns before the line feed belong to the line end (a tty on a UART makes `\\r\\r\\n`).
    """

    def __init__(self) -> None:
        self._rest = b""
        self._rest_ns = 0
        self._taken = 0

    def feed(self, data: bytes, t_ns: int) -> list[ConsoleLine]:
        """Return the lines that `data`, which arrived at `t_ns`, completes."""
        lines = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            begun_ns = self._rest_ns if self._rest else t_ns
            text = _decode(self._rest + data[start:end])
            lines.append(ConsoleLine(begun_ns, text, end_offset=self._taken + end + 1))
            self._rest, start = b"", end + 1
        if start < len(data):
            self._rest_ns = self._rest_ns if self._rest else t_ns
            self._rest += data[start:]
        self._taken += len(data)
        return lines

    def rest(self) -> list[ConsoleLine]:
        """Return what has come of a line that is not complete: a prompt, perhaps. It will come again when it is."""
        return (
            [ConsoleLine(self._rest_ns, _decode(self._rest), complete=False, end_offset=self._taken)]
            if self._rest
            else []
        )

    def finish(self) -> list[ConsoleLine]:
        """Return the last line that no line end has closed, if there is one."""
        lines = self.rest()
        self._rest = b""
        return lines


def split_lines(chunks: Iterable[tuple[int, bytes]]) -> Iterator[ConsoleLine]:
    """Yield the lines of a console read in chunks of (arrival in ns, bytes), each as soon as it is complete."""
    splitter = LineSplitter()
    for t_ns, chunk in chunks:
        yield from splitter.feed(chunk, t_ns)
    yield from splitter.finish()


def parse_grabserial(text: str) -> GrabbedConsole:
    """Return the lines of a grabserial file (options -t, -T, -n, -m, -i, -l as they come).

    A line without a stamp of its own takes the time of the line before it. Raises InputError when no line has one.
    """
    lines: list[ConsoleLine] = []
    resets: list[int] = []
    label: str | None = None
    t_ns = previous_ns = 0
    for row in text.splitlines():
        found = _STAMP.fullmatch(row)
        if found is None or (label is not None and (found["label"] or "") != label):
            if lines and row.strip() and _TRAILER.match(row) is None:
                lines.append(ConsoleLine(t_ns, row))
            continue
        label = found["label"] or ""
        stamp_ns = _nanoseconds(found)
        delta_ns = _fraction(found["delta"]) if found["delta"] else None
        if not lines:
            step_ns = 0
        elif delta_ns is not None:
            # After -m matched, the delta counts from the new base, whether elapsed jumps back or not.
            step_ns = delta_ns
            if found["hour"] is None and abs(stamp_ns - previous_ns - delta_ns) > _ROUNDING_NS:
                resets.append(len(lines))
        else:
            step_ns = stamp_ns - previous_ns
            if step_ns < 0 and found["hour"] is not None:
                step_ns += 24 * 3600 * _NS_PER_S
            elif step_ns < 0:
                resets.append(len(lines))
                step_ns = stamp_ns
        t_ns, previous_ns = t_ns + step_ns, stamp_ns
        lines.append(ConsoleLine(t_ns, found["text"]))
    if not lines:
        raise InputError(
            'no line starts with "[elapsed delta]" or "[HH:MM:SS.micros]"',
            hint="a kernel log has stamps like [    0.123456]; a raw console has none",
        )
    return GrabbedConsole(tuple(lines), tuple(resets))


def _nanoseconds(found: re.Match[str]) -> int:
    minutes = int(found["hour"] or 0) * 60 + int(found["minute"] or 0)
    return minutes * 60 * _NS_PER_S + _fraction(found["seconds"])


def _fraction(seconds: str) -> int:
    whole, _, part = seconds.partition(".")
    return int(whole) * _NS_PER_S + int(part.ljust(9, "0"))


def _decode(line: bytes) -> str:
    return line.rstrip(b"\r").decode(errors="replace")
