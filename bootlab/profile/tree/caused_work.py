"""Finds the work that functions caused in other tasks: what they gave to idle threads, and what they waited for.

Whoever wakes an idle thread, or makes a task, causes what it executes until it has nothing to do again, and so on. And
a function that sleeps causes what runs meanwhile and then wakes it. Both find too much rather than too little: a worker
may go on with work from others before it sleeps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.record_types import NONE, EventKind, Integers, WakeFlag
from bootlab.profile.tree.time_on_cpu import RunningTime
from bootlab.profile.waits.chain import LinkKind, find_chain
from bootlab.profile.waits.off_cpu import Reason
from bootlab.profile.waits.schedule import Gap, union
from bootlab.profile.waits.sleep_reasons import WaitKind
from bootlab.profile.waits.sleeps import WaitTable


@dataclass(frozen=True, slots=True)
class _WorkStretch:
    """From when a task got work to when it had none. `node`, `giver`: where and in which stretch it was given it."""

    task: int
    start_ns: int
    end_ns: int
    node: int
    giver: int


class CausedWork:
    """The tasks of one profile as stretches of work, each with who gave it."""

    def __init__(self, table: WaitTable) -> None:
        self.table = table
        self.running = RunningTime(table.profile)

    def pieces(self, nodes: NDArray[np.bool_], until_ns: int) -> list[tuple[int, int, int]]:
        """Return (task, start_ns, end_ns) of all that others did because of these nodes; none of a task overlap.

        `nodes`: per node of the profile, whether it is one of the functions or below one.
        """
        caused = self._given(nodes)
        found: dict[int, list[tuple[int, int]]] = {}
        for stretch, mine in zip(self._stretches, caused, strict=True):
            if mine:
                found.setdefault(stretch.task, []).append((stretch.start_ns, stretch.end_ns))
        for gap in self._sleeps:
            if nodes[gap.node]:
                for link in find_chain(self.table, gap.task, gap.start_ns, gap.end_ns):
                    if link.task not in (None, gap.task) and link.kind is not LinkKind.RUNNABLE:
                        found.setdefault(link.task or 0, []).append((link.start_ns, link.end_ns))
        return [piece for task, times in sorted(found.items()) for piece in _merged(task, times, until_ns)]

    def beyond(self, nodes: NDArray[np.bool_], until_ns: int) -> int:
        """Return the ns that others executed because of these nodes, outside of them, before `until_ns`."""
        return int(self.node_ns(self.pieces(nodes, until_ns))[~nodes].sum())

    def node_ns(self, pieces: Sequence[tuple[int, int, int]]) -> Integers:
        """Return for each node how long the tasks of `pieces` ran in it then, itself and without what it called."""
        spent = np.zeros(len(self.table.profile.nodes), dtype=np.int64)
        for task, start, end in pieces:
            for run in self.table.schedule.runs_of(task):
                low, high = max(int(run["start_ns"]), start), min(int(run["end_ns"]), end)
                if low < high:
                    for node, ns in self.running.nodes(task, low, high).items():
                        spent[node] += ns
        return spent

    def _given(self, nodes: NDArray[np.bool_]) -> list[bool]:
        caused: list[bool] = []
        for stretch in self._stretches:
            caused.append(bool(nodes[stretch.node]) or (stretch.giver >= 0 and caused[stretch.giver]))
        return caused

    @cached_property
    def _sleeps(self) -> list[Gap]:
        return [self.table.schedule.gap(index) for index in self.table.sleeps().tolist()]

    @cached_property
    def _stretches(self) -> list[_WorkStretch]:
        # In the order of their beginnings, so that a giver comes before what it gives.
        bare = sorted(self._bare_stretches(), key=lambda one: (one[1], one[0]))
        current: dict[int, int] = {}
        found: list[_WorkStretch] = []
        for task, start, end, node, giver in bare:
            place = current.get(giver, -1)
            if place >= 0 and found[place].end_ns < start:
                place = -1
            found.append(_WorkStretch(task, start, end, node, place))
            current[task] = len(found) - 1
        return found

    def _bare_stretches(self) -> list[tuple[int, int, int, int, int]]:
        # (task, start, end, where it was given, by which task), only of tasks that were given something.
        table, profile = self.table, self.table.profile
        made = {event.a: event for event in profile.events if event.kind == EventKind.FORK}
        found = []
        for task in profile.tasks:
            if task.number in table.schedule.idle_tasks:
                continue
            fork = made.get(task.number)
            since: tuple[int, int, int] | None = (fork.t_ns, fork.node, fork.task) if fork is not None else None
            for row in table.schedule.gaps_of(task.number):
                idles = row["reason"] == Reason.SLEEP and table.cause(int(row["node"])).kind is WaitKind.IDLE
                if not idles:
                    continue
                if since is not None:
                    found.append((task.number, since[0], int(row["start_ns"]), *since[1:]))
                since = self._given_by(int(row["wake"]))
            if since is not None:
                end_ns = profile.end_ns if task.exited_ns is None else task.exited_ns
                found.append((task.number, since[0], max(end_ns, since[0]), *since[1:]))
        return found

    def _given_by(self, wake: int) -> tuple[int, int, int] | None:
        if wake < 0:
            return None
        row = self.table.profile.wakes[wake]
        # An interrupt has merely borrowed the stack that it found.
        if int(row["flags"]) & WakeFlag.IN_INTERRUPT or row["waker"] == NONE:
            return None
        return int(row["t_ns"]), int(row["node"]), int(row["waker"])


def _merged(task: int, times: Sequence[tuple[int, int]], until_ns: int) -> list[tuple[int, int, int]]:
    low, high = (np.minimum(np.array(side, dtype=np.int64), until_ns) for side in zip(*times, strict=True))
    starts, ends = union(low, high)
    return [(task, start, end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
