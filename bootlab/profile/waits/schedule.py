"""Who was on which CPU when, and who was not: the switches of a profile as intervals that can be looked up.

Runs (a task on a CPU) and gaps (a task off its CPU, `off_cpu.find_off_cpu`) of one task alternate and tile its life,
from when it was first seen to its end or the profile's.
"""

from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import NONE, EventKind, Integers, Records
from bootlab.profile.waits.off_cpu import Reason, find_off_cpu

RUN: Final = np.dtype(
    [
        ("task", "<u4"),
        ("vcpu", "<u2"),
        ("flags", "<u2"),  # SwitchFlag of the switch that ended it; 0 at the profile's end
        ("node", "<u4"),  # where it left off; 0 at the profile's end
        ("previous", "<u4"),  # the task that had this CPU before; NONE for a CPU's first
        ("start_ns", "<i8"),
        ("end_ns", "<i8"),
        ("start_instructions", "<i8"),
        ("end_instructions", "<i8"),
    ]
)


_KTHREADD_PID: Final = 2


class Gap(NamedTuple):
    """A stretch off the CPU, as in `off_cpu.OFF_CPU`; `row` is its place there."""

    row: int
    task: int
    node: int
    start_ns: int
    woken_ns: int
    end_ns: int
    wake: int
    reason: Reason
    open: bool


_GAP_FIELDS: Final = ("task", "node", "start_ns", "woken_ns", "end_ns", "wake", "reason", "open")


def find_runs(profile: Profile) -> Records:
    """Return every stretch in which a task had a CPU, as RUN records in the order they began.

    The first task of a CPU has it from when that task was first seen. Instructions are those of all vCPUs.
    """
    switches = profile.switches
    parts = [_runs_of(profile, vcpu) for vcpu in np.unique(switches["vcpu"]).tolist()]
    if not parts:
        return np.zeros(0, dtype=RUN)
    runs = np.concatenate(parts)
    return runs[np.argsort(runs["start_ns"], kind="stable")]


def _runs_of(profile: Profile, vcpu: int) -> Records:
    switches = profile.switches[profile.switches["vcpu"] == vcpu]
    first = int(switches["previous"][0])
    started = profile.tasks[first].started_ns if first != NONE else int(switches["t_ns"][0])
    runs = np.zeros(len(switches) + 1, dtype=RUN)
    runs["vcpu"] = vcpu
    runs["task"][0] = first
    runs["task"][1:] = switches["next"]
    runs["previous"][0] = NONE
    runs["previous"][1:] = switches["previous"]
    runs["start_ns"][0] = min(started, int(switches["t_ns"][0]))
    runs["start_ns"][1:] = switches["t_ns"]
    runs["end_ns"][:-1] = switches["t_ns"]
    runs["end_ns"][-1] = max(profile.end_ns, int(switches["t_ns"][-1]))
    # Exact while there is one CPU: what was not idle ran.
    start, end = runs["start_ns"][:1], switches["t_ns"][:1]
    before = end - start - idle_between(profile, start, end)
    runs["start_instructions"][0] = int(switches["instructions"][0]) - (int(before[0]) >> profile.shift)
    runs["start_instructions"][1:] = switches["instructions"]
    runs["end_instructions"][:-1] = switches["instructions"]
    runs["end_instructions"][-1] = profile.end_instructions
    runs["node"][:-1] = switches["previous_node"]
    runs["flags"][:-1] = switches["flags"]
    return runs


def find_kernel_threads(profile: Profile) -> frozenset[int]:
    """Return the tasks that descend from kthreadd and never executed a program, nor descend from one that did."""
    programs = {event.task for event in profile.events if event.kind == EventKind.EXEC}
    kernel: set[int] = set()
    for task in profile.tasks:
        if task.number in programs or task.pid == 0:
            continue
        if task.pid == _KTHREADD_PID or task.parent in kernel:
            kernel.add(task.number)
    return frozenset(kernel)


class Schedule:
    """The runs and gaps of one profile, by task."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.runs = find_runs(profile)
        self.gaps = find_off_cpu(profile)

    @cached_property
    def idle_tasks(self) -> frozenset[int]:
        """The tasks that a CPU runs when there is nothing to do. The first of them has booted the kernel before."""
        return frozenset(task.number for task in self.profile.tasks if task.pid == 0)

    @cached_property
    def kernel_threads(self) -> frozenset[int]:
        """The tasks that never ran a program, `find_kernel_threads`."""
        return find_kernel_threads(self.profile)

    @cached_property
    def boot_task(self) -> int | None:
        """The task that was there before all others; None when no task was seen."""
        if len(self.profile.switches):
            first = int(self.runs["task"][0])
            return None if first == NONE else first
        return 0 if self.profile.tasks else None

    def idles(self, task: int, t_ns: int) -> bool:
        """Say whether a task that has a CPU then has it for want of others, as an idle task has but while it boots."""
        return task in self.idle_tasks and (task != self.boot_task or t_ns >= self._booted_ns)

    @cached_property
    def _booted_ns(self) -> int:
        # When the boot's first task first made room for another.
        return int(self.runs["end_ns"][0]) if len(self.runs) else self.profile.end_ns

    @cached_property
    def _gaps_by_task(self) -> dict[int, tuple[list[int], Integers]]:
        return _by_task(self.gaps)

    @cached_property
    def _runs_by_task(self) -> dict[int, tuple[list[int], Integers]]:
        return _by_task(self.runs)

    @cached_property
    def _runs_by_vcpu(self) -> dict[int, tuple[list[int], list[int], list[int]]]:
        # Starts, tasks and ends.
        result = {}
        for vcpu in np.unique(self.runs["vcpu"]).tolist():
            runs = self.runs[self.runs["vcpu"] == vcpu]
            result[vcpu] = (runs["start_ns"].tolist(), runs["task"].tolist(), runs["end_ns"].tolist())
        return result

    @cached_property
    def _gap_rows(self) -> list[tuple[int, int, int, int, int, int, int, bool]]:
        # A row of a structured array costs ten times as much to look at as a tuple.
        rows: list[tuple[int, int, int, int, int, int, int, bool]] = self.gaps[list(_GAP_FIELDS)].tolist()
        return rows

    def gap(self, index: int) -> Gap:
        """Return a row of `gaps`."""
        task, node, start_ns, woken_ns, end_ns, wake, reason, is_open = self._gap_rows[index]
        return Gap(index, task, node, start_ns, woken_ns, end_ns, wake, Reason(reason), is_open)

    def gap_before(self, task: int, t_ns: int) -> Gap | None:
        """Return the last gap of a task that began before a time; None when it had none by then."""
        starts, rows = self._gaps_by_task.get(task, ([], np.zeros(0, dtype=np.int64)))
        place = bisect_left(starts, t_ns)
        return self.gap(int(rows[place - 1])) if place else None

    def gaps_of(self, task: int) -> Records:
        """Return all gaps of a task in order of time."""
        _, rows = self._gaps_by_task.get(task, ([], np.zeros(0, dtype=np.int64)))
        return self.gaps[rows]

    def runs_of(self, task: int) -> Records:
        """Return all runs of a task in order of time."""
        _, rows = self._runs_by_task.get(task, ([], np.zeros(0, dtype=np.int64)))
        return self.runs[rows]

    def run_at(self, task: int, t_ns: int) -> Records | None:
        """Return the last run (one RUN record) of a task that began at or before a time; None when it had not run."""
        starts, rows = self._runs_by_task.get(task, ([], np.zeros(0, dtype=np.int64)))
        place = bisect_right(starts, t_ns)
        return self.runs[rows[place - 1]] if place else None

    def running(self, vcpu: int, start_ns: int, end_ns: int) -> list[tuple[int, int, int]]:
        """Return (task, start_ns, end_ns) of who had a CPU between two times, clipped to them."""
        starts, tasks, ends = self._runs_by_vcpu.get(vcpu, ([], [], []))
        result = []
        for place in range(max(bisect_right(starts, start_ns) - 1, 0), bisect_left(starts, end_ns)):
            low, high = max(starts[place], start_ns), min(ends[place], end_ns)
            if low < high:
                result.append((tasks[place], low, high))
        return result

    def runner_at(self, t_ns: int) -> int | None:
        """Return the task that had got a CPU last before a time; None before any had."""
        place = int(np.searchsorted(self.runs["start_ns"], t_ns, side="left"))
        task = int(self.runs["task"][place - 1]) if place else NONE
        return None if task == NONE else task

    @cached_property
    def vcpus(self) -> list[int]:
        """The CPUs that switched at least once."""
        return sorted(self._runs_by_vcpu)

    @cached_property
    def makers(self) -> dict[int, int]:
        """For each task that is known to have been forked, the task that did it."""
        known = {task.number: task.parent for task in self.profile.tasks if task.parent is not None}
        return known | {event.a: event.task for event in self.profile.events if event.kind == EventKind.FORK}

    def label(self, task: int, t_ns: int) -> str:
        """Return `NAME-PID` of a task as it was at a time; `?` for one that is not known."""
        name = self.name(task, t_ns)
        return f"{name}-{self.profile.tasks[task].pid}" if name else "?"

    def name(self, task: int, t_ns: int) -> str:
        """Return the name of a task at a time, "" for one that is not known.

        A kernel thread begins with its maker's name and is given its own a moment later, so it always has its last one.
        """
        if not 0 <= task < len(self.profile.tasks):
            return ""
        known = self.profile.tasks[task]
        return known.name if self._keeps_name[task] else known.name_at(t_ns)

    @cached_property
    def _keeps_name(self) -> list[bool]:
        return [len(task.names) == 1 or task.number in self.kernel_threads for task in self.profile.tasks]


def _by_task(rows: Records) -> dict[int, tuple[list[int], Integers]]:
    order = np.lexsort((rows["start_ns"], rows["task"]))
    return {task: (rows["start_ns"][piece].tolist(), piece) for task, piece in group(rows["task"], order).items()}


def group(keys: NDArray[np.integer], order: Integers) -> dict[int, Integers]:
    """Return for each key the row numbers in `order` that have it; `order` brings equal keys together."""
    if not len(order):
        return {}
    found, first = np.unique(keys[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, first[1:]), strict=True))


def covered(starts: Integers, ends: Integers, at: Integers) -> Integers:
    """Return for each time how much of what is before it lies in the intervals, sorted ones that do not overlap."""
    total = np.r_[0, np.cumsum(ends - starts)].astype(np.int64)
    place = np.searchsorted(starts, at, side="right")
    before = np.maximum(place - 1, 0)
    if not len(starts):
        return np.zeros(len(at), dtype=np.int64)
    open_part = np.minimum(at, ends[before]) - starts[before]
    return np.where(place > 0, total[before] + open_part, 0)


def idle_between(profile: Profile, starts: Integers, ends: Integers) -> Integers:
    """Return for each pair of times how long the machine was idle in between."""
    idles = np.sort(profile.idles, order="start_ns")
    low, high = idles["start_ns"], idles["end_ns"]
    return covered(low, high, ends) - covered(low, high, starts)


def union(starts: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """Return intervals, which may overlap, as sorted ones that do not and cover the same time."""
    some = np.flatnonzero(ends > starts)
    order = some[np.argsort(starts[some], kind="stable")]
    if not len(order):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    low, high = starts[order], np.maximum.accumulate(ends[order])
    first = np.r_[True, low[1:] > high[:-1]]
    return low[first], high[np.r_[np.flatnonzero(first)[1:] - 1, len(high) - 1]]
