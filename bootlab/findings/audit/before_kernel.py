"""Finds what a disk image's boot spends before its kernel: a bootloader's menu, and what firmware and loaders execute.

Firmware and loaders have nothing to sleep by: a wait of theirs is executed, too.
"""

from collections import Counter
from typing import Final

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding, Item, finding
from bootlab.findings.audit.process_costs import TaskCost

_LEAST_NS: Final = 1_000_000
_LOADER: Final = "loader"
_BY_HAND: Final = (
    "a loader that reads less or in larger pieces, a smaller initramfs; firmware without the drivers that this machine "
    "has no use for, which is a build of its own"
)


def find_menu(evidence: AuditedBoot) -> Finding | None:
    """The bootloader shows a menu, and waits for a key that nobody presses."""
    menu_s = evidence.menu_s
    spent_ns = sum(phase.busy_ns for phase in evidence.analysis.activity.phases if phase.name == _LOADER)
    # A shorter phase has not waited so long, whatever is written on the image.
    if not menu_s or spent_ns < menu_s * 1e9:
        return None
    waited_ns = round(menu_s * 1e9)
    return finding(
        "bootloader's menu",
        f"the bootloader waits {menu_s:g} s for a key",
        TaskCost(waited_ns),
        [Item(what="the menu", cost_ns=waited_ns, detail="executed: it looks at a clock again and again")],
        technique=evidence.technique("bootloader_menu_none"),
        by_hand="GRUB_TIMEOUT=0 and update-grub; timeout 0 in loader/loader.conf",
    )


def find_work_before_kernel(evidence: AuditedBoot) -> Finding | None:
    """What each program executes itself before the kernel: UEFI's drivers, the loader, what it loaded."""
    analysis = evidence.analysis
    if analysis.system.image is None:
        return None
    shift = analysis.tree.shift
    spent: Counter[str] = Counter()
    phases: dict[str, list[str]] = {}
    for phase in analysis.activity.phases:
        for one in phase.programs:
            spent[one.name] += one.instructions << shift
            phases.setdefault(one.name, []).append(phase.name)
    items = [
        Item(what=name, cost_ns=ns, detail=f"in {', '.join(phases[name])}")
        for name, ns in spent.items()
        if ns >= _LEAST_NS
    ]
    if not items:
        return None
    remedies = ("firmware_ovmf_2025", "bootloader_efi_stub", "bootloader_uki")
    named = [name for name in remedies if evidence.technique(name) is not None]
    return finding(
        "work before the kernel",
        f"{len(spent)} programs ran before the kernel, {len(items)} of them for {_LEAST_NS // 1_000_000} ms or longer",
        TaskCost(spent.total()),
        items,
        technique=next(iter(named), None),
        by_hand=_BY_HAND + (f"; {', '.join(named[1:])}" if named[1:] else ""),
    )
