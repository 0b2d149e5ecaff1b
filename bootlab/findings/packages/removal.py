"""Which packages a boot could do without, and what of it would not happen then.

Without a package there are none of the processes that execute its files or belong to its units, and nothing that these
start, whoever's files that is. What is kept, and why, errs towards keeping: a boot without the others proves them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from bootlab.build.modules.package import module_name
from bootlab.build.units.plan import PlannedUnit
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.process_costs import TaskCost
from bootlab.findings.packages.file_owners import FileOwners
from bootlab.findings.packages.owner import Owner, OwnerKind
from bootlab.findings.packages.stretches import OwnedStretch, OwnedTime
from bootlab.profile.recorded.record_types import NONE, CallKind
from bootlab.profile.tables.processes import task_roots

NOTHING_RAN: Final = "nothing of it ran by itself"
"""Why a package is kept that only others use: it goes when those do."""
_ANSWERS: Final = "inet_csk_accept tcp_recvmsg tcp_sendmsg udp_recvmsg udp_sendmsg udpv6_recvmsg udpv6_sendmsg".split()
_UNIT_FOLDERS: Final = ("usr/lib/systemd/system", "etc/init.d")
_MODULE: Final = (".ko", ".ko.xz", ".ko.zst", ".ko.gz")


class Removals:
    """What the removal of packages would take out of one boot.

    `archive_goes`: whether the initramfs is made anew without them, so that its files of theirs are not unpacked.
    """

    def __init__(
        self, evidence: AuditedBoot, owned: OwnedTime, owners: FileOwners, *, archive_goes: bool = False
    ) -> None:
        self._evidence = evidence
        self._owned = owned
        self._owners = owners
        self._installed = owners.installed
        self._archive_goes = archive_goes
        self._stretches: dict[int, list[OwnedStretch]] = defaultdict(list)
        self._begins: dict[str, dict[int, int]] = defaultdict(dict)
        for one in owned.stretches:
            self._stretches[one.task].append(one)
            if one.path:
                for name in packages_of(one.owner):
                    self._begins[name].setdefault(one.task, one.start_ns)

    @cached_property
    def units(self) -> Mapping[str, list[PlannedUnit]]:
        """Package -> its units that ran before ready."""
        found: dict[str, list[PlannedUnit]] = defaultdict(list)
        for unit in self._evidence.plan.units if self._evidence.plan is not None else ():
            if unit.is_work and self._evidence.tasks_of_unit(unit.name):
                for name in self._unit_packages(unit):
                    found[name].append(unit)
        return found

    @cached_property
    def modules(self) -> Mapping[str, set[str]]:
        """Package -> the modules of it that were loaded before ready."""
        until_ns = self._evidence.costs.until_ns
        loaded = {
            call.text
            for call in self._evidence.analysis.profile.calls
            if call.kind == CallKind.MODULE and call.task != NONE and call.start_ns < until_ns
        }
        found: dict[str, set[str]] = defaultdict(set)
        for path, packages in self._installed.owners.items():
            if path.endswith(_MODULE) and (name := module_name(PurePosixPath(path).name)) in loaded:
                for package in packages:
                    found[package].add(name)
        return found

    def gone(self, names: Collection[str]) -> TaskCost:
        """Return what of the boot would not happen without these packages, ns up to ready."""
        since: dict[int, int] = {}
        left: list[tuple[int, int]] = []
        for name in names:
            left += self._begins.get(name, {}).items()
            for unit in self.units.get(name, ()):
                left += ((task, 0) for task in self._evidence.tasks_of_unit(unit.name))
        while left:
            task, from_ns = left.pop()
            if since.get(task, from_ns + 1) > from_ns:
                since[task] = from_ns
                left += ((one.task, 0) for one in self._evidence.costs.children(task) if one.started_ns >= from_ns)
        cost = TaskCost()
        for task, from_ns in since.items():
            cost = sum((one.cost for one in self._stretches[task] if one.start_ns >= from_ns), cost)
        if self._archive_goes:
            gone = set(names)
            files = self._owned.unpacking.items()
            cost = sum((part for owner, part in files if (set(packages_of(owner)) or {""}) <= gone), cost)
        return cost

    def with_them(self, names: Collection[str]) -> frozenset[str]:
        """Return the packages that go along when `names` are removed, as they need one of them."""
        return self._installed.dependents(names)

    def why_kept(self, name: str) -> str:
        """Return why a package is not to be removed; empty where nothing speaks against it."""
        if (why := self._kept.get(name)) is not None:
            return why
        along = self.with_them([name])
        needing = sorted((one for one in along if one in self._kept), key=lambda one: (len(self._kept[one]), one))
        if needing:
            return f"{needing[0]} needs it ({self._kept[needing[0]]})"
        return "" if self.gone([name]).ns else NOTHING_RAN

    @cached_property
    def _kept(self) -> Mapping[str, str]:
        kept: dict[str, str] = {}
        for name, why in self._reasons():
            kept.setdefault(name, why)
        return kept

    def _reasons(self) -> Iterable[tuple[str, str]]:
        yield from ((one.name, "essential") for one in self._installed.packages.values() if one.essential)
        first = next((one.task for one in self._evidence.costs.processes.values() if one.pid == 1), None)
        yield from ((name, "it is the first process") for name in self._packages_of_tasks([first]))
        yield from ((name, "its modules were loaded") for name in self.modules)
        goal = self._evidence.goal
        closure = self._evidence.goal_closure
        for unit in self._evidence.plan.units if self._evidence.plan is not None else ():
            if unit.name in closure and unit.is_work:
                why = "its unit is the goal" if unit.name == goal else f"its unit {unit.name} comes before the goal"
                yield from ((name, why) for name in self._unit_packages(unit))
                ran = self._packages_of_tasks(self._evidence.tasks_of_unit(unit.name))
                yield from ((name, f"{unit.name} runs it, which comes before the goal") for name in ran)
        told = self._evidence.analysis.critical_path.task
        yield from ((name, "it said ready") for name in self._packages_of_tasks([told]))
        yield from ((name, "it answered the check") for name in self._packages_of_tasks(self._answering()))

    def _packages_of_tasks(self, tasks: Iterable[int | None]) -> set[str]:
        found = set[str]()
        for task in tasks:
            # One that was made after ready executes what its maker did.
            while task is not None and task not in self._stretches:
                task = self._evidence.analysis.profile.tasks[task].parent
            if task is not None:
                found |= {name for one in self._stretches[task] for name in packages_of(one.owner)}
        return found

    def _unit_packages(self, unit: PlannedUnit) -> tuple[str, ...]:
        owners = self._installed.owner(unit.path)
        # A unit of the user's own may lie over the package's.
        name = PurePosixPath(unit.path).name
        places = (self._installed.owner(f"{folder}/{name}") for folder in _UNIT_FOLDERS)
        return owners or next((found for found in places if found), ())

    def _answering(self) -> set[int]:
        """Return the tasks that took or gave something over a network after ready, in the check."""
        profile, tree = self._evidence.analysis.profile, self._evidence.tree
        numbers = [number for name in _ANSWERS for number in tree.numbers.get(name, ())]
        asked = np.isin(tree.function, numbers)
        before = self._evidence.costs.until_ns
        late = np.zeros(len(tree.function), dtype=np.bool_)
        for piece in profile.slices:
            if piece.start_ns >= before:
                late[piece.weights["node"]] = True
        return {task for task in task_roots(profile)[asked & late].tolist() if task >= 0}


def packages_of(owner: Owner) -> tuple[str, ...]:
    """Return the packages that an owner stands for; none for what belongs to no package."""
    if owner.kind is OwnerKind.SHARED:
        return tuple(owner.name.split(", "))
    return (owner.name,) if owner.kind is OwnerKind.PACKAGE else ()
