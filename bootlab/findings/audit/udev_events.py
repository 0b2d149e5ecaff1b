"""The events that udev handled in one boot: which worker, for which device, from when to when, at what cost.

A worker sleeps until the daemon wakes it for an event. The first uevent file that it opens then is that of the event's
device, so a profile that recorded paths says which events there were and what each cost, with the programs it started.
"""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from bootlab.findings.audit.process_costs import TaskCost, TaskCosts
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import CallKind, EventKind
from bootlab.profile.tables.processes import Process

_DAEMONS: Final = frozenset({"systemd-udevd", "udevd"})
_DEVICE: Final = re.compile(r"(/sys/.+)/uevent")


@dataclass(frozen=True, slots=True)
class UdevEvent:
    """One event that a worker of udev handled, from the moment it got the event until it waited for the next.

    `cost`: of the worker and of the programs that it started; `programs`: their paths; `modules`: what it loaded.
    """

    device: str
    task: int
    start_ns: int
    end_ns: int
    cost: TaskCost
    programs: tuple[str, ...]
    modules: tuple[str, ...]


def find_events(costs: TaskCosts, profile: Profile) -> list[UdevEvent]:
    """Return the events that were begun before ready, in the order they began; empty where no paths were recorded."""
    daemons = {task for task, one in costs.processes.items() if is_daemon(one)}
    loads = [call for call in profile.calls if call.kind == CallKind.MODULE]
    opened: dict[int, list[tuple[int, str]]] = {}
    for event in profile.events:
        if event.kind == EventKind.OPEN and (match := _DEVICE.fullmatch(event.text)):
            opened.setdefault(event.task, []).append((event.t_ns, match[1]))
    found = []
    for task in opened:
        if not is_worker(costs, task):
            continue
        for start_ns, end_ns in costs.stretches(task, daemons):
            # The first uevent file that it opens is that of the event's own device.
            device = next((name for t_ns, name in opened[task] if start_ns <= t_ns < end_ns), None)
            if device is None:
                continue
            children = [one for one in costs.children(task) if start_ns <= one.started_ns < end_ns]
            families = {member for child in children for member in costs.family(child.task)}
            found.append(
                UdevEvent(
                    device=device.removeprefix("/sys"),
                    task=task,
                    start_ns=start_ns,
                    end_ns=end_ns,
                    cost=costs.cost([task], start_ns, end_ns) + costs.cost(families),
                    programs=tuple(path for one in children for _, path in one.programs[-1:]),
                    modules=tuple(one.text for one in loads if one.task == task and start_ns <= one.start_ns < end_ns),
                )
            )
    return sorted(found, key=lambda one: one.start_ns)


def is_worker(costs: TaskCosts, task: int) -> bool:
    """Say whether a task handles events for a daemon of udev."""
    one, makers = costs.processes.get(task), costs.makers(task)
    return one is not None and bool(makers) and not one.programs and not one.is_thread and is_daemon(makers[0])


def is_daemon(one: Process) -> bool:
    """Say whether a process is udev's daemon."""
    return any(PurePosixPath(words[0]).name in _DAEMONS for _, words in one.commands) or (
        not one.commands and one.name in _DAEMONS
    )
