"""Tables of figures that tests of real boots hand over, for `python -m tests.tables`, with what they were measured on.

A test asks for the fixture `table` and calls it with Markdown: `table(text, boots=[("a name", records)])`.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import pytest

from bootlab.measure.host.facts import read_host_facts
from bootlab.measure.record import BootRecord
from bootlab.report.parts.markdown import prose
from scripts.publishing.boots_table import made_of

FIXTURE: Final = "table"

NamedBoots = Sequence[tuple[str, Sequence[BootRecord]]]


class Table(Protocol):
    """What the fixture gives."""

    def __call__(self, markdown: str, *, boots: NamedBoots = (), host: bool = False) -> None:
        """Hand `markdown` over, a table or a paragraph. `boots`: what its figures are of, by the names that it has.

        `host`: some figures are this host's time, so how many processors it has and its load are said below.
        """


def print_table(markdown: str, *, boots: NamedBoots = (), host: bool = False) -> None:
    """Print a table and what it was measured on, as an ordinary run of pytest does."""
    print(f"\n{Handed(markdown, boots, host).text}")


@dataclass(frozen=True, slots=True)
class Handed:
    """What one call handed over."""

    markdown: str
    boots: NamedBoots
    host: bool

    @property
    def text(self) -> str:
        """Return it by itself, as Markdown."""
        return text_of([self])


def text_of(handed: Sequence[Handed]) -> str:
    """Return all that was handed over as Markdown, and at its end what the figures were measured on."""
    blocks = [one.markdown.strip() for one in handed]
    if boots := [boots for one in handed for boots in one.boots]:
        blocks.append(made_of(boots))
    if any(one.host for one in handed):
        blocks.append(prose(host_words()))
    return "\n\n".join(blocks)


def host_words() -> str:
    """Return what to know of this host beside times of its clock."""
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return f"Host: {read_host_facts()['cores']} CPUs; load of the last 1, 5 and 15 minutes at the end {load}."


@dataclass(eq=False)  # pytest wants its plugins to be hashable
class HandedOver:
    """A plugin of pytest that keeps what tests hand over, and why that is no whole table.

    It is there under `python -m tests.tables` alone.
    """

    handed: list[Handed] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    """Those of the tests that ran."""
    gave: set[str] = field(default_factory=set)
    """Those whose tests handed something over."""
    faults: list[str] = field(default_factory=list)
    _file: str = ""

    def take(self, markdown: str, *, boots: NamedBoots = (), host: bool = False) -> None:
        """Keep a table, and print it among the rest: one that is published is that of a run that passed."""
        print_table(markdown, boots=boots, host=host)
        self.handed.append(Handed(markdown, boots, host))
        self.gave.add(self._file)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Refuse what hands over no table before anything is booted."""
        for item in items:
            if FIXTURE not in getattr(item, "fixturenames", ()):
                raise pytest.UsageError(f"{item.nodeid}: hands over no table: it does not ask for `{FIXTURE}`")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note whose tables come now."""
        self._file = nodeid.partition("::")[0]
        self.files.add(self._file)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what did not pass."""
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that was skipped as a whole, or could not be read."""
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.outcome != "passed":
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.outcome
            self.faults.append(f"{report.nodeid}: {reason}")

    def find_faults(self, status: int) -> list[str]:
        """Return why there is no whole table, pytest having ended with `status`; nothing where there is one."""
        if self.faults:
            return self.faults
        if status:
            return [f"pytest ended with {status}, and says why above"]
        return [f"{file}: its tests handed over no table" for file in sorted(self.files - self.gave)]
