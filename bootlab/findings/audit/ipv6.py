"""Finds what a boot waits for IPv6: addresses that may not be used yet, routers that are asked and do not answer.

A new address is tentative until nobody has answered for it: up to a second at random (rtr_solicit_delay), then a second
for each probe (dad_transmits). What waits for the network meanwhile is idle.
"""

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding, Item, finding
from bootlab.findings.audit.process_costs import TaskCost
from bootlab.profile.recorded.trace import TracedCall
from bootlab.profile.waits.schedule import covered, union

STARTED: Final = "addrconf_dad_start"
SCHEDULED: Final = "addrconf_mod_dad_work"
"""What that calls, and later each step: where the other is inlined, as for a link's own address, it is the first."""
COMPLETED: Final = "addrconf_dad_completed"
ASKED: Final = "ndisc_send_rs"
ANSWERED: Final = "ndisc_router_discovery"
CALLS: Final = (STARTED, SCHEDULED, COMPLETED, ASKED, ANSWERED)
"""Kernel functions whose calls tell of it (net/ipv6/addrconf.c, ndisc.c)."""
_LEAST_NS: Final = 1_000_000
"""An address that is used at once has waited for nobody: the loopback's, say."""


def missing_calls(recorded: Collection[str]) -> list[str]:
    """Return which functions' calls are lacking: of the two that begin with an address one is enough."""
    begins = {STARTED, SCHEDULED}
    needed = [name for name in CALLS if name not in begins or begins.isdisjoint(recorded)]
    return [name for name in needed if name not in recorded]


def find_address_waits(evidence: AuditedBoot) -> Finding | None:
    """Addresses that were tentative for long, and routers that were asked for."""
    until_ns = evidence.costs.until_ns
    calls = [call for call in evidence.analysis.calls if call.t_ns < until_ns]
    spans = [span for span in _tentative(calls, until_ns) if span[1] - span[0] >= _LEAST_NS]
    asked = [call.t_ns for call in calls if call.name == ASKED]
    if not spans and not asked:
        return None
    idle = evidence.analysis.profile.idles
    starts, ends = union(idle["start_ns"].astype(np.int64), idle["end_ns"].astype(np.int64))
    whole = union(np.array([one[0] for one in spans], np.int64), np.array([one[1] for one in spans], np.int64))
    items = [
        Item(
            what=f"an address that was tentative from {start / 1e6:.1f} ms on",
            lasted_ns=end - start,
            # Several may be so at once: an idle stretch is no one's own.
            detail=f"the machine was idle for {_idle(starts, ends, start, end) / 1e6:.1f} ms of it"
            + ("" if end < until_ns else "; still so when the boot was ready"),
        )
        for start, end in spans
    ]
    answers = sum(call.name == ANSWERED for call in calls)
    if asked:
        at = ", ".join(f"{t_ns / 1e6:.1f}" for t_ns in asked)
        said = f"{len(asked)} times, at {at} ms; {answers or 'no'} answers"
        items.append(Item(what="the kernel asked for a router", detail=said))
    together = sum(_idle(starts, ends, *span) for span in zip(*(one.tolist() for one in whole), strict=True))
    return finding(
        "IPv6 addresses",
        f"{len(spans)} addresses were not to be used until it was sure that nobody else has them; the machine was idle "
        f"for {together / 1e6:.1f} ms of that. {len(asked)} times a router was asked for",
        TaskCost(idle_ns=together),
        items,
        technique=evidence.technique("userspace_ipv6_dad_none"),
        by_hand="net.ipv6.conf.default.dad_transmits = 0 and router_solicitation_delay = 0 where no two machines can "
        "have one address; LinkLocalAddressing=no, or no IPv6 at all (ipv6.disable=1), where nobody uses it",
    )


def _tentative(calls: Sequence[TracedCall], until_ns: int) -> list[tuple[int, int]]:
    """Return from when to when each address was tentative; the calls' argument says which it is."""
    spans, begun = list[tuple[int, int]](), dict[int, int]()
    for call in calls:
        if call.name in (STARTED, SCHEDULED):
            begun.setdefault(call.argument, call.t_ns)
        elif call.name == COMPLETED and call.argument in begun:
            spans.append((begun.pop(call.argument), call.t_ns))
    return sorted([*spans, *((start, until_ns) for start in begun.values())])


def _idle(starts: np.ndarray, ends: np.ndarray, start_ns: int, end_ns: int) -> int:
    low, high = covered(starts, ends, np.array([start_ns, end_ns])).tolist()
    return int(high - low)
