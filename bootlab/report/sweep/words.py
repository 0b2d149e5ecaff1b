"""What the places, axes and figures of a sweep are called, on the terminal and on the page alike."""

from collections.abc import Sequence
from typing import Final

from bootlab.experiments.sweep.machines import SweptMachine
from bootlab.experiments.sweep.result import Figure, PlaceResult, SweepResult, Trend, TrendRow
from bootlab.report.parts.figures import clock_sentence, ms, price_sentence, price_words

_TITLES: Final = {"vcpus": "vCPUs", "memory_mib": "memory", "page_size": "host page size"}
NUMERIC: Final = ("vcpus", "memory_mib")
"""Axes whose values have a distance, so that a line may be laid through them."""
COUNTED = "instructions"
"""The one row of a trend that is a count, not a time."""


def size(mib: float) -> str:
    """Return a size of memory as people say it: `128 MiB`, `2 GiB`."""
    return f"{mib / 1024:g} GiB" if mib >= 1024 and mib % 1024 == 0 else f"{mib:g} MiB"


def title(axis: str) -> str:
    """Return what an axis is called; one that is a key of the system file is called by it."""
    return _TITLES.get(axis, axis)


def value_words(axis: str, place: SweptMachine) -> str:
    """Return where a place lies on an axis, as in `4 vCPUs`."""
    if axis == "vcpus":
        return "1 vCPU" if place.vcpus == 1 else f"{place.vcpus} vCPUs"
    if axis == "memory_mib":
        return size(place.memory_mib)
    return f"{place.page_size} pages" if axis == "page_size" else str(place.at(axis))


def place_words(place: SweptMachine, axes: Sequence[str]) -> str:
    """Return where a place lies on these axes."""
    return ", ".join(value_words(axis, place) for axis in axes)


def others(result: SweepResult, axis: str) -> list[str]:
    """Return the swept axes but one."""
    return [other for other in result.swept if other != axis]


def line_name(result: SweepResult, axis: str, place: SweptMachine) -> str:
    """Return what tells one line along `axis` from the others; the system's name when it is the only one."""
    return place_words(place, others(result, axis)) or result.system


def lines_along(result: SweepResult, axis: str) -> dict[str, list[PlaceResult]]:
    """Return the places that were ready, by line along `axis`, each in the order of the axis."""
    found: dict[str, list[PlaceResult]] = {}
    for cell in result.cells:
        if cell.ready is not None:
            found.setdefault(line_name(result, axis, cell.place), []).append(cell)
    return found


def phases_along(cells: Sequence[PlaceResult]) -> list[tuple[str, list[int | None]]]:
    """Return each phase, with its median at each of these places, None where it has none; the last row is `ready`."""
    figures = [_figures(cell) for cell in cells]
    names = dict.fromkeys(name for one in figures for name in one)
    return [(name, [one.get(name) for one in figures]) for name in (*(n for n in names if n != "ready"), "ready")]


def _figures(cell: PlaceResult) -> dict[str, int]:
    found: list[Figure | None] = [*cell.phases, cell.idle, cell.ready]
    return {one.name: one.median for one in found if one is not None}


def disk_figures(result: SweepResult) -> bool:
    """Return whether any place has a modelled disk."""
    return any(cell.busy_ns is not None for cell in result.cells)


def parted_hashes(result: SweepResult) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the hashes that all places have in common, and by what is booted those that they have not."""
    all_of = list(result.hashes.values())
    common = {part: digest for part, digest in all_of[0].items() if all(one.get(part) == digest for one in all_of)}
    own = {name: {part: one[part] for part in one if part not in common} for name, one in result.hashes.items()}
    return common, {name: one for name, one in own.items() if one}


def row_words(row: TrendRow) -> str:
    """Return what a row is of."""
    return f"{COUNTED}, 10^6" if row.name == COUNTED else row.name


def figure_words(value: int) -> str:
    """Return one figure of a row: ms, or millions of instructions."""
    return ms(value)


def slope_words(row: TrendRow) -> str:
    """Return the slope of a row, with its sign."""
    return ms(round(row.slope), sign=True)


def fit_words(row: TrendRow) -> str:
    """Return whether the line fits: yes, or by how much it does not, as a share of what the row moves."""
    if row.straight is None:
        return "two points"
    if len({figure_words(value) for value in row.values}) == 1:
        return "flat"
    off = 100 * row.residual / (max(row.values) - min(row.values))
    return "yes" if row.straight else f"off by {off:.1f} %"


def per(trend: Trend) -> str:
    """Return the unit that a trend is per, as in `per vCPU`."""
    return f"per {trend.unit}"


def values_along(trend: Trend) -> list[str]:
    """Return the places on a trend's axis, as its columns are called."""
    scale = 1024 if trend.axis == "memory_mib" else 1
    places = [trend.place.model_copy(update={trend.axis: round(value * scale)}) for value in trend.values]
    return [value_words(trend.axis, place) for place in places]


def clock(result: SweepResult) -> str:
    """Return the sentence that says which clock the sweep's figures are on."""
    sentence = clock_sentence(
        result.clock, result.ns_per_instruction, result.cpu, result.seeds if result.clock == "virtual" else [],
        result.accelerator,
    )  # fmt: skip
    return sentence + price_sentence(result.price)


def figure_clock(result: SweepResult) -> str:
    """Return what the figures of every place are, for captions: the clock, or whose price."""
    return f"{result.clock} clock" if result.price is None else price_words(result.price.model)


def ready_title(result: SweepResult) -> str:
    """Return what the time to ready is called over its column, without the unit."""
    return "ready" if result.price is None else price_words(result.price.model)


def spread_sentence(result: SweepResult) -> str:
    """Return what the spread beside a median is."""
    if result.clock == "virtual":
        if len(result.seeds) == 1:
            return "one seed each: a second would move them"
        return f"medians over {len(result.seeds)} seeds, with the least and the greatest"
    if len(result.seeds) < 6:
        return f"medians of {len(result.seeds)} boots that took turns, with their range (six give an interval)"
    return f"medians of {len(result.seeds)} boots that took turns, with the 95 % interval of the median"
