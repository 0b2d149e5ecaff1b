"""Reader of the plugin's trace (plugin/trace_format.h):

    bootlab-trace 1
    clock virtual 0
    mark kernel_entry 106769444 106769444

A QEMU that was killed leaves the records it reached: no `end`, perhaps half a last line. That is a trace; anything else
that is not in the format is damage.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.kept_file import read_kept_bytes

DISKS: Final = "disks"
"""What the plugin calls disks that answer at once."""
TRAPS: Final = "traps"
"""What it calls counting, or charging, what would leave a guest of KVM."""

SKIP: Final = "skip"
"""What it calls moving the ticks of the guest's kernel."""
READS: Final = "reads"
"""What it calls counting what is read from disks, which exact ones ask for."""
RANDOM: Final = "random"
"""What it refuses a machine that goes on and draws random numbers of its processor: they are not those of the boot."""
SCREEN: Final = "screen"
"""What it calls looking at the screen, and typing."""

_VERSION: Final = 1
_WORDS: Mapping[str, int] = {"slide": 1, "exact": 1, "settled": 2, "charged": 3, "modelled": 3, "frames": 3, "reads": 3}
_STAMPED: Mapping[str, int] = {
    "mark": 3,
    "guest": 3,
    "answered": 3,
    "seen": 4,
    "typed": 3,
    "call": 4,
    "console": 3,
    "end": 2,
}
_SHIFT_MAX = 32


@dataclass(frozen=True, slots=True)
class Stamp:
    """A moment: ns since power-on, and instructions executed before it (-1 on the host clock, which cannot count).

    `charged_ns`: of `t_ns`, what was added to the clock for events. `read_bytes`: what the guest had read from all
    disks, where that is counted (`PluginTrace.counts_reads`).
    """

    t_ns: int
    instructions: int
    charged_ns: int = 0
    read_bytes: int = 0

    def since(self, zero: "Stamp") -> "Stamp":
        """Return the same moment counted from `zero`, which was not later."""
        return Stamp(
            self.t_ns - zero.t_ns,
            self.instructions - zero.instructions,
            self.charged_ns - zero.charged_ns,
            self.read_bytes - zero.read_bytes,
        )


@dataclass(frozen=True, slots=True)
class Charge:
    """What was added to the virtual clock for one kind of event: so often, and so much altogether."""

    count: int
    ns: int


@dataclass(frozen=True, slots=True)
class Looks:
    """How a screen was looked at up to the end: so often, so many new frames, so many pictures not kept."""

    count: int
    frames: int
    lost: int


@dataclass(frozen=True, slots=True)
class TracedCall:
    """One call of a recorded function; `argument` is its first, as a link address if it is one of the kernel image."""

    name: str
    t_ns: int
    instructions: int
    argument: int


@dataclass(slots=True)
class PluginTrace:
    """What one boot recorded, each mapping and list in the order of time.

    `shift`: one instruction is 2**shift ns; None on the host clock. `guest_marks`: the first of each name, that
    the guest said itself or by answering what it was asked over its network.
    `console`: when the last of so many more console bytes was sent, a line or what was left of one.
    `slide`: run-time minus link address of the kernel; None if the kernel never ran.
    `end`: None when QEMU was killed. It is exact only where a stop mark ended the boot.
    `charges`: what was added to the clock up to the end, by what for; `charges_at`: up to a guest mark;
    `charges_at_marks`: up to one of `marks`.
    `exact`: what was asked for and proved to work, as `disks`. `refused`: what was not, and why; `device` is one that
    does not repeat although the rest does. `settled`: how often disks were waited for, and how often that
    was given up; both up to the end, not to ready. `modelled`: for each modelled disk how many requests it answered up
    to the end, and how many of these at another moment than the model's. `looks`: at its screen, up to the end;
    `counts_reads`: stamps have what was read from disks; False as well where nothing ever was.
    `frames_up_to`: for each mark of the screen a hash of all frames up to the look that made it, and of their times.
    `said_again`: names of guest marks that came a second time.
    """

    shift: int | None = None
    marks: dict[str, Stamp] = field(default_factory=dict)
    guest_marks: dict[str, Stamp] = field(default_factory=dict)
    calls: list[TracedCall] = field(default_factory=list)
    console: list[tuple[Stamp, int]] = field(default_factory=list)
    slide: int | None = None
    end: Stamp | None = None
    charges: dict[str, Charge] = field(default_factory=dict)
    charges_at: dict[str, dict[str, Charge]] = field(default_factory=dict)
    charges_at_marks: dict[str, dict[str, Charge]] = field(default_factory=dict)
    exact: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    settled: tuple[int, int] = (0, 0)
    modelled: dict[str, tuple[int, int]] = field(default_factory=dict)
    counts_reads: bool = False
    looks: Looks | None = None
    frames_up_to: dict[str, str] = field(default_factory=dict)
    said_again: list[str] = field(default_factory=list)

    def asked_for(self, feature: str) -> bool:
        """Return whether the plugin was told to do this; `exact` and `refused` say what came of it."""
        return feature in self.exact or feature in self.refused

    def console_stamp(self, offset: int) -> Stamp | None:
        """Return when the console's byte before `offset`, or the end of its line, was sent; None if it was not seen."""
        return next((stamp for end, stamp in self.console_ends() if end >= offset), None)

    def console_ends(self) -> Iterator[tuple[int, Stamp]]:
        """Yield each console line's end: bytes of the console up to it, and when the last of them was sent."""
        sent = 0
        for stamp, size in self.console:
            sent += size
            yield sent, stamp

    def since(self, zero: Stamp) -> "PluginTrace":
        """Return the same trace counted from `zero`: of a machine that goes on from a snapshot, where it was kept."""
        return replace(
            self,
            marks={name: stamp.since(zero) for name, stamp in self.marks.items()},
            guest_marks={name: stamp.since(zero) for name, stamp in self.guest_marks.items()},
            console=[(stamp.since(zero), size) for stamp, size in self.console],
            end=None if self.end is None else self.end.since(zero),
        )

    def idle_ns(self, stamp: Stamp) -> int | None:
        """Return the ns up to `stamp` in which no instruction ran and nothing was charged; None on the host clock."""
        if self.shift is None:
            return None
        return stamp.t_ns - (stamp.instructions << self.shift) - stamp.charged_ns


def read_trace(path: Path) -> PluginTrace:
    """Return the trace in a file. Raises InputError when it cannot be read, or is damaged."""
    try:
        text = read_kept_bytes(path).decode("ascii")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a trace of the plugin: byte {error.start} is not ASCII") from error
    return parse_trace(text, str(path))


def parse_trace(text: str, name: str = "trace") -> PluginTrace:
    """Return the trace in `text`; `name` is what messages call it. An empty text is a QEMU killed as it began.

    Raises InputError, as NAME:LINE, when the text is not in the format.
    """
    reader = _TraceReader(name)
    lines = text.split("\n")
    # After the last newline there is nothing, or what a killed QEMU had no time to finish.
    for number, line in enumerate(lines[:-1], start=1):
        reader.take(number, line)
    return reader.trace


class _TraceReader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.trace = PluginTrace()
        self.where = name
        self.last_ns = 0
        self.charged = False
        self.read_bytes: dict[str, int] = {}

    def take(self, number: int, line: str) -> None:
        self.where = f"{self.name}:{number}"
        words = line.split(" ")
        if number == 1:
            self._check_version(words)
        elif number == 2:
            self._take_clock(words)
        elif self.trace.end is not None:
            raise InputError(f"{self.where}: a record after the end: {line[:80]!r}")
        else:
            self._take_record(words[0], words[1:])

    def _check_version(self, words: list[str]) -> None:
        if len(words) != 2 or words[0] != "bootlab-trace":
            raise InputError(f"{self.where}: not a trace of the plugin")
        if words[1] != str(_VERSION):
            raise InputError(
                f"{self.where}: trace version {words[1]}, this bootlab reads {_VERSION}",
                hint="build the plugin from the same checkout: make setup",
            )

    def _take_clock(self, words: list[str]) -> None:
        if words == ["clock", "host"]:
            return
        if len(words) not in (3, 4) or words[:2] != ["clock", "virtual"] or words[3:] not in ([], ["charged"]):
            raise InputError(f"{self.where}: expected the clock, got {' '.join(words)[:80]!r}")
        self.trace.shift = self._number(words[2], 0, _SHIFT_MAX)
        self.charged = len(words) == 4

    def _take_record(self, kind: str, words: list[str]) -> None:
        wanted = _WORDS.get(kind)
        if kind in _STAMPED:
            wanted = _STAMPED[kind] + self.charged
        if kind == "refused" and len(words) > 1:
            self.trace.refused[words[0]] = " ".join(words[1:])
        elif wanted is None or len(words) != wanted:
            raise InputError(f"{self.where}: not a record: {' '.join([kind, *words])[:80]!r}")
        elif kind in _STAMPED:
            self._take_stamped(kind, words)
        else:
            self._take_plain(kind, words)

    def _take_plain(self, kind: str, words: list[str]) -> None:
        trace = self.trace
        if kind == "slide":
            trace.slide = self._address(words[0])
        elif kind == "exact":
            trace.exact.append(words[0])
        elif kind == "settled":
            trace.settled = (self._number(words[0], 0, None), self._number(words[1], 0, None))
        elif kind == "frames":
            trace.looks = Looks(*(self._number(word, 0, None) for word in words))
        elif kind == "reads":
            trace.counts_reads = True
            self.read_bytes[words[0]] = self._number(words[1], 0, None)
            self._number(words[2], 0, None)
        elif kind == "modelled":
            trace.modelled[words[0]] = (self._number(words[1], 0, None), self._number(words[2], 0, None))
        else:
            trace.charges[words[0]] = Charge(self._number(words[1], 1, None), self._number(words[2], 1, None))

    def _take_stamped(self, kind: str, words: list[str]) -> None:
        trace, size = self.trace, 2 + self.charged
        if kind == "end":
            trace.end = self._stamp(words)
        elif kind == "call":
            stamp = self._stamp(words[1 : 1 + size])
            trace.calls.append(TracedCall(words[0], stamp.t_ns, stamp.instructions, self._address(words[-1])))
        elif kind == "console":
            length = self._number(words[-1], 1, None)
            # Written at the line's end or with the stop mark: its time may lie before the record before it.
            last_ns, self.last_ns = self.last_ns, 0
            trace.console.append((self._stamp(words[:size]), length))
            self.last_ns = max(last_ns, self.last_ns)
        elif kind == "seen":
            # Told when it was certain: the moment that it is of may lie before the record before it.
            last_ns, self.last_ns = self.last_ns, 0
            self._take_guest_mark(words[0], self._stamp(words[1 : 1 + size]))
            trace.frames_up_to.setdefault(words[0], f"{self._address(words[-1]):016x}")
            self.last_ns = max(last_ns, self.last_ns)
        elif kind in ("guest", "answered", "typed"):
            self._take_guest_mark(words[0], self._stamp(words[1:]))
            trace.charges_at.setdefault(words[0], dict(trace.charges))
        elif words[0] in trace.marks:
            raise InputError(f"{self.where}: mark {words[0]} is there twice")
        else:
            trace.marks[words[0]] = self._stamp(words[1:])
            trace.charges_at_marks[words[0]] = dict(trace.charges)

    def _take_guest_mark(self, name: str, stamp: Stamp) -> None:
        if name not in self.trace.guest_marks:
            self.trace.guest_marks[name] = stamp
        elif name not in self.trace.said_again:
            self.trace.said_again.append(name)

    def _stamp(self, words: list[str]) -> Stamp:
        t_ns = self._number(words[0], 0, None)
        instructions = self._number(words[1], -1 if self.trace.shift is None else 0, None)
        charged_ns = self._number(words[2], 0, t_ns) if self.charged else 0
        if t_ns < self.last_ns:
            raise InputError(f"{self.where}: time goes back, from {self.last_ns} to {t_ns} ns")
        self.last_ns = t_ns
        return Stamp(t_ns, instructions, charged_ns, sum(self.read_bytes.values()))

    def _number(self, word: str, low: int, high: int | None) -> int:
        digits = word.removeprefix("-")
        if digits.isdecimal() and len(digits) < 20:
            value = int(word)
            if value >= low and (high is None or value <= high):
                return value
        raise InputError(f"{self.where}: not a number that can be here: {word[:80]!r}")

    def _address(self, word: str) -> int:
        if 1 <= len(word) <= 16 and set(word) <= set("0123456789abcdef"):
            return int(word, 16)
        raise InputError(f"{self.where}: not a hexadecimal address: {word[:80]!r}")
