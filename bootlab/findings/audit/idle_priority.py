"""Finds what a boot's length depends on by chance: units of idle priority that take the lock of network devices.

For PrivateNetwork=yes systemd makes a network namespace, in the unit's own process and at the unit's own priority; its
loopback device is registered under the kernel's one lock of network devices (rtnl_mutex). With CPUSchedulingPolicy=idle
the process may lose the processor there, and gets it back when nobody else wants it. Meanwhile whoever reads an
attribute of a network card does not sleep: a lock that is not to be had (rtnl_trylock()) ends the read with
restart_syscall(), which begins it anew at once, and keeps the processor busy. Which of the two comes first is chance.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from bootlab.build.formats.cpio import Entry
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding, Item, finding
from bootlab.findings.audit.process_costs import TaskCost
from bootlab.profile.waits.sleep_reasons import bare
from bootlab.timeline import marks as m

_FOLDERS: Final = ("usr/lib/systemd/system/", "lib/systemd/system/", "etc/systemd/system/")
"""The later one's drop-ins count more."""
_SETTING: Final = re.compile(r"^(CPUSchedulingPolicy|PrivateNetwork)[ \t]*=[ \t]*(\S*)", re.M)
_YES: Final = frozenset({"1", "yes", "y", "true", "t", "on"})
_TRY: Final = "rtnl_trylock"
_MANY: Final = 100
"""Reads that were begun anew so often met a lock that was held for long."""


def find_idle_locks(evidence: AuditedBoot) -> Finding | None:
    """Units that make a network namespace at idle priority, and the reads that were begun anew meanwhile."""
    if evidence.plan is None:
        return None
    units = [
        unit
        for unit in evidence.plan.units
        if unit.wanted and _is_held_up(evidence.rootfs or (), f"{unit.name}.service")
    ]
    if not units:
        return None
    costs = {unit.name: evidence.costs.cost(evidence.tasks_of_unit(unit.name)) for unit in units}
    tries = [(place, count) for place, count in _tries(evidence).most_common() if count >= _MANY]
    return finding(
        "network locks at idle priority",
        f"{len(units)} units make a network namespace at idle priority; {sum(count for _, count in tries)} reads of a "
        "network card's attributes were begun anew while somebody held the kernel's lock of network devices",
        sum(costs.values(), TaskCost()),
        [
            *(Item(what=unit.name, cost_ns=costs[unit.name].ns, detail=unit.path) for unit in units),
            *(Item(what=f"{who}: {function}", detail=f"begun anew {count} times") for (who, function), count in tries),
        ],
        by_hand="PrivateNetwork=no, or CPUSchedulingPolicy=other, in a drop-in of each, on both sides of a comparison: "
        "else some boots are longer than others, whatever else is changed",
    )


def _is_held_up(rootfs: Iterable[Entry], unit: str) -> bool:
    """Whether the last of a unit's settings are idle priority and a network of its own."""
    texts = sorted(
        (_rank(entry.path, unit), entry.path, entry.data.decode(errors="replace"))
        for entry in rootfs
        if entry.path.startswith(_FOLDERS) and _rank(entry.path, unit) is not None
    )
    told = {name: value for _, _, text in texts for name, value in _SETTING.findall(text)}
    return told.get("CPUSchedulingPolicy") == "idle" and told.get("PrivateNetwork", "").lower() in _YES


def _rank(path: str, unit: str) -> tuple[int, int] | None:
    # The unit's own file comes before its drop-ins.
    folder = next((number for number, one in enumerate(_FOLDERS) if path.startswith(one)), 0)
    if path == f"{_FOLDERS[folder]}{unit}":
        return (0, folder)
    return (1, folder) if path.startswith(f"{_FOLDERS[folder]}{unit}.d/") and path.endswith(".conf") else None


def _tries(evidence: AuditedBoot) -> Counter[tuple[str, str]]:
    """Return how often each process tried to take the lock in each function, up to ready."""
    profile = evidence.analysis.profile
    nodes = {
        node
        for node, function in enumerate(profile.nodes["function"].tolist())
        if bare(profile.names[function]) == _TRY
    }
    found: Counter[tuple[str, str]] = Counter()
    for number in profile.up_to(m.READY):
        weights = profile.slices[number].weights
        for node, calls in zip(weights["node"].tolist(), weights["calls"].tolist(), strict=True):
            if node in nodes:
                path = profile.path(node)
                found[path[0], bare(path[-2])] += calls
    return found
