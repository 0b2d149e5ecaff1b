"""TSLOG's threads as stacks with their times: the boot as one line, and under each of its waits what it waited for.

The boot runs through three threads in turn: the loader, thread0 up to the end of mi_startup(), and the one that becomes
init. Where it waits (EVENT WAIT), whoever gave free what it waited for, last and while it waited, was at work for it:
that thread's stack is put in place of the wait, and its own waits are taken apart in the same way.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Final

from bootlab.importers.freebsd.tslog_records import LOADER
from bootlab.importers.freebsd.tslog_threads import Thread, Threads, named
from bootlab.timeline.stack_tree import StackTree

BOOT: Final = "boot"
"""The outermost frame of the boot's own line; every other thread has its name there."""
BEFORE: Final = "[firmware]"
MAIN: Final = "mi_startup"
LAST: Final = "start_init"
_MOST_STEPS: Final = 1_000_000
_MOST_THREADS_DEEP: Final = 8

Stretch = tuple[Thread, int, int]


def boot_line(threads: Threads) -> list[Stretch]:
    """Return the threads that the boot ran through, with the cycles from and to which; empty for a dump without it."""
    main = named(threads.threads, MAIN)
    if main is None:
        return []
    line = [
        (one, threads.first, _first_of(main)) for one in threads.threads if one.number == LOADER and one is not main
    ]
    init = named(threads.threads, LAST)
    if init is None or init is main:
        return [*line, (main, _first_of(main), _last_of(main))]
    start = min((call.start for call in init.calls if call.name == LAST), default=threads.end)
    end = max((call.end for call in init.calls if call.name == LAST), default=threads.end)
    return [*line, (main, _first_of(main), start), (init, start, end)]


def _first_of(thread: Thread) -> int:
    return min((call.start for call in thread.calls), default=0)


def _last_of(thread: Thread) -> int:
    return max((call.end for call in thread.calls if call.ended), default=_first_of(thread))


class Stacks:
    """Fills a tree with the boot's line and with every other thread as it is. Times are cycles."""

    def __init__(self, threads: Threads, tree: StackTree) -> None:
        self.tree = tree
        self.spliced = 0
        """How much of the boot's waits was put down to other threads."""
        self.waited = 0
        """How long the boot's line waited."""
        self._steps = 0
        self._ends = {one.number: [piece.end for piece in one.pieces] for one in threads.threads}
        self._releases: dict[str, list[tuple[int, int, Thread]]] = {}
        for one in threads.threads:
            for what, held, released in one.releases:
                self._releases.setdefault(what, []).append((released, held, one))
        for releases in self._releases.values():
            releases.sort(key=lambda release: release[0])

    @property
    def given_up(self) -> bool:
        """Say whether there were too many waits to take them all apart."""
        return self._steps >= _MOST_STEPS

    def add_line(self, line: Sequence[Stretch], before: int) -> None:
        """Add the boot's line, with its waits taken apart. `before`: how long it was until the first record."""
        root = self.tree.below(0, BOOT)
        self.tree.charge(self.tree.below(root, BEFORE), before)
        for thread, start, end in line:
            if end <= start:
                continue
            self._add(thread, start, end, root, (thread.number,))
            self._count(thread, root, start, end)

    def add_thread(self, thread: Thread) -> None:
        """Add a thread as it was recorded; what it did outside of any call is not known, and left out."""
        root = self.tree.below(0, thread.name)
        for piece in thread.pieces:
            self.tree.charge(self._node(thread, piece.frame, root), piece.end - piece.start)
        self._count(thread, root, 0, None)

    def _count(self, thread: Thread, root: int, start: int, end: int | None) -> None:
        calls = Counter(
            call.frame for call in thread.calls if call.start >= start and (end is None or call.start < end)
        )
        for frame, count in sorted(calls.items()):
            self.tree.enter(self._node(thread, frame, root), count)

    def _add(self, thread: Thread, start: int, end: int, under: int, seen: tuple[int, ...]) -> None:
        at = start
        for index in range(bisect_right(thread.waits, start, key=lambda wait: wait.end), len(thread.waits)):
            wait = thread.waits[index]
            if wait.start >= end:
                break
            from_, to = max(wait.start, at), min(wait.end, end)
            self._run(thread, at, from_, under)
            self._wait(wait.what, from_, to, self._node(thread, self._frame_at(thread, from_), under), seen)
            at = to
        self._run(thread, at, end, under)

    def _run(self, thread: Thread, start: int, end: int, under: int) -> None:
        covered = 0
        ends = self._ends[thread.number]
        for index in range(bisect_right(ends, start), len(ends)):
            piece = thread.pieces[index]
            if piece.start >= end:
                break
            length = min(piece.end, end) - max(piece.start, start)
            self.tree.charge(self._node(thread, piece.frame, under), length)
            covered += length
        self.tree.charge(under, end - start - covered)

    def _wait(self, what: str, start: int, end: int, node: int, seen: tuple[int, ...]) -> None:
        leaf = self.tree.below(node, f"waits for {what}")
        if len(seen) == 1:
            self.waited += end - start
        releases = self._releases.get(what, [])
        at, index = end, bisect_right(releases, end, key=lambda release: release[0])
        while index and at > start and self._steps < _MOST_STEPS and len(seen) <= _MOST_THREADS_DEEP:
            index -= 1
            self._steps += 1
            released, held, worker = releases[index]
            if released <= start:
                break
            from_, to = max(held, start), min(released, at)
            if worker.number in seen or to <= from_:
                continue
            self.tree.charge(leaf, at - to)
            self._add(worker, from_, to, self.tree.below(leaf, worker.name), (*seen, worker.number))
            if len(seen) == 1:
                self.spliced += to - from_
            at = from_
        self.tree.charge(leaf, at - start)

    def _frame_at(self, thread: Thread, t: int) -> int:
        ends = self._ends[thread.number]
        # A wait begins where a piece ends, so the piece before counts.
        index = bisect_left(ends, t)
        return thread.pieces[index].frame if index < len(ends) and thread.pieces[index].start <= t else 0

    def _node(self, thread: Thread, frame: int, under: int) -> int:
        node = under
        for name in thread.path(frame):
            node = self.tree.below(node, name)
        return node
