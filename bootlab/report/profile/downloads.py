"""Files that the page carries itself, as links: tables as CSV, lists as text. What is large lies beside the page."""

import base64
import csv
import io
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from bootlab.report.parts.figures import count
from bootlab.report.parts.html_tables import Cell, Column
from bootlab.report.parts.markup import Content, Html, tag

_LARGEST: Final = 256 * 1024
"""In bytes; a browser keeps such a link in memory as long as the page is open."""


def data_link(name: str, text: str, kind: str = "text/plain") -> Html:
    """Return a link that saves `text` as a file called `name`; nothing when it is too large to be carried."""
    raw = text.encode(errors="backslashreplace")
    if len(raw) > _LARGEST:
        return Html()
    packed = base64.b64encode(raw).decode()
    link = tag("a", f"Save as {name}", href=f"data:{kind};charset=utf-8;base64,{packed}", download=name)
    return tag("p", link, tag("span", f"{count(len(raw))} bytes", class_="aside"), class_="save")


def csv_link(name: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> Html:
    """Return a link that saves a table as CSV. Cells are what they sort by, where that is exact: ns, counts, names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    exact = [_has_keys(rows, index) for index in range(len(columns))]
    writer.writerow(
        [_title(column.title) if keyed else column.title for column, keyed in zip(columns, exact, strict=True)]
    )
    for row in rows:
        writer.writerow([_plain(cell.key if keyed else cell.content) for cell, keyed in zip(row, exact, strict=True)])
    return data_link(name, out.getvalue(), "text/csv")


def _plain(value: Content | float) -> Content | float:
    # A spreadsheet takes text that begins like this for a formula, and names come from the guest.
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value


def _has_keys(rows: Sequence[Sequence[Cell]], index: int) -> bool:
    return any(row[index].key is not None for row in rows)


def _title(title: str) -> str:
    # Keys of ms are ns.
    return title.removesuffix(", ms") + ", ns" if title.endswith(", ms") else "ns" if title == "ms" else title


def file_links(files: Mapping[str, str]) -> Html:
    """Return where the files are that the page does not carry: label -> path, from the page's directory or absolute."""
    items = []
    for label, name in files.items():
        shown = label if name.startswith("/") else tag("a", label, href="./" + quote(name))
        items.append(tag("li", shown, " ", tag("code", name)))
    return tag("ul", *items, class_="files")
