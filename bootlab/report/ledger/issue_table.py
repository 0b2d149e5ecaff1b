"""Known issues as a table of a page: what each costs now, and what was gained or lost on which day, by which commit."""

from collections.abc import Sequence
from typing import Final

from bootlab.ledger.issue_costs import IssueRow, cost_of
from bootlab.report.ledger.site import label_of
from bootlab.report.ledger.text import fixed_words, status_words
from bootlab.report.parts.figures import ms, percent
from bootlab.report.parts.html_tables import Cell, table
from bootlab.report.parts.markup import Content, Html, join, tag
from bootlab.report.parts.sections import minus, scroll
from bootlab.report.profile.table_columns import code, columns_of

_LINKS: Final = ("https://", "http://")
_CHANGES: Final = 6


def issue_table(rows: Sequence[tuple[str, str, IssueRow]], *, systems: bool) -> Html:
    """Return (system, its page, issue) as a table, what costs most first. `systems`: each row names its system."""
    columns = columns_of("issue", "status", "costs, ms>", "%>", "gained, ms>", "when", "since", "mended by")
    if systems:
        columns.insert(1, columns_of("system")[0])
    said = [
        _cells(*row, systems=systems)
        for row in sorted(rows, key=lambda row: -(cost_of(row[2].last, row[2].issue) or 0))
    ]
    caption = (
        "Costs: by the last profile. Gained: from the first profile to the last; steps within the spread are none."
    )
    return scroll("known issues", table(caption, columns, said, kind="raw issues", sortable=True))


def _cells(system: str, page: str, row: IssueRow, *, systems: bool) -> list[Cell]:
    issue, last_ns = row.issue, cost_of(row.last, row.issue)
    first_ns = cost_of(row.first, issue)
    gained_ns = first_ns - last_ns if first_ns is not None and last_ns is not None else None
    title: Content = tag("a", issue.title, href=issue.link) if issue.link.startswith(_LINKS) else issue.title
    tied = issue.technique or issue.function
    cells = [
        Cell(join([title, tied and tag("span", tag("code", tied), class_="detail")]), issue.title),
        Cell(status_words(row)),
        Cell(ms(last_ns) or "not measured", last_ns),
        Cell(percent(last_ns, row.last.ready_ns) if row.last is not None else ""),
        Cell(minus(ms(gained_ns, sign=True)) if gained_ns else "", gained_ns),
        Cell(_when(row)),
        code(issue.since),
        Cell(fixed_words(issue)),
    ]
    if systems:
        cells.insert(1, Cell(tag("a", system, href=page), system))
    return cells


def _when(row: IssueRow) -> Content:
    lines = [
        f"{label_of(one.entry)}: {minus(ms(one.before_ns - one.after_ns, sign=True))} ms"
        for one in reversed(row.changes[-_CHANGES:])
    ]
    if more := len(row.changes) - len(lines):
        lines.append(f"and {more} changes before")
    return join([tag("span", line, class_="detail") for line in lines])
