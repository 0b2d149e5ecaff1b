"""Several profiles for a terminal: one against another, and one system with more and more of something."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.experiments.sweep.profiles import Slope, Sweep
from bootlab.findings.analysis import Analysis
from bootlab.profile.tree.call_tree import LEAVES
from bootlab.profile.tree.differential import compare_trees
from bootlab.report.parts.figures import ms, visible
from bootlab.report.parts.terminal_tables import keep_whole, plain_table

_FUNCTIONS = 15
_UNITS = {"vcpus": "vCPU", "memory_gib": "GiB"}


def difference(before: Analysis, after: Analysis) -> RenderableType:
    """Return which phases and functions differ between two profiles up to ready, largest difference first."""
    lines: list[RenderableType] = []
    for name, side in (("before", before), ("after ", after)):
        record = side.record
        figure = f"{ms(side.end_ns)} ms {record.outcome.value}, seed {record.seed}"
        lines.append(Text.assemble((f"{name}  ", "dim"), (visible(record.system), "bold"), f"  {figure}"))
    phases = plain_table("phase", "before ms>", "after ms>", "change ms>")
    one, other = ({phase.name: phase.duration_ns for phase in side.activity.phases} for side in (before, after))
    for name in dict.fromkeys([*one, *other]):
        phases.add_row(Text(visible(name), overflow="fold"), *_change(one.get(name, 0), other.get(name, 0)))
    phases.add_section()
    phases.add_row("in all", *_change(before.end_ns, after.end_ns), style="bold")
    lines += [Text(), phases, Text(), Text("functions by the change of their own time", style="bold")]
    rows = plain_table("function", "before ms>", "after ms>", "change ms>", "of all it called ms>")
    keep_whole(rows, rows.columns[1:])
    functions = [one for one in compare_trees(before.tree, after.tree).functions("elapsed") if one.name not in LEAVES]
    changed = [one for one in functions if one.self_before != one.self_after or one.total_before != one.total_after]
    for found in changed[:_FUNCTIONS]:
        total = found.total_after - found.total_before
        change = _change(found.self_before, found.self_after)
        rows.add_row(Text(visible(found.name), overflow="fold"), *change, ms(total, sign=True))
    lines.append(rows if changed else Text("none: every function took the same time in both"))
    lines.append(Text("Two boots of one seed each: what a change saves beyond chance, bootlab try tells.", style="dim"))
    return Group(*lines)


def sweep(value: Sweep) -> RenderableType:
    """Return what each vCPU or GiB more costs: the whole, each phase, the steepest functions."""
    unit = _UNITS[value.axis]
    lines: list[RenderableType] = [Text.assemble((visible(value.system), "bold"), f"  by {unit}")]
    for point in value.points:
        if point.ready_ns is None:
            why = f": {visible(point.detail)}" if point.detail else ""
            lines.append(Text(f"  {point.value:g} {unit}: {point.outcome}{why}", style="red"))
    if len(value.points) < value.asked:
        lines.append(Text(f"  interrupted: {len(value.points)} of {value.asked} boots", style="red"))
    places = [point.value for point in value.points if point.ready_ns is not None]
    if value.ready is not None:
        lines += [Text(), _slopes("phase, ms", [*value.phases, value.ready], places, unit)]
        titles = (("functions by their own time", value.functions), ("functions by all that they called", value.totals))
        for title, slopes in titles:
            lines += [Text(), Text(title, style="bold"), _slopes("function, ms", slopes[:_FUNCTIONS], places, unit)]
        note = "The slope is of the straight line that fits best; what comes once, with the second, is no slope."
        lines.append(Text(note, style="dim"))
    else:
        lines.append(Text(value.why_no_slopes or ""))
    lines.append(Text("Each boot's profile: bootlab profile RUN/boots/NAME", style="dim"))
    lines.append(Text(f"run: {visible(value.run)}", style="dim", overflow="fold"))
    return Group(*lines)


def _slopes(title: str, slopes: Sequence[Slope], places: Sequence[float], unit: str) -> Table:
    rows = plain_table(title, *(f"{place:g} {unit}>" for place in places), f"per {unit}>")
    keep_whole(rows, rows.columns[1:])
    for one in slopes:
        figures = [ms(value) for value in one.values_ns]
        style = "bold" if one.name == "ready" else ""
        rows.add_row(
            Text(visible(one.name), overflow="fold"), *figures, ms(round(one.slope_ns), sign=True), style=style
        )
    return rows


def _change(before_ns: int, after_ns: int) -> list[RenderableType]:
    change = after_ns - before_ns
    style = "green" if change < 0 else "red" if change > 0 else ""
    return [ms(before_ns), ms(after_ns), Text(ms(change, sign=True), style=style)]
