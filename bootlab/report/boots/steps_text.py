"""Several systems step by step, for a terminal: what each step saved, what differs, the phases side by side."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.experiments.comparing import Steps
from bootlab.measure.record import BootRecord
from bootlab.report.boots.side_by_side import align
from bootlab.report.boots.steps_words import (
    cautions,
    counted,
    figure_words,
    in_all,
    rungs,
    sides,
    time_words,
    whole_words,
)
from bootlab.report.parts.figures import COUNTED, clock_of, median_boot, model_lines, ms, visible
from bootlab.report.parts.terminal_tables import ByWidth, CellBar, foot, keep_whole, plain_table
from bootlab.techniques.model.verdict import Verdict

_STYLES = {Verdict.SHORTER: "green", Verdict.FASTER: "green", Verdict.LONGER: "red", Verdict.SLOWER: "red"}
_WIDE = 100


def steps(result: Steps, series: Sequence[Sequence[BootRecord]]) -> RenderableType:
    """Return the systems step by step; `series` holds the boots of each, in the same order."""
    first, last = rungs(result)[0], rungs(result)[-1]
    head = Text.assemble((visible(first.name), "bold"), " -> ", (visible(last.name), "bold"))
    head.append(f", {len(series)} systems step by step")
    lines: list[RenderableType] = [head]
    lines += [Text(f"caution: {caution}", style="yellow") for caution in cautions(series)]
    what = time_words(series)
    lines.append(ByWidth(_ladder(result, what, bars=True), _ladder(result, what, bars=False), _WIDE))
    lines += [Text(line) for line in model_lines([median_boot(boots) for boots in series])]
    for rung in rungs(result)[1:]:
        assert rung.step is not None
        lines += [
            Text(),
            Text(visible(f"{rung.number} against {rung.number - 1}: {rung.step.verdict}: {rung.step.detail}")),
        ]
        lines += [Text(visible(f"  differs: {difference}"), overflow="fold") for difference in rung.step.differences]
    if phases := _phases(result, series):
        lines += [Text(), Text(f"phases, ms {figure_words(result)}, of the median boot of each system"), phases]
    whole = Text.assemble(
        "in all: ", (whole_words(result), "bold"), visible(f"; {result.whole.verdict}: {result.whole.detail}")
    )
    return Group(*lines, Text(), whole, *foot(clock_of([record for boots in series for record in boots]), {}))


def _ladder(result: Steps, what: str, *, bars: bool) -> Table:
    beside = counted(result)
    own = [f"{COUNTED} ms>"] if beside is not None else []
    headings = ["system", f"{what} ms>", "saved ms>", "spread>", "in all %>", "verdict", *own, *[""] * bars]
    rows = plain_table(*headings)
    keep_whole(rows, rows.columns[1:6] if beside is None else rows.columns[2:6])
    longest_ns = max((rung.total_ns or 0 for rung in rungs(result)), default=0)
    for rung in rungs(result):
        name = Text(visible(rung.title), overflow="fold")
        cells: list[RenderableType] = [name, ms(rung.total_ns) or "not ready"]
        if rung.step is None:
            cells += [""] * 4
        else:
            style = _STYLES.get(rung.step.verdict, "dim")
            cells += [ms(rung.saved_ns), ms(rung.step.spread_ns), in_all(result, rung.total_ns)]
            cells.append(Text(rung.step.verdict, style=style))
        if beside is not None:
            cells.append(ms(beside[rung.number - 1]))
        if bars:
            cells.append(
                CellBar(0, (rung.total_ns or 0) / max(longest_ns, 1), "bright_black" if rung.number == 1 else "blue")
            )
        rows.add_row(*cells)
    return rows


def _phases(result: Steps, series: Sequence[Sequence[BootRecord]]) -> Table | None:
    shown = sides(result, series)
    aligned = align(shown)
    if not aligned:
        return None
    rows = plain_table("phase", *(f"{side.title}>" for side in shown))
    for row in aligned:
        rows.add_row(Text(visible(row.name), overflow="fold"), *(ms(time) for time in row.durations_ns()))
    rows.add_section()
    rows.add_row("power-on to ready", *(ms(side.ready_ns) or "not ready" for side in shown), style="bold")
    return rows
