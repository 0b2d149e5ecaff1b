"""What each package adds to one boot, as values and as JSON: the rows of `bootlab packages`, and how they are made."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from bootlab.document import Document
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.modules import load_costs
from bootlab.findings.audit.process_costs import TaskCost
from bootlab.findings.packages.file_owners import FileOwners
from bootlab.findings.packages.owner import Owner, OwnerKind
from bootlab.findings.packages.removal import Removals, packages_of
from bootlab.findings.packages.stretches import OwnedTime, own_time
from bootlab.profile.recorded.record_types import EventKind

_UNPACKING: Final = frozenset({"unpack_to_rootfs", "populate_rootfs", "do_populate_rootfs"})


class PackageCost(Document):
    """What one package, or what belongs to none, had of a boot up to ready. The rows' `cost_ns` add up to the boot."""

    kind: OwnerKind
    name: str
    """The package; of other kinds what it is, empty where the kind says it."""
    version: str = ""
    cost_ns: int
    """While its files were executed: instructions and idle time; and its share of unpacking the initramfs."""
    executed_ns: int
    idle_ns: int
    unpacking_ns: int = 0
    """Of `cost_ns`, the share, by bytes, of unpacking the initramfs."""
    gone_ns: int | None = None
    """What would not happen without it and what goes along; None where it is kept. Of several packages that may be
    the same time."""
    gone_idle_ns: int | None = None
    along: list[str] = []
    """Packages that need it, and go along."""
    kept: str = ""
    """Why it is not to be removed."""
    processes: int = 0
    """How many executed one of its files."""
    programs: list[str] = []
    units: list[str] = []
    """Its units that ran before ready."""
    modules: list[str] = []
    """Its modules that were loaded before ready."""
    modules_ns: int = 0
    """What loading them cost whoever loaded them: it is in their rows."""
    initramfs_files: int = 0
    initramfs_bytes: int = 0
    files_read: int = 0
    """Files of it that were opened before ready, each counted once."""
    read_bytes: int = 0
    """Their sizes."""


class PackageCosts(Document):
    """All rows of one boot: what is removable by what goes with it, then what is kept, then what is no package's."""

    system: str
    total_ns: int
    """Power-on to ready, or to where the boot ended."""
    goal: str | None
    """The unit that the boot is for."""
    installed: int
    """Packages in the root."""
    rows: list[PackageCost]
    silent: list[str]
    """Packages of which nothing ran and nothing was read."""
    doubts: list[str]
    """What is wrong with the database of packages, and what this boot could not tell."""
    cpu: str = ""
    seed: int = 1
    ns_per_instruction: int | None = None
    hashes: dict[str, str] = {}
    """Of the boot's inputs."""
    outcome: str = "ready"
    detail: str = ""

    @property
    def sum_ns(self) -> int:
        """Return the sum of all rows."""
        return sum(row.cost_ns for row in self.rows)

    @property
    def removable(self) -> list[PackageCost]:
        """Return the rows of packages that nothing speaks for keeping, what takes most along first."""
        return [row for row in self.rows if row.gone_ns is not None]


@dataclass(frozen=True, slots=True)
class CostedPackages:
    """What each package cost a boot, and what their removal would take out of it."""

    costs: PackageCosts
    removals: Removals


def cost_packages(evidence: AuditedBoot, owners: FileOwners, *, archive_goes: bool) -> CostedPackages:
    """Return what each package of a root cost a boot. `archive_goes`: as for `Removals`."""
    analysis = evidence.analysis
    owned = own_time(evidence.costs, evidence.tree, analysis.waits.idles, owners)
    removals = Removals(evidence, owned, owners, archive_goes=archive_goes)
    rows = _Rows(evidence, owners, owned, removals).made()
    doubts = [*owners.installed.doubts]
    if not any(row.files_read for row in rows.values()):
        doubts.append("the profile has no paths: which files were read is not known (bootlab profile --paths)")
    if evidence.plan is None or evidence.goal is None:
        doubts.append("what the boot is for is not known: --goal UNIT keeps what that needs")
    if owned.sum_ns != owned.total_ns:
        doubts.append(f"{owned.total_ns - owned.sum_ns} ns of the boot are in no row")
    named = {name for owner in rows for name in packages_of(owner)}
    costs = PackageCosts(
        system=analysis.record.system,
        total_ns=owned.total_ns,
        goal=evidence.goal,
        installed=len(owners.installed.packages),
        rows=sorted(rows.values(), key=_rank),
        silent=sorted(owners.installed.packages.keys() - named),
        doubts=doubts,
        cpu=analysis.record.cpu,
        seed=analysis.record.seed,
        ns_per_instruction=analysis.record.ns_per_instruction,
        hashes=analysis.record.hashes,
        outcome=analysis.record.outcome.value,
        detail=analysis.record.detail,
    )
    return CostedPackages(costs, removals)


def _rank(row: PackageCost) -> tuple[int, int, str]:
    if row.gone_ns is not None:
        return 0, -row.gone_ns, row.name
    return 1 if row.kind is OwnerKind.PACKAGE else 2, -row.cost_ns, row.name


class _Rows:
    def __init__(self, evidence: AuditedBoot, owners: FileOwners, owned: OwnedTime, removals: Removals) -> None:
        self._evidence = evidence
        self._owners = owners
        self._owned = owned
        self._removals = removals

    def made(self) -> dict[Owner, PackageCost]:
        costs: dict[Owner, TaskCost] = defaultdict(TaskCost)
        programs: dict[Owner, dict[str, None]] = defaultdict(dict)
        tasks: dict[Owner, set[int]] = defaultdict(set)
        for one in self._owned.stretches:
            costs[one.owner] += one.cost
            if one.path:
                programs[one.owner][one.path] = None
                tasks[one.owner].add(one.task)
        for parts in (self._owned.others, self._owned.unpacking):
            for owner, cost in parts.items():
                costs[owner] += cost
        read = self._read()
        found = {*costs, *read, *self._owners.archive_files}
        found |= {Owner(OwnerKind.PACKAGE, name) for name in (*self._removals.units, *self._removals.modules)}
        loading = load_costs(self._evidence)
        rows = {}
        for owner in found:
            unpacking = self._owned.unpacking.get(owner, TaskCost())
            files = self._owners.archive_files.get(owner, ())
            row = PackageCost(
                kind=owner.kind,
                name=owner.name,
                cost_ns=costs[owner].ns,
                executed_ns=costs[owner].executed_ns,
                idle_ns=costs[owner].idle_ns,
                unpacking_ns=unpacking.ns,
                processes=len(tasks[owner]),
                programs=list(programs[owner]),
                initramfs_files=len(files),
                initramfs_bytes=sum(one.size for one in files),
                files_read=len(read.get(owner, ())),
                read_bytes=sum(read.get(owner, {}).values()),
            )
            rows[owner] = self._of_package(row, loading) if owner.kind is OwnerKind.PACKAGE else row
        return rows

    def _of_package(self, row: PackageCost, loading: Mapping[str, TaskCost]) -> PackageCost:
        modules = sorted(self._removals.modules.get(row.name, ()))
        update: dict[str, object] = {
            "version": self._owners.installed.packages[row.name].version,
            "units": sorted(unit.name for unit in self._removals.units.get(row.name, ())),
            "modules": modules,
            "modules_ns": sum(loading[name].ns for name in modules if name in loading),
            "kept": self._removals.why_kept(row.name),
        }
        along = self._removals.with_them([row.name])
        update["along"] = sorted(along)
        if not update["kept"]:
            gone = self._removals.gone([row.name, *along])
            update |= {"gone_ns": gone.ns, "gone_idle_ns": gone.idle_ns}
        return row.model_copy(update=update)

    def _read(self) -> dict[Owner, dict[tuple[bool, str], int]]:
        """Return owner -> (whether in the initramfs, path) -> bytes, of every file that was opened before ready."""
        profile, until_ns = self._evidence.analysis.profile, self._evidence.costs.until_ns
        first = next((one for one in self._evidence.costs.processes.values() if one.pid == 1), None)
        switched = self._owners.switched_ns(first)
        unpacking = np.flatnonzero(self._evidence.tree.below(_UNPACKING))
        left_out = set(unpacking.tolist())
        found: dict[Owner, dict[tuple[bool, str], int]] = defaultdict(dict)
        for event in profile.events:
            if event.kind != EventKind.OPEN or event.t_ns >= until_ns or event.node in left_out:
                continue
            early = event.t_ns < switched
            target = self._owners.file(event.text, early=early)
            if target is not None:
                path, size = target
                owner = self._owners.owner(event.text, early=early)
                # What was only read and is nobody's, such as /etc/passwd, needs no row a file.
                owner = Owner(owner.kind) if owner.kind is OwnerKind.UNPACKAGED else owner
                found[owner].setdefault((early, path), size)
        return found
