"""Two recordings compared: what a table or page of them shows, and what a reader must know first."""

from dataclasses import dataclass

from bootlab.errors import InputError
from bootlab.experiments.importing import Imported
from bootlab.measure.statistics.series import FEWEST_BOOTS, median_ns, saved
from bootlab.report.recording.tree import tree_of
from bootlab.timeline.recording import Recording, Series
from bootlab.timeline.recording_differences import (
    Difference,
    differences_by_source,
    expect_comparable,
    phase_differences,
)

_SCALE = 1_000_000
_SEED = 1


@dataclass(frozen=True, slots=True)
class SeriesRow:
    """One figure of two series, in words: medians, what was saved between them, its 95 % interval."""

    name: str
    before: str
    after: str
    saved: str
    interval: str
    unit: str


@dataclass(frozen=True, slots=True)
class Sides:
    """What two recordings differ in; each list has the largest change first, phases as they come."""

    phases: list[Difference]
    total: Difference | None
    things: dict[str, list[Difference]]
    functions: list[Difference]
    series: list[SeriesRow]
    cautions: list[str]


def compare_sides(before: Imported, after: Imported) -> Sides:
    """Return what differs. Raises InputError for recordings without anything that could be compared."""
    one, other = before.recording, after.recording
    expect_comparable(one, other)
    phases = phase_differences(one, other)
    things, functions, series = differences_by_source(one, other), _functions(one, other), _series(one, other)
    if not things and not functions and not series and not any(row.before_ns and row.after_ns for row in phases):
        raise InputError(
            f"{before.name} and {after.name}: nothing in one can be compared with anything in the other",
            hint="--compare takes two recordings of one format, or of two that tell of the same things",
        )
    total = None
    if one.phases and other.phases and [row.name for row in one.phases] == [row.name for row in other.phases]:
        total = Difference("in all", *(sum(row.duration_ns for row in side.phases) for side in (one, other)))
    return Sides(phases, total, things, functions, series, _cautions(before, after))


def _functions(one: Recording, other: Recording) -> list[Difference]:
    sides = []
    for recording in (one, other):
        tree = tree_of(recording).tree
        sides.append({row.name: row.self_elapsed_ns for row in tree.top_functions()} if len(tree) > 1 else {})
    if not all(sides):
        return []
    names = dict.fromkeys([*sides[0], *sides[1]])
    rows = [Difference(name, sides[0].get(name), sides[1].get(name)) for name in names]
    return sorted(rows, key=lambda row: (-abs(row.change_ns), row.name))


def _series(one: Recording, other: Recording) -> list[SeriesRow]:
    theirs = {series.name: series for series in other.series}
    return [_series_row(series, theirs[series.name]) for series in one.series
            if series.name in theirs and series.unit == theirs[series.name].unit]  # fmt: skip


def _series_row(one: Series, other: Series) -> SeriesRow:
    scale, unit = (1e6, "ms") if one.unit == "ns" else (1, one.unit)
    before, after = ([round(value * _SCALE) for value in side.values] for side in (one, other))

    def shown(value: int) -> str:
        return f"{value / _SCALE / scale:,.3f}"

    medians = median_ns(before), median_ns(after)
    interval = f"fewer than {FEWEST_BOOTS} boots a side"
    if min(len(before), len(after)) >= FEWEST_BOOTS:
        found = saved(before, after, seed=_SEED)
        interval = f"{shown(found.low_ns)} to {shown(found.high_ns)}"
        interval += ": no difference shown" if found.spans_zero else ""
    return SeriesRow(one.name, shown(medians[0]), shown(medians[1]), shown(medians[0] - medians[1]), interval, unit)


def _cautions(before: Imported, after: Imported) -> list[str]:
    one, other = before.recording, after.recording
    found = []
    if not one.series and not other.series:
        found.append("One boot a side: a difference may be chance. Ten boots a side, as a series, tell.")
    clocks = one.timeline.clock.name, other.timeline.clock.name
    if clocks[0] != clocks[1]:
        found.append(f"The times are on two clocks ({clocks[0]}, {clocks[1]}): lengths compare, moments do not.")
    for key in sorted(one.facts.keys() & other.facts.keys()):
        if one.facts[key] != other.facts[key]:
            found.append(f"{key} differs: {one.facts[key]} before, {other.facts[key]} after.")
    return found
