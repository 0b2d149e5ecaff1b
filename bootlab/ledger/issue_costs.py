"""What known issues cost from entry to entry of a system: at first, now, and the commits at which that changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bootlab.experiments.verdict import exceeds_spread
from bootlab.ledger.entry import LedgerEntry
from bootlab.ledger.known_issues import KnownIssue, issues_of


@dataclass(frozen=True, slots=True)
class CostChange:
    """An entry at which an issue costs something else than at the last one before it where that was measured."""

    entry: LedgerEntry
    before_ns: int
    after_ns: int


@dataclass(frozen=True, slots=True)
class IssueRow:
    """A known issue with its cost at two entries: the first that has it, and the last."""

    issue: KnownIssue
    first: LedgerEntry | None
    last: LedgerEntry | None
    changes: tuple[CostChange, ...] = ()
    """Oldest first; a change within what the system moves for no reason is none."""


def issue_rows(system: str, entries: Sequence[LedgerEntry], issues: Sequence[KnownIssue]) -> list[IssueRow]:
    """Return the known issues of a system, those of every system among them, with what each costs. Entries in order."""
    return [_row(one, entries) for one in issues_of(system, list(issues))]


def cost_of(entry: LedgerEntry | None, issue: KnownIssue) -> int | None:
    """Return what an issue costs at an entry; None where it was not measured."""
    return None if entry is None else entry.issues_ns.get(issue.title)


def _row(issue: KnownIssue, entries: Sequence[LedgerEntry]) -> IssueRow:
    having = [entry for entry in entries if issue.title in entry.issues_ns]
    if not having:
        return IssueRow(issue, None, None)
    changes = []
    for before, after in pairwise(having):
        costs = before.issues_ns[issue.title], after.issues_ns[issue.title]
        if exceeds_spread(abs(costs[1] - costs[0]), max(before.spread_ns or 0, after.spread_ns or 0)):
            changes.append(CostChange(after, *costs))
    return IssueRow(issue, having[0], having[-1], tuple(changes))
