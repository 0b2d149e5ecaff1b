"""Audits one boot of a distribution: asks for every kind of finding, and keeps those that the boot shows.

Every kind is one function of the evidence that returns a finding or None. What one boot does not show is not said: a
unit that the goal can do without may be what the product is for after ready.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bootlab.build.cache import Cache
from bootlab.build.formats.cpio import Entry
from bootlab.findings.analysis import Analysis
from bootlab.findings.audit.audited_boot import AuditedBoot, find_goal, read_units
from bootlab.findings.audit.before_kernel import find_menu, find_work_before_kernel
from bootlab.findings.audit.delays import find_delays
from bootlab.findings.audit.finding import Audit, Finding
from bootlab.findings.audit.first_boot import find_cloud_init, find_disk_growth, find_host_keys
from bootlab.findings.audit.idle_priority import find_idle_locks
from bootlab.findings.audit.ipv6 import find_address_waits, missing_calls
from bootlab.findings.audit.legacy_ptys import find_legacy_ptys
from bootlab.findings.audit.login import find_console_output, find_idle_units, find_size_questions
from bootlab.findings.audit.modules import (
    find_fruitless_probes,
    find_idle_modules,
    find_kernel_requests,
    find_module_loaders,
    find_unused_modules,
    list_archive_modules,
    list_idle_modules,
    list_modprobe_units,
)
from bootlab.findings.audit.process_costs import TaskCosts
from bootlab.findings.audit.services import (
    find_needless_units,
    find_network_waits,
    find_online_waits,
    find_parallel_losses,
    find_sleeps,
    list_goal_devices,
    list_needless,
    list_wanting,
)
from bootlab.findings.audit.udev import (
    find_bad_rules,
    find_forking_rules,
    find_settle_waits,
    find_uevents,
    list_triggers,
)
from bootlab.techniques.cmdline.audit_findings import (
    ARCHIVE_MODULES,
    GOAL_DEVICES,
    GOAL_UNIT,
    IDLE_MODULES,
    MODPROBE_UNITS,
    NEEDLESS_UNITS,
    NEEDLESS_WANTED,
)
from bootlab.techniques.userspace.udev import TRIGGERED


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    find: Callable[[AuditedBoot], Finding | None]
    lacks: Callable[[AuditedBoot], str | None] = lambda evidence: None


def _no_initramfs(evidence: AuditedBoot) -> str | None:
    return "what is in the initramfs is not known" if evidence.initramfs is None else None


def _no_units(evidence: AuditedBoot) -> str | None:
    return "what is in the root file system is not known: [rootfs] as a recipe tells" if evidence.plan is None else None


def _no_goal(evidence: AuditedBoot) -> str | None:
    lacks = _no_units(evidence)
    if lacks is None and evidence.goal is None:
        lacks = "no unit said ready (bootlab-mark): --goal names the one that the boot is for"
    return lacks


def _no_events(evidence: AuditedBoot) -> str | None:
    return None if evidence.udev_events else "no worker of udev was seen to open a uevent file"


def _no_files(evidence: AuditedBoot) -> str | None:
    return None if evidence.rootfs is not None else "what is in the root file system is not known"


def _no_calls(evidence: AuditedBoot) -> str | None:
    lacks = missing_calls(evidence.analysis.about.calls)
    if not lacks:
        return None
    return f"calls of {', '.join(lacks)} were not recorded: this kernel has none, or the profile is of another verb"


KINDS: tuple[_Kind, ...] = (
    _Kind("bootloader's menu", find_menu),
    _Kind("work before the kernel", find_work_before_kernel),
    _Kind("delays", find_delays),
    _Kind("initramfs modules never used", find_unused_modules, _no_initramfs),
    _Kind("modules loaded for nothing", find_idle_modules),
    _Kind("devices probed for nothing", find_fruitless_probes),
    _Kind("modprobe calls", find_module_loaders),
    _Kind("modules that the kernel asks for", find_kernel_requests),
    _Kind("uevents", find_uevents, _no_events),
    _Kind("udev rules that fork", find_forking_rules),
    _Kind("udev rules with errors", find_bad_rules),
    _Kind("settle waits", find_settle_waits),
    _Kind("sleeps in scripts", find_sleeps),
    _Kind("waits for the network", find_network_waits, _no_units),
    _Kind("waits to be online", find_online_waits),
    _Kind("IPv6 addresses", find_address_waits, _no_calls),
    _Kind("cloud-init", find_cloud_init),
    _Kind("host keys", find_host_keys),
    _Kind("disk is grown", find_disk_growth),
    _Kind("units that wait until nothing else starts", find_idle_units, _no_files),
    _Kind("terminals asked for their size", find_size_questions),
    _Kind("console output", find_console_output),
    _Kind("longer in parallel than alone", find_parallel_losses, _no_goal),
    _Kind("units the goal does not need", find_needless_units, _no_goal),
    _Kind("network locks at idle priority", find_idle_locks, _no_units),
    _Kind("legacy ptys", find_legacy_ptys),
)
"""In the order in which a boot comes to them."""


def gather(
    analysis: Analysis,
    cache: Cache,
    *,
    initramfs: Sequence[Entry] | None,
    rootfs: Sequence[Entry] | None,
    kernel_config: Mapping[str, str],
    goal: str | None = None,
) -> AuditedBoot:
    """Return what an audit looks at. `goal`: the unit that the boot is for; by default the one that said ready."""
    costs = TaskCosts(analysis)
    plan = None
    if rootfs is not None:
        plan = read_units(rootfs, cache)
        goal = goal or find_goal(costs, plan, analysis.system.booted.mark)
    facts = dict(analysis.record.facts)
    if TRIGGERED not in facts and (triggers := list_triggers(costs)):
        # A disk image's own system says nothing of itself; what it ran was seen.
        facts[TRIGGERED] = "".join(f"{command}; " for command in triggers)
    return AuditedBoot(analysis, costs, initramfs, rootfs, plan, goal, kernel_config, facts)


def audit(evidence: AuditedBoot, run: str = "") -> Audit:
    """Return all findings, most expensive first, and what was looked for in vain."""
    findings, nothing, not_looked = list[Finding](), list[str](), dict[str, str]()
    for kind in KINDS:
        if (why := kind.lacks(evidence)) is not None:
            not_looked[kind.name] = why
        elif (found := kind.find(evidence)) is not None:
            findings.append(found)
        else:
            nothing.append(kind.name)
    record = evidence.analysis.record
    facts = {
        IDLE_MODULES: sorted(list_idle_modules(evidence)),
        ARCHIVE_MODULES: list_archive_modules(evidence),
        MODPROBE_UNITS: list_modprobe_units(evidence),
        NEEDLESS_UNITS: list_needless(evidence),
        NEEDLESS_WANTED: list_wanting(evidence),
    }
    if facts[NEEDLESS_UNITS] and evidence.goal is not None:
        facts[GOAL_UNIT] = [evidence.goal]
        facts[GOAL_DEVICES] = list_goal_devices(evidence)
    seen = {name: text for name, text in evidence.facts.items() if name not in record.facts}
    return Audit(
        system=record.system,
        total_ns=evidence.costs.until_ns,
        findings=sorted(findings, key=lambda one: -one.cost_ns),
        nothing=nothing,
        not_looked=not_looked,
        facts={**seen, **{name: " ".join(names) for name, names in facts.items() if names}},
        goal=evidence.goal,
        run=run,
        outcome=record.outcome.value,
        detail=record.detail,
    )
