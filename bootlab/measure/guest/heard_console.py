"""What came over the console of one boot: its bytes, its lines with their times since time 0, where it said ready.

Lines are told to who wants them as they come. What a line means is `GuestConsole`'s; here is when it came, and whether
it counts: where a board's time 0 is a console line, what comes before that is of no boot that is measured.
"""

import re
from collections.abc import Callable

from bootlab.importers.serial.console_lines import ConsoleLine, LineSplitter
from bootlab.measure.guest.console import GuestConsole
from bootlab.targets.target import Prepared

OnLine = Callable[[int, str], None]
"""Called with each console line: host ns since time 0, text."""


class HeardConsole:
    """The console of a boot that was prepared, as far as it has come; `begin` says when the machine was let go."""

    def __init__(self, prepared: Prepared, on_line: OnLine | None = None) -> None:
        system, traits = prepared.system, prepared.console
        self.guest = GuestConsole(system.booted, system.check, named=traits.marks, traced=prepared.traced)
        self.raw = bytearray()
        self.lines: list[ConsoleLine] = []
        """Those that came since time 0, stamped on the host's clock."""
        self.zero_ns = 0
        """When time 0 was, on the clock of the stamps."""
        self.zero_awaited = traits.zero
        """The pattern of the line that is time 0; None once it has come, and where power-on is."""
        self.ready_offset: int | None = None
        """Bytes of the console up to and including the line that says ready; None before."""
        self._on_line = on_line
        self._splitter = LineSplitter()

    def begin(self, power_on_ns: int, byte_ns: int) -> None:
        """Count from power-on. `byte_ns`: how long the line takes for one byte, 0 where that is not known."""
        self.zero_ns = power_on_ns
        self._splitter = LineSplitter(byte_ns=byte_ns)

    @property
    def text(self) -> str:
        """Return all of it as text, what is not UTF-8 replaced."""
        return self.raw.decode(errors="replace")

    @property
    def is_in_mid_line(self) -> bool:
        """Return whether a line has begun that no line end has closed: a prompt, perhaps."""
        return bool(self._splitter.rest())

    def feed(self, data: bytes, t_ns: int) -> None:
        """Account for bytes that had come at `t_ns`."""
        self.raw += data
        self._take(self._splitter.feed(data, t_ns))

    def reach(self, name: str, t_ns: int | None) -> None:
        """Account for a mark that the console does not say. `t_ns`: when; None: only a trace has the time."""
        if t_ns is not None:
            self.guest.reach(name, t_ns - self.zero_ns)

    def finish(self) -> None:
        """Account for the last line, which no line end has closed: nothing comes any more."""
        self._take(self._splitter.finish())

    def look_for_prompt(self) -> None:
        """See whether the line that has only begun is what says ready, or what its check waits for then.

        A prompt has no line end, and nothing more comes until somebody types. A line that is only slow in coming would
        match at a byte that differs from boot to boot: ask when it has been silent for a while.
        """
        for line in self._splitter.rest() if self.zero_awaited is None else ():
            if self.guest.prompt(line.t_ns - self.zero_ns, line.text):
                self.ready_offset = line.end_offset

    def lines_to_ready(self) -> list[ConsoleLine]:
        """Return the lines since time 0 up to the one that says ready; all of them where none does."""
        until = self.ready_offset if self.ready_offset is not None else len(self.raw)
        return [line for line in self.lines if line.end_offset <= until]

    def _take(self, lines: list[ConsoleLine]) -> None:
        for line in lines:
            if self.zero_awaited is not None and re.search(self.zero_awaited, line.text) is not None:
                self.zero_awaited, self.zero_ns = None, line.t_ns
            since_ns = line.t_ns - self.zero_ns
            if self.zero_awaited is not None:
                # Not counted yet: what a mark there would be since is not known.
                self.guest.pass_over(since_ns, line.text)
            else:
                self._count(line, since_ns)
            if self._on_line is not None:
                self._on_line(since_ns, line.text)

    def _count(self, line: ConsoleLine, since_ns: int) -> None:
        self.lines.append(line)
        was_ready = self.guest.ready
        self.guest.take(since_ns, line.text)
        if self.guest.ready and not was_ready:
            self.ready_offset = line.end_offset
