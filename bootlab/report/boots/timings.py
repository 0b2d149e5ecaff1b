"""The stretches of a boot that its users feel (`[timings]`), as tables: of one boot, of a series, of two sides."""

from collections.abc import Sequence
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from bootlab.experiments.family import timings_of
from bootlab.measure.record import BootRecord
from bootlab.measure.statistics.series import median_ns
from bootlab.report.parts.figures import ms, percent, visible
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markdown import markdown_table, plain
from bootlab.report.parts.markup import Html
from bootlab.report.parts.sections import minus, section
from bootlab.report.parts.terminal_tables import plain_table

NO_VERDICT: Final = "timings say what users feel; the verdict is on power-on to ready"
NOT_SEEN: Final = "not seen"
NOT_ASKED: Final = "not asked"
"""Of a timing that the other side's system has alone."""


def timing_lines(records: Sequence[BootRecord]) -> list[RenderableType]:
    """Return the timings of boots of one system, of several their medians; nothing for a system without any."""
    found = timings_of(records)
    if not found:
        return []
    several = len(records) > 1
    rows = plain_table("timing", "ms>", *(["shortest>", "longest>"] if several else []))
    for name, times in found.items():
        name += _seen_in(times, records)
        ends = [ms(end(times)) for end in (min, max)] if several and times else []
        rows.add_row(Text(visible(name), overflow="fold"), ms(median_ns(times)) if times else NOT_SEEN, *ends)
    return [Text(), *([Text("timings: medians")] if several else []), rows]


def timing_change(before: Sequence[BootRecord], after: Sequence[BootRecord]) -> list[RenderableType]:
    """Return the timings of two sides, medians side by side; one that a side has alone is not asked at the other."""
    rows = _changes(before, after)
    if not rows:
        return []
    shown = plain_table("timing", "before ms>", "after ms>", "change ms>", "change %>")
    for name, one, other, change, of_ns in rows:
        style = "green" if (change or 0) < 0 else "red" if (change or 0) > 0 else ""
        figures = [ms(change, sign=True), percent(change, of_ns, sign=True)] if change is not None else ["", ""]
        label = Text(visible(name), overflow="fold")
        shown.add_row(label, one, other, *(Text(figure, style=style) for figure in figures))
    return [Text(), shown]


def timings_markdown(names: Sequence[str], series: Sequence[Sequence[BootRecord]]) -> str:
    """Return each timing of several systems for a document: medians, ends, and how much less the last one takes.

    Empty where no system has any.
    """
    found = [timings_of(boots) for boots in series]
    rows = []
    for name in dict.fromkeys(name for one in found for name in one):
        cells = [_span(one.get(name), boots) for one, boots in zip(found, series, strict=True)]
        first, last = found[0].get(name), found[-1].get(name)
        less = percent(median_ns(first) - median_ns(last), median_ns(first)) if first and last else ""
        rows.append([plain(name), *cells, less])
    return markdown_table(["timing, ms", *(f"{plain(name)}>" for name in names), "less %>"], rows) if rows else ""


def timing_section(records: Sequence[BootRecord], after: Sequence[BootRecord] = ()) -> Html:
    """Return the timings of boots as a section of a page; with `after` those of two sides. Empty where there are none.

    Several boots are told by their medians.
    """
    if after:
        columns = [Column("timing"), *(Column(name, "number") for name in ("before, ms", "after, ms", "change, ms"))]
        rows = [
            [Cell(name), Cell(one), Cell(other), Cell(minus(ms(change, sign=True)) if change is not None else "")]
            for name, one, other, change, _ in _changes(records, after)
        ]
    else:
        columns = [Column("timing"), Column("ms", "number")]
        rows = [
            [Cell(f"{name}{_seen_in(times, records)}"), Cell(ms(median_ns(times)) if times else NOT_SEEN)]
            for name, times in timings_of(records).items()
        ]
    if not rows:
        return Html()
    many = "" if len(records) == 1 else f"Medians of {len(records)} boots. "
    caption = f"{many}{NO_VERDICT[0].upper()}{NO_VERDICT[1:]}."
    return section("timings", "Timings", table(caption, columns, rows))


def _changes(before: Sequence[BootRecord], after: Sequence[BootRecord]) -> list[tuple[str, str, str, int | None, int]]:
    """Return each timing with what it took on both sides, the change in ns, if both have it, and what it is of."""
    first, second = timings_of(before), timings_of(after)
    rows = []
    for name in dict.fromkeys([*first, *second]):
        one, other = first.get(name), second.get(name)
        change = median_ns(other) - median_ns(one) if one and other else None
        rows.append((name, _words(one, before), _words(other, after), change, median_ns(one) if one else 0))
    return rows


def _span(times: Sequence[int] | None, records: Sequence[BootRecord]) -> str:
    ends = f" ({ms(min(times))} to {ms(max(times))})" if times and min(times) != max(times) else ""
    return f"{_words(times, records)}{ends}"


def _words(times: Sequence[int] | None, records: Sequence[BootRecord]) -> str:
    if times is None:
        return NOT_ASKED
    return f"{ms(median_ns(times))}{_seen_in(times, records)}" if times else NOT_SEEN


def _seen_in(times: Sequence[int], records: Sequence[BootRecord]) -> str:
    """Return in how many boots a timing was seen, where that is not in each; empty where it was, or in none."""
    return f" (in {len(times)} of {len(records)})" if 0 < len(times) < len(records) else ""
