"""Who waited, for what, how long, and which of the machine's idle time was each wait's fault.

Many wait at once, and one alone keeps the boot from going on: the one on the critical path. An idle stretch is its
fault.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.tables.plain_data import Result
from bootlab.profile.waits.chain import Link, LinkKind, find_chain, find_task_at
from bootlab.profile.waits.critical_path import CriticalPath
from bootlab.profile.waits.sleep_reasons import WaitKind
from bootlab.profile.waits.sleeps import Wait, WaitTable


@dataclass(frozen=True, slots=True)
class IdleStretch(Result):
    """A stretch in which no instruction was executed and the clock ran on. `node`: what halted, on `vcpu`.

    `wait`: the wait that it served; None when the machine was idle with nobody waiting, as firmware may. `kind`: what
    the critical path did meanwhile. A stretch that served several waits, one after the other, counts for the longest.
    """

    start_ns: int
    end_ns: int
    vcpu: int
    node: int
    kind: LinkKind
    wait: Wait | None

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class IdleBlame(Result):
    """All idle stretches that served one wait; timer ticks cut them apart. `wait`, `kind`: as in `IdleStretch`."""

    kind: LinkKind
    wait: Wait | None
    count: int
    idle_ns: int


@dataclass(frozen=True, slots=True)
class WaitGroup(Result):
    """Waits of one kind and place together. `name`: the task, or how many there were.

    `idle_ns`: how long the machine was idle during them, counted in each that was going on. `blamed_idle_ns`: the idle
    stretches that were theirs alone to answer for; those of all groups add up to the machine's.
    """

    kind: WaitKind
    function: str
    caller: str
    context: str
    name: str
    count: int
    total_ns: int
    longest_ns: int
    idle_ns: int
    blamed_idle_ns: int


@dataclass(frozen=True, slots=True)
class Waits(Result):
    """The waits of a boot, longest first, without kernel threads that had nothing to do; and its idle stretches.

    `groups`: the same waits and, where idle time is blamed on one, those of idle kernel threads; longest blamed idle
    time first, then longest together. `blames`: the idle time by the wait it served, longest first; where it served
    none, by what the critical path did. `idle_ns`: of the whole profile; `unblamed_idle_ns`: what of it served no wait.
    """

    waits: tuple[Wait, ...]
    groups: tuple[WaitGroup, ...]
    blames: tuple[IdleBlame, ...]
    idles: tuple[IdleStretch, ...]
    idle_ns: int
    unblamed_idle_ns: int


def find_waits(profile: Profile, path: CriticalPath | None = None, *, table: WaitTable | None = None) -> Waits:
    """Return all waits and idle stretches.

    `path`: the critical path to ready; idle time after it is blamed along the path from the profile's end back to it.
    `table`: of this profile, if the caller has one.
    """
    table = table or WaitTable(profile)
    waits = [wait for index in table.sleeps().tolist() if (wait := table.wait(index)).kind is not WaitKind.IDLE]
    idles = _blame(table, path)
    waits.sort(key=lambda wait: (-wait.duration_ns, wait.start_ns, wait.task))
    return Waits(
        tuple(waits),
        _groups(waits, idles),
        _blames(idles),
        tuple(sorted(idles, key=lambda idle: (-idle.duration_ns, idle.start_ns))),
        sum(idle.duration_ns for idle in idles),
        sum(idle.duration_ns for idle in idles if idle.wait is None),
    )


@dataclass(frozen=True, slots=True)
class _ChainStretch:
    # Of a chain to ready, or of one from there to the profile's end.
    start_ns: int
    end_ns: int
    kind: LinkKind
    wait: Wait | None


def _chain(table: WaitTable, path: CriticalPath | None) -> list[_ChainStretch]:
    end_ns = table.profile.end_ns
    stretches = [_ChainStretch(s.start_ns, s.end_ns, s.kind, s.wait) for s in (path.segments if path else ())]
    since = stretches[-1].end_ns if stretches else 0
    last = find_task_at(table, end_ns)
    if since < end_ns and last is not None:
        stretches += [_stretch(table, link) for link in find_chain(table, last, since, end_ns)]
    return stretches


def _stretch(table: WaitTable, link: Link) -> _ChainStretch:
    wait = table.wait(link.gap) if link.kind is LinkKind.WAITING and link.gap is not None else None
    return _ChainStretch(link.start_ns, link.end_ns, link.kind, wait)


def _blame(table: WaitTable, path: CriticalPath | None) -> list[IdleStretch]:
    chain = _chain(table, path)
    starts = [stretch.start_ns for stretch in chain]
    result = []
    for idle in np.sort(table.profile.idles, order="start_ns"):
        start, end = int(idle["start_ns"]), int(idle["end_ns"])
        served = _served(chain, starts, start, end)
        kind = served.kind if served else LinkKind.RUNNING
        wait = served.wait if served else None
        result.append(IdleStretch(start, end, int(idle["vcpu"]), int(idle["node"]), kind, wait))
    return result


def _served(chain: Sequence[_ChainStretch], starts: Sequence[int], start_ns: int, end_ns: int) -> _ChainStretch | None:
    best: _ChainStretch | None = None
    most = 0
    for place in range(max(bisect_right(starts, start_ns) - 1, 0), len(chain)):
        stretch = chain[place]
        if stretch.start_ns >= end_ns:
            break
        common = min(stretch.end_ns, end_ns) - max(stretch.start_ns, start_ns)
        # A wait rather than the moments around it in which its task had yet to get the CPU.
        if (stretch.wait is not None, common) > (best is not None and best.wait is not None, most):
            best, most = stretch, common
    return best


def _blames(idles: Sequence[IdleStretch]) -> tuple[IdleBlame, ...]:
    served: dict[tuple[LinkKind | None, int, int], list[IdleStretch]] = {}
    for idle in idles:
        wait = idle.wait
        key = (idle.kind, -1, -1) if wait is None else (None, wait.task, wait.start_ns)
        served.setdefault(key, []).append(idle)
    rows = [
        IdleBlame(found[0].kind, found[0].wait, len(found), sum(idle.duration_ns for idle in found))
        for found in served.values()
    ]
    return tuple(sorted(rows, key=lambda row: -row.idle_ns))


def _groups(waits: Sequence[Wait], idles: Sequence[IdleStretch]) -> tuple[WaitGroup, ...]:
    blamed: dict[tuple[int, int], int] = {}
    extra: dict[tuple[int, int], Wait] = {}
    for idle in idles:
        if idle.wait is not None:
            key = idle.wait.task, idle.wait.start_ns
            blamed[key] = blamed.get(key, 0) + idle.duration_ns
            if idle.wait.kind is WaitKind.IDLE:
                extra[key] = idle.wait
    groups: dict[tuple[WaitKind, str, str, str], list[Wait]] = {}
    for wait in (*waits, *extra.values()):
        groups.setdefault((wait.kind, wait.function, wait.caller, wait.context), []).append(wait)
    rows = [
        WaitGroup(
            *key,
            _names(found),
            len(found),
            sum(wait.duration_ns for wait in found),
            max(wait.duration_ns for wait in found),
            sum(wait.idle_ns for wait in found),
            sum(blamed.get((wait.task, wait.start_ns), 0) for wait in found),
        )
        for key, found in groups.items()
    ]
    rows.sort(key=lambda row: (-row.blamed_idle_ns, -row.total_ns, row.kind, row.function, row.caller, row.context))
    return tuple(rows)


def _names(waits: Sequence[Wait]) -> str:
    names = {wait.task: wait.name for wait in waits}
    return next(iter(names.values())) if len(names) == 1 else f"{len(names)} tasks"
