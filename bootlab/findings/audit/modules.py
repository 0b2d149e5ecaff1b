"""Finds modules that a boot did not need: unused ones in the initramfs, ones loaded or probed for nothing."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from bootlab.build.modules.package import module_info, module_name, needed_modules, plain_module
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding, Item, finding
from bootlab.findings.audit.process_costs import TaskCost, command_of, program_of, words_of
from bootlab.profile.recorded.record_types import NONE, Call, CallKind, Space
from bootlab.profile.tables.initcalls import ProbeResult
from bootlab.profile.tables.processes import Process
from bootlab.techniques.cmdline.audit_findings import ARCHIVE_MODULES, IDLE_MODULES, MODPROBE_UNITS

_MODULE_FILE: Final = (".ko", ".ko.xz", ".ko.zst", ".ko.gz")
_LOADERS: Final = frozenset({"modprobe", "insmod"})
_UNITS_OPTIONS: Final = ("-abq",)
"""Of systemd's modprobe@.service."""
_CRYPTO: Final = "crypto"
_LOAD: Final = frozenset({"load_module", "__do_sys_finit_module", "__do_sys_init_module", "__se_sys_finit_module"})
_UNPACK: Final = ("unpack_to_rootfs",)


def find_unused_modules(evidence: AuditedBoot) -> Finding | None:
    """Modules that lie in the initramfs and were not loaded up to ready, with their share of what unpacking cost."""
    files = {
        module_name(PurePosixPath(entry.path).name): entry.size
        for entry in evidence.initramfs or ()
        if entry.path.endswith(_MODULE_FILE)
    }
    loaded = {call.text for call in _loads(evidence)}
    unused = {name: size for name, size in files.items() if name not in loaded}
    if not unused:
        return None
    kept = {ARCHIVE_MODULES: " ".join(list_archive_modules(evidence))}
    linked = {entry.linked or entry.path: entry.size for entry in evidence.initramfs or ()}
    whole, mine = max(sum(linked.values()), 1), sum(unused.values())
    unpacking = _below(evidence, _UNPACK)
    executed_ns, idle_ns = (ns * mine // whole for ns in (unpacking.executed_ns, unpacking.idle_ns))
    items = [
        Item(what=name, cost_ns=unpacking.ns * size // whole, detail=f"{size} bytes") for name, size in unused.items()
    ]
    what = f"{len(unused)} of the {len(files)} modules in the initramfs were not loaded: {mine} of its {whole} bytes"
    found = finding(
        "initramfs modules never used",
        what,
        TaskCost(executed_ns, idle_ns),
        items,
        technique=evidence.technique("initramfs_pruned", kept),
        by_hand="MODULES=dep in /etc/initramfs-tools/initramfs.conf makes one for the machine it runs on",
    )
    return found.model_copy(update={"basis": "by size"})


def list_archive_modules(evidence: AuditedBoot) -> list[str]:
    """Return the modules of the initramfs that were loaded up to ready, by name."""
    loaded = {call.text for call in _loads(evidence)}
    paths = [entry.path for entry in evidence.initramfs or () if entry.path.endswith(_MODULE_FILE)]
    return sorted({name for path in paths if (name := module_name(PurePosixPath(path).name)) in loaded})


def find_idle_modules(evidence: AuditedBoot) -> Finding | None:
    """Modules that were loaded, drive no device, and of which nothing ran up to ready beyond their own init."""
    idle = list_idle_modules(evidence)
    if not idle:
        return None
    costs = {name: cost for name, cost in load_costs(evidence).items() if name in idle}
    items = [Item(what=name, cost_ns=cost.ns) for name, cost in costs.items()]
    return finding(
        "modules loaded for nothing",
        f"{len(costs)} modules were loaded, and up to ready none of their code ran but their own init",
        sum(costs.values(), TaskCost()),
        items,
        technique=evidence.technique("cmdline_module_blacklist", {IDLE_MODULES: " ".join(sorted(idle))}),
        by_hand="blacklist them in /etc/modprobe.d, or let what asks for them after ready load them then",
    )


def find_module_loaders(evidence: AuditedBoot) -> Finding | None:
    """Every modprobe that a program ran, by who had it run: each reads the indexes of all modules anew."""
    calls = [call for call in _loaders(evidence) if not _is_kernels(evidence, call)]
    if not calls:
        return None
    items: dict[str, list[tuple[TaskCost, str]]] = {}
    for call in calls:
        items.setdefault(_who(evidence, call.task), []).append(_cost_and_command(evidence, call))
    return finding(
        "modprobe calls",
        f"modprobe or insmod ran {len(calls)} times",
        sum((cost for found in items.values() for cost, _ in found), TaskCost()),
        [_loader_item(f"{len(found)} by {who}", found) for who, found in items.items()],
        technique=evidence.technique("cmdline_modules_load", {MODPROBE_UNITS: " ".join(list_modprobe_units(evidence))}),
        by_hand="bootlab coldplug lists the modules for a machine's devices, for a plan that looks nothing up at boot; "
        "a name in /etc/modules-load.d is loaded by one process for all of them",
    )


def find_kernel_requests(evidence: AuditedBoot) -> Finding | None:
    """Every modprobe that the kernel ran, by what it asked for: most such names have no module at all."""
    calls = [call for call in _loaders(evidence) if _is_kernels(evidence, call)]
    if not calls:
        return None
    items: dict[str, list[tuple[TaskCost, str]]] = {}
    for call in calls:
        kind = words_of(call)[-1].partition("-")[0]
        items.setdefault(kind, []).append(_cost_and_command(evidence, call))
    # What the tests of the crypto API make of parts is asked for by name, twice each (crypto/api.c).
    tests = evidence.technique("cmdline_cryptomgr_notests") if _CRYPTO in items else None
    # The generator of systemd 256 and later asks for AF_VSOCK, family 40.
    vsock = any(words_of(call)[-1] == "net-pf-40" for call in calls) and evidence.technique("cmdline_ssh_auto_off")
    return finding(
        "modules that the kernel asks for",
        f"the kernel ran modprobe {len(calls)} times, each time for one name (request_module)",
        sum((cost for found in items.values() for cost, _ in found), TaskCost()),
        [_loader_item(f"{len(found)} x {kind}", found) for kind, found in items.items()],
        technique=tests or vsock or None,
        by_hand=(f"{vsock} for net-pf-40; " if tests and vsock else "")
        + "load what is asked for before somebody asks (/etc/initramfs-tools/modules); what no module provides, "
        "a kernel without the option that asks does not ask for",
    )


def list_modprobe_units(evidence: AuditedBoot) -> list[str]:
    """Return what systemd started a modprobe@NAME.service for, by name."""
    words = [words_of(call) for call in _loaders(evidence) if not _is_kernels(evidence, call)]
    return sorted({one[-1] for one in words if one[1:-1] == _UNITS_OPTIONS})


def _loaders(evidence: AuditedBoot) -> list[Process]:
    costs = evidence.costs
    return [one for one in costs.processes.values() if program_of(one) in _LOADERS or _is_kmod(one.commands)]


def _is_kernels(evidence: AuditedBoot, call: Process) -> bool:
    makers = evidence.costs.makers(call.task)
    return bool(makers) and makers[-1].name == "kthreadd"


def _cost_and_command(evidence: AuditedBoot, call: Process) -> tuple[TaskCost, str]:
    return evidence.costs.cost(evidence.costs.family(call.task)), command_of(call)


def _loader_item(what: str, found: Iterable[tuple[TaskCost, str]]) -> Item:
    found = list(found)
    return Item(
        what=what,
        cost_ns=sum(cost.ns for cost, _ in found),
        detail="; ".join(dict.fromkeys(command for _, command in found)),
    )


def find_fruitless_probes(evidence: AuditedBoot) -> Finding | None:
    """Drivers that were asked to take a device and did not."""
    failed = (ProbeResult.FAILED, ProbeResult.DEFERRED)
    probes = [one for one in evidence.analysis.initcalls.probes if one.result in failed]
    probes = [one for one in probes if _early(evidence, one.start_ns)]
    if not probes:
        return None
    items = [
        Item(
            what=one.name,
            cost_ns=one.cpu_ns,
            lasted_ns=one.duration_ns,
            detail=f"{one.result.value}, in {one.inside}" if one.inside else one.result.value,
        )
        for one in probes
    ]
    return finding(
        "devices probed for nothing",
        f"{len(probes)} probes of a device by a driver came to nothing",
        TaskCost(sum(one.cpu_ns for one in probes)),
        items,
        by_hand="leave out the driver (module_blacklist=, or its option of the kernel), or the device",
    )


def list_idle_modules(evidence: AuditedBoot) -> frozenset[str]:
    """Return the modules that did nothing up to ready, and that no module needs which did."""
    profile = evidence.analysis.profile
    loaded = {call.text for call in _loads(evidence)}
    modules = np.flatnonzero(profile.spaces == Space.MODULE)
    tree = evidence.tree
    outside = ~tree.below(("do_init_module",))
    ran = tree.instructions > 0
    of_module = np.isin(tree.function, modules) & outside & ran
    names = {profile.names[int(number)].rpartition(" [")[2].removesuffix("]") for number in tree.function[of_module]}
    bound = {
        one.inside
        for one in evidence.analysis.initcalls.probes
        if one.inside in loaded and one.result in (ProbeResult.BOUND, ProbeResult.RETURNED)
    }
    inits = {one.name: one.module for one in evidence.analysis.initcalls.initcalls if one.module}
    bound |= {
        inits[one.inside]
        for one in evidence.analysis.initcalls.probes
        if one.inside in inits and one.result in (ProbeResult.BOUND, ProbeResult.RETURNED)
    }
    busy = names | bound
    needs = _needs(evidence)
    left = list(busy)
    while left:
        for needed in needs.get(left.pop(), ()):
            if needed not in busy:
                busy.add(needed)
                left.append(needed)
    return frozenset(loaded - busy)


def load_costs(evidence: AuditedBoot) -> dict[str, TaskCost]:
    """Return what loading each module cost its loader, from the system call on: reading, linking, checking, init."""
    profile, costs = evidence.analysis.profile, evidence.costs
    loading = {number for number, name in enumerate(profile.names[: profile.kernel_functions]) if name in _LOAD}
    spans = profile.spans[np.isin(profile.nodes["function"][profile.spans["node"]], list(loading))]
    found: dict[str, TaskCost] = {}
    for call in _loads(evidence):
        mine = spans[
            (spans["task"] == call.task) & (spans["start_ns"] <= call.start_ns) & (spans["end_ns"] >= call.end_ns)
        ]
        start = int(mine["start_ns"].min()) if len(mine) else call.start_ns
        end = int(mine["end_ns"].max()) if len(mine) else call.end_ns
        found[call.text] = found.get(call.text, TaskCost()) + costs.cost([call.task], start, end)
    return found


def _loads(evidence: AuditedBoot) -> list[Call]:
    calls = evidence.analysis.profile.calls
    return [one for one in calls if one.kind == CallKind.MODULE and one.task != NONE and _early(evidence, one.start_ns)]


def _needs(evidence: AuditedBoot) -> dict[str, list[str]]:
    # /proc/modules, as the guest printed it after ready, has names alone; the modules of the image say what they need.
    loaded, found = {call.text for call in _loads(evidence)}, dict[str, list[str]]()
    for entry in (*(evidence.initramfs or ()), *(evidence.rootfs or ())):
        if entry.path.endswith(_MODULE_FILE) and entry.data:
            name = module_name(PurePosixPath(entry.path).name)
            if name not in found and name in loaded:
                found[name] = needed_modules(module_info(entry.path, plain_module(entry.path, entry.data)))[0]
    return found


def _below(evidence: AuditedBoot, functions: Iterable[str]) -> TaskCost:
    tree = evidence.tree
    mask = tree.below(functions)
    executed = int(tree.instructions[mask].sum()) << evidence.analysis.profile.shift
    return TaskCost(executed, int(tree.idle_ns[mask].sum()))


def _early(evidence: AuditedBoot, t_ns: int) -> bool:
    return t_ns < evidence.costs.until_ns


def _is_kmod(commands: Iterable[tuple[int, tuple[str, ...]]]) -> bool:
    return any(PurePosixPath(words[0]).name in _LOADERS for _, words in commands)


def _who(evidence: AuditedBoot, task: int) -> str:
    unit = evidence.units_of_tasks.get(task)
    makers = evidence.costs.makers(task)
    maker = command_of(makers[0]) if makers else "?"
    return f"{unit} ({maker})" if unit else maker
