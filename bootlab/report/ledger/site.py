"""The site of a ledger: which pages it has, what each shows, and how they lead to each other. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bootlab.ledger.entry import LedgerEntry
from bootlab.ledger.file import History
from bootlab.ledger.function_costs import FunctionCosts
from bootlab.ledger.issue_costs import IssueRow
from bootlab.ledger.steps import LedgerStep
from bootlab.report.ledger.text import commit_words
from bootlab.report.parts.figures import visible

INDEX: Final = "index.html"
NOT_KEPT: Final = "not kept here"
"""What stands in the place of a link to a page of a run that this machine has not."""


@dataclass(frozen=True, slots=True)
class RunPage:
    """The page of a kept run: its name in the site, or why there is none."""

    name: str = ""
    why: str = NOT_KEPT


@dataclass(frozen=True, slots=True)
class SystemSite:
    """What the site shows of one system. The mappings are by the keys of entries."""

    history: History
    steps: Sequence[LedgerStep]
    """One for each entry, in their order."""
    issues: Sequence[IssueRow] = ()
    reports: Mapping[str, RunPage] = field(default_factory=dict)
    profiles: Mapping[str, RunPage] = field(default_factory=dict)
    functions: Mapping[str, FunctionCosts] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.history.system

    @property
    def page(self) -> str:
        return f"systems/{self.name}.html"


def day_of(entry: LedgerEntry) -> str:
    """Return the day of an entry: of its commit, else of its measurement."""
    return visible(entry.order[0][:10])


def label_of(entry: LedgerEntry) -> str:
    """Return an entry in a list of them: day and commit."""
    return f"{day_of(entry)} {commit_words(entry)}"
