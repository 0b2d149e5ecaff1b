"""The findings of an audit as values and as JSON (bootlab.audit/1): what a boot did for nothing, what removes it."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.process_costs import TaskCost, command_of
from bootlab.profile.tables.processes import Process

SCHEMA: Final = "bootlab.audit/1"


class Item(Document):
    """One of those that a finding is made of: a module, a device, a process, a unit."""

    what: str
    cost_ns: int | None = None
    """Executed and idle, up to ready; None where it has no cost of its own."""
    lasted_ns: int | None = None
    """Time from its beginning to its end, whoever ran meanwhile; None where that says nothing."""
    detail: str = ""


class Finding(Document):
    """What a boot did that its goal may not need. Findings of different kinds can hold the same time."""

    kind: str
    what: str
    """One sentence."""
    cost_ns: int
    """`executed_ns` and `idle_ns` are the items' measured cost up to ready."""
    executed_ns: int
    idle_ns: int
    basis: Literal["measured", "by size"] = "measured"
    """`by size`: the share, by bytes, of a cost that was measured for all of them together."""
    items: list[Item]
    """Most expensive first."""
    technique: str | None
    """The technique that removes it; None where the catalogue has none."""
    by_hand: str
    """What to do without, or besides, the technique."""


class Audit(Document):
    """All findings of one boot, most expensive first."""

    schema_: Literal["bootlab.audit/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    total_ns: int
    """Power-on to ready, or to where the boot ended."""
    findings: list[Finding]
    nothing: list[str]
    """Kinds that were looked for and not found."""
    not_looked: dict[str, str]
    """Kinds that could not be looked for, and why."""
    facts: dict[str, str] = {}
    """What techniques ask of an audit: `bootlab try --audit RUN` gives it to them."""
    goal: str | None = None
    run: str = ""
    outcome: str = "ready"
    detail: str = ""


def process_item(evidence: AuditedBoot, process: Process, detail: str) -> Item:
    """Return one process as an item: its command, who ran it, what it cost and how long it took."""
    costs = evidence.costs
    makers = costs.makers(process.task)
    maker = command_of(makers[0], process.started_ns) if makers else "?"
    return Item(
        what=f"{command_of(process)}, run by {evidence.units_of_tasks.get(process.task) or maker}",
        cost_ns=costs.cost([process.task]).ns,
        lasted_ns=costs.end_ns(process) - process.started_ns,
        detail=detail,
    )


def finding(
    kind: str,
    what: str,
    cost: TaskCost,
    items: Iterable[Item],
    *,
    technique: str | None = None,
    by_hand: str,
) -> Finding:
    """Return a finding with its items in order of cost, then of how long they lasted, then of name."""
    ordered: Sequence[Item] = sorted(items, key=lambda one: (-(one.cost_ns or 0), -(one.lasted_ns or 0), one.what))
    return Finding(
        kind=kind,
        what=what,
        cost_ns=cost.ns,
        executed_ns=cost.executed_ns,
        idle_ns=cost.idle_ns,
        items=list(ordered),
        technique=technique,
        by_hand=by_hand,
    )
