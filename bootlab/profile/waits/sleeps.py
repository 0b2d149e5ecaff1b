"""Every sleep of every task as a value that says why, from where, until when, and who ended it."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Integers, WakeFlag
from bootlab.profile.tables.block_io import Request, find_requests
from bootlab.profile.tables.plain_data import Result
from bootlab.profile.waits.off_cpu import Reason
from bootlab.profile.waits.schedule import Schedule, idle_between
from bootlab.profile.waits.sleep_reasons import WaitCause, WaitKind, find_cause
from bootlab.profile.waits.wake_reasons import WakeCause, WakeKind, find_wake_cause

_IN_INTERRUPT: Final = int(WakeFlag.IN_INTERRUPT)


@dataclass(frozen=True, slots=True)
class Waker(Result):
    """Who ended a wait. `task` is the current one, `name` its `NAME-PID`; an interrupt has merely borrowed it.

    `function`: what decided to wake, past the wake-up machinery. `handler`: of the interrupt, or of the timer; "" for a
    task. `node`: where. `request`: the device's request that was done, if one is known.
    """

    kind: WakeKind
    t_ns: int
    task: int
    name: str
    function: str
    handler: str
    node: int
    request: Request | None


@dataclass(frozen=True, slots=True)
class Wait(Result):
    """One sleep of a task. `woken_ns`: when it could run again; `end_ns`: when it did. None: not in this profile.

    `function`, `caller`, `context`, `context_kind`: see `sleep_reasons.WaitCause`. `node`: where it slept.
    `idle_ns`: how long the machine had nothing to do meanwhile. `until_ns` is `woken_ns` or the profile's end.
    """

    task: int
    name: str
    start_ns: int
    woken_ns: int | None
    end_ns: int | None
    until_ns: int
    kind: WaitKind
    function: str
    caller: str
    context: str
    context_kind: str
    node: int
    idle_ns: int
    waker: Waker | None

    @property
    def duration_ns(self) -> int:
        """How long it slept, up to the profile's end if nothing woke it."""
        return self.until_ns - self.start_ns

    @property
    def runnable_ns(self) -> int:
        """How long it then lacked a CPU; 0 if it was not woken or never ran again."""
        return 0 if self.woken_ns is None or self.end_ns is None else self.end_ns - self.woken_ns


class WaitTable:
    """The waits of one profile, made as they are asked for. `schedule`: its runs and gaps."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.schedule = Schedule(profile)
        self._causes: dict[int, WaitCause] = {}
        self._wake_causes: dict[tuple[int, bool], WakeCause] = {}
        self._waits: dict[int, Wait] = {}

    @cached_property
    def requests(self) -> list[Request]:
        """The requests to block devices, in the order they were issued."""
        return find_requests(self.profile.events)

    @cached_property
    def _done(self) -> tuple[list[int], list[Request]]:
        done = sorted((r for r in self.requests if r.done_ns is not None), key=lambda r: r.done_ns or 0)
        return [request.done_ns or 0 for request in done], done

    @cached_property
    def _switch_times(self) -> dict[int, list[int]]:
        switches = self.profile.switches
        return {
            vcpu: switches["t_ns"][switches["vcpu"] == vcpu].tolist() for vcpu in np.unique(switches["vcpu"]).tolist()
        }

    @cached_property
    def _idle(self) -> list[int]:
        gaps = self.schedule.gaps
        idle: list[int] = idle_between(self.profile, gaps["start_ns"], gaps["woken_ns"]).tolist()
        return idle

    def stack(self, node: int) -> Sequence[str]:
        """Return the names from the outermost function down to a node, without the task."""
        return self.profile.path(node)[1:]

    def cause(self, node: int) -> WaitCause:
        """Return why a task sleeps at a node."""
        cause = self._causes.get(node)
        if cause is None:
            cause = self._causes[node] = find_cause(self.stack(node))
        return cause

    def wake_cause(self, wake: int) -> WakeCause:
        """Return what the waker of a wake (an index into the profile's) was doing."""
        _, _, node, _, flags = self._wakes[wake]
        key = node, bool(flags & _IN_INTERRUPT)
        cause = self._wake_causes.get(key)
        if cause is None:
            cause = self._wake_causes[key] = find_wake_cause(self.stack(node), in_interrupt=key[1])
        return cause

    @cached_property
    def _wakes(self) -> list[tuple[int, int, int, int, int]]:
        rows: list[tuple[int, int, int, int, int]]
        rows = self.profile.wakes[["t_ns", "waker", "node", "vcpu", "flags"]].tolist()
        return rows

    def wait(self, index: int) -> Wait:
        """Return the wait that the gap of this index (into `schedule.gaps`, a sleep) is."""
        wait = self._waits.get(index)
        if wait is None:
            wait = self._waits[index] = self._make(index)
        return wait

    def _make(self, index: int) -> Wait:
        gap = self.schedule.gap(index)
        cause = self.cause(gap.node)
        # The reader counts a sleep that nothing ended as woken when it ended.
        never = gap.open and gap.wake < 0
        return Wait(
            gap.task,
            self.schedule.label(gap.task, gap.start_ns),
            gap.start_ns,
            None if never else gap.woken_ns,
            None if gap.open else gap.end_ns,
            gap.woken_ns,
            cause.kind,
            cause.function,
            cause.caller,
            cause.context,
            cause.context_kind,
            gap.node,
            self._idle[index],
            self.waker(gap.wake) if gap.wake >= 0 else None,
        )

    def waker(self, wake: int) -> Waker:
        """Return who did a wake (an index into the profile's)."""
        t_ns, task, node, vcpu, _ = self._wakes[wake]
        cause = self.wake_cause(wake)
        request = None
        if cause.kind is WakeKind.DEVICE:
            request = self._request_done(t_ns, vcpu, cause.handler)
        name = self.schedule.label(task, t_ns)
        return Waker(cause.kind, t_ns, task, name, cause.function, cause.handler, node, request)

    def _request_done(self, t_ns: int, vcpu: int, handler: str) -> Request | None:
        # The last one that was done before, by the same handler and since the last switch: the same interrupt.
        times, requests = self._done
        place = bisect_right(times, t_ns)
        if not place:
            return None
        request, switches = requests[place - 1], self._switch_times.get(vcpu, [])
        since = bisect_right(switches, t_ns)
        if since and times[place - 1] < switches[since - 1]:
            return None
        return request if handler in self.stack(request.done_node or 0) else None

    def sleeps(self) -> Integers:
        """Return the indexes of the gaps that are sleeps, idle loops of kernel threads among them, in order of time."""
        return np.flatnonzero(self.schedule.gaps["reason"] == Reason.SLEEP)
