"""HTML tables that a screen reader, a phone and a mouse can all use.

ARIA roles repeat what the elements say because a phone lays rows out as cards, and a table that is not displayed as
one loses its meaning to some readers. Sorting keys stand in the cells; page.js adds the buttons, so a page without
scripts is complete.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bootlab.report.parts.markup import Content, Html, tag


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `kind` is its CSS class: text, number, chart or code."""

    title: str
    kind: str = "text"
    sortable: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """`key` is what the cell sorts by when its text will not do; a cell without key and text always sorts last."""

    content: Content
    key: float | int | str | None = None


@dataclass(frozen=True, slots=True)
class KindRow:
    """A row that looks unlike the others: `kind` is its class in the page."""

    cells: Sequence[Cell]
    kind: str


def table(
    caption: Content,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell] | KindRow],
    *,
    kind: str = "",
    sortable: bool = False,
    foot: Sequence[Cell] = (),
) -> Html:
    """Return a table whose first column heads its rows. `foot` is a total that sorting leaves in its place."""
    head = [
        tag("th", column.title, scope="col", role="columnheader", class_=column.kind,
            data_sortable=sortable and column.sortable)
        for column in columns
    ]  # fmt: skip
    body = [_row(columns, row.cells, row.kind) if isinstance(row, KindRow) else _row(columns, row, "") for row in rows]
    parts: list[Content] = [
        tag("caption", caption),
        tag("thead", tag("tr", *head, role="row"), role="rowgroup"),
        tag("tbody", *body, role="rowgroup"),
    ]
    if foot:
        parts.append(tag("tfoot", _row(columns, foot, ""), role="rowgroup"))
    return tag("table", *parts, role="table", class_=f"{kind} sortable".strip() if sortable else kind or None)


def _row(columns: Sequence[Column], cells: Sequence[Cell], kind: str) -> Html:
    made = []
    for index, (column, cell) in enumerate(zip(columns, cells, strict=True)):
        shared: dict[str, str | int | float | bool | None] = {
            "class_": column.kind if cell.content not in (None, "") else f"{column.kind} empty",
            "data_label": column.title,
            "data_key": cell.key,
        }
        if index == 0:
            made.append(tag("th", cell.content, scope="row", role="rowheader", **shared))
        else:
            made.append(tag("td", cell.content, role="cell", **shared))
    return tag("tr", *made, role="row", class_=kind or None)
