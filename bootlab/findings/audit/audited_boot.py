"""What an audit looks at: a profiled boot, the files that it booted from, and how its services hang together."""

import re
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from bootlab.build.cache import Cache
from bootlab.build.formats.cpio import Entry
from bootlab.build.root.udev_rules import UdevRules, read_rules
from bootlab.build.units.plan import InitPlan, PlannedUnit, read_plan
from bootlab.findings.analysis import Analysis
from bootlab.findings.audit.process_costs import TaskCosts, words_of
from bootlab.findings.audit.udev_events import UdevEvent, find_events
from bootlab.findings.cost_tree import CostTree
from bootlab.findings.technique_evidence import measured_of
from bootlab.profile.tables.processes import Process
from bootlab.techniques.model.catalogue import load_catalogue, require_techniques
from bootlab.techniques.model.evidence import Measured
from bootlab.timeline import marks as m

_UNIT_FOLDERS: Final = (
    "etc/init.d",
    "etc/rc",
    "etc/systemd",
    "lib/systemd/system",
    "usr/lib/systemd/system",
    "etc/insserv",
)
SYSTEMD_UNITS: Final = ("etc/systemd/system", "lib/systemd/system", "usr/lib/systemd/system")
_TARGETS: Final = ("etc/fstab", "etc/inittab")
_DISPLAY_MANAGER: Final = "etc/systemd/system/display-manager.service"
_GRAPHICAL_WANTS: Final = "etc/systemd/system/graphical.target.wants"
_MARK: Final = "bootlab-mark"


@dataclass(frozen=True)
class AuditedBoot:
    """One boot of a system and what is known of it. `initramfs`, `rootfs`: their files, None where that is unknown."""

    analysis: Analysis
    costs: TaskCosts
    initramfs: Sequence[Entry] | None = None
    rootfs: Sequence[Entry] | None = None
    plan: InitPlan | None = None
    goal: str | None = None
    """The unit that the boot is for; None when there is none by that name."""
    kernel_config: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    menu_s: float | None = None
    """How long the bootloader of a disk image waits for a key; None where that is not known."""

    @cached_property
    def units_of_tasks(self) -> dict[int, str]:
        """Task -> the unit that it belongs to, found by who started it."""
        return _units_of_tasks(self.costs, self.plan) if self.plan is not None else {}

    @cached_property
    def udev_events(self) -> list[UdevEvent]:
        """Return the events that udev handled."""
        return find_events(self.costs, self.analysis.profile)

    @cached_property
    def tree(self) -> CostTree:
        """What each node of the profile cost up to ready."""
        analysis = self.analysis
        slices = analysis.profile.up_to(m.READY)
        return CostTree(analysis.profile, slices, analysis.waits.idles, analysis.initcalls.initcalls)

    def technique(self, name: str, facts: Mapping[str, str] | None = None) -> str | None:
        """Return `name` where that technique applies to the system, with `facts` besides the boot's; None elsewhere."""
        technique = next(iter(require_techniques(load_catalogue(), [name])))
        measured = replace(self._measured, facts={**self.facts, **(facts or {})}, kernel_config=self.kernel_config)
        return name if technique.change.applies(self.analysis.system, measured) is None else None

    @cached_property
    def _measured(self) -> Measured:
        return measured_of(self.analysis.record)

    @property
    def console(self) -> str:
        """What was on the console, up to the boot's end."""
        return self._measured.console

    def tasks_of_unit(self, name: str) -> list[int]:
        """Return the tasks of a unit."""
        return [task for task, unit in self.units_of_tasks.items() if unit == name]

    @cached_property
    def goal_closure(self) -> frozenset[str]:
        """The goal and all units that it waits for, among them those that systemd starts before any service."""
        if self.plan is None or self.goal is None:
            return frozenset()
        return self.plan.closure({self.goal, *self._early})

    @cached_property
    def udev_rules(self) -> UdevRules:
        """The rules of both file systems."""
        return read_rules([*(self.initramfs or ()), *(self.rootfs or ())])

    @property
    def _early(self) -> Iterable[str]:
        # DefaultDependencies of systemd.service(5): every service needs these two targets.
        for entry in self.rootfs or ():
            folder, name = PurePosixPath(entry.path).parent.name, PurePosixPath(entry.path).name
            if folder in ("sysinit.target.wants", "basic.target.wants"):
                yield name.removesuffix(".service")


def read_units(entries: Iterable[Entry], cache: Cache) -> InitPlan:
    """Return the units of a root file system: systemd's where it has systemd, and the init scripts that are started.

    Raises MissingTool or ProgramFailed when their reader cannot be compiled.
    """
    files = {entry.path: entry for entry in entries}
    systemd = any(path.endswith("lib/systemd/systemd") for path in files)
    with tempfile.TemporaryDirectory(prefix="bootlab-units-") as name:
        root = Path(name)
        for path, entry in files.items():
            if systemd and _is_passed_over(path, files):
                continue
            if path.startswith(_UNIT_FOLDERS) or path in _TARGETS:
                _lay(root / path, entry)
        if systemd:
            _lay_display_manager(root, files)
        lines = [f"systemd {'yes' if systemd else 'no'}", "lsb yes", "early no"]
        conf = root / "etc/bootlab/init.conf"
        conf.parent.mkdir(parents=True, exist_ok=True)
        conf.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return read_plan(root, cache)


def _is_passed_over(path: str, files: Mapping[str, Entry]) -> bool:
    """Return whether systemd starts nothing by a file of its init scripts (systemd-sysv-generator).

    It reads no rcS.d; and of no script that has a unit of its name, a mask or a link to another unit included.
    """
    folder, _, script = path.rpartition("/")
    if folder != "etc/init.d":
        return folder == "etc/rcS.d"
    unit = f"{script.removesuffix('.sh')}.service"
    return any(f"{place}/{unit}" in files for place in SYSTEMD_UNITS)


def _lay_display_manager(root: Path, files: Mapping[str, Entry]) -> None:
    """Have graphical.target want what display-manager.service is another name of (systemd.special(7)).

    It says so in its own file, where its reader looks at the folders of links alone, and a display manager of Debian's
    has no [Install] by which there would be one.
    """
    entry = files.get(_DISPLAY_MANAGER)
    if entry is not None and stat.S_ISLNK(entry.mode):
        unit = PurePosixPath(entry.data.decode(errors="surrogateescape"))
        link = root / _GRAPHICAL_WANTS / unit.name
        if unit.suffix == ".service" and not link.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(unit)


def _lay(path: Path, entry: Entry) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if stat.S_ISDIR(entry.mode):
        path.mkdir(exist_ok=True)
    elif stat.S_ISLNK(entry.mode):
        path.symlink_to(entry.data.decode(errors="surrogateescape"))
    elif stat.S_ISREG(entry.mode):
        path.write_bytes(entry.data)
        path.chmod(0o755 if entry.mode & 0o111 else 0o644)


def find_goal(costs: TaskCosts, plan: InitPlan, mark: str | None) -> str | None:
    """Return the unit whose process said `mark` by bootlab-mark; None when none did."""
    units = _units_of_tasks(costs, plan)
    for task, process in sorted(costs.processes.items(), reverse=True):
        words = words_of(process)
        if PurePosixPath(words[0]).name == _MARK and words[1:] == (mark,) and task in units:
            return units[task]
    return None


def _units_of_tasks(costs: TaskCosts, plan: InitPlan) -> dict[int, str]:
    by_command = _commands(plan.units)
    found: dict[int, str] = {}
    # Makers come before what they make.
    for task, process in sorted(costs.processes.items(), key=lambda one: (one[1].started_ns, one[0])):
        makers = costs.makers(task)
        own = _unit_by_command(process, by_command) if makers and makers[0].pid == 1 or _is_script(process) else None
        above = found.get(makers[0].task) if makers else None
        if (unit := above or own) is not None:
            found[task] = unit
    return found


def _commands(units: Iterable[PlannedUnit]) -> dict[tuple[str, ...], str]:
    found: dict[tuple[str, ...], str] = {}
    for unit in units:
        for command in unit.commands:
            words = command[1:]
            if words and unit.wanted:
                found.setdefault(words, unit.name)
                found.setdefault((_plain_path(words[0]),), unit.name)
    return found


def _unit_by_command(process: Process, units: Mapping[tuple[str, ...], str]) -> str | None:
    for _, words in process.commands:
        if (unit := units.get(words)) is not None:
            return unit
    for _, path in process.programs:
        if (unit := units.get((_plain_path(path),))) is not None:
            return unit
    return None


def _is_script(process: Process) -> bool:
    return any(path.startswith("/etc/init.d/") for _, path in process.programs)


def _plain_path(path: str) -> str:
    # /usr is merged: /lib is a link to /usr/lib.
    return re.sub(r"^[-@:+!]*/usr/", "/", path)
