"""Sums up what each process of a profiled boot cost up to ready, alone and with all that it started.

A cost is what was executed, and the idle time that the task's own waits are blamed for: on the virtual clock either
somebody executes or everybody waits, so costs of different tasks never overlap.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from bootlab.findings.analysis import Analysis
from bootlab.profile.recorded.record_types import Integers
from bootlab.profile.tables.processes import Process
from bootlab.profile.waits.idle_blame import IdleStretch
from bootlab.profile.waits.off_cpu import Reason
from bootlab.profile.waits.schedule import Schedule, covered

_SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "busybox"})
_MOST_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class TaskCost:
    """Nanoseconds of the virtual clock."""

    executed_ns: int = 0
    idle_ns: int = 0

    def __add__(self, other: "TaskCost") -> "TaskCost":
        return TaskCost(self.executed_ns + other.executed_ns, self.idle_ns + other.idle_ns)

    @property
    def ns(self) -> int:
        """Both together."""
        return self.executed_ns + self.idle_ns


class TaskCosts:
    """The processes of one profile, by what they cost up to ready (or to where the boot ended)."""

    def __init__(self, analysis: Analysis) -> None:
        self.until_ns = analysis.end_ns
        everyone = (*analysis.processes.processes, *analysis.processes.kernel_threads)
        self.processes = {one.task: one for one in everyone if one.started_ns < self.until_ns}
        self._schedule = Schedule(analysis.profile)
        self._makers = self._schedule.makers
        self._runs: dict[int, tuple[Integers, Integers]] = {}
        self._idles: dict[int, list[IdleStretch]] = {}
        for stretch in analysis.waits.idles:
            if stretch.wait is not None:
                self._idles.setdefault(stretch.wait.task, []).append(stretch)
        self._children: dict[int, list[int]] = {}
        for task in self.processes:
            if (maker := self._makers.get(task)) is not None:
                self._children.setdefault(maker, []).append(task)

    def cost(self, tasks: Iterable[int], start_ns: int = 0, end_ns: int | None = None) -> TaskCost:
        """Return what these tasks cost between two moments, by default all that they cost up to ready."""
        end_ns = self.until_ns if end_ns is None else min(end_ns, self.until_ns)
        total = TaskCost()
        for task in set(tasks):
            starts, ends = self.running(task)
            low, high = covered(starts, ends, np.array([start_ns, max(start_ns, end_ns)])).tolist()
            idle = sum(
                max(min(one.end_ns, end_ns) - max(one.start_ns, start_ns), 0) for one in self._idles.get(task, ())
            )
            total += TaskCost(high - low, idle)
        return total

    def idles(self, task: int) -> list[IdleStretch]:
        """Return the idle stretches that a task's own waits are blamed for."""
        return self._idles.get(task, [])

    def family(self, task: int) -> set[int]:
        """Return a task and all that it started, that these started, and so on."""
        found, left = set[int](), [task]
        while left:
            one = left.pop()
            if one not in found:
                found.add(one)
                left += self._children.get(one, ())
        return found

    def makers(self, task: int) -> list[Process]:
        """Return who started a task, who started that one, and so on, as far as is known."""
        found: list[Process] = []
        while (maker := self._makers.get(task)) is not None and maker in self.processes:
            found.append(self.processes[maker])
            task = maker
        return found

    def children(self, task: int) -> list[Process]:
        """Return what a task started, in the order it did."""
        return [self.processes[one] for one in self._children.get(task, ())]

    def stretches(self, task: int, givers: Collection[int]) -> list[tuple[int, int]]:
        """Return from when to when a task worked at what one of `givers` woke it for; its start is the first."""
        begins, ends = [self.processes[task].started_ns], list[int]()
        wakers = self._schedule.profile.wakes["waker"]
        for gap in self._schedule.gaps_of(task):
            wake = int(gap["wake"])
            if gap["reason"] == Reason.SLEEP and wake >= 0 and int(wakers[wake]) in givers:
                ends.append(int(gap["start_ns"]))
                begins.append(int(gap["end_ns"]))
        ends.append(self.processes[task].exited_ns or self._schedule.profile.end_ns)
        return [(start, end) for start, end in zip(begins, ends, strict=True) if start < self.until_ns and start < end]

    def end_ns(self, process: Process) -> int:
        """Return when a process ended, or ready where it went on."""
        return min(process.exited_ns or self.until_ns, self.until_ns)

    def running(self, task: int) -> tuple[Integers, Integers]:
        """Return when a task had a CPU: beginnings and ends, sorted."""
        if task not in self._runs:
            rows = self._schedule.runs_of(task)
            self._runs[task] = (rows["start_ns"].astype(np.int64), rows["end_ns"].astype(np.int64))
        return self._runs[task]


def program_of(process: Process, before_ns: int | None = None) -> str:
    """Return the file name of the last program that a process executed, its name where it executed none."""
    ran = [path for t_ns, path in process.programs if before_ns is None or t_ns <= before_ns]
    return PurePosixPath(ran[-1]).name if ran else process.name


def words_of(process: Process, before_ns: int | None = None) -> tuple[str, ...]:
    """Return the last command line of a process; its name alone where none is known."""
    ran = [words for t_ns, words in process.commands if before_ns is None or t_ns <= before_ns]
    return ran[-1] if ran else (process.name,)


def command_of(process: Process, before_ns: int | None = None) -> str:
    """Return the beginning of a process's command line, in one line."""
    words = words_of(process, before_ns)
    if PurePosixPath(words[0]).name in _SHELLS and len(words) > 1 and words[1].startswith("/"):
        # A script: the shell is how it is run, not what.
        words = words[1:]
    more = " ..." if len(words) > _MOST_WORDS else ""
    return " ".join(words[:_MOST_WORDS]) + more
