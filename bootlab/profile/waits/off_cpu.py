"""When tasks were not running, and why: one row for each stretch between leaving a CPU and coming back to one.

What waits, blame and elapsed weights have in common. A sleeping task stops waiting when something wakes it; from then
on it only lacks a CPU. Idle tasks (pid 0) have nothing to wait for and no rows.
"""

from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.profile import Profile, Task
from bootlab.profile.recorded.record_types import NONE, Integers, Records, SwitchFlag


class Reason(IntEnum):
    """Why a task left its CPU."""

    SLEEP = 0
    """It waited for something."""
    PREEMPTED = 1
    """It could have gone on."""
    NEW = 2
    """It had never run: from when it was made to its first switch-in."""


OFF_CPU: Final = np.dtype(
    [
        ("task", "<u4"),
        ("node", "<u4"),  # where it left off; a new task's own root
        ("start_ns", "<i8"),
        ("woken_ns", "<i8"),  # when it could run again: start_ns unless it slept; end_ns if nothing woke it
        ("end_ns", "<i8"),  # the switch-in; the profile's end if it never came
        ("wake", "<i8"),  # index into Profile.wakes, -1 for none
        ("reason", "<u1"),  # Reason
        ("open", "?"),  # still off its CPU at the profile's end
    ]
)


@lru_cache(maxsize=2)
def find_off_cpu(profile: Profile) -> Records:
    """Return every stretch in which a task was off its CPU, as OFF_CPU records in the order they began.

    A task that has exited is not off its CPU, it is gone. The wake-up of a sleeper is the first try_to_wake_up() of it
    after it left; one that came before (on another vCPU, while it was on its way out) is not found, and then the whole
    stretch counts as sleep.
    """
    switches = profile.switches
    leaving = _leaving(profile)
    new = _first_runs(profile)
    rows = np.zeros(len(leaving) + len(new), dtype=OFF_CPU)
    old = rows[: len(leaving)]
    old["task"] = switches["previous"][leaving]
    old["node"] = switches["previous_node"][leaving]
    old["start_ns"] = switches["t_ns"][leaving]
    sleeps = (switches["flags"][leaving] & SwitchFlag.SLEEPS) != 0
    old["reason"] = np.where(sleeps, Reason.SLEEP, Reason.PREEMPTED)
    came_back = _next_of(switches["next"], leaving, old["task"])
    old["open"] = came_back < 0
    old["end_ns"] = np.where(came_back < 0, profile.end_ns, switches["t_ns"][came_back] if len(switches) else 0)
    rows[len(leaving) :] = new
    _find_wakes(profile, rows)
    rows = rows[np.argsort(rows["start_ns"], kind="stable")]
    rows.flags.writeable = False
    return rows


def _leaving(profile: Profile) -> Integers:
    # Indexes of the switches at which a task went off its CPU and lived on.
    switches = profile.switches
    idle = np.array([task.pid == 0 for task in profile.tasks] or [False], dtype=np.bool_)
    known = switches["previous"] != NONE
    previous = np.where(known, switches["previous"], 0)
    gone = (switches["flags"] & SwitchFlag.DEAD) != 0
    return np.flatnonzero(known & ~gone & ~idle[previous] & (switches["previous"] != switches["next"]))


def _first_runs(profile: Profile) -> Records:
    # Rows of the tasks that were made while the profile ran and then switched to.
    switches = profile.switches
    count = len(profile.tasks)
    first_in = _first_index(switches["next"], count)
    first_out = _first_index(switches["previous"], count)
    roots = _roots(profile)
    rows = []
    for task in profile.tasks:
        entered, left = first_in[task.number], first_out[task.number]
        if task.pid == 0 or entered == len(switches) or left < entered:
            continue
        t_ns = int(switches["t_ns"][entered])
        node = next((roots[label] for label in _labels(task) if label in roots), 0)
        if left < len(switches):
            node = int(profile.shape.top[switches["previous_node"][left]])
        if node and task.started_ns < t_ns:
            rows.append((task.number, node, task.started_ns, task.started_ns, t_ns, -1, Reason.NEW, False))
    return np.array(rows, dtype=OFF_CPU)


def _roots(profile: Profile) -> dict[str, int]:
    # The nodes of tasks by name; there are none in a profile that was cut off before the first.
    tops = [node for level in profile.shape.levels[1:2] for node in level.tolist()]
    return {profile.names[profile.nodes["function"][node]]: node for node in tops}


def _labels(task: Task) -> Iterator[str]:
    return (f"{name}-{task.pid}" for _, name in task.names)


def _first_index(tasks: NDArray[np.uint32], count: int) -> Integers:
    # For each task the index of its first occurrence; len(tasks) for none.
    first = np.full(count, len(tasks), dtype=np.int64)
    known = np.flatnonzero(tasks != NONE)
    np.minimum.at(first, tasks[known].astype(np.int64), known)
    return first


def _next_of(tasks: NDArray[np.uint32], after: Integers, wanted: NDArray[np.uint32]) -> Integers:
    # For each pair the index of the first occurrence of the wanted task behind `after`; -1 for none.
    span = len(tasks) + 1
    keys = tasks.astype(np.int64) * span + np.arange(len(tasks))
    keys.sort()
    place = np.searchsorted(keys, wanted.astype(np.int64) * span + after, side="right")
    found = np.r_[keys, -1][place]
    return np.where(found // span == wanted, found % span, -1)


def _find_wakes(profile: Profile, rows: Records) -> None:
    rows["wake"] = -1
    rows["woken_ns"] = np.where(rows["reason"] == Reason.SLEEP, rows["end_ns"], rows["start_ns"])
    sleeping = np.flatnonzero(rows["reason"] == Reason.SLEEP)
    known = np.flatnonzero(profile.wakes["wakee"] != NONE)
    order = known[np.lexsort((profile.wakes["t_ns"][known], profile.wakes["wakee"][known]))]
    wakee, t_ns = profile.wakes["wakee"][order].astype(np.int64), profile.wakes["t_ns"][order]
    # Task and time as one key that can be searched.
    scale = max(profile.end_ns, int(t_ns.max(initial=0)), int(rows["end_ns"].max(initial=0))) + 1
    task = rows["task"][sleeping].astype(np.int64)
    place = np.searchsorted(wakee * scale + t_ns, task * scale + rows["start_ns"][sleeping], side="left")
    in_reach = place < len(order)
    sleeping, place = sleeping[in_reach], place[in_reach]
    mine = (wakee[place] == rows["task"][sleeping]) & (t_ns[place] <= rows["end_ns"][sleeping])
    sleeping, place = sleeping[mine], place[mine]
    rows["wake"][sleeping] = order[place]
    rows["woken_ns"][sleeping] = t_ns[place]
