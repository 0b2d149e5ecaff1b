"""Every process and kernel thread: when it was made, what it ran, how it ended, what it did at every moment between.

All of it follows from the scheduler's own switches, so short processes are there as well and the CPU time is exact.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.profile import Profile, Task
from bootlab.profile.recorded.record_types import EventKind, Integers, Records, Space
from bootlab.profile.tables.block_io import Request
from bootlab.profile.tables.plain_data import Result
from bootlab.profile.waits.off_cpu import Reason
from bootlab.profile.waits.schedule import covered, group, union
from bootlab.profile.waits.sleep_reasons import WaitKind
from bootlab.profile.waits.sleeps import WaitTable


class State(IntEnum):
    """What a task does in a stretch of its life."""

    RUNNING = 0
    RUNNABLE = 1
    """It could run and has no CPU."""
    WAITING = 2
    IO = 3
    """It waits for a device's request."""
    SLEEPING = 4
    """A kernel thread without work."""


STATE: Final = np.dtype([("start_ns", "<i8"), ("end_ns", "<i8"), ("task", "<u4"), ("state", "<u1")])


@dataclass(frozen=True, slots=True)
class Process(Result):
    """A task's life. `parent`: who forked it, None if unknown. `name`: its last; `names`: (ns, name) of each it had.

    `programs`: (ns, path) of each it executed; `commands`: (ns, words), its command line of each. `is_thread`: of a
    process whose first thread is another task.
    `exited_ns`: None while it lives; `exit_status` or `exit_signal` then says how it ended, if that was seen.
    `instructions`: executed, interrupts that borrowed it included. `sleeping_ns`: as a kernel thread without work.
    The ns of the five states add up to its life, from when it could first run to its exit or the profile's end.
    """

    task: int
    pid: int
    tgid: int
    parent: int | None
    name: str
    names: tuple[tuple[int, str], ...]
    programs: tuple[tuple[int, str], ...]
    commands: tuple[tuple[int, tuple[str, ...]], ...]
    is_thread: bool
    started_ns: int
    exited_ns: int | None
    exit_status: int | None
    exit_signal: int | None
    instructions: int
    running_ns: int
    runnable_ns: int
    waiting_ns: int
    io_ns: int
    sleeping_ns: int


@dataclass(frozen=True, slots=True)
class ChartRow(Result):
    """One task in a chart: ns in each state, by bin."""

    task: int
    running_ns: tuple[int, ...]
    runnable_ns: tuple[int, ...]
    waiting_ns: tuple[int, ...]
    io_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chart(Result):
    """Time in bins: bin i is `edges[i]` to `edges[i + 1]` (ns). `busy_ns`, `idle_ns`: of the machine, by bin.

    `io_ns`: with a request to a block device under way. Nothing is sampled: every row is exact, whatever the bins.
    """

    edges: tuple[int, ...]
    rows: tuple[ChartRow, ...]
    busy_ns: tuple[int, ...]
    idle_ns: tuple[int, ...]
    io_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Processes(Result):
    """Processes (and their threads), kernel threads, and CPUs' idle tasks (the first of them booted the kernel)."""

    processes: tuple[Process, ...]
    kernel_threads: tuple[Process, ...]
    idle_tasks: tuple[Process, ...]
    _states: Records
    _idles: Records
    _requests: tuple[Request, ...]

    def states(self, task: int) -> Records:
        """Return what a task did, as STATE records in order of time."""
        chosen: Records = self._states[self._states["task"] == task]
        return chosen

    def chart(self, start_ns: int, end_ns: int, bins: int, tasks: Sequence[int] | None = None) -> Chart:
        """Return the time between two moments in `bins` bins of nearly the same size; `tasks` None is all of them."""
        edges = start_ns + (end_ns - start_ns) * np.arange(bins + 1, dtype=np.int64) // bins
        pieces = group(self._states["task"], np.argsort(self._states["task"], kind="stable"))
        empty = np.zeros(0, dtype=np.int64)
        chosen = sorted(pieces) if tasks is None else tasks
        rows = tuple(_row(task, self._states[pieces.get(task, empty)], edges) for task in chosen)
        idle = np.diff(covered(self._idles["start_ns"], self._idles["end_ns"], edges))
        flights = np.array([(r.issued_ns, r.done_ns) for r in self._requests if r.done_ns is not None], dtype=np.int64)
        flights = flights.reshape(-1, 2)
        io = np.diff(covered(*union(flights[:, 0], flights[:, 1]), edges))
        busy = np.diff(edges) - idle
        return Chart(tuple(edges.tolist()), rows, tuple(busy.tolist()), tuple(idle.tolist()), tuple(io.tolist()))


def _row(task: int, states: Records, edges: Integers) -> ChartRow:
    columns = []
    for state in (State.RUNNING, State.RUNNABLE, State.WAITING, State.IO):
        chosen = states[states["state"] == state]
        columns.append(tuple(np.diff(covered(chosen["start_ns"], chosen["end_ns"], edges)).tolist()))
    return ChartRow(task, *columns)


def find_processes(profile: Profile, *, table: WaitTable | None = None) -> Processes:
    """Return all tasks of a profile, in order of start. `table`: of this profile, if the caller has one."""
    table = table or WaitTable(profile)
    states = find_states(table)
    kernel = table.schedule.kernel_threads
    instructions = task_instructions(profile)
    spent = np.zeros((len(profile.tasks), len(State)), dtype=np.int64)
    np.add.at(spent, (states["task"], states["state"]), states["end_ns"] - states["start_ns"])
    programs: dict[int, list[tuple[int, str]]] = {}
    commands: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
    exits: dict[int, int] = {}
    for event in profile.events:
        if event.kind == EventKind.EXEC:
            programs.setdefault(event.task, []).append((event.t_ns, event.text))
        elif event.kind == EventKind.COMMAND:
            commands.setdefault(event.task, []).append((event.t_ns, tuple(event.text.split("\t"))))
        elif event.kind == EventKind.EXIT:
            exits[event.task] = event.a
    made = [
        _process(task, programs.get(task.number, []), commands.get(task.number, []), exits, instructions, spent)
        for task in sorted(profile.tasks, key=lambda task: (task.started_ns, task.number))
    ]
    idle = table.schedule.idle_tasks
    return Processes(
        tuple(one for one in made if one.task not in kernel and one.task not in idle),
        tuple(one for one in made if one.task in kernel and one.task not in idle),
        tuple(one for one in made if one.task in idle),
        states,
        np.sort(profile.idles, order="start_ns"),
        tuple(table.requests),
    )


def _process(
    task: Task,
    programs: Sequence[tuple[int, str]],
    commands: Sequence[tuple[int, tuple[str, ...]]],
    exits: Mapping[int, int],
    instructions: Integers,
    spent: Integers,
) -> Process:
    code = exits.get(task.number)
    running, runnable, waiting, io, sleeping = spent[task.number].tolist()
    return Process(
        task=task.number,
        pid=task.pid,
        tgid=task.tgid,
        parent=task.parent,
        name=task.name,
        names=task.names,
        programs=tuple(programs),
        commands=tuple(commands),
        is_thread=task.tgid not in (-1, task.pid),
        started_ns=task.started_ns,
        exited_ns=task.exited_ns,
        # The encoding of wait(2).
        exit_status=None if code is None or code & 0x7F else code >> 8 & 0xFF,
        exit_signal=None if code is None else code & 0x7F or None,
        instructions=int(instructions[task.number]),
        running_ns=running,
        runnable_ns=runnable,
        waiting_ns=waiting,
        io_ns=io,
        sleeping_ns=sleeping,
    )


def find_states(table: WaitTable) -> Records:
    """Return what every task did when, as STATE records in order of time. Idle tasks only run."""
    runs, gaps = table.schedule.runs, table.schedule.gaps
    nodes, which = np.unique(gaps["node"], return_inverse=True)
    kinds = {WaitKind.IO: State.IO, WaitKind.IDLE: State.SLEEPING}
    asleep = np.array([kinds.get(table.cause(node).kind, State.WAITING) for node in nodes.tolist()], dtype=np.uint8)
    sleeping = gaps["reason"] == Reason.SLEEP
    parts = [_states(runs["task"], runs["start_ns"], runs["end_ns"], State.RUNNING)]
    if len(gaps):
        sleeps = gaps[sleeping]
        parts.append(_states(sleeps["task"], sleeps["start_ns"], sleeps["woken_ns"], asleep[which][sleeping]))
        low = np.where(sleeping, gaps["woken_ns"], gaps["start_ns"])
        parts.append(_states(gaps["task"], low, gaps["end_ns"], State.RUNNABLE))
    parts.append(_before_first_runs(table, parts))
    states = np.concatenate(parts)
    states = states[(states["start_ns"] < states["end_ns"]) & (states["task"] < len(table.profile.tasks))]
    return states[np.lexsort((states["task"], states["start_ns"]))]


def _before_first_runs(table: WaitTable, parts: Sequence[Records]) -> Records:
    # A task that did next to nothing, or never ran at all, has no stack and so no row among the gaps.
    profile = table.profile
    since = np.full(len(profile.tasks), profile.end_ns, dtype=np.int64)
    for part in parts:
        known = part[part["task"] < len(since)]
        np.minimum.at(since, known["task"], known["start_ns"])
    late = [
        task.number
        for task in profile.tasks
        if task.number not in table.schedule.idle_tasks and task.started_ns < since[task.number]
    ]
    tasks = np.array(late, dtype=np.int64)
    started = np.array([profile.tasks[number].started_ns for number in late], dtype=np.int64)
    return _states(tasks, started, since[tasks], State.RUNNABLE)


def _states(task: NDArray[Any], start: Integers, end: Integers, state: State | NDArray[np.uint8]) -> Records:
    rows = np.zeros(len(task), dtype=STATE)
    rows["task"], rows["start_ns"], rows["end_ns"], rows["state"] = task, start, end, state
    return rows


def task_roots(profile: Profile) -> Integers:
    """Return for each node the task whose stacks it belongs to; -1 for stages and unknown tasks.

    A task that changed its name has a root for each name. Whoever left off, woke or ended a frame below a root owns it;
    a root that nothing happened below goes by the pid in its name.
    """
    top = profile.shape.top
    owner = np.full(len(profile.nodes), -1, dtype=np.int64)
    spaces = profile.spaces[profile.nodes["function"]] if len(profile.nodes) else np.zeros(0, dtype=np.int8)
    by_pid = {task.pid: task.number for task in profile.tasks if task.pid > 0}
    for root in np.flatnonzero((profile.shape.depth == 1) & (spaces == Space.TASK)).tolist():
        pid = profile.names[int(profile.nodes["function"][root])].rpartition("-")[2]
        owner[root] = by_pid.get(int(pid), -1) if pid.isdecimal() else -1
    for rows, node, task in (
        (profile.spans, "node", "task"),
        (profile.wakes, "node", "waker"),
        (profile.switches, "previous_node", "previous"),
    ):
        known = rows[rows[task] < len(profile.tasks)]
        owner[top[known[node]]] = known[task]
    owner[:1] = -1
    return owner[top]


def task_instructions(profile: Profile, slices: Sequence[int] | None = None) -> Integers:
    """Return each task's instructions in the slices with these indexes, None for all; exact on any number of CPUs."""
    owner = task_roots(profile)
    result = np.zeros(len(profile.tasks), dtype=np.int64)
    for index in range(len(profile.slices)) if slices is None else slices:
        weights = profile.slices[index].weights
        tasks = owner[weights["node"]]
        known = tasks >= 0
        np.add.at(result, tasks[known], weights["instructions"][known])
    return result
