"""Turns bytes from serial lines, each read with its time, into lines, marks and notices.

No clock and no port is touched here: a recording gives the same happenings as the lines it was made of. Times are ns on
the clock of the chunks; `advance` says that nothing came.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bootlab.importers.serial.console_lines import ConsoleLine, LineSplitter
from bootlab.measure.causes.wrong_baud import GarbageWatch

_PROMPT_NS = 200_000_000
"""How long a line must be silent in its middle before what has come of it is shown."""
_LONGEST_LINE = 16384


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """What to look for. Patterns are searched in a line's bytes, also before its end has come."""

    zero: re.Pattern[bytes] | None = None
    """The first line with it is time 0 from then on, and so is each later one."""
    until: re.Pattern[bytes] | None = None
    marks: tuple[tuple[str, re.Pattern[bytes]], ...] = ()
    for_ns: int | None = None
    idle_ns: int | None = None
    """Ends when no line has said anything for so long."""
    silence_ns: int | None = None
    """Says so when a line has said nothing for so long."""
    from_start: bool = False
    """Time 0 is the start of the watch instead of the first byte."""
    cr: bool = False


@dataclass(frozen=True, slots=True)
class WatchedLine:
    """A line that came over a port."""

    port: int
    line: ConsoleLine
    t_ns: int
    """Since time 0."""
    delta_ns: int
    """Since the port's line before."""


@dataclass(frozen=True, slots=True)
class Partial:
    """What has come of a line that is silent in its middle: a prompt, perhaps. It comes again as a WatchedLine."""

    port: int
    line: ConsoleLine
    t_ns: int
    delta_ns: int


@dataclass(frozen=True, slots=True)
class SeenMark:
    """A pattern was seen for the first time; `t_ns` is when the first byte of what matched came, since time 0."""

    port: int
    name: str
    t_ns: int
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about a port that is no line: `silence`, `garbage`, `text again`, `gone`."""

    port: int
    kind: str
    t_ns: int
    text: str


@dataclass(frozen=True, slots=True)
class End:
    """Why the watch is over. `met` is whether that is what was asked for."""

    t_ns: int
    reason: str
    met: bool


Happening = WatchedLine | Partial | SeenMark | Notice | End


class _PortState:
    def __init__(self, byte_ns: int, cr: bool, start_ns: int) -> None:
        self.lines = LineSplitter(byte_ns=byte_ns, cr=cr, longest=_LONGEST_LINE)
        self.garbage = GarbageWatch()
        self.byte_count = 0
        self.line_count = 0
        self.last_ns = start_ns
        self.last_text = ""
        self.previous_ns: int | None = None
        self.shown_partial = 0
        self.silent = False
        self.gone = False


class Watch:
    """Follows ports. `byte_ns` of each: how long its line takes for a byte, 0 where that is not known."""

    def __init__(self, asked: WatchRequest, byte_ns: Sequence[int], start_ns: int) -> None:
        self.asked = asked
        self.start_ns = start_ns
        self.zero_ns: int | None = start_ns if asked.from_start else None
        self.ended = False
        self._ports = [_PortState(one, asked.cr, start_ns) for one in byte_ns]
        self._unseen = dict(asked.marks)
        self._heard_ns = start_ns

    @property
    def byte_counts(self) -> list[int]:
        return [port.byte_count for port in self._ports]

    @property
    def line_counts(self) -> list[int]:
        return [port.line_count for port in self._ports]

    @property
    def unseen(self) -> list[str]:
        """Return the marks that have not been seen."""
        return list(self._unseen)

    def take(self, index: int, t_ns: int, data: bytes) -> Iterator[Happening]:
        """Account for bytes of one port that had come at `t_ns`."""
        port = self._ports[index]
        port.byte_count += len(data)
        port.last_ns = self._heard_ns = t_ns
        port.silent = False
        for line in port.lines.feed(data, t_ns):
            yield from self._line(index, line)
            if self.ended:
                return
        rest = port.lines.rest()
        if self.zero_ns is None and rest:
            self.zero_ns = rest[0].t_ns
        for line in rest:
            yield from self._patterns(index, line, grows=True)
        yield from self._garbage(index, t_ns, data)

    def advance(self, now_ns: int) -> Iterator[Happening]:
        """Say what is due because nothing more has come up to `now_ns`, each at its time."""
        while not self.ended and (due_ns := self.due_ns()) is not None and due_ns <= now_ns:
            yield from self._tick(due_ns)

    def _tick(self, now_ns: int) -> Iterator[Happening]:
        for index, port in enumerate(self._ports):
            quiet_ns = now_ns - port.last_ns
            if quiet_ns >= _PROMPT_NS:
                yield from self._partial(index)
            silence_ns = self.asked.silence_ns
            if silence_ns is not None and quiet_ns >= silence_ns and not port.silent and not port.gone:
                port.silent = True
                after = f'; the last line was "{port.last_text}"' if port.last_text else ""
                what = "silent" if port.byte_count else "nothing has come"
                yield Notice(index, "silence", self.since(now_ns), f"{what} for {quiet_ns / 1e9:.0f} s{after}")
        asked = self.asked
        if asked.for_ns is not None and now_ns - self.start_ns >= asked.for_ns:
            yield from self.end(now_ns, f"{asked.for_ns / 1e9:g} s are over", met=asked.until is None)
        elif asked.idle_ns is not None and now_ns - self._heard_ns >= asked.idle_ns:
            yield from self.end(now_ns, f"silent for {asked.idle_ns / 1e9:g} s", met=asked.until is None)

    def gone(self, index: int, t_ns: int, reason: str, *, unplugged: bool) -> Iterator[Happening]:
        """Say that a port is gone; the watch ends with its last one."""
        port = self._ports[index]
        port.gone = True
        yield from self._rest(index)
        if unplugged:
            kept = f"{port.byte_count} bytes and {port.line_count} lines of it are kept"
            yield Notice(index, "gone", self.since(t_ns), f"gone in mid-run ({reason}); {kept}")
        if all(one.gone for one in self._ports) and not self.ended:
            why = "the line is gone" if unplugged else "the input has ended"
            yield from self.end(t_ns, why, met=not unplugged and self.asked.until is None)

    def end(self, t_ns: int, reason: str, *, met: bool) -> Iterator[Happening]:
        """End the watch, with the lines that are still open."""
        if not self.ended:
            for index in range(len(self._ports)):
                yield from self._rest(index)
        if not self.ended:
            self.ended = True
            yield End(self.since(t_ns), reason, met)

    def since(self, t_ns: int) -> int:
        """Return a time of the ports' clock as ns since time 0, or since the start while that has not come."""
        return t_ns - (self.start_ns if self.zero_ns is None else self.zero_ns)

    def due_ns(self) -> int | None:
        """Return when there is something to say even if nothing comes; None for never."""
        asked, due = self.asked, []
        for port in self._ports:
            if port.lines.rest() and port.shown_partial < len(port.lines.rest()[0].raw):
                due.append(port.last_ns + _PROMPT_NS)
            if asked.silence_ns is not None and not port.silent and not port.gone:
                due.append(port.last_ns + asked.silence_ns)
        if asked.for_ns is not None:
            due.append(self.start_ns + asked.for_ns)
        if asked.idle_ns is not None:
            due.append(self._heard_ns + asked.idle_ns)
        return min(due, default=None)

    def _line(self, index: int, line: ConsoleLine) -> Iterator[Happening]:
        port = self._ports[index]
        if self.zero_ns is None or (self.asked.zero is not None and self.asked.zero.search(line.raw)):
            self.zero_ns = line.t_ns
        previous_ns = line.t_ns if port.previous_ns is None else port.previous_ns
        port.previous_ns, port.shown_partial = line.t_ns, 0
        port.line_count += 1
        port.last_text = line.text.strip() or port.last_text
        yield WatchedLine(index, line, self.since(line.t_ns), line.t_ns - previous_ns)
        yield from self._patterns(index, line)

    def _partial(self, index: int) -> Iterator[Happening]:
        port = self._ports[index]
        for line in port.lines.rest():
            if port.shown_partial < len(line.raw):
                port.shown_partial = len(line.raw)
                previous_ns = line.t_ns if port.previous_ns is None else port.previous_ns
                yield Partial(index, line, self.since(line.t_ns), line.t_ns - previous_ns)

    def _rest(self, index: int) -> Iterator[Happening]:
        for line in self._ports[index].lines.finish():
            yield from self._line(index, line)

    def _patterns(self, index: int, line: ConsoleLine, *, grows: bool = False) -> Iterator[Happening]:
        for name, pattern in list(self._unseen.items()):
            if found := _search(pattern, line, grows):
                del self._unseen[name]
                text = found.group().decode(errors="replace")
                yield SeenMark(index, name, self.since(line.time_at(found.start())), text)
        until = self.asked.until
        if until is not None and not self.ended and _search(until, line, grows):
            if grows:
                yield from self._rest(index)
            yield from self.end(line.t_ns, f"matched {until.pattern.decode(errors='replace')}", met=True)

    def _garbage(self, index: int, t_ns: int, data: bytes) -> Iterator[Happening]:
        turned = self._ports[index].garbage.take(data)
        if turned is True:
            yield Notice(index, "garbage", self.since(t_ns), "what comes is garbage, as from a wrong baud rate")
        elif turned is False:
            yield Notice(index, "text again", self.since(t_ns), "what comes is text again")


def _search(pattern: re.Pattern[bytes], line: ConsoleLine, grows: bool) -> re.Match[bytes] | None:
    # The end of a line that still grows is not its end.
    return None if grows and pattern.pattern.endswith(b"$") else pattern.search(line.raw)
