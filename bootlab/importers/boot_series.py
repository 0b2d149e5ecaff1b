"""Figures of several boots, in JSON or CSV -> Recording with series, which go through our own boots' statistics.

Known by shape, since every lab has its own: Red Hat's boot-time JSON (github.com/jharriga/BootTime, in seconds),
Firecracker's test metrics (`{"metrics": {NAME: {"unit": U, "values": [...]}}}`), rows of `name,number`, and any other
list, object or table of numbers. A figure is known by its path, and its unit by the end of its name.
"""

import csv
import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.timeline.clock import Clock
from bootlab.timeline.recording import Recording, Series
from bootlab.timeline.timeline import Timeline

MOST_BOOTS: Final = 1_000
"""More values of one figure are left out: the dip test's time grows with their square."""
_MOST_FIGURES: Final = 500
_MOST_BYTES: Final = 4 * 1024 * 1024
_LONGEST_PATH: Final = 160
_DEEPEST: Final = 200
_GREATEST: Final = 1e15

_UNIT = re.compile(r"(?:^|[ _./(\[-])(?P<unit>ns|nsec|us|usec|µs|ms|msec|s|sec|secs|seconds)[)\]]?$", re.IGNORECASE)
_NS: Final = {
    "ns": 1, "nsec": 1, "us": 1_000, "usec": 1_000, "µs": 1_000, "ms": 1_000_000, "msec": 1_000_000,
    "s": 1_000_000_000, "sec": 1_000_000_000, "secs": 1_000_000_000, "seconds": 1_000_000_000,
    "microseconds": 1_000, "milliseconds": 1_000_000, "nanoseconds": 1,
}  # fmt: skip
_NUMBER = re.compile(r"\s*-?\d{1,15}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?\s*")
_RED_HAT: Final = "test_results"
# What counts or dates a boot is no figure of it.
_NO_FIGURES: Final = frozenset(
    {"sample", "run", "boot", "iteration", "index", "id", "timestamp", "date", "time", "epoch"}
)

Figures = dict[tuple[str, str], list[float]]
"""(name, unit) -> values in the order of the boots."""


def recognise(head: Head) -> bool:
    """Return whether it is JSON with a number in it, or a table of which a column is numbers."""
    text = head.data.lstrip()
    if text[:1] in (b"{", b"["):
        return b'"' in text or re.match(rb"\[[\s\d.,eE+-]+\]\s*$", text) is not None
    return _dialect(head.rows) is not None


def read(source: Source, options: Options) -> Recording:
    """Return the series of a file. Raises FormatError where there is no number in it."""
    text = source.text(_MOST_BYTES)
    notes: list[str] = []
    if text.lstrip()[:1] in ("{", "["):
        try:
            figures = parse_json(json.loads(text), notes)
        except RecursionError as error:
            raise source.expected("JSON that is not nested as deeply as this") from error
        except ValueError as error:
            raise source.expected(f"JSON: {str(error)[:120]}") from error
    else:
        figures = parse_table(text.splitlines())
    if not figures:
        raise source.expected("figures of boots: JSON with numbers, or a table with a column of numbers")
    if any(len(values) > MOST_BOOTS for values in figures.values()):
        notes.append(f"Of each figure the first {MOST_BOOTS} values are taken.")
    if len(figures) >= _MOST_FIGURES:
        notes.append(f"The first {_MOST_FIGURES} figures are taken.")
    if any(not unit for _, unit in figures):
        notes.append(
            'Figures without a unit are shown as the file has them; a name that ends in "_ms" or "(s)" gives one.'
        )
    return Recording(
        format=IMPORTER.name,
        tool="an unnamed tool",
        timeline=Timeline.of(Clock("recorder's", 1, unit="the units given"), ()),
        about_clock="as each figure was measured, which the file does not say",
        series=tuple(_series(figures)),
        notes=tuple(notes),
    )


def parse_json(document: Any, notes: list[str]) -> Figures:
    """Return the figures of a JSON document. What must be known of them is added to `notes`.

    Raises RecursionError for one that is nested too deeply to mean anything.
    """
    metrics = document.get("metrics") if isinstance(document, dict) else None
    if isinstance(metrics, dict) and all(isinstance(one, dict) and "values" in one for one in metrics.values()):
        figures: Figures = {}
        for name, one in metrics.items():
            unit = one.get("unit")
            _walk(figures, one["values"], name, unit if isinstance(unit, str) else "")
        return figures
    samples = document if isinstance(document, list) else [document]
    if any(isinstance(one, dict) and _RED_HAT in one for one in samples):
        return _red_hat([one for one in samples if isinstance(one, dict)], notes)
    figures = {}
    _walk(figures, document, "", "")
    return figures


def _red_hat(samples: list[dict[str, Any]], notes: list[str]) -> Figures:
    # Boots of several machines in one file are not one series: together they would show two humps.
    machines = [str(one.get("cluster_name", ""))[:40] for one in samples]
    figures: Figures = {}
    for machine, one in zip(machines, samples, strict=True):
        _walk(figures, one.get(_RED_HAT), machine if len(set(machines)) > 1 else "", "s")
    if len(set(machines)) > 1:
        notes.append(f"The file holds boots of {len(set(machines))} machines, which are kept apart.")
    return figures


def _walk(figures: Figures, document: Any, name: str, unit: str) -> None:
    # By hand, and not by recursion: what json takes may be nested more deeply than Python calls.
    todo = [(document, name, 0)]
    while todo:
        value, path, depth = todo.pop()
        if depth > _DEEPEST:
            raise RecursionError
        if isinstance(value, dict):
            todo += [
                (one, f"{path}/{str(key)[:60]}".lstrip("/")[-_LONGEST_PATH:], depth + 1)
                for key, one in reversed(value.items())
                if isinstance(one, dict | list) or str(key).lower() not in _NO_FIGURES
            ]
        elif isinstance(value, list):
            todo += [(one, path, depth + 1) for one in reversed(value)]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            _add(figures, path or "value", unit, float(value) if abs(value) <= _GREATEST else math.nan)


def parse_table(rows: list[str]) -> Figures:
    """Return the figures of a table: a named column each, or, where rows are `name,number`, a name each."""
    dialect = _dialect(rows)
    figures: Figures = {}
    if dialect is None:
        return figures
    delimiter, header = dialect
    for cells in _cells(rows[1:] if header else rows, delimiter):
        if header:
            for name, cell in zip(header, cells, strict=False):
                if _NUMBER.fullmatch(cell) and name.strip().lower() not in _NO_FIGURES:
                    _add(figures, name.strip()[:_LONGEST_PATH] or "value", "", float(cell))
        elif len(cells) >= 2 and _NUMBER.fullmatch(cells[1]):
            _add(figures, cells[0].strip()[:_LONGEST_PATH] or "value", "", float(cells[1]))
    return figures


def _dialect(rows: list[str]) -> tuple[str, list[str]] | None:
    # The delimiter and the header, which is empty where each row names its figure; None for what is no table.
    table = [row for row in rows[:20] if row.strip()]
    for delimiter in ("\t", ";", ","):
        if len(table) < 2 or delimiter not in table[0]:
            continue
        cells = list(_cells(table, delimiter))
        if len({len(row) for row in cells[:-1]}) != 1 or len(cells[0]) < 2:
            continue
        numeric = [[_NUMBER.fullmatch(cell) is not None for cell in row] for row in cells]
        if not any(numeric[0]) and any(numeric[1]):
            return delimiter, cells[0]
        if all(len(row) == 2 and row[1] and not row[0] for row in numeric[:-1]):
            return delimiter, []
    return None


def _cells(rows: list[str], delimiter: str) -> Iterator[list[str]]:
    # Row by row, so that an unclosed quote does not swallow the rest of the file.
    for row in rows:
        if row.strip():
            try:
                yield next(csv.reader([row.replace("\0", "")], delimiter=delimiter), [])
            except csv.Error:
                yield []


def _add(figures: Figures, name: str, unit: str, value: float) -> None:
    if not unit and (found := _UNIT.search(name)) is not None:
        unit = found["unit"]
    scale = _NS.get(unit.lower())
    value, unit = (value * scale, "ns") if scale is not None else (value, unit[:20])
    key = (name, unit)
    if math.isfinite(value) and abs(value) <= _GREATEST and (key in figures or len(figures) < _MOST_FIGURES):
        figures.setdefault(key, []).append(value)


def _series(figures: Figures) -> Iterator[Series]:
    for (name, unit), values in figures.items():
        yield Series(name, unit, tuple(values[:MOST_BOOTS]))


IMPORTER: Final = Importer(
    name="series", title="figures of several boots: JSON (Red Hat, Firecracker's tests, ...) or a table (CSV)",
    recognise=recognise, read=read,
)  # fmt: skip
