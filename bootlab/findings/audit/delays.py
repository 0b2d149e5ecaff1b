"""Finds delays: code of the kernel that waits by executing, for a time that it asked for."""

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding, Item, finding
from bootlab.findings.audit.process_costs import TaskCost
from bootlab.profile.waits.busy import SHORTEST_BUSY_NS


def find_delays(evidence: AuditedBoot) -> Finding | None:
    """Drivers wait for their devices in loops (udelay, mdelay), which no faster processor shortens."""
    # A stage's name is in brackets: what it waits for is its own affair, and no kernel's.
    waits = [
        one
        for one in evidence.analysis.activity.busy_waits
        if not one.who.startswith("[") and one.ns >= SHORTEST_BUSY_NS
    ]
    if not waits:
        return None
    return finding(
        "delays",
        f"the kernel waits in loops at {len(waits)} places",
        TaskCost(sum(one.ns for one in waits)),
        [
            Item(
                what=f"{one.caller or one.function}, in {one.context or one.who}",
                cost_ns=one.ns,
                detail=f"{one.function}, called {one.times:,} times",
            )
            for one in waits
        ],
        by_hand="a parameter of the driver, or no such driver, where the machine has no such device",
    )
