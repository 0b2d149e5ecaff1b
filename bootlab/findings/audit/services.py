"""Finds services that cost a boot time: sleeps, waits for a network, units that the goal can do without."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from bootlab.findings.audit.audited_boot import SYSTEMD_UNITS, AuditedBoot
from bootlab.findings.audit.finding import Finding, Item, finding, process_item
from bootlab.findings.audit.process_costs import TaskCost, TaskCosts, command_of, words_of
from bootlab.profile.recorded.record_types import Integers
from bootlab.profile.tables.processes import State, task_roots
from bootlab.profile.waits.schedule import covered, union
from bootlab.techniques.cmdline.audit_findings import NEEDLESS_UNITS

_SLEEPERS: Final = frozenset({"sleep", "usleep"})
_ONLINE: Final = ("network-online", "networking", "network", "$network", "ifupdown-wait-online", "NetworkManager")
_ASKS: Final = frozenset(
    "tcp_v4_connect tcp_v6_connect inet_dgram_connect udp_sendmsg udpv6_sendmsg raw_sendmsg ping_v4_sendmsg".split()
)
_WAITERS: Final = frozenset(
    "systemd-networkd-wait-online nm-online ifupdown-wait-online wait-for-ll6.sh settle-dad.sh wait-online.sh".split()
)
"""Programs that do nothing but wait for a network."""
_LATER: Final = "userspace_units_late"
_CARD: Final = re.compile(r"\[drm\] Initialized \S+ .* on minor (\d+)")
_BROUGHT: Final = re.compile(r"(multi-user|graphical|default)\.target\.(wants|requires|upholds)$")
_LEAST_LOST_NS: Final = 1_000_000


def find_sleeps(evidence: AuditedBoot) -> Finding | None:
    """Every sleep(1) that ran, and the script that ran it."""
    costs = evidence.costs
    found = [one for one in costs.processes.values() if PurePosixPath(words_of(one)[0]).name in _SLEEPERS]
    if not found:
        return None
    items = [
        process_item(evidence, one, " <- ".join(command_of(maker) for maker in costs.makers(one.task)[:3]))
        for one in found
    ]
    lasted = sum(one.lasted_ns or 0 for one in items)
    return finding(
        "sleeps in scripts",
        f"{len(found)} times a script slept, {lasted / 1e6:.1f} ms together",
        sum((costs.cost([one.task]) for one in found), TaskCost()),
        items,
        by_hand="wait for what the script sleeps for: a file, a socket, a device, by name",
    )


def find_network_waits(evidence: AuditedBoot) -> Finding | None:
    """Units that wait for the network, and up to the end of the boot asked nobody for anything over it."""
    plan, costs = evidence.plan, evidence.costs
    if plan is None:
        return None
    asking = _askers(evidence)
    providers = [name for name in _ONLINE if evidence.tasks_of_unit(name)]
    up_ns = max((_ended(costs, evidence.tasks_of_unit(name)) for name in providers), default=0)
    items, cost = [], TaskCost()
    before = {unit.name: plan.closure({unit.name}) for unit in plan.units if evidence.tasks_of_unit(unit.name)}
    offline = {name for name, others in before.items() if others.isdisjoint(_ONLINE)}
    for unit in plan.units:
        tasks = evidence.tasks_of_unit(unit.name)
        if not unit.is_work or unit.name in _ONLINE or not tasks or unit.name in offline or asking & set(tasks):
            continue
        began = min(costs.processes[task].started_ns for task in tasks)
        items.append(
            Item(
                what=unit.name,
                lasted_ns=max(began - _all_done(evidence, before[unit.name] & offline), 0),
                detail=unit.path,
            )
        )
    if not items or not up_ns:
        return None
    for name in providers:
        cost += costs.cost(evidence.tasks_of_unit(name))
    return finding(
        "waits for the network",
        f"{len(items)} units wait for {', '.join(providers)} and sent nothing over a network; "
        f"what they wait for was up at {up_ns / 1e6:.1f} ms",
        cost,
        items,
        by_hand="drop After= and Wants= of the network in a drop-in; what listens on every address needs none "
        "(else FreeBind=, a .socket unit)",
    )


def find_online_waits(evidence: AuditedBoot) -> Finding | None:
    """Programs that wait until a network is there, and the units that wait for them."""
    costs = evidence.costs
    waits = [
        one
        for one in costs.processes.values()
        if not _WAITERS.isdisjoint(PurePosixPath(word).name for word in words_of(one)[:2])
    ]
    if not waits:
        return None
    items = [process_item(evidence, one, _behind(evidence, one.task)) for one in waits]
    lasted = sum(one.lasted_ns or 0 for one in items)
    return finding(
        "waits to be online",
        f"{len(waits)} programs waited {lasted / 1e6:.1f} ms for the network to be up",
        sum((costs.cost([one.task]) for one in waits), TaskCost()),
        items,
        technique=evidence.technique("userspace_online_unawaited"),
        by_hand="RequiredForOnline=no of interfaces that nobody waits for; no After= and Wants= of "
        "network-online.target in what listens on every address; mask the unit where nobody needs it",
    )


def _behind(evidence: AuditedBoot, task: int) -> str:
    """Return the units that are ordered behind the one of a task, in words."""
    unit, plan = evidence.units_of_tasks.get(task), evidence.plan
    if unit is None or plan is None:
        return ""
    behind = sorted(one.name for one in plan.units if one.name != unit and unit in plan.closure({one.name}))
    return f"before {', '.join(behind)}" if behind else ""


def find_needless_units(evidence: AuditedBoot) -> Finding | None:
    """Units that ran before ready and that the goal does not need, with all that their processes cost up to ready."""
    units = list_needless(evidence)
    if not units:
        return None
    costs = evidence.costs
    assert evidence.plan is not None
    paths = {unit.name: unit.path for unit in evidence.plan.units}
    found = {name: costs.cost(evidence.tasks_of_unit(name)) for name in units}
    return finding(
        "units the goal does not need",
        f"{len(found)} units ran before ready that {evidence.goal} needs neither directly nor through others",
        sum(found.values(), TaskCost()),
        [Item(what=name, cost_ns=cost.ns, detail=paths[name]) for name, cost in found.items()],
        technique=evidence.technique("cmdline_units_masked", {NEEDLESS_UNITS: " ".join(units)}),
        by_hand=f"start them after the goal: {_LATER} has a unit start them behind {evidence.goal}.service; "
        "bootlab-init does so by itself",
    )


def list_needless(evidence: AuditedBoot) -> list[str]:
    """Return the names of the units that ran before ready and that the goal does not need."""
    if evidence.plan is None or evidence.goal is None:
        return []
    work = [unit.name for unit in evidence.plan.units if unit.is_work and unit.wanted]
    return sorted(name for name in work if name not in evidence.goal_closure and evidence.tasks_of_unit(name))


def list_wanting(evidence: AuditedBoot) -> list[str]:
    """Return what has a boot bring along the units that the goal does not need, each as TARGET.wants/NAME.service.

    Who wants one of them on an occasion of its own, as printer.target does when a printer is there, is left alone.
    """
    units = list_needless(evidence)
    origins = {unit.name: unit.origin for unit in evidence.plan.units} if evidence.plan is not None else {}
    scripts = [name for name in units if origins[name] == "lsb"]
    # systemd-sysv-generator(8) links a script when the machine starts.
    found = {f"{target}.target.wants/{name}.service" for name in scripts for target in ("multi-user", "graphical")}
    services = {f"{name}.service" for name in units}
    for entry in evidence.rootfs or ():
        path = PurePosixPath(entry.path)
        if path.name in services and str(path.parent.parent) in SYSTEMD_UNITS and _BROUGHT.match(path.parent.name):
            found.add(f"{path.parent.name}/{path.name}")
    return sorted(found)


def list_goal_devices(evidence: AuditedBoot) -> list[str]:
    """Return the graphics card that the goal's processes opened, if any: X gives up where its driver is yet to come."""
    if evidence.goal is None or not _callers(evidence, ["drm_open"]) & set(evidence.tasks_of_unit(evidence.goal)):
        return []
    minors = _CARD.findall("\n".join(evidence.facts.values())) or ["0"]
    return [f"/dev/dri/card{minors[-1]}"]


def find_parallel_losses(evidence: AuditedBoot) -> Finding | None:
    """Units on the way to the goal that lacked a processor while others ran that the goal does not need."""
    if evidence.plan is None or evidence.goal is None:
        return None
    costs = evidence.costs
    others = {name: _running(costs, evidence.tasks_of_unit(name)) for name in list_needless(evidence)}
    items, lost_ns = [], 0
    for name in sorted(evidence.goal_closure):
        tasks = evidence.tasks_of_unit(name)
        waiting = _lacking(evidence, tasks)
        by_whom = {other: _overlap(waiting, times) for other, times in others.items()}
        lost = sum(by_whom.values())
        if lost < _LEAST_LOST_NS:
            continue
        lost_ns += lost
        began = min(costs.processes[task].started_ns for task in tasks)
        took = _ended(costs, tasks) - began
        most = sorted(by_whom, key=lambda one: -by_whom[one])[:4]
        items.append(
            Item(
                what=name,
                cost_ns=lost,
                lasted_ns=took,
                detail="to " + ", ".join(f"{one} {by_whom[one] / 1e6:.1f} ms" for one in most if by_whom[one]),
            )
        )
    if not items:
        return None
    return finding(
        "longer in parallel than alone",
        f"{len(items)} units on the way to {evidence.goal} lacked a processor while units ran that it does not need; "
        "each would have been so much shorter without those",
        TaskCost(lost_ns),
        items,
        technique=evidence.technique("cmdline_units_masked", {NEEDLESS_UNITS: " ".join(list_needless(evidence))}),
        by_hand=f"start those after the goal: {_LATER} has a unit start them behind {evidence.goal}.service; "
        "bootlab-init does so by itself",
    )


def _running(costs: TaskCosts, tasks: Iterable[int]) -> tuple[Integers, Integers]:
    parts = [costs.running(task) for task in tasks]
    starts = np.concatenate([part[0] for part in parts]) if parts else np.zeros(0, dtype=np.int64)
    ends = np.concatenate([part[1] for part in parts]) if parts else np.zeros(0, dtype=np.int64)
    return union(np.minimum(starts, costs.until_ns), np.minimum(ends, costs.until_ns))


def _lacking(evidence: AuditedBoot, tasks: Iterable[int]) -> tuple[Integers, Integers]:
    starts, ends = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for task in tasks:
        states = evidence.analysis.processes.states(task)
        mine = states[states["state"] == State.RUNNABLE]
        starts.append(mine["start_ns"].astype(np.int64))
        ends.append(mine["end_ns"].astype(np.int64))
    return union(np.concatenate(starts), np.concatenate(ends))


def _overlap(one: tuple[Integers, Integers], other: tuple[Integers, Integers]) -> int:
    return int((covered(*other, one[1]) - covered(*other, one[0])).sum())


def _askers(evidence: AuditedBoot) -> set[int]:
    """Return the tasks that connected or sent over a network, by the kernel functions that ran for them."""
    return _callers(evidence, _ASKS)


def _callers(evidence: AuditedBoot, names: Iterable[str]) -> set[int]:
    """Return the tasks for which one of these kernel functions ran."""
    profile = evidence.analysis.profile
    tree = evidence.tree
    functions = {number for name in names for number in tree.numbers.get(name, ())}
    nodes = np.flatnonzero(np.isin(tree.function, list(functions)))
    owners = task_roots(profile)
    return {int(task) for task in owners[nodes].tolist() if task >= 0}


def _ended(costs: TaskCosts, tasks: Iterable[int]) -> int:
    ends = [one.exited_ns for task in tasks if (one := costs.processes[task]).exited_ns is not None]
    return min(max((end for end in ends if end is not None), default=costs.until_ns), costs.until_ns)


def _all_done(evidence: AuditedBoot, units: Iterable[str]) -> int:
    """Return when the last of these units had ended, or ready where that was later."""
    costs = evidence.costs
    ends = [_first_end(costs, evidence.tasks_of_unit(name)) for name in units]
    return min(max(ends, default=0), costs.until_ns)


def _first_end(costs: TaskCosts, tasks: Iterable[int]) -> int:
    # A daemon goes on: that it was started is all that is known.
    ones = [costs.processes[task] for task in tasks]
    return min(one.exited_ns if one.exited_ns is not None else one.started_ns for one in ones)
