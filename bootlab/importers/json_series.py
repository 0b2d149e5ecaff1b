"""Figures of several boots in the JSON that benchmarks write -> series by name.

    hyperfine          {"results": [{"command": "boot.sh", "times": [1.1, 1.2]}]}                  s
    cloud-hypervisor   {"results": [{"name": "boot_time_ms", "mean": 71.2, "min": 70, "max": 73}]}  by the name's end
    Red Hat            [{"cluster_name": M, "test_results": {"satime": {"kernel": 1.4}}}]           s
    Firecracker        {"metrics": {"boot_time": {"unit": "us", "values": [1, 2]}}}
    Bencher            {"boot": {"latency": {"value": 88.0}}}                                      latency in ns
    named columns      {"boot_ms": [1, 2]} or [{"boot_ms": 1}, {"boot_ms": 2}]                      by the name's end

A document of any other shape is none of these: what its numbers mean, or which belong together, nobody knows.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, Final

MOST_FIGURES: Final = 500
LONGEST_NAME: Final = 160
_DEEPEST: Final = 200
_GREATEST: Final = 1e15
_UNIT = re.compile(r"(?:^|[ _./(\[-])(?P<unit>ns|nsec|us|usec|µs|ms|msec|s|sec|secs|seconds)[)\]]?$", re.IGNORECASE)
_NS: Final = {
    "ns": 1, "nsec": 1, "us": 1_000, "usec": 1_000, "µs": 1_000, "ms": 1_000_000, "msec": 1_000_000,
    "s": 1_000_000_000, "sec": 1_000_000_000, "secs": 1_000_000_000, "seconds": 1_000_000_000,
    "microseconds": 1_000, "milliseconds": 1_000_000, "nanoseconds": 1,
}  # fmt: skip
NO_FIGURES: Final = frozenset(
    {"sample", "run", "boot", "iteration", "index", "id", "timestamp", "date", "time", "epoch"}
)
"""What counts or dates a boot is no figure of it."""
SHAPES: Final = (
    "hyperfine's results with times, cloud-hypervisor's results with name and mean, Red Hat's test_results, "
    "Firecracker's metrics with values, Bencher's value by benchmark and measure, or columns of which one is named "
    'with its unit, such as "boot_ms"'
)

Figures = dict[tuple[str, str], list[float]]
"""(name, unit) -> values in the order of the boots."""


def parse_json(document: Any, notes: list[str]) -> tuple[Figures, str]:
    """Return the figures of a document of a known shape, none of any other, and who writes that shape, "" if anybody.

    What must be known is added to `notes`. Raises RecursionError for one that is nested too deeply to mean anything.
    """
    for shape, tool in (
        (_firecracker, "Firecracker's tests"), (_hyperfine, "hyperfine"),
        (_cloud_hypervisor, "cloud-hypervisor's performance-metrics"), (_red_hat, "Red Hat's boot-time tests"),
        (_bencher, "Bencher"), (_columns, ""),
    ):  # fmt: skip
        if found := shape(document, notes):
            return found, tool
    return {}, ""


def count_numbers(document: Any) -> int:
    """Return how many numbers a document holds. Raises RecursionError as `parse_json` does."""
    return sum(1 for _ in _numbers(document))


def add(figures: Figures, name: str, unit: str, value: float) -> None:
    """Add a boot's figure; times become ns by their unit, which else is the end of the name."""
    if not unit and (found := _UNIT.search(name)) is not None:
        unit = found["unit"]
    scale = _NS.get(unit.lower())
    value, unit = (value * scale, "ns") if scale is not None else (value, unit[:20])
    key = (name, unit)
    if math.isfinite(value) and abs(value) <= _GREATEST and (key in figures or len(figures) < MOST_FIGURES):
        figures.setdefault(key, []).append(value)


def _firecracker(document: Any, notes: list[str]) -> Figures:
    metrics = document.get("metrics") if isinstance(document, dict) else None
    figures: Figures = {}
    if isinstance(metrics, dict) and all(isinstance(one, dict) and "values" in one for one in metrics.values()):
        for name, one in metrics.items():
            unit = one.get("unit")
            for value in one["values"] if isinstance(one["values"], list) else [one["values"]]:
                _add_number(figures, str(name), unit if isinstance(unit, str) else "", value)
    return figures


def _results(document: Any) -> list[dict[str, Any]]:
    results = document.get("results") if isinstance(document, dict) else None
    return [one for one in results if isinstance(one, dict)] if isinstance(results, list) else []


def _hyperfine(document: Any, notes: list[str]) -> Figures:
    figures: Figures = {}
    for one in _results(document):
        times, name = one.get("times"), one.get("command")
        if isinstance(times, list) and isinstance(name, str):
            for value in times:
                _add_number(figures, name, "s", value)
    return figures


def _cloud_hypervisor(document: Any, notes: list[str]) -> Figures:
    figures: Figures = {}
    for one in (result for each in _each(document) for result in _results(each)):
        if isinstance(one.get("name"), str) and "mean" in one:
            found = _UNIT.search(one["name"])
            unit = found["unit"] if found is not None else ""
            for figure in ("mean", "min", "max"):
                _add_number(figures, f"{one['name']}, {figure}", unit, one.get(figure))
    if figures:
        notes.append("Each figure is of several boots already: its mean, least and most stand beside each other.")
    return figures


def _red_hat(document: Any, notes: list[str]) -> Figures:
    samples = [one for one in _each(document) if isinstance(one, dict)]
    figures: Figures = {}
    if not any("test_results" in one for one in samples):
        return figures
    # Boots of several machines in one file are not one series: together they would show two humps.
    machines = [str(one.get("cluster_name", ""))[:40] for one in samples]
    for machine, one in zip(machines, samples, strict=True):
        _walk(figures, one.get("test_results"), machine if len(set(machines)) > 1 else "", "s")
    if len(set(machines)) > 1:
        notes.append(f"The file holds boots of {len(set(machines))} machines, which are kept apart.")
    return figures


def _bencher(document: Any, notes: list[str]) -> Figures:
    # https://bencher.dev/docs/reference/bencher-metric-format/: every measure of every benchmark has a value.
    measures = [
        (str(name), str(measure), one)
        for name, measured in (document.items() if isinstance(document, dict) else ())
        for measure, one in (measured.items() if isinstance(measured, dict) else [("", None)])
    ]
    figures: Figures = {}
    if all(isinstance(one, dict) and _is_number(one.get("value")) for _, _, one in measures):
        for name, measure, one in measures:
            value = one.get("value") if isinstance(one, dict) else None
            _add_number(figures, f"{name}/{measure}", "ns" if measure == "latency" else "", value)
    return figures


def _columns(document: Any, notes: list[str]) -> Figures:
    figures: Figures = {}
    columns = document.items() if isinstance(document, dict) else ()
    rows = document if isinstance(document, list) else []
    cells: list[tuple[str, Any]] = [(str(name), values) for name, values in columns]
    if cells and not all(isinstance(one, list) and one and all(map(_is_number, one)) for _, one in cells):
        return {}
    cells = [(name, value) for name, values in cells for value in values]
    if rows and not all(isinstance(row, dict) for row in rows):
        return {}
    cells += [(str(name), value) for row in rows for name, value in row.items()]
    for name, value in cells:
        if name.lower() not in NO_FIGURES:
            _add_number(figures, name, "", value)
    return figures if any(unit == "ns" for _, unit in figures) else {}


def _each(document: Any) -> list[Any]:
    return document if isinstance(document, list) else [document]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _add_number(figures: Figures, name: str, unit: str, value: Any) -> None:
    if _is_number(value):
        add(figures, name[-LONGEST_NAME:] or "value", unit, float(value) if abs(value) <= _GREATEST else math.nan)


def _walk(figures: Figures, document: Any, name: str, unit: str) -> None:
    for path, value in _numbers(document, skipped=NO_FIGURES):
        _add_number(figures, "/".join((name, *path)).lstrip("/"), unit, value)


def _numbers(document: Any, skipped: frozenset[str] = frozenset()) -> Iterator[tuple[tuple[str, ...], Any]]:
    # By hand, and not by recursion: what json takes may be nested more deeply than Python calls.
    todo: list[tuple[Any, tuple[str, ...], int]] = [(document, (), 0)]
    while todo:
        value, path, depth = todo.pop()
        if depth > _DEEPEST:
            raise RecursionError
        if isinstance(value, dict):
            todo += [
                (one, (*path[-8:], str(key)[:60]), depth + 1)
                for key, one in reversed(value.items())
                if isinstance(one, dict | list) or str(key).lower() not in skipped
            ]
        elif isinstance(value, list):
            todo += [(one, path, depth + 1) for one in reversed(value)]
        elif _is_number(value):
            yield path, value
