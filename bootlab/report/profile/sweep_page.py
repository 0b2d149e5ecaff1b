"""The page of profiles of one system with more and more of something: which phase and which function grows."""

from collections.abc import Sequence

from bootlab.experiments.sweep.profiles import Slope, Sweep
from bootlab.report.parts.figures import ms
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.line_chart import Across, ChartLine, Dot, line_chart
from bootlab.report.parts.markup import Html, join, tag
from bootlab.report.parts.sections import fold, key_figure, key_figures, minus, pairs, section
from bootlab.report.parts.whole_page import page_header, shell

_UNITS = {"vcpus": "vCPU", "memory_gib": "GiB"}
_DRAWN = 7
"""Phases in the chart besides the whole: the steepest; a line more would look like another."""
_CLOCK = "virtual clock: instructions + idle, one seed, profiled; what is exact here may still move with another seed"


def profile_sweep_page(sweep: Sweep) -> str:
    """Return the page of a sweep of profiles."""
    unit = _UNITS[sweep.axis]
    ready = [point for point in sweep.points if point.ready_ns is not None]
    places = [point.value for point in ready]
    steepest = sorted(sweep.phases, key=lambda one: -abs(one.slope_ns))[:_DRAWN]
    whole = [sweep.ready] if sweep.ready is not None else []
    drawn = [*whole, *(phase for phase in sweep.phases if phase in steepest)]
    lines = [
        ChartLine(one.name, [
            Dot(x, value, f"{one.name}, {x:g} {unit}: {ms(value)} ms")
            for x, value in sorted(zip(places, one.values_ns, strict=True))
        ])
        for one in drawn
    ]  # fmt: skip
    across = Across(unit, [(x, f"{x:g}") for x in sorted(places)])
    failed = [f"{point.value:g} {unit}: {point.outcome}" for point in sweep.points if point.ready_ns is None]
    if len(sweep.points) < sweep.asked:
        failed.append(f"interrupted after {len(sweep.points)}")
    sections = [
        section("phases", f"By {unit}", line_chart(lines, across, "Time to ready, and of the steepest phases."),
                _slopes("Phases", [*sweep.phases, *whole], places, unit)),
        section("functions", "Which functions grow", fold(
            "By their own time", _slopes("Functions, own time", sweep.functions, places, unit), opened=True,
        ), fold("By all that they called", _slopes("Functions, with all they called", sweep.totals, places, unit))),
    ] if whole else []  # fmt: skip
    sections.append(section("boots", "Boots", pairs(
        [(f"{point.value:g} {unit}", join([point.outcome, ": " if point.detail else "", point.detail, " ",
                                           tag("code", point.run)])) for point in sweep.points]
        + [("run", tag("code", sweep.run))],
    )))  # fmt: skip
    each = minus(ms(round(sweep.ready.slope_ns), sign=True)) if sweep.ready is not None else "–"
    keys = key_figures(
        key_figure(f"each {unit} more", "recommended", each, "ms virtual",
                   sweep.why_no_slopes or "slope of the straight line that fits best"),
        key_figure("ready", "failed" if failed else "", f"{len(ready)} of {sweep.asked}", "boots",
                   "; ".join(failed)),
    )  # fmt: skip
    head = page_header(f"profiles by {unit}", sweep.system, _CLOCK, keys, Html())
    return shell(f"{sweep.system}: profiles by {unit}", head, sections, styles=["lines.css"])


def _slopes(title: str, slopes: Sequence[Slope], places: Sequence[float], unit: str) -> Html:
    columns = [Column("name", "code"), *(Column(f"{place:g} {unit}", "number") for place in places)]
    columns.append(Column(f"per {unit}", "number"))
    rows = [
        [
            Cell(one.name),
            *(Cell(ms(value), value) for value in one.values_ns),
            Cell(minus(ms(round(one.slope_ns), sign=True)), one.slope_ns),
        ]
        for one in slopes
    ]
    return tag("div", table(f"{title}, ms on the virtual clock", columns, rows, sortable=True), class_="wide")
