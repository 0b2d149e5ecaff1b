"""Columns and cells of the profile's tables: figures that sort by their exact value, names out of the guest."""

from bootlab.report.parts.figures import count, ms
from bootlab.report.parts.html_tables import Cell, Column
from bootlab.report.parts.markup import tag

_MARKS = {">": "number", "`": "code", "|": "chart"}


def columns_of(*titles: str) -> list[Column]:
    """Return columns by their titles. A last character says what is in it: `>` figures, ` names, `|` a chart."""
    return [
        Column(title.rstrip("".join(_MARKS)), _MARKS.get(title[-1:], "text")) if title else Column("")
        for title in titles
    ]


def number(value: int, shown: str | None = None) -> Cell:
    """Return a cell of a count, or of what it is shown as, that sorts by the value."""
    return Cell(count(value) if shown is None else shown, value)


def milliseconds(ns: int | None) -> Cell:
    """Return a cell of ns shown as ms; empty for None."""
    return Cell(ms(ns), ns)


def code(name: str) -> Cell:
    """Return a cell of a name out of the guest."""
    return Cell(tag("code", name) if name else "", name)
