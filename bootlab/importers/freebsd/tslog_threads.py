"""Each thread's calls out of TSLOG records: what was on its stack when, what it waited for, and what it released.

Records lie in the order they were begun, threads interleaved, so each thread is read for itself. A dump is cut off
wherever it was taken: calls that have not ended there end with the dump.
"""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from bootlab.importers.freebsd.tslog_records import LOADER, Record, RecordKind
from bootlab.timeline.stack_tree import DEEPEST

# A counter that falls below half of what it was did not drift between processors: it was set back.
_SET_BACK_DIVISOR: Final = 2


@dataclass(frozen=True, slots=True)
class TslogCall:
    """One call, in cycles. `frame`: index into the thread's frames.

    `ended` is False where the dump does not say so: its end is then that of its caller, or of the dump.
    """

    start: int
    end: int
    name: str
    frame: int
    ended: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """From `start` to `end` (cycles) the thread was in `frame`, an index into the thread's frames."""

    start: int
    end: int
    frame: int


@dataclass(frozen=True, slots=True)
class TslogWait:
    """The thread waited for something called `what`. `end` is the dump's where it still does."""

    start: int
    end: int
    what: str


@dataclass(slots=True)
class Thread:
    """What one thread did. Frames are numbered; frame 0 is its outermost, and no call."""

    number: int
    name: str
    parents: list[int] = field(default_factory=lambda: [0])
    names: list[str] = field(default_factory=lambda: [""])
    pieces: list[Piece] = field(default_factory=list)
    """In order of time, without overlap; where it was in no call there is none."""
    calls: list[TslogCall] = field(default_factory=list)
    waits: list[TslogWait] = field(default_factory=list)
    """In order of time, without overlap: of two at once, the one that began first."""
    releases: list[tuple[str, int, int]] = field(default_factory=list)
    """What it gave free, since when somebody held it, and when: in order of that."""

    def path(self, frame: int) -> list[str]:
        """Return the names from the outermost call to `frame`."""
        names = []
        while frame:
            names.append(self.names[frame])
            frame = self.parents[frame]
        return names[::-1]


@dataclass(frozen=True, slots=True)
class Threads:
    """All threads of a dump, as they first appear, and what was odd about its records."""

    threads: tuple[Thread, ...]
    first: int
    """The counter at the first record, in cycles, as all times here."""
    end: int
    set_back: int
    """How often the counter was set back: what follows is added to what was before."""
    backwards: int
    """Records of one thread that lie before an earlier one of it; the earlier time is taken."""
    most_backwards: int
    lost_ends: int
    """Calls that no record ended though their caller's end was recorded."""
    lost_starts: int
    """Ends of calls whose start is not in the dump."""


class _ThreadReader:
    def __init__(self, number: int, name: str) -> None:
        self.thread = Thread(number, name)
        self.open: list[tuple[str, int, int]] = []
        self.on_stack: Counter[str] = Counter()
        self.children: dict[tuple[int, str], int] = {}
        self.waiting: dict[str, int] = {}
        self.last: int | None = None
        self.lost_ends = self.lost_starts = 0

    @property
    def frame(self) -> int:
        return self.open[-1][2] if self.open else 0

    def pass_to(self, t: int) -> None:
        # Whatever has been on the stack since the last record was there until now.
        if self.last is not None and t > self.last and self.open:
            pieces = self.thread.pieces
            if pieces and pieces[-1].end == self.last and pieces[-1].frame == self.frame:
                pieces[-1] = Piece(pieces[-1].start, t, self.frame)
            else:
                pieces.append(Piece(self.last, t, self.frame))
        self.last = t

    def enter(self, t: int, name: str) -> None:
        parent = self.frame
        frame = self.children.get((parent, name))
        if frame is None:
            frame = parent
            if len(self.open) < DEEPEST:
                frame = self.children[parent, name] = len(self.thread.names)
                self.thread.names.append(name)
                self.thread.parents.append(parent)
        self.open.append((name, t, frame))
        self.on_stack[name] += 1

    def exit(self, t: int, name: str) -> None:
        if not self.on_stack[name]:
            self.lost_starts += 1
            return
        while self.open[-1][0] != name:
            self.close(t, ended=False)
            self.lost_ends += 1
        self.close(t, ended=True)

    def close(self, t: int, *, ended: bool) -> None:
        name, start, frame = self.open.pop()
        self.on_stack[name] -= 1
        self.thread.calls.append(TslogCall(start, t, name, frame, ended))

    def finish(self, end: int) -> None:
        self.pass_to(max(end, self.last or 0))
        while self.open:
            self.close(self.last or end, ended=False)
        waits = [
            *self.thread.waits,
            *(TslogWait(start, self.last or end, what) for what, start in self.waiting.items()),
        ]
        self.thread.waits.clear()
        at = 0
        for wait in sorted(waits, key=lambda wait: wait.start):
            if wait.end > (start := max(wait.start, at)):
                self.thread.waits.append(TslogWait(start, wait.end, wait.what))
                at = wait.end


def read_threads(records: Sequence[Record]) -> Threads:
    """Return the threads of a dump's records. There must be at least one."""
    readers: dict[int, _ThreadReader] = {}
    held: dict[str, deque[int]] = {}
    added = largest = set_back = backwards = most_backwards = 0
    for record in records:
        reader = readers.get(record.thread)
        if reader is None:
            reader = readers[record.thread] = _ThreadReader(record.thread, _thread_name(record.thread, len(readers)))
        t = record.tsc + added
        if t < largest // _SET_BACK_DIVISOR:
            added, t = largest - record.tsc, largest
            set_back += 1
        if reader.last is not None and t < reader.last:
            backwards += 1
            most_backwards = max(most_backwards, reader.last - t)
            t = reader.last
        largest = max(largest, t)
        reader.pass_to(t)
        _take(reader, record, t, held)
    for reader in readers.values():
        reader.finish(largest)
    return Threads(
        tuple(reader.thread for reader in readers.values()),
        first=records[0].tsc,
        end=largest,
        set_back=set_back,
        backwards=backwards,
        most_backwards=most_backwards,
        lost_ends=sum(reader.lost_ends for reader in readers.values()),
        lost_starts=sum(reader.lost_starts for reader in readers.values()),
    )


def _take(reader: _ThreadReader, record: Record, t: int, held: dict[str, deque[int]]) -> None:
    if record.kind is RecordKind.ENTER:
        reader.enter(t, record.name)
    elif record.kind is RecordKind.EXIT:
        reader.exit(t, record.name)
    elif record.kind is RecordKind.THREAD:
        reader.thread.name = record.name
    else:
        word, _, what = record.name.partition(" ")
        if word == "WAIT":
            reader.waiting.setdefault(what, t)
        elif word == "UNWAIT" and what in reader.waiting:
            reader.thread.waits.append(TslogWait(reader.waiting.pop(what), t, what))
        elif word == "HOLD":
            held.setdefault(what, deque()).append(t)
        elif word == "RELEASE":
            # Who held it need not be who gives it free: a request is queued by one thread and served by another.
            holds = held.get(what)
            reader.thread.releases.append((what, holds.popleft() if holds else 0, t))


def _thread_name(number: int, place: int) -> str:
    return "loader" if number == LOADER else f"thread {place}"


def named(threads: Iterable[Thread], name: str) -> Thread | None:
    """Return the first thread that called the function `name`, or None."""
    return next((one for one in threads if name in one.names), None)
