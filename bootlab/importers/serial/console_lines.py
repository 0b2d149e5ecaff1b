"""Host-stamped console: bytes with their arrival times -> lines, and the text files that grabserial writes.

A line's time is when its first byte came: the byte that ends it may be seconds away (a prompt, a progress dot).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bootlab.errors import InputError

_NS_PER_S = 1_000_000_000
# [0.702447 0.670621] [    0.000000] Command line: ...        elapsed and delta (grabserial -t)
# board1 [00:34:30.698897] Booting from ROM...                label, time of day, no delta (-T -n)
# A kernel stamp has its seconds padded to five places, so it never looks like one of these below 10000 s.
_STAMP = re.compile(
    r"(?P<label>[^\s\[]\S* )?\[(?:(?P<hour>\d\d):(?P<minute>\d\d):)?(?P<seconds>\d{1,12}\.\d{1,9})"
    r"(?: (?P<delta>\d{1,12}\.\d{1,9}))?\] ?(?P<text>.*)"
)
# The inlinepat: "Run /init as init process" was matched at 2.282892
_TRAILER = re.compile(r'The (?:inlinepat|instantpat): ".*" was matched at [\d.]+$')
# grabserial prints microseconds, each rounded on its own.
_ROUNDING_NS = 3_000
_UNPADDED_S = 10_000


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """One line without its line end. `t_ns` is when its first byte came, on the clock that stamped the bytes."""

    t_ns: int
    text: str
    complete: bool = True
    """False for a last line that no line end has closed: a prompt, or a console that fell silent."""
    end_offset: int = field(default=0, compare=False)
    """Bytes of the console up to and including this line's end."""
    raw: bytes = field(default=b"", compare=False, repr=False)
    """The line's bytes without its line end."""
    arrivals: "Arrivals | None" = field(default=None, compare=False, repr=False)

    def time_at(self, offset: int) -> int:
        """Return when the byte at `offset` in `raw` came."""
        return self.t_ns if self.arrivals is None else self.arrivals.time_at(offset)


class Arrivals:
    """When each byte of a line was sent, as far as the reads that brought it and the line's rate can tell.

    A byte that was read at t, with n more behind it in the same read, had begun n + 1 byte times before t at the
    latest. Bytes of one line keep their distance, so every read gives such a bound for all bytes before it too, and
    the least of them holds: a read that came late spoils nothing that another one proves.
    """

    __slots__ = ("_byte_ns", "_reads")

    def __init__(self, byte_ns: int) -> None:
        self._byte_ns = byte_ns
        self._reads: list[tuple[int, int]] = []

    def add(self, t_ns: int, end: int, read_end: int) -> None:
        """Account for the line's bytes up to `end`, which came by `t_ns` in a read that went on to `read_end`."""
        self._reads.append((end, t_ns - read_end * self._byte_ns))

    def time_at(self, offset: int) -> int:
        """Return the latest time at which the byte at `offset` can have begun."""
        bounds = [bound_ns for end, bound_ns in self._reads if end > offset]
        return min(bounds or [self._reads[-1][1]]) + offset * self._byte_ns


@dataclass(frozen=True, slots=True)
class GrabbedConsole:
    """What a grabserial file holds. Times are ns since its first line."""

    lines: tuple[ConsoleLine, ...]
    resets: tuple[int, ...]
    """Indexes of the lines before which grabserial started its clock anew (its option -m).

    How long the line before took to arrive is lost there: every later time is early by that much.
    """
    before: tuple[str, ...] = ()
    """Lines before the first stamp: they have no time."""
    matches: tuple[str, ...] = ()
    """What grabserial says below the console of its own options, such as when its -i pattern came."""
    empty: int = 0


class LineSplitter:
    """Makes lines of a console that arrives in pieces.

    Bytes are decoded a line at a time, so a character cut in two by a read survives; what is not UTF-8 becomes U+FFFD.
    Carriage returns before the line feed belong to the line end (a tty on a UART makes `\\r\\r\\n`); with `cr` a lone
    one is a line end too. `byte_ns`: how long the line takes for one byte, 0 where it is not known. A line of more than
    `longest` bytes is given in pieces that are not complete.
    """

    def __init__(self, *, byte_ns: int = 0, cr: bool = False, longest: int = 1 << 30) -> None:
        self._end = re.compile(rb"\r\n|[\r\n]" if cr else rb"\n")
        self._byte_ns = byte_ns
        self._longest = longest
        self._rest = b""
        self._arrivals = Arrivals(byte_ns)
        self._taken = 0
        self._after_cr = False

    def feed(self, data: bytes, t_ns: int) -> list[ConsoleLine]:
        """Return the lines that `data`, which arrived at `t_ns`, completes."""
        lines = []
        # The line feed after a carriage return that has ended a line already.
        start = 1 if self._after_cr and data[:1] == b"\n" else 0
        for found in self._end.finditer(data, start):
            lines.append(self._line(data, start, found.start(), t_ns, self._taken + found.end()))
            start = found.end()
        self._after_cr = data[-1:] == b"\r" and start == len(data)
        if start < len(data):
            self._arrivals.add(t_ns, len(self._rest) + len(data) - start, len(self._rest) + len(data) - start)
            self._rest += data[start:]
        self._taken += len(data)
        if len(self._rest) > self._longest:
            lines += self.finish()
        return lines

    def rest(self) -> list[ConsoleLine]:
        """Return what has come of a line that is not complete: a prompt, perhaps. It will come again when it is."""
        if not self._rest:
            return []
        text, arrivals = _decode(self._rest), self._arrivals
        return [ConsoleLine(arrivals.time_at(0), text, False, self._taken, self._rest, arrivals)]

    def finish(self) -> list[ConsoleLine]:
        """Return the last line that no line end has closed, if there is one."""
        lines = self.rest()
        self._rest, self._arrivals = b"", Arrivals(self._byte_ns)
        return lines

    def _line(self, data: bytes, start: int, end: int, t_ns: int, end_offset: int) -> ConsoleLine:
        had, arrivals = len(self._rest), self._arrivals
        # A line end is a byte as well: it makes even an empty line's first.
        arrivals.add(t_ns, had + end + 1 - start, had + len(data) - start)
        raw = self._rest + data[start:end]
        self._rest, self._arrivals = b"", Arrivals(self._byte_ns)
        return ConsoleLine(arrivals.time_at(0), _decode(raw), True, end_offset, raw.rstrip(b"\r"), arrivals)


def split_lines(chunks: Iterable[tuple[int, bytes]]) -> Iterator[ConsoleLine]:
    """Yield the lines of a console read in chunks of (arrival in ns, bytes), each as soon as it is complete."""
    splitter = LineSplitter()
    for t_ns, chunk in chunks:
        yield from splitter.feed(chunk, t_ns)
    yield from splitter.finish()


def looks_grabbed(rows: Sequence[str]) -> str:
    """Return the first of the first lines of a file that bear grabserial's stamps, empty where few do."""
    found = [found for row in rows[:200] if (found := _STAMP.fullmatch(row)) is not None]
    # A kernel that has run for 10000 s pads its stamps no more, and has no delta.
    telling = [one for one in found if one["delta"] or one["hour"] or float(one["seconds"]) < _UNPADDED_S]
    enough = len(telling) >= 2 and 2 * len(telling) >= sum(bool(row.strip()) for row in rows[:200])
    return telling[0].string if enough else ""


def parse_grabserial(text: str) -> GrabbedConsole:
    """Return the lines of a grabserial file (options -t, -T, -n, -m, -i, -l as they come).

    A line without a stamp of its own takes the time of the line before it. Raises InputError when no line has one.
    """
    lines: list[ConsoleLine] = []
    resets: list[int] = []
    label: str | None = None
    t_ns = previous_ns = 0
    before: list[str] = []
    matches: list[str] = []
    empty = 0
    for row in _rows(text):
        found = _STAMP.fullmatch(row)
        if found is None or (label is not None and (found["label"] or "") != label):
            if not row.strip():
                empty += 1
            elif _TRAILER.match(row) is not None:
                matches.append(row)
            elif lines:
                lines.append(ConsoleLine(t_ns, row))
            else:
                before.append(row)
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
    return GrabbedConsole(tuple(lines), tuple(resets), tuple(before), tuple(matches), empty)


def _rows(text: str) -> list[str]:
    rows = text.split("\n")
    return [row.rstrip("\r") for row in (rows if rows[-1] else rows[:-1])]


def _nanoseconds(found: re.Match[str]) -> int:
    minutes = int(found["hour"] or 0) * 60 + int(found["minute"] or 0)
    return minutes * 60 * _NS_PER_S + _fraction(found["seconds"])


def _fraction(seconds: str) -> int:
    whole, _, part = seconds.partition(".")
    return int(whole) * _NS_PER_S + int(part.ljust(9, "0"))


def _decode(line: bytes) -> str:
    return line.rstrip(b"\r").decode(errors="replace")
