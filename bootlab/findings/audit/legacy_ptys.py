"""Finds legacy ptys: old terminals that the kernel makes and nobody uses, each a device with a uevent of its own."""

import re
from typing import Final

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding, Item, finding
from bootlab.findings.audit.process_costs import TaskCost

_LEGACY: Final = re.compile(r"/devices/virtual/tty/[pt]ty[a-ep-z][0-9a-f]")
_WORD: Final = re.compile(r"\bpty\.legacy_count=(\d+)")


def find_legacy_ptys(evidence: AuditedBoot) -> Finding | None:
    """BSD-style pseudo terminals that the kernel makes at start: nothing has used them since /dev/pts."""
    config = evidence.kernel_config
    told = _WORD.search(evidence.analysis.system.kernel.cmdline)
    count = int(told[1]) if told else int(config.get("LEGACY_PTY_COUNT", "0") or 0)
    if config.get("LEGACY_PTYS") != "y" or not count:
        return None
    events = [one for one in evidence.udev_events if _LEGACY.fullmatch(one.device)]
    made = [one for one in evidence.analysis.initcalls.initcalls if one.name == "pty_init"]
    cost = sum((one.cost for one in events), TaskCost(sum(one.cpu_ns for one in made)))
    return finding(
        "legacy ptys",
        f"the kernel makes {count} pairs of legacy ptys; udev handled {len(events)} events of them",
        cost,
        [Item(what=one.name, cost_ns=one.cpu_ns, lasted_ns=one.duration_ns) for one in made]
        + [Item(what=one.device, cost_ns=one.cost.ns) for one in events],
        technique=evidence.technique("cmdline_no_legacy_ptys"),
        by_hand="CONFIG_LEGACY_PTYS=n, or pty.legacy_count=0 on the command line",
    )
