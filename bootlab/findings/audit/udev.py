"""Finds what udev cost a boot: its events, rules that start programs, and who waited until all were handled."""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final

from bootlab.build.root.udev_rules import plain_path
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding, Item, finding, process_item
from bootlab.findings.audit.process_costs import TaskCost, TaskCosts, command_of, words_of
from bootlab.findings.audit.udev_events import UdevEvent, is_daemon, is_worker
from bootlab.profile.tables.processes import Process

_SHOWN_MODULES: Final = 4
_LAST: Final = 3


def find_uevents(evidence: AuditedBoot) -> Finding | None:
    """Every event that udev handled, by device, with udev's own part of it."""
    events = evidence.udev_events
    if not events:
        return None
    costs = evidence.costs
    items: dict[str, list[UdevEvent]] = {}
    for event in events:
        items.setdefault(event.device, []).append(event)
    workers = {event.task for event in events}
    own = [
        (one, costs.cost([one.task]))
        for one in costs.processes.values()
        if (is_daemon(one) and one.task not in workers) or (_is_udevadm(one) and "trigger" in words_of(one))
    ]
    total = sum((event.cost for event in events), TaskCost()) + sum((cost for _, cost in own), TaskCost())
    rows = [_event_item(device, same) for device, same in items.items()]
    rows += [Item(what=f"[{command_of(one)}]", cost_ns=cost.ns, detail="for all of them") for one, cost in own]
    return finding(
        "uevents",
        f"udev handled {len(events)} events of {len(items)} devices",
        total,
        rows,
        technique=evidence.technique("userspace_udev_few"),
        by_hand="bootlab coldplug: a plan for the machine's devices loads their modules without udev; "
        "or udevadm trigger --subsystem-match= for those that the goal needs, the rest after it",
    )


def find_forking_rules(evidence: AuditedBoot) -> Finding | None:
    """Programs that udev's rules started, with the rules that name them."""
    by_program: dict[str, list[TaskCost]] = {}
    costs, rules = evidence.costs, evidence.udev_rules
    for task in costs.processes:
        if is_worker(costs, task):
            for child in costs.children(task):
                if child.programs:
                    path = plain_path(child.programs[0][1])
                    by_program.setdefault(path, []).append(costs.cost(costs.family(child.task)))
    named: dict[str, list[str]] = {}
    for rule in rules.forking:
        named.setdefault(rule.program, []).append(f"{rule.path}:{rule.line} {rule.key}")
    if not by_program:
        return None
    items = [
        Item(
            what=f"{len(found)} x {path}",
            cost_ns=sum(cost.ns for cost in found),
            detail="; ".join(named.get(path, ["no rule names it by this path"])),
        )
        for path, found in by_program.items()
    ]
    ran = sum(map(len, by_program.values()))
    return finding(
        "udev rules that fork",
        f"rules had udev start {ran} programs; {len(rules.forking)} of {rules.rules} rules may start one",
        sum((cost for found in by_program.values() for cost in found), TaskCost()),
        items,
        by_hand="a file of the same name in /etc/udev/rules.d, empty or without the rule, is used instead",
    )


def find_bad_rules(evidence: AuditedBoot) -> Finding | None:
    """Lines among udev's rules that are none."""
    bad = evidence.udev_rules.bad
    if not bad:
        return None
    items = [Item(what=f"{one.path}:{one.line}", detail=one.message) for one in bad]
    return finding(
        "udev rules with errors",
        f"{len(items)} lines are no rules, and udev leaves them out: what they would name has no such name",
        TaskCost(),
        items,
        by_hand="correct the lines; udevadm verify (254 and later) says more",
    )


def find_settle_waits(evidence: AuditedBoot) -> Finding | None:
    """Every `udevadm settle`: who ran it, how long it held that up, and the events it waited for."""
    costs = evidence.costs
    settles = [one for one in costs.processes.values() if _is_udevadm(one) and "settle" in words_of(one)]
    if not settles:
        return None
    items = [
        process_item(evidence, one, _waited_for(evidence.udev_events, one.started_ns, costs.end_ns(one)))
        for one in settles
    ]
    lasted = sum(one.lasted_ns or 0 for one in items)
    return finding(
        "settle waits",
        f"{len(items)} times all of udev's events were waited for, {lasted / 1e6:.1f} ms together",
        sum((costs.cost([one.task]) for one in settles), TaskCost()),
        items,
        technique=evidence.technique("userspace_cards_awaited"),
        by_hand="wait for the needed device by name: a .device unit, bootlab-coldplug's `wait`, ifup's hotplug",
    )


def list_triggers(costs: TaskCosts) -> list[str]:
    """Return the commands by which systemd's own services told udev of devices, in the order they were started."""
    started = sorted(costs.processes.values(), key=lambda one: one.started_ns)
    asked = [one for one in started if _is_udevadm(one) and "trigger" in words_of(one)]
    # The initramfs has udev told by a script, and systemd by a process of its own.
    return [" ".join(words_of(one)) for one in asked if [maker.pid for maker in costs.makers(one.task)][:1] == [1]]


def _waited_for(events: Iterable[UdevEvent], start_ns: int, end_ns: int) -> str:
    during = [one for one in events if one.start_ns < end_ns and one.end_ns > start_ns]
    if not during:
        return "no event was under way"
    last = sorted(during, key=lambda one: -min(one.end_ns, end_ns))[:_LAST]
    most = sorted(during, key=lambda one: -one.cost.ns)[:_LAST]
    return (
        f"{len(during)} events; the last to end: {', '.join(one.device for one in last)}; "
        f"the most expensive: {', '.join(f'{one.device} ({one.cost.ns / 1e6:.1f} ms)' for one in most)}"
    )


def _event_item(device: str, same: Sequence[UdevEvent]) -> Item:
    modules = [name for one in same for name in one.modules]
    programs = [PurePosixPath(path).name for one in same for path in one.programs]
    parts = [f"{len(same)} events"] if len(same) > 1 else []
    if modules:
        more = f" and {len(modules) - _SHOWN_MODULES} more" if len(modules) > _SHOWN_MODULES else ""
        parts.append(f"loaded {' '.join(modules[:_SHOWN_MODULES])}{more}")
    if programs:
        parts.append(f"ran {' '.join(programs)}")
    return Item(
        what=device,
        cost_ns=sum(one.cost.ns for one in same),
        lasted_ns=sum(one.end_ns - one.start_ns for one in same),
        detail="; ".join(parts),
    )


def _is_udevadm(one: Process) -> bool:
    return PurePosixPath(words_of(one)[0]).name == "udevadm"
