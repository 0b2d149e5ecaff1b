"""What recordings of other tools are called in tables and pages, and their figures with units."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bootlab.measure.statistics.median_interval import median_interval
from bootlab.measure.statistics.series import humps, median_ns
from bootlab.report.parts.figures import count, ms, visible
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Length, Recording, Series

_TITLES: Final = {
    "initcall": "Initcalls", "initcall level": "Initcall levels", "probe": "Driver probes", "unit": "Units",
    "critical chain": "Critical chain", "process": "Processes", "process CPU": "CPU time of processes", "call": "Calls",
    "running": "On the CPU", "startup": "Start-up, by systemd's own account", "manager": "What systemd did itself",
}  # fmt: skip


_IN_TIME: Final = ("critical chain", "initcall level", "manager", "startup")
"""What is listed as it happened; all else is listed by length."""
CHAINS: Final = ("critical chain",)
"""What means nothing in parts: it is always shown whole."""
INTERVAL_BOOTS: Final = 6
"""Fewer boots cannot promise 95 % (bootlab.measure.statistics.median_interval)."""
FEW_BOOTS: Final = (
    f"Where there are fewer than {INTERVAL_BOOTS} boots, the interval is their whole range, and promises nothing of "
    "the median."
)


@dataclass(frozen=True, slots=True)
class RecordingRow:
    """One line of a table: a span, or a length that has no start."""

    name: str
    start_ns: int | None
    took_ns: int
    about: str


def title_of(source: str) -> str:
    """Return the heading of things of one kind."""
    return _TITLES.get(source, source[:1].upper() + source[1:])


def shown_first(source: str) -> str:
    """Return what the first rows of a table of one kind are: the longest of all, or the first in time."""
    return "first" if _in_order(source) else "longest"


def _in_order(source: str) -> bool:
    return source in _IN_TIME or source.startswith("phases of ")


def interval_heading(series: Iterable[Series]) -> str:
    """Return the heading of the column of intervals: of the median where every series has boots enough for that."""
    enough = [len(one.values) >= INTERVAL_BOOTS for one in series]
    return "95 % of the median>" if all(enough) else "range>" if not any(enough) else "95 % of the median, or range>"


def rows_by_source(recording: Recording) -> dict[str, list[RecordingRow]]:
    """Return what took time, by kind, the longest first; what is part of a thread's calls is left to the call tree."""
    rows: dict[str, list[RecordingRow]] = {}
    for span in recording.timeline.spans:
        if not span.track:
            rows.setdefault(span.source, []).append(_of_span(span))
    for length in recording.lengths:
        rows.setdefault(length.source, []).append(_of_length(length))
    return {source: sorted(found, key=_in_time if _in_order(source) else _longest) for source, found in rows.items()}


def clock_words(recording: Recording) -> str:
    """Return the sentence that says what the recording's figures are counted on."""
    clock = recording.timeline.clock
    steps = f", in steps of {clock.resolution_ns / 1000:g} us" if clock.unit == "ns" else f", in {clock.unit}"
    return f"{visible(clock.name)} clock: {visible(recording.about_clock)}{steps}"


def amount(value: int | None, clock: Clock) -> str:
    """Return a time or length without its unit: ms, or a count of the clock's own unit."""
    return ms(value) if clock.unit == "ns" else count(value)


def signed(value: int, clock: Clock) -> str:
    """Return a change with its sign, without its unit."""
    return ms(value, sign=True) if clock.unit == "ns" else f"{value:+,}"


def unit_of(clock: Clock) -> str:
    """Return the unit that `amount` writes in."""
    return "ms" if clock.unit == "ns" else clock.unit


def total_ns(rows: Iterable[RecordingRow]) -> int:
    """Return what all rows together took."""
    return sum(row.took_ns for row in rows)


@dataclass(frozen=True, slots=True)
class SeriesFigures:
    """A series in figures for a table: `cells` are number, median, its interval, least, most."""

    cells: tuple[str, str, str, str, str]
    unit: str
    caution: str


def series_figures(series: Series) -> SeriesFigures:
    """Return a series through the statistics of our own boots: median, its 95 % interval, two humps if it has them."""
    scale, unit = (1e6, "ms") if series.unit == "ns" else (1, series.unit)
    # Whole numbers, as the statistics take them; a figure with a fraction keeps six places of it.
    values = [round(value * 1_000_000) for value in series.values]

    def shown(value: float) -> str:
        return f"{value / 1_000_000 / scale:,.3f}"

    low, high = median_interval(values)
    caution = ""
    if (found := humps(values)) is not None:
        one, other = (f"{hump.n} boots around {shown(hump.median_ns)} {unit}" for hump in (found.low, found.high))
        caution = f"two humps, {one} and {other}: its median describes neither"
    cells = (str(len(values)), shown(median_ns(values)), f"{shown(low)} to {shown(high)}", shown(min(values)),
             shown(max(values)))  # fmt: skip
    return SeriesFigures(cells, unit, caution)


def _longest(row: RecordingRow) -> int:
    return -row.took_ns


def _in_time(row: RecordingRow) -> int:
    return row.start_ns or 0


def _of_span(span: Span) -> RecordingRow:
    return RecordingRow(span.name, span.start_ns, span.duration_ns, span.about)


def _of_length(length: Length) -> RecordingRow:
    return RecordingRow(length.name, None, length.took_ns, length.about)
