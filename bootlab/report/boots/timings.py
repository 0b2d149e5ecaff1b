"""The stretches of a boot that its users feel (`[timings]`), as tables: of one boot, of a series, of two sides."""

from collections.abc import Sequence
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from bootlab.experiments.family import median_timings, timings_of
from bootlab.measure.record import BootRecord
from bootlab.measure.statistics.series import median_ns
from bootlab.report.parts.figures import ms, percent, visible
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Html
from bootlab.report.parts.sections import minus, section
from bootlab.report.parts.terminal_tables import plain_table

NO_VERDICT: Final = "timings say what users feel; the verdict is on power-on to ready"
NOT_SEEN: Final = "not seen"


def timing_lines(records: Sequence[BootRecord]) -> list[RenderableType]:
    """Return the timings of boots of one system, of several their medians; nothing for a system without any."""
    found = timings_of(records)
    if not found:
        return []
    several = len(records) > 1
    rows = plain_table("timing", "ms>", *(["shortest>", "longest>"] if several else []))
    for name, times in found.items():
        ends = [ms(end(times)) for end in (min, max)] if several and times else []
        rows.add_row(Text(visible(name), overflow="fold"), ms(median_ns(times)) if times else NOT_SEEN, *ends)
    return [Text(), *([Text("timings: medians")] if several else []), rows]


def timing_change(before: Sequence[BootRecord], after: Sequence[BootRecord]) -> list[RenderableType]:
    """Return the timings of two sides, those that both have, medians side by side."""
    rows = _changes(before, after)
    if not rows:
        return []
    shown = plain_table("timing", "before ms>", "after ms>", "change ms>", "change %>")
    for name, one, other in rows:
        change = other - one if one is not None and other is not None else None
        style = "green" if (change or 0) < 0 else "red" if (change or 0) > 0 else ""
        figures = [ms(change, sign=True), percent(change, one, sign=True)] if change is not None else ["", ""]
        shown.add_row(
            Text(visible(name), overflow="fold"), ms(one) or NOT_SEEN, ms(other) or NOT_SEEN,
            *(Text(figure, style=style) for figure in figures),
        )  # fmt: skip
    return [Text(), shown]


def timing_section(records: Sequence[BootRecord], after: Sequence[BootRecord] = ()) -> Html:
    """Return the timings of boots as a section of a page; with `after` those of two sides. Empty where there are none.

    Several boots are told by their medians.
    """
    if after:
        columns = [Column("timing"), *(Column(name, "number") for name in ("before, ms", "after, ms", "change, ms"))]
        rows = [
            [Cell(name), Cell(ms(one) or NOT_SEEN), Cell(ms(other) or NOT_SEEN),
             Cell(minus(ms(other - one, sign=True)) if one is not None and other is not None else "")]
            for name, one, other in _changes(records, after)
        ]  # fmt: skip
    else:
        columns = [Column("timing"), Column("ms", "number")]
        rows = [[Cell(name), Cell(ms(taken_ns) or NOT_SEEN)] for name, taken_ns in median_timings(records).items()]
    if not rows:
        return Html()
    many = "" if len(records) == 1 else f"Medians of {len(records)} boots. "
    caption = f"{many}{NO_VERDICT[0].upper()}{NO_VERDICT[1:]}."
    return section("timings", "Timings", table(caption, columns, rows))


def _changes(before: Sequence[BootRecord], after: Sequence[BootRecord]) -> list[tuple[str, int | None, int | None]]:
    first, second = median_timings(before), median_timings(after)
    return [(name, first[name], second[name]) for name in first if name in second]
