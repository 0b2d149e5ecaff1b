"""The critical path: from power-on to ready as one chain of running and waiting, found backwards from who said ready.

A task that runs is followed back to where it began to run; one that slept, to whoever woke it, who was running then.
The next task to run has nothing to do with it. Two rules keep the chain to what the boot really waited for:

- A task that could run and had no CPU, because one of those who wait for it (further on in the chain) was running until
  it went to wait: the chain goes on with that one. Its work was needed anyway and held the other up.
- A kernel thread without work does not wait. When an interrupt gives it some, the chain goes on with who waits for it.

What an interrupt ends is the wait itself: a timer's, a grace period's, or a device's request from when it was issued.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bootlab.errors import InputError
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.tables.plain_data import Result
from bootlab.profile.tree.time_on_cpu import Frame, RunningTime
from bootlab.profile.waits.chain import Link, LinkKind, find_chain, find_task_at
from bootlab.profile.waits.off_cpu import Reason
from bootlab.profile.waits.schedule import Gap, idle_between
from bootlab.profile.waits.sleep_reasons import WaitKind
from bootlab.profile.waits.sleeps import Wait, WaitTable
from bootlab.profile.waits.wake_reasons import WakeKind
from bootlab.timeline import marks as m


@dataclass(frozen=True, slots=True)
class PathSegment(Result):
    """A stretch of the critical path. `task`, `name`: whose it is; None and the stage's name before there are tasks.

    `what`: in one line, where it ran or what it waited for. `frames`: where most of the time went, of the task if it
    ran, of those who had the CPU instead if it could have; longest first, not all. `idle_ns`: how long the machine had
    nothing to do in it. `wait`: the wait it is part of, None unless `kind` is waiting. `node`: where the task slept or
    was left off; None where that is not known.
    """

    start_ns: int
    end_ns: int
    kind: LinkKind
    task: int | None
    name: str
    what: str
    node: int | None
    frames: tuple[Frame, ...]
    idle_ns: int
    wait: Wait | None

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class SegmentGroup(Result):
    """A part of the critical path that has one reason. `name`: of the tasks, without their pids.

    running: `what` is what was run for (an initcall, a worker's function, a system call, a thread's function).
    runnable: `name` and `what` are of those who had the CPU instead. waiting: `what` was waited for.
    `count`: of segments it is in.
    """

    kind: LinkKind
    name: str
    what: str
    count: int
    total_ns: int
    idle_ns: int


@dataclass(frozen=True, slots=True)
class CriticalPath(Result):
    """Segments from power-on to `ready_ns`, earliest first; they tile it, so their durations add up to it exactly.

    `ready`: whether the boot was ready then; else the path is that of the profile's end. `task`: who said ready.
    `totals`: ns of each kind. `groups`: the path by reason, longest first; their totals add up to it as well.
    """

    ready_ns: int
    ready: bool
    task: int | None
    totals: Mapping[LinkKind, int]
    groups: tuple[SegmentGroup, ...]
    segments: tuple[PathSegment, ...]
    _node_ns: Mapping[int, int]

    @property
    def node_ns(self) -> Mapping[int, int]:
        """Node -> ns on the path in which it was the innermost recorded frame.

        In running segments, all of them; and in runnable ones, of those who had the CPU instead.
        """
        return self._node_ns

    def longest(self, limit: int) -> tuple[PathSegment, ...]:
        """Return up to `limit` segments, longest first."""
        return tuple(sorted(self.segments, key=lambda s: (-s.duration_ns, s.start_ns))[:limit])

    def grouped(self) -> tuple[SegmentGroup, ...]:
        """Return the path's segments added up by what they are: `groups`, which is worked out with the path."""
        return self.groups


def find_critical_path(
    profile: Profile, marks: Mapping[str, int], *, task: int | None = None, table: WaitTable | None = None
) -> CriticalPath:
    """Return the critical path up to the mark `ready`, or to the profile's end if there is none.

    `marks`: name -> ns since power-on. `task`: who said ready; None for whoever was running then. `table`: of this
    profile, if the caller has one. Raises InputError when ready lies behind the profile's end.
    """
    table = table or WaitTable(profile)
    ready_ns = marks.get(m.READY, profile.end_ns)
    if not 0 <= ready_ns <= profile.end_ns:
        raise InputError(
            f"the profile ends at {profile.end_ns} ns, before ready at {ready_ns} ns", hint="is it of the same boot?"
        )
    if task is None:
        task = find_task_at(table, ready_ns)
    links = _stages(table, marks, ready_ns)
    floor_ns = links[-1].end_ns if links else 0
    if task is not None:
        links += find_chain(table, task, floor_ns, ready_ns)
    elif floor_ns < ready_ns:
        links.append(Link(floor_ns, ready_ns, LinkKind.RUNNING, None))
    _check_tiling(links, ready_ns)
    writer = _Writer(table)
    segments = writer.segments(links)
    totals = {kind: sum(s.duration_ns for s in segments if s.kind is kind) for kind in LinkKind}
    return CriticalPath(ready_ns, m.READY in marks, task, totals, writer.groups(), segments, writer.node_ns)


_STAGES: Final = (
    (m.SPL_ENTRY, LinkKind.SPL),
    (m.OPENSBI_ENTRY, LinkKind.OPENSBI),
    (m.UBOOT_ENTRY, LinkKind.UBOOT),
    (m.LOADER_ENTRY, LinkKind.LOADER),
    (m.IMAGE_ENTRY, LinkKind.DECOMPRESSOR),
)
"""What runs behind the firmware and before the kernel, by the mark that it begins with."""


def _stages(table: WaitTable, marks: Mapping[str, int], ready_ns: int) -> list[Link]:
    # The boot's first task begins with the kernel, whatever the profile saw of it first.
    boot = table.schedule.boot_task
    first_seen = ready_ns if boot is None else table.profile.tasks[boot].started_ns
    kernel_ns = min(marks.get(m.KERNEL_ENTRY, first_seen), ready_ns)
    begun = [(min(marks[mark], kernel_ns), kind) for mark, kind in _STAGES if mark in marks]
    stages = [(0, LinkKind.FIRMWARE), *begun]
    ends = [start_ns for start_ns, _ in begun] + [kernel_ns]
    return [Link(start, end, kind, None) for (start, kind), end in zip(stages, ends, strict=True) if start < end]


def _check_tiling(links: Sequence[Link], ready_ns: int) -> None:
    edges = [0, *(link.end_ns for link in links)]
    assert [link.start_ns for link in links] == edges[:-1] and edges[-1] == ready_ns, "the critical path has a hole"


_Reason = tuple[LinkKind, str, str]


class _Writer:
    def __init__(self, table: WaitTable) -> None:
        self.table = table
        self.schedule = table.schedule
        self.running = RunningTime(table.profile)
        self.node_ns: Counter[int] = Counter()
        self.ns: Counter[_Reason] = Counter()
        self.idle_ns: Counter[_Reason] = Counter()
        self.count: Counter[_Reason] = Counter()

    def segments(self, links: Sequence[Link]) -> tuple[PathSegment, ...]:
        times = np.array([[link.start_ns, link.end_ns] for link in links], dtype=np.int64).reshape(-1, 2)
        idle = idle_between(self.table.profile, times[:, 0], times[:, 1]).tolist()
        return tuple(self._segment(link, idle_ns) for link, idle_ns in zip(links, idle, strict=True))

    def groups(self) -> tuple[SegmentGroup, ...]:
        rows = [SegmentGroup(*reason, self.count[reason], ns, self.idle_ns[reason]) for reason, ns in self.ns.items()]
        return tuple(sorted(rows, key=lambda row: (-row.total_ns, row.kind, row.name, row.what)))

    def _segment(self, link: Link, idle_ns: int) -> PathSegment:
        name = link.kind.value if link.task is None else self.schedule.label(link.task, link.start_ns)
        gap = None if link.gap is None else self.schedule.gap(link.gap)
        wait: Wait | None = None
        reasons: Counter[_Reason] = Counter()
        if link.task is None:
            what, frames = self._stage(link)
            reasons[link.kind, link.kind.value, what] += link.end_ns - link.start_ns
        elif gap is None:
            nodes = self._add_running(link, link.task, link.start_ns, link.end_ns, reasons)
            what, frames = self.running.explain(nodes)
        elif link.kind is LinkKind.WAITING:
            wait = self.table.wait(gap.row)
            what, frames = _wait_in_words(self.table, wait, link), ()
            reasons[link.kind, self.schedule.name(link.task, link.start_ns), what] += link.end_ns - link.start_ns
        else:
            what, frames = self._runnable(gap, link, reasons)
        self.ns.update(reasons)
        self.count.update(reasons.keys())
        if idle_ns:
            self.idle_ns[reasons.most_common(1)[0][0]] += idle_ns
        node = None if gap is None else gap.node
        return PathSegment(link.start_ns, link.end_ns, link.kind, link.task, name, what, node, frames, idle_ns, wait)

    def _add_running(
        self, link: Link, task: int, start_ns: int, end_ns: int, reasons: Counter[_Reason]
    ) -> Counter[int]:
        nodes = self.running.nodes(task, start_ns, end_ns)
        name = self.schedule.name(task, start_ns)
        for node, ns in nodes.items():
            self.node_ns[node] += ns
            reasons[link.kind, name, self.running.context(node)] += ns
        return nodes

    def _stage(self, link: Link) -> tuple[str, tuple[Frame, ...]]:
        # Exact where marks cut the profile at both ends of the stage, which they do.
        nodes: Counter[int] = Counter()
        for piece in self.table.profile.slices:
            if link.start_ns <= piece.start_ns and piece.end_ns <= link.end_ns:
                weights = piece.weights
                for node, count in zip(weights["node"].tolist(), weights["instructions"].tolist(), strict=True):
                    nodes[node] += count << self.table.profile.shift
        what, frames = self.running.explain(nodes)
        return what.rpartition(": ")[2] or link.kind.value, frames

    def _runnable(self, gap: Gap, link: Link, reasons: Counter[_Reason]) -> tuple[str, tuple[Frame, ...]]:
        run = self.schedule.run_at(gap.task, gap.end_ns)
        held = 0
        nodes: Counter[int] = Counter()
        for task, start, end in self.schedule.running(int(run["vcpu"]) if run else 0, link.start_ns, link.end_ns):
            if self.schedule.idles(task, start):
                continue
            held += end - start
            for node, ns in self._add_running(link, task, start, end, reasons).items():
                nodes[node] += ns
        rest = link.end_ns - link.start_ns - held
        if rest:
            reasons[link.kind, self.schedule.name(gap.task, link.start_ns), _TAKEN_UP] += rest
        words = _GAP_WORDS[gap.reason]
        if not held:
            return f"{words}; {_TAKEN_UP}", ()
        (_, name, context), most = max(reasons.items(), key=lambda item: (item[1], item[0]))
        who = name if context in ("", name) else f"{name}, {context}"
        others = " and others" if 10 * most < 9 * held else ""
        _, frames = self.running.explain(nodes)
        return f"{words}; {who}{others} had the CPU", frames


_TAKEN_UP = "an idle CPU takes it up"
_GAP_WORDS = {Reason.SLEEP: "woken", Reason.PREEMPTED: "preempted", Reason.NEW: "new"}


def _wait_in_words(table: WaitTable, wait: Wait, link: Link) -> str:
    # The functions between a system call and its sleep say nothing that its name does not.
    how = wait.kind.value if wait.context_kind == "syscall" and wait.caller == wait.context else wait.function
    words = f"{wait.caller}: {how or wait.kind.value}" if wait.caller else wait.kind.value
    if link.interrupt is not None:
        cause = table.wake_cause(link.interrupt)
        return f"{words}, for {cause.function} ({cause.kind.value})"
    waker = wait.waker
    if waker is None or waker.kind is WakeKind.TASK or wait.kind in (WaitKind.SLEEP, WaitKind.RCU):
        return words
    return (
        f"{words}, {waker.request.disk} {waker.request.operation}" if waker.request else f"{words}, {waker.kind.value}"
    )
