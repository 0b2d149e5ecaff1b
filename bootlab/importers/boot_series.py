"""Figures of several boots, in JSON or a table -> Recording with series, which go through our own boots' statistics.

The shapes of JSON are in json_series.py. A table has a named column for each figure, or rows of `name,number`; a
figure's unit is the end of its name.
"""

import csv
import json
import re
from collections.abc import Iterator
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.json_series import (
    LONGEST_NAME,
    MOST_FIGURES,
    NO_FIGURES,
    SHAPES,
    Figures,
    add,
    count_numbers,
    parse_json,
)
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.timeline.clock import Clock
from bootlab.timeline.line_account import Fate
from bootlab.timeline.recording import Recording, Series
from bootlab.timeline.timeline import Timeline

MOST_BOOTS: Final = 1_000
"""More values of one figure are left out: the dip test's time grows with their square."""
_MOST_BYTES: Final = 4 * 1024 * 1024
_OPENS = re.compile(rb"\{|\[\s*(?:[\[{\"]|-?[\d.eE+-]+\s*,)")
_NUMBERS = re.compile(rb"\[[\s\d.,eE+-]+\]\s*")
_NUMBER = re.compile(r"\s*-?\d{1,15}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?\s*")


def recognise(head: Head) -> str:
    """Return that it is JSON with names in it, whose shape `read` looks at, or a table of which a column is numbers."""
    text = head.data.lstrip()
    if text[:1] in (b"{", b"["):
        # A kernel's log begins with a bracket, too: [    0.000000] Linux version ...
        return "JSON" if (b'"' in text and _OPENS.match(text)) or _NUMBERS.fullmatch(text) else ""
    return "a table with a column of numbers" if _dialect(head.rows) is not None else ""


def read(source: Source, options: Options) -> Recording:
    """Return the series of a file. Raises FormatError where there is no number in it."""
    text = source.text(_MOST_BYTES)
    notes: list[str] = []
    is_json = text.lstrip()[:1] in ("{", "[")
    figures, tool = _read_json(source, text, notes) if is_json else (parse_table(_rows(text), source.tally), "")
    if not figures:
        raise source.expected(
            f"figures of boots in a shape that says what they are: {SHAPES}; or a table with a column of numbers"
        )
    if is_json and any(len(values) > MOST_BOOTS for values in figures.values()):
        notes.append(f"Of each figure the first {MOST_BOOTS} values are taken.")
    if len(figures) >= MOST_FIGURES:
        notes.append(f"The first {MOST_FIGURES} figures are taken.")
    if any(not unit for _, unit in figures):
        notes.append(
            'Figures without a unit are shown as the file has them; a name that ends in "_ms" or "(s)" gives one.'
        )
    return Recording(
        format=IMPORTER.name,
        tool=tool or "an unnamed tool",
        timeline=Timeline.of(Clock("recorder's", 1, unit="the units given"), ()),
        about_clock="as each figure was measured, which the file does not say",
        series=tuple(_series(figures)),
        notes=tuple(notes),
    )


def _read_json(source: Source, text: str, notes: list[str]) -> tuple[Figures, str]:
    try:
        document = json.loads(text)
        numbers = count_numbers(document)
        figures, tool = parse_json(document, notes)
    except RecursionError as error:
        raise source.expected("JSON that is not nested as deeply as this") from error
    except ValueError as error:
        raise source.expected(f"JSON: {str(error)[:120]}") from error
    used = sum(min(len(values), MOST_BOOTS) for values in figures.values())
    source.tally.of_records("numbers", numbers)
    source.tally.add(Fate.USED, "figures of boots", used)
    source.tally.add(Fate.ASIDE, "numbers that are no figure of a boot", numbers - used)
    return figures, tool


def _rows(text: str) -> list[str]:
    rows = text.split("\n")
    return [row.rstrip("\r") for row in (rows if rows[-1] else rows[:-1])]


def parse_table(rows: list[str], tally: Tally) -> Figures:
    """Return the figures of a table: a named column each, or, where rows are `name,number`, a name each."""
    dialect = _dialect(rows)
    figures: Figures = {}
    if dialect is None:
        return figures
    delimiter, header = dialect
    if header:
        tally.begin(rows[0])
        tally.aside("the names of the columns")
    for number, (row, cells) in enumerate(_cells(rows[1:] if header else rows, delimiter)):
        tally.begin(row)
        if header and number >= MOST_BOOTS:
            tally.leave_out(f"behind the first {MOST_BOOTS} boots")
            continue
        named = zip(header, cells, strict=False) if header else [(cells[0], cells[1])] if len(cells) >= 2 else []
        for name, cell in named:
            if _NUMBER.fullmatch(cell) and name.strip().lower() not in NO_FIGURES:
                tally.used("boots" if header else "figures")
                add(figures, name.strip()[:LONGEST_NAME] or "value", "", float(cell))
    tally.end()
    return figures


def _dialect(rows: list[str]) -> tuple[str, list[str]] | None:
    # The delimiter and the header, which is empty where each row names its figure; None for what is no table.
    table = [row for row in rows[:20] if row.strip()]
    for delimiter in ("\t", ";", ","):
        if len(table) < 2 or delimiter not in table[0]:
            continue
        cells = [row for _, row in _cells(table, delimiter)]
        if len({len(row) for row in cells[:-1]}) != 1 or len(cells[0]) < 2:
            continue
        numeric = [[_NUMBER.fullmatch(cell) is not None for cell in row] for row in cells]
        if not any(numeric[0]) and any(numeric[1]):
            return delimiter, cells[0]
        if all(len(row) == 2 and row[1] and not row[0] for row in numeric[:-1]):
            return delimiter, []
    return None


def _cells(rows: list[str], delimiter: str) -> Iterator[tuple[str, list[str]]]:
    # Row by row, so that an unclosed quote does not swallow the rest of the file.
    for row in rows:
        try:
            yield row, next(csv.reader([row.replace("\0", "")], delimiter=delimiter), []) if row.strip() else []
        except csv.Error:
            yield row, []


def _series(figures: Figures) -> Iterator[Series]:
    for (name, unit), values in figures.items():
        yield Series(name, unit, tuple(values[:MOST_BOOTS]))


IMPORTER: Final = Importer(
    name="series",
    title="figures of several boots: hyperfine, cloud-hypervisor, Bencher, Red Hat, Firecracker's tests, or CSV",
    recognise=recognise, read=read,
)  # fmt: skip
