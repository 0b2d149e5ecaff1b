"""The page of a sweep: one chart an axis, what one more costs phase by phase, every place, every boot."""

import re
from collections.abc import Sequence

from bootlab.experiments.sweep.result import PlaceResult, SweepResult, Trend
from bootlab.report.parts.figures import COUNTED, count, mib, ms
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.line_chart import Across, ChartLine, Dot, line_chart
from bootlab.report.parts.markup import Content, Html, join, tag
from bootlab.report.parts.sections import (
    fold,
    key_figure,
    key_figures,
    minus,
    provenance,
    scroll,
    section,
    short_hash_list,
)
from bootlab.report.parts.whole_page import page_header, shell
from bootlab.report.sweep.words import (
    NUMERIC,
    clock,
    disk_figures,
    figure_clock,
    figure_words,
    fit_words,
    line_name,
    lines_along,
    others,
    parted_hashes,
    per,
    phases_along,
    place_words,
    ready_title,
    row_words,
    slope_words,
    spread_sentence,
    title,
    value_words,
    values_along,
)


def sweep_page(result: SweepResult) -> str:
    """Return the page of a sweep."""
    common, own = parted_hashes(result)
    sections = [join(tag("p", caution, class_="caution", role="note") for caution in result.cautions)]
    sections += [_axis(result, axis) for axis in result.swept]
    sections += [
        section("places", "Every place", _places(result), lead=f"Times: {spread_sentence(result)}."),
        section("values", "Raw values", fold(f"All {sum(len(cell.boots) for cell in result.cells)} boots",
                                             _boots(result))),
        section("provenance", "Provenance", provenance(
            {**common, **{f"{name}: {part}": digest for name, one in own.items() for part, digest in one.items()}},
            result.host, [("KVM", result.kvm), ("run", tag("code", result.run))],
        )),
    ]  # fmt: skip
    names = ", ".join(title(axis) for axis in result.swept)
    kernels = {name: one["kernel"] for name, one in own.items() if "kernel" in one}
    kernels |= {"kernel": common["kernel"]} if "kernel" in common else {}
    head = page_header(f"sweep by {names}", result.system, clock(result), _keys(result), short_hash_list(kernels))
    return shell(f"{result.system}: sweep by {names}", head, sections, styles=["lines.css"])


def _keys(result: SweepResult) -> Html:
    places = [(cell.ready.median, cell) for cell in result.cells if cell.ready is not None]
    if not places:
        return key_figures()
    figures: list[Html] = []
    for which, kind, found in (
        ("shortest", "recommended", min(places, key=lambda place: place[0])),
        ("longest", "", max(places, key=lambda place: place[0])),
    ):
        words = place_words(found[1].place, result.swept)
        figures.append(key_figure(which, kind, ms(found[0]), f"ms {result.clock}", words))
    for axis in result.swept:
        along = [trend for trend in result.trends if trend.axis == axis]
        if along:
            figures.append(_slope_key(along))
    return key_figures(*figures)


def _slope_key(along: Sequence[Trend]) -> Html:
    rows = sorted((trend.row("ready") for trend in along), key=lambda row: row.slope)
    low, high = minus(slope_words(rows[0])), minus(slope_words(rows[-1]))
    figure = low if low == high else f"{low} to {high}"
    bent = sum(row.straight is False for row in rows)
    note = "least-squares slope" if not bent else f"{bent} of {len(rows)} lines are not straight: see the table"
    return key_figure(f"each {along[0].unit} more", "baseline", figure, f"ms {per(along[0])}", note)


def _axis(result: SweepResult, axis: str) -> Html:
    lines, anchor = lines_along(result, axis), f"by-{re.sub('[^a-z0-9]+', '-', axis)}"
    if not lines:
        return section(anchor, f"By {title(axis)}", tag("p", "No place was ready."))
    numeric = axis in NUMERIC
    values = list(dict.fromkeys(cell.place.at(axis) for cell in result.cells))

    def x_of(cell: PlaceResult) -> float:
        value = cell.place.at(axis)
        return float(value) if numeric else float(values.index(value))

    first = {cell.place.at(axis): cell.place for cell in result.cells}
    ticks = [
        (float(value) if numeric else float(index), value_words(axis, first[value]))
        for index, value in enumerate(values)
    ]
    drawn = [
        ChartLine(name, [
            Dot(x_of(cell), cell.ready.median, _dot_words(result, cell), cell.ready.low, cell.ready.high)
            for cell in sorted(cells, key=x_of) if cell.ready is not None
        ])
        for name, cells in lines.items()
    ]  # fmt: skip
    across = Across(title(axis), _apart(ticks) if numeric else ticks, joined=numeric)
    caption = f"Power-on to ready, {figure_clock(result)}; {spread_sentence(result)}."
    parts: list[Content] = [line_chart(drawn, across, caption)]
    along = [trend for trend in result.trends if trend.axis == axis]
    for index, trend in enumerate(along):
        name = line_name(result, axis, trend.place)
        wide = tag("div", _trend(trend, figure_clock(result)), class_="wide")
        parts.append(wide if not others(result, axis) else fold(f"Phase by phase: {name}", wide, opened=index == 0))
    for name, cells in list(lines.items())[:1] if not numeric else []:
        caption = f"{name}: phases, ms, {figure_clock(result)}" if others(result, axis) else "Phases, ms"
        parts.append(tag("div", _side_by_side(axis, cells, caption), class_="wide"))
    return section(anchor, f"By {title(axis)}", *parts)


def _side_by_side(axis: str, cells: Sequence[PlaceResult], caption: str) -> Html:
    columns = [Column("phase"), *(Column(value_words(axis, cell.place), "number") for cell in cells)]
    rows = [[Cell(name), *(Cell(ms(value)) for value in values)] for name, values in phases_along(cells)]
    return table(caption, columns, rows)


def _apart(ticks: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    # Labels that would lie on each other are left out, the largest value first in line.
    span = max(x for x, _ in ticks) - min(x for x, _ in ticks)
    kept: list[tuple[float, str]] = []
    for x, words in sorted(ticks, reverse=True):
        if all(abs(x - other) >= 0.12 * span for other, _ in kept):
            kept.append((x, words))
    return kept[::-1]


def _dot_words(result: SweepResult, cell: PlaceResult) -> str:
    assert cell.ready is not None
    spread = f"{ms(cell.ready.low)} to {ms(cell.ready.high)}"
    return f"{place_words(cell.place, result.swept)}: {ms(cell.ready.median)} ms ({spread})"


def _trend(trend: Trend, clock_name: str) -> Html:
    columns = [Column("phase"), *(Column(words, "number") for words in values_along(trend))]
    columns += [Column(per(trend), "number"), Column("spread", "number"), Column("straight line?")]
    rows = [
        [
            Cell(row_words(row)),
            *(Cell(figure_words(value)) for value in row.values),
            Cell(minus(slope_words(row))),
            Cell(figure_words(row.spread)),
            Cell(fit_words(row)),
        ]
        for row in trend.rows
    ]
    caption = (
        f"ms, {clock_name}, instructions in millions. The line is the least-squares one; it fits when no "
        "point misses it by more than the largest spread of one. Off by: how far the worst does, of the whole range."
    )
    return table(caption, columns, rows)


def _places(result: SweepResult) -> Html:
    columns = [Column(title(axis)) for axis in result.swept]
    columns += [Column(one, "number") for one in (f"{ready_title(result)}, ms", "from", "to")]
    priced = result.price is not None
    own = [f"{COUNTED}, ms"] if priced else []
    of_disks = ["read, MiB", "disk busy, ms"] * disk_figures(result)
    columns += [Column(one, "number") for one in (*own, "instructions", "idle, ms", *of_disks)]
    columns.append(Column("outcome"))
    rows = []
    for cell in result.cells:
        row = [Cell(value_words(axis, cell.place), cell.place.at(axis)) for axis in result.swept]
        spread = (cell.ready.median, cell.ready.low, cell.ready.high) if cell.ready else (None, None, None)
        row += [Cell(ms(figure), figure) for figure in spread]
        row += [Cell(ms(cell.counted.median) if cell.counted else "")] if priced else []
        row.append(Cell(count(cell.instructions.median) if cell.instructions else ""))
        row.append(Cell(ms(cell.idle.median) if cell.idle else ""))
        row += [Cell(mib(cell.read_bytes)), Cell(ms(cell.busy_ns))] if of_disks else []
        row.append(Cell(f"{cell.outcome}: {cell.detail}" if cell.detail else cell.outcome))
        rows.append(row)
    caption = f"Power-on to ready of every place, {figure_clock(result)}"
    return tag("div", table(caption, columns, rows, sortable=True), class_="wide")


def _boots(result: SweepResult) -> Html:
    columns = [
        Column("boot of"),
        *(Column(one, "number") for one in ("seed", f"{ready_title(result)}, ns", "instructions", "idle, ns")),
    ]
    columns += [Column("outcome"), Column("run", "code")]
    rows = [
        [
            Cell(place_words(cell.place, result.swept)),
            Cell(boot.seed, boot.seed),
            Cell(count(boot.total_ns), boot.total_ns),
            Cell(count(boot.instructions), boot.instructions),
            Cell(count(boot.idle_ns), boot.idle_ns),
            Cell(boot.outcome),
            Cell(boot.run),
        ]
        for cell in result.cells
        for boot in cell.boots
    ]
    caption = f"Every boot, raw: ns since power-on, {figure_clock(result)}"
    return scroll("every boot, raw", table(caption, columns, rows, kind="raw", sortable=True))
