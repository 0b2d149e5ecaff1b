"""A sweep for a terminal: every place, then what one more of each axis costs, phase by phase."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.experiments.sweep.result import PlaceResult, SweepResult, Trend
from bootlab.report.parts.figures import COUNTED, count, mib, ms, visible
from bootlab.report.parts.terminal_tables import foot, keep_whole, plain_table
from bootlab.report.sweep.words import (
    NUMERIC,
    clock,
    disk_figures,
    figure_words,
    fit_words,
    line_name,
    lines_along,
    others,
    parted_hashes,
    per,
    phases_along,
    ready_title,
    row_words,
    slope_words,
    spread_sentence,
    title,
    value_words,
    values_along,
)

_WHOLE = 2
"""How many lines along an axis are shown phase by phase; the page shows the others, too."""


def sweep(result: SweepResult) -> RenderableType:
    """Return the whole sweep."""
    swept = visible(", ".join(title(axis) for axis in result.swept))
    lines: list[RenderableType] = [Text.assemble((visible(result.system), "bold"), f"  by {swept}"), Text()]
    lines += [_places(result), Text(spread_sentence(result), style="dim")]
    for axis in result.swept:
        along = [trend for trend in result.trends if trend.axis == axis]
        if len(along) > _WHOLE:
            lines += [Text(), Text(f"to ready by {title(axis)}, ms", style="bold"), _ready_only(result, along)]
        for trend in along[: _WHOLE if len(along) <= _WHOLE else 1]:
            of = f": {line_name(result, axis, trend.place)}" if others(result, axis) else ""
            lines += [Text(), Text(f"by {title(axis)}{visible(of)}, ms", style="bold"), _trend(trend)]
        for name, cells in list(lines_along(result, axis).items())[:1] if axis not in NUMERIC else []:
            of = f": {name}" if others(result, axis) else ""
            lines += [Text(), Text(visible(f"by {title(axis)}{of}, ms"), style="bold"), _side_by_side(axis, cells)]
    lines += [Text(f"caution: {caution}", style="yellow") for caution in result.cautions]
    common, own = parted_hashes(result)
    of_all = {part: digest for part, digest in common.items() if part == "kernel"}
    of_each = {f"{name} {part}": digest for name, one in own.items() for part, digest in one.items()}
    return Group(*lines, *foot(clock(result), {**of_all, **of_each}, result.run))


def _places(result: SweepResult) -> Table:
    counted = any(cell.instructions is not None for cell in result.cells)
    own = [f"{COUNTED} ms>"] if result.price is not None else []
    columns = [
        f"{ready_title(result)} ms>",
        "from>",
        "to>",
        *own,
        *(("instructions>", "idle ms>") if counted else ()),
        *(("read MiB>", "disk busy ms>") if disk_figures(result) else ()),
        "outcome",
    ]
    rows = plain_table(*(visible(title(axis)) for axis in result.swept), *columns)
    for cell in result.cells:
        rows.add_row(
            *(visible(value_words(axis, cell.place)) for axis in result.swept),
            *_figures(cell, counted, bool(own)),
            *([mib(cell.read_bytes), ms(cell.busy_ns)] if disk_figures(result) else []),
            _outcome(cell),
        )
    return rows


def _figures(cell: PlaceResult, counted: bool, priced: bool) -> list[str]:
    if cell.ready is None:
        return [""] * ((5 if counted else 3) + priced)
    figures = [ms(cell.ready.median), ms(cell.ready.low), ms(cell.ready.high)]
    if priced:
        figures.append(ms(cell.counted.median) if cell.counted else "")
    if counted:
        figures.append(count(cell.instructions.median) if cell.instructions else "")
        figures.append(ms(cell.idle.median) if cell.idle else "")
    return figures


def _outcome(cell: PlaceResult) -> Text:
    if cell.ready is not None:
        return Text(cell.outcome)
    return Text(f"{cell.outcome}: {visible(cell.detail)}", style="red", overflow="fold")


def _trend(trend: Trend) -> Table:
    rows = plain_table(
        "phase", *(f"{words}>" for words in values_along(trend)), f"{per(trend)}>", "spread>", "straight line"
    )
    keep_whole(rows, rows.columns)
    for row in trend.rows:
        style = "bold" if row.name == "ready" else ""
        figures = [figure_words(value) for value in row.values]
        spread = figure_words(row.spread)
        rows.add_row(Text(visible(row_words(row))), *figures, slope_words(row), spread, fit_words(row), style=style)
    return rows


def _ready_only(result: SweepResult, along: list[Trend]) -> Table:
    axis = along[0].axis
    rows = plain_table(", ".join(title(other) for other in others(result, axis)),
                       *(f"{words}>" for words in values_along(max(along, key=lambda one: len(one.values)))),
                       f"{per(along[0])}>", "straight line")  # fmt: skip
    keep_whole(rows, rows.columns[1:])
    widest = max(along, key=lambda one: len(one.values)).values
    for trend in along:
        row = trend.row("ready")
        known = dict(zip(trend.values, row.values, strict=True))
        figures = [ms(known.get(value)) for value in widest]
        rows.add_row(Text(visible(line_name(result, axis, trend.place))), *figures, slope_words(row), fit_words(row))
    return rows


def _side_by_side(axis: str, cells: Sequence[PlaceResult]) -> Table:
    rows = plain_table("phase", *(f"{visible(value_words(axis, cell.place))}>" for cell in cells))
    keep_whole(rows, rows.columns[1:])
    for name, values in phases_along(cells):
        rows.add_row(Text(visible(name)), *(ms(value) for value in values), style="bold" if name == "ready" else "")
    return rows
