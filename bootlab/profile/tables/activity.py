"""What the machine did in each phase: CPU, idle time and I/O, and what bound it; interrupts, devices, threads.

A phase is bound by what it spent more than half of its time on: by the CPU if at least half of it was executing, busy
waits apart; else by I/O if for at least half of its waiting a request to a block device was under way; else by waiting.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Integers
from bootlab.profile.tables.block_io import Request
from bootlab.profile.tables.interrupts import CpuShare, InterruptCosts
from bootlab.profile.tables.plain_data import Result
from bootlab.profile.tables.processes import task_roots
from bootlab.profile.tables.programs import ProgramCosts, ProgramShare
from bootlab.profile.waits.busy import BusyWait, BusyWaits
from bootlab.profile.waits.schedule import covered, union
from bootlab.profile.waits.sleeps import WaitTable
from bootlab.timeline import marks as m
from bootlab.timeline.phases import Phase, cut, unfinished

RULE: Final = (
    "cpu: executing for at least half of the phase, busy waits apart; "
    "else io: a block request under way, or the card waited for, for at least half of its waiting; else wait"
)
"""How `bound` is decided, for a reader of a table."""

_Intervals = tuple[Integers, Integers]


class Bound(StrEnum):
    """What a phase would be shorter without."""

    CPU = "cpu"
    IO = "io"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class DeviceActivity(Result):
    """Requests of one kind to one disk, by when they were issued. `in_flight_ns`: of the phase, with any under way."""

    disk: str
    operation: str
    requests: int
    bytes: int
    in_flight_ns: int


@dataclass(frozen=True, slots=True)
class ThreadActivity(Result):
    """A task's instructions in a phase. `borrowed_instructions`: those of them that interrupts executed.

    `work`: a worker's functions, most expensive first, at most three.
    """

    task: int
    name: str
    is_kernel_thread: bool
    instructions: int
    borrowed_instructions: int
    share: float
    work: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PhaseActivity(Result):
    """One phase. `busy_ns + idle_ns` is its duration. `io_ns`: with a block request under way; `idle_io_ns`: and idle.

    `busy_wait_ns`: of `busy_ns`, what executed only to wait; `busy_wait_io_ns`: of that, for a bootloader's card.

    `interrupts`, `exceptions`, `handlers`, `softirqs`, `works`, `threads`: most instructions first; the kinds overlap,
    a handler is part of its interrupt. `exact`: marks cut the profile at both ends of the phase; if not, these lists
    hold what was executed from the first cut in the phase to the first one behind it. `programs`: what each program
    executed ahead of the kernel, a driver of UEFI, a loader, a stage, most instructions first.
    """

    name: str
    start_ns: int
    end_ns: int
    instructions: int
    busy_ns: int
    idle_ns: int
    io_ns: int
    idle_io_ns: int
    busy_wait_ns: int
    busy_wait_io_ns: int
    bound: Bound
    exact: bool
    devices: tuple[DeviceActivity, ...]
    interrupts: tuple[CpuShare, ...]
    exceptions: tuple[CpuShare, ...]
    handlers: tuple[CpuShare, ...]
    softirqs: tuple[CpuShare, ...]
    works: tuple[CpuShare, ...]
    threads: tuple[ThreadActivity, ...]
    programs: tuple[ProgramShare, ...]

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class Activity(Result):
    """The phases from power-on to ready, or to the profile's end, earliest first. `rule`: how `bound` was decided.

    `busy_waits`: of all of them, by place, longest first. `timings`: the system's own stretches, in its order.
    """

    phases: tuple[PhaseActivity, ...]
    busy_waits: tuple[BusyWait, ...]
    rule: str
    timings: tuple[PhaseActivity, ...] = ()


def find_activity(
    profile: Profile,
    marks: Mapping[str, int],
    *,
    table: WaitTable | None = None,
    timings: Mapping[str, tuple[str, str]] | None = None,
) -> Activity:
    """Return the activity in each standard phase. `marks`: name -> ns since power-on.

    Of a boot that was never ready the last phase goes on to the profile's end. `table`: of this profile, if the caller
    has one. `timings`: name -> the marks that it lies between; left out where the boot has not both, in this order.
    """
    finder = _Finder(table or WaitTable(profile))
    marks = {m.POWER_ON: 0, **marks}
    phases = cut(marks)
    if (last := unfinished(marks, profile.end_ns)) is not None:
        phases.append(last)
    end_ns = phases[-1].end_ns if phases else 0
    seen = [number for number, piece in enumerate(profile.slices) if piece.start_ns < end_ns]
    stretches = [
        Phase(name, begin, end, marks[begin], marks[end])
        for name, (begin, end) in (timings or {}).items()
        if begin in marks and end in marks and marks[begin] < marks[end]
    ]
    return Activity(
        tuple(finder.phase(phase) for phase in phases),
        finder.busy_waits.list_waits(seen),
        RULE,
        tuple(finder.phase(stretch) for stretch in stretches),
    )


class _Finder:
    def __init__(self, table: WaitTable) -> None:
        profile, requests = table.profile, table.requests
        self.profile = profile
        self.schedule = table.schedule
        self.requests = requests
        self.costs = InterruptCosts(profile)
        self.programs = ProgramCosts(profile)
        self.busy_waits = BusyWaits(profile, self.costs)
        self.owner = task_roots(profile)
        idles = np.sort(profile.idles, order="start_ns")
        self.idle: _Intervals = (idles["start_ns"], idles["end_ns"])
        self.io: _Intervals = union(*_flights(requests))
        self.idle_io = _common(self.idle, self.io)

    def phase(self, phase: Phase) -> PhaseActivity:
        start, end = phase.start_ns, phase.end_ns
        slices = [n for n, piece in enumerate(self.profile.slices) if start <= piece.start_ns < end]
        idle, io, idle_io = (_within(what, start, end) for what in (self.idle, self.io, self.idle_io))
        busy_wait, busy_wait_io = self.busy_waits.spent_ns(slices)
        edges = {edge for piece in self.profile.slices for edge in (piece.start_ns, piece.end_ns)}
        costs = self.costs
        return PhaseActivity(
            name=phase.name,
            start_ns=start,
            end_ns=end,
            instructions=(end - start - idle) >> self.profile.shift,
            busy_ns=end - start - idle,
            idle_ns=idle,
            io_ns=io,
            idle_io_ns=idle_io,
            busy_wait_ns=busy_wait,
            busy_wait_io_ns=busy_wait_io,
            bound=_bound(end - start, idle + busy_wait, idle_io + busy_wait_io),
            exact={start, end} <= edges,
            devices=_devices(self.requests, start, end),
            interrupts=costs.shares(costs.interrupt, slices, end - start),
            exceptions=costs.shares(costs.exception, slices, end - start),
            handlers=costs.shares(costs.handler, slices, end - start),
            softirqs=costs.shares(costs.softirq, slices, end - start),
            works=costs.shares(costs.work, slices, end - start),
            threads=self._threads(slices, end),
            programs=self.programs.shares(slices),
        )

    def _threads(self, slices: Sequence[int], end_ns: int) -> tuple[ThreadActivity, ...]:
        profile = self.profile
        spent, borrowed = (np.zeros(len(profile.tasks), dtype=np.int64) for _ in range(2))
        work: dict[tuple[int, int], int] = defaultdict(int)
        for index in slices:
            weights = profile.slices[index].weights
            weights = weights[self.owner[weights["node"]] >= 0]
            tasks, nodes, cost = self.owner[weights["node"]], weights["node"], weights["instructions"]
            np.add.at(spent, tasks, cost)
            lent = self.costs.interrupt.function[nodes] >= 0
            np.add.at(borrowed, tasks[lent], cost[lent])
            worked = self.costs.work.function[nodes] >= 0
            columns = (tasks[worked].tolist(), self.costs.work.function[nodes[worked]].tolist(), cost[worked].tolist())
            for task, function, instructions in zip(*columns, strict=True):
                work[task, function] += instructions
        total = sum(int(profile.slices[index].weights["instructions"].sum()) for index in slices)
        works: dict[int, list[str]] = defaultdict(list)
        for (task, function), _ in sorted(work.items(), key=lambda item: (-item[1], item[0])):
            works[task].append(profile.names[function])
        rows = [
            ThreadActivity(
                number,
                self.schedule.label(number, end_ns),
                number in self.schedule.kernel_threads,
                int(spent[number]),
                int(borrowed[number]),
                int(spent[number]) / total if total else 0.0,
                tuple(works[number][:3]),
            )
            for number in np.flatnonzero(spent).tolist()
        ]
        return tuple(sorted(rows, key=lambda row: (-row.instructions, row.task)))


def _bound(duration_ns: int, waiting_ns: int, waiting_io_ns: int) -> Bound:
    if 2 * waiting_ns <= duration_ns:
        return Bound.CPU
    return Bound.IO if 2 * waiting_io_ns >= waiting_ns else Bound.WAIT


def _devices(requests: Sequence[Request], start_ns: int, end_ns: int) -> tuple[DeviceActivity, ...]:
    kinds = sorted({(request.disk, request.operation) for request in requests})
    rows = []
    for disk, operation in kinds:
        mine = [request for request in requests if (request.disk, request.operation) == (disk, operation)]
        issued = [request for request in mine if start_ns <= request.issued_ns < end_ns]
        in_flight = _within(union(*_flights(mine)), start_ns, end_ns)
        if issued or in_flight:
            size = sum(request.bytes for request in issued)
            rows.append(DeviceActivity(disk, operation, len(issued), size, in_flight))
    return tuple(rows)


def _flights(requests: Sequence[Request]) -> _Intervals:
    times = [(request.issued_ns, request.done_ns) for request in requests if request.done_ns is not None]
    array = np.array(times, dtype=np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def _within(intervals: _Intervals, low_ns: int, high_ns: int) -> int:
    low, high = covered(*intervals, np.array([low_ns, high_ns], dtype=np.int64)).tolist()
    return int(high - low)


def _common(one: _Intervals, other: _Intervals) -> _Intervals:
    # Time in both, from sorted intervals that do not overlap: between any two edges both are either on or off.
    edges = np.unique(np.concatenate([*one, *other]))
    if len(edges) < 2:
        return edges[:0], edges[:0]
    both = [np.diff(covered(*intervals, edges)) > 0 for intervals in (one, other)]
    inside = np.flatnonzero(both[0] & both[1])
    return edges[:-1][inside], edges[1:][inside]
