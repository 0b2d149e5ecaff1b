"""The chain behind a moment, walked backwards: what the task that reached it did, what that waited for, and so on.

Rules and reasons: profile/waits/critical_path.py. Times only go down and every step either goes back in time or to
another task, so a walk ends; links are made as they are found and tile what was walked.
"""

from dataclasses import dataclass
from enum import StrEnum

from bootlab.profile.recorded.record_types import NONE, EventKind, SwitchFlag
from bootlab.profile.waits.off_cpu import Reason
from bootlab.profile.waits.schedule import Gap
from bootlab.profile.waits.sleep_reasons import WaitKind
from bootlab.profile.waits.sleeps import WaitTable
from bootlab.profile.waits.wake_reasons import WakeKind, runs_in_interrupt


class LinkKind(StrEnum):
    """What the machine, or the task that matters, did in a stretch."""

    FIRMWARE = "firmware"
    """Before the loaded image: no tasks yet."""
    LOADER = "loader"
    """A disk's bootloader, from its first instruction; what it has the firmware do is in it."""
    SPL = "SPL"
    """A board's first stage, from its first instruction."""
    OPENSBI = "OpenSBI"
    """What a riscv64 board's first stage starts, up to the start of the second."""
    UBOOT = "U-Boot"
    """A board's second stage."""
    DECOMPRESSOR = "decompressor"
    """The image's own code before the kernel: no tasks yet."""
    RUNNING = "running"
    """The task had a CPU."""
    RUNNABLE = "runnable"
    """The task could have run; others had the CPU."""
    WAITING = "waiting"
    """The task slept, and nothing that can be followed further ended it."""


@dataclass(frozen=True, slots=True)
class Link:
    """A stretch of a chain. `gap`: the row of `Schedule.gaps` that it is part of; None where the task ran.

    `interrupt`: the wake (index into the profile's) by which an interrupt gave a kernel thread the work waited for.
    """

    start_ns: int
    end_ns: int
    kind: LinkKind
    task: int | None
    gap: int | None = None
    interrupt: int | None = None


def find_chain(table: WaitTable, task: int, floor_ns: int, until_ns: int) -> list[Link]:
    """Return the links from `floor_ns` to `until_ns`, earliest first, of what `task` had reached by then."""
    walk = _Walk(table, task, floor_ns, until_ns)
    walk.run()
    return walk.links[::-1]


def find_task_at(table: WaitTable, t_ns: int) -> int | None:
    """Return the task that a moment belongs to: the one that runs; if none does, the last that ran and still lives.

    With several CPUs processes come before kernel threads, then lower CPUs before higher ones. None before any task.
    """
    schedule = table.schedule
    runs = schedule.runs
    dead = (runs["flags"] & SwitchFlag.DEAD != 0) & (runs["end_ns"] < t_ns)
    runs = runs[(runs["start_ns"] < t_ns) & ~dead]
    if not len(runs):
        return schedule.boot_task
    programs = {event.task for event in table.profile.events if event.kind == EventKind.EXEC and event.t_ns <= t_ns}
    known = [(row, task) for row, task in enumerate(runs["task"].tolist()) if task not in schedule.idle_tasks]
    if not known:
        return schedule.boot_task
    ends, vcpus = runs["end_ns"].tolist(), runs["vcpu"].tolist()
    _, task = max(known, key=lambda item: (min(ends[item[0]], t_ns), item[1] in programs, -vcpus[item[0]], item[0]))
    return int(task)


class _Walk:
    def __init__(self, table: WaitTable, task: int, floor_ns: int, until_ns: int) -> None:
        self.table = table
        self.schedule = table.schedule
        self.task = task
        self.floor = floor_ns
        self.t = until_ns
        self.links: list[Link] = []
        # Who is waited for by whom: (task, when it went to wait), the innermost last.
        self.waiters: list[tuple[int, int]] = []
        self.interrupt: int | None = None

    def run(self) -> None:
        visited: set[int] = set()
        last = self.t
        while self.t > self.floor:
            if self.t != last:
                visited.clear()
                last = self.t
            if self.task in visited:
                # Two tasks that woke each other at one moment: only a damaged profile says so.
                self._leave_circle()
                continue
            visited.add(self.task)
            self._step()

    def _emit(self, start_ns: int, kind: LinkKind, gap: Gap | None = None) -> None:
        start = max(start_ns, self.floor)
        if start < self.t:
            waiting = kind is LinkKind.WAITING
            index = None if gap is None else gap.row
            self.links.append(Link(start, self.t, kind, self.task, index, self.interrupt if waiting else None))
            self.t = start
        self.interrupt = None

    def _step(self) -> None:
        gap = None if self.task in self.schedule.idle_tasks else self.schedule.gap_before(self.task, self.t)
        if gap is None:
            self._go_to_maker()
            return
        if gap.end_ns < self.t:
            self._emit(gap.end_ns, LinkKind.RUNNING)
        if self.t <= self.floor:
            return
        if gap.reason is Reason.SLEEP and self.t < gap.woken_ns:
            self._emit(gap.start_ns, LinkKind.WAITING, gap)
        elif gap.reason is Reason.SLEEP and self.t == gap.woken_ns:
            self._go_to_waker(gap)
        else:
            self._go_before_runnable(gap)

    def _go_before_runnable(self, gap: Gap) -> None:
        low = gap.woken_ns if gap.reason is Reason.SLEEP else gap.start_ns
        holders = [place for place, (_, since) in enumerate(self.waiters) if low <= since <= self.t]
        if holders:
            holder = max(holders, key=lambda place: (self.waiters[place][1], place))
            task, since = self.waiters[holder]
            self._emit(since, LinkKind.RUNNABLE, gap)
            del self.waiters[holder:]
            self.task = task
            return
        self._emit(low, LinkKind.RUNNABLE, gap)
        if self.t <= self.floor:
            return
        if gap.reason is Reason.NEW:
            self._go_to_maker()
        elif gap.reason is Reason.SLEEP:
            self._go_to_waker(gap)

    def _go_to_waker(self, gap: Gap) -> None:
        kind = self.table.cause(gap.node).kind
        waker = int(self.table.profile.wakes["waker"][gap.wake]) if gap.wake >= 0 else NONE
        by_task = gap.wake >= 0 and self.table.wake_cause(gap.wake).kind is WakeKind.TASK
        if waker in (NONE, self.task) or waker in self.schedule.idle_tasks:
            by_task = False
        if kind is WaitKind.IDLE:
            if by_task:
                self.task = waker
            else:
                self._hand_back(gap)
        elif by_task and kind is not WaitKind.RCU:
            self.waiters.append((self.task, gap.start_ns))
            self.task = waker
        else:
            self._wait_itself(gap)

    def _hand_back(self, gap: Gap) -> None:
        waiting = [place for place, (_, since) in enumerate(self.waiters) if since < self.t]
        if not self.waiters:
            self._emit(gap.start_ns, LinkKind.WAITING, gap)
            return
        place = waiting[-1] if waiting else len(self.waiters) - 1
        self.task, _ = self.waiters[place]
        del self.waiters[place:]
        self.interrupt = gap.wake if gap.wake >= 0 else None

    def _wait_itself(self, gap: Gap) -> None:
        request = self.table.waker(gap.wake).request if gap.wake >= 0 else None
        if request is None or not gap.start_ns < request.issued_ns < self.t or request.task == self.task:
            self._emit(gap.start_ns, LinkKind.WAITING, gap)
            return
        issued_by_interrupt = runs_in_interrupt(self.table.stack(request.node))
        if issued_by_interrupt or request.task in self.schedule.idle_tasks:
            self._emit(gap.start_ns, LinkKind.WAITING, gap)
            return
        self._emit(request.issued_ns, LinkKind.WAITING, gap)
        self.waiters.append((self.task, gap.start_ns))
        self.task = request.task

    def _go_to_maker(self) -> None:
        # The task has had its CPU since it was first seen, or was made just now; an idle task has no gaps to go by.
        schedule = self.schedule
        run = schedule.run_at(self.task, self.t - 1)
        before: int | None = None
        if run is None:
            before = schedule.makers.get(self.task)
        elif int(run["end_ns"]) >= self.t:
            if self.task == schedule.boot_task and run["previous"] == NONE:
                self._emit(self.floor, LinkKind.RUNNING)
                return
            self._emit(int(run["start_ns"]), LinkKind.RUNNING)
            before = None if self.task in schedule.idle_tasks else schedule.makers.get(self.task)
            if before is None and run["previous"] != NONE:
                before = int(run["previous"])
        if before in (None, self.task):
            before = schedule.runner_at(self.t)
        if before is None:
            self._emit(self.floor, LinkKind.RUNNING)
        else:
            self.task = before

    def _leave_circle(self) -> None:
        gap = self.schedule.gap_before(self.task, self.t)
        if gap is not None and gap.end_ns >= self.t:
            self._emit(gap.start_ns, LinkKind.WAITING, gap)
        else:
            self._emit(self.floor if gap is None else gap.end_ns, LinkKind.RUNNING)
