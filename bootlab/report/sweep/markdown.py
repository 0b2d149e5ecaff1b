"""A sweep in Markdown: what each place takes, and what one more of each axis costs, phase by phase."""

from collections.abc import Sequence

from bootlab.experiments.sweep.result import PlaceResult, SweepResult, Trend
from bootlab.report.parts.figures import COUNTED, mib, ms, short_hashes
from bootlab.report.parts.markdown import markdown_table, plain, prose
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


def sweep_markdown(result: SweepResult) -> str:
    """Return every place, then the lines along each axis, the first of them phase by phase."""
    parts = [_places(result), prose(f"{spread_sentence(result).capitalize()}.")]
    for axis in result.swept:
        along = [trend for trend in result.trends if trend.axis == axis]
        if len(along) > 1:
            parts += [f"To ready by {title(axis)}, ms:", _ready(result, along)]
        for trend in along[:1]:
            of = f", {plain(line_name(result, axis, trend.place))}" if others(result, axis) else ""
            parts += [f"Phases by {title(axis)}{of}, ms:", _phases(trend)]
        for name, cells in list(lines_along(result, axis).items())[:1] if axis not in NUMERIC else []:
            of = f", {plain(name)}" if others(result, axis) else ""
            parts += [f"Phases by {plain(title(axis))}{of}, ms:", _side_by_side(axis, cells)]
    parts += [prose(f"Caution: {plain(caution)}") for caution in result.cautions]
    common, own = parted_hashes(result)
    inputs = [short_hashes(common), *(f"{plain(name)}: {short_hashes(one)}" for name, one in own.items())]
    parts.append(prose(f"{plain(result.system)}, {clock(result)}. {'; '.join(filter(None, inputs))}."))
    return "\n\n".join(parts) + "\n"


def _places(result: SweepResult) -> str:
    rows, priced = [], result.price is not None
    for cell in result.cells:
        figures = [ms(cell.ready.median), ms(cell.ready.low), ms(cell.ready.high)] if cell.ready else [""] * 3
        idle = ms(cell.idle.median) if cell.idle else ""
        outcome = cell.outcome if cell.ready else f"{cell.outcome}: {plain(cell.detail)}"
        own = [ms(cell.counted.median) if cell.counted else ""] * priced
        of_disks = [mib(cell.read_bytes), ms(cell.busy_ns)] if cell.ready else [""] * 2
        disks = of_disks * disk_figures(result)
        where = [plain(value_words(axis, cell.place)) for axis in result.swept]
        rows.append([*where, *figures, *own, idle, *disks, outcome])
    disks = ["read MiB>", "disk busy ms>"] * disk_figures(result)
    return markdown_table(
        [
            *(plain(title(axis)) for axis in result.swept),
            f"{ready_title(result)} ms>",
            "from>",
            "to>",
            *([f"{COUNTED} ms>"] * priced),
            "idle ms>",
            *disks,
            "outcome",
        ],
        rows,
    )


def _ready(result: SweepResult, along: Sequence[Trend]) -> str:
    widest = max(along, key=lambda trend: len(trend.values))
    rows = []
    for trend in along:
        row = trend.row("ready")
        known = dict(zip(trend.values, row.values, strict=True))
        figures = [ms(known.get(value)) for value in widest.values]
        rows.append([plain(line_name(result, trend.axis, trend.place)), *figures, slope_words(row), fit_words(row)])
    titles = ["", *(f"{words}>" for words in values_along(widest)), f"{per(widest)}>", "straight line"]
    return markdown_table(titles, rows)


def _phases(trend: Trend) -> str:
    titles = ["phase", *(f"{words}>" for words in values_along(trend)), f"{per(trend)}>", "spread>", "straight line"]
    rows = [
        [
            plain(row_words(row)),
            *(figure_words(value) for value in row.values),
            slope_words(row),
            figure_words(row.spread),
            fit_words(row),
        ]
        for row in trend.rows
    ]
    return markdown_table(titles, rows)


def _side_by_side(axis: str, cells: Sequence[PlaceResult]) -> str:
    # Values without a distance between them: no line is laid through.
    titles = ["phase", *(f"{plain(value_words(axis, cell.place))}>" for cell in cells)]
    return markdown_table(titles, [[plain(name), *(ms(value) for value in row)] for name, row in phases_along(cells)])
