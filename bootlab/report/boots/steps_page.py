"""The page of several systems compared step by step: the waterfall, phases, what differs, every boot."""

from collections.abc import Sequence

from bootlab.experiments.comparing import Comparison, Steps
from bootlab.measure.record import BootRecord
from bootlab.report.boots.steps_words import (
    Rung,
    cautions,
    counted,
    figure_words,
    in_all,
    rungs,
    sides,
    time_words,
    whole_words,
)
from bootlab.report.parts import charts
from bootlab.report.parts.console import Console
from bootlab.report.parts.figures import COUNTED, clock_of, figure_name, median_boot, model_lines, ms
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Content, Html, join, tag
from bootlab.report.parts.sections import (
    as_members,
    console_section,
    family,
    fold,
    key_figure,
    key_figures,
    members_table,
    minus,
    record_provenance,
    section,
    waterfall,
)
from bootlab.report.parts.whole_page import page_header, shell


def steps_page(result: Steps, series: Sequence[Sequence[BootRecord]], consoles: Sequence[Console] = ()) -> str:
    """Return the page; `series` holds the boots of each system in order. Raises InputError on different clocks."""
    shown = rungs(result)
    middles = [median_boot(boots) for boots in series]
    ready = [[boot.judged_ns for boot in boots if boot.judged_ns is not None] for boots in series]
    groups = [(rung.title, as_members(boots)) for rung, boots in zip(shown, series, strict=True)]
    every = [(rung.title, rung.kind, times) for rung, times in zip(shown, ready, strict=True)]
    loads = join(tag("p", line) for line in model_lines(middles))
    sections = [
        join(tag("p", caution, class_="caution", role="note") for caution in cautions(series)),
        section("steps", "Step by step", _ladder(result, time_words(series)), loads),
        section("phases", "Phase by phase", waterfall(sides(result, series), figure_words(result), stepwise=True),
                lead="The median boot of each system; the change is against the system before it."),
        section("differences", "What differs", join(_differences(rung) for rung in shown)),
        section("family", "Every boot", family(every, figure_words(result)),
                fold("Raw values", members_table(groups, result.clock))),
        console_section(consoles),
        *(record_provenance(middle, str(rung.number)) for rung, middle in zip(shown, middles, strict=True)),
    ]  # fmt: skip
    name = f"{shown[0].name} \N{RIGHTWARDS ARROW} {shown[-1].name}"
    clock = clock_of([record for boots in series for record in boots])
    head = page_header(f"{len(shown)} systems step by step", name, clock, _keys(result), Html())
    return shell(f"{name}: step by step", head, sections)


def _keys(result: Steps) -> Html:
    whole = result.whole
    unit = f"ms {figure_words(result)}"
    figures = [
        key_figure(
            "first", "baseline", ms(whole.before_ns) or "not ready", unit if whole.before_ns else "", whole.before
        ),
        key_figure(
            "last", "recommended", ms(whole.after_ns) or "not ready", unit if whole.after_ns else "", whole.after
        ),
    ]
    if whole.saved_ns is not None:
        note = f"{whole.verdict}: {whole_words(result)}"
        figures.append(key_figure("saved", "", minus(ms(whole.saved_ns)), unit, note))
    return key_figures(*figures)


def _ladder(result: Steps, what: str) -> Html:
    columns = [
        Column("system", "code"), Column(what, "chart"), Column(f"{what}, ms", "number"), Column("saved, ms", "number"),
        Column("spread, ms", "number"), Column("in all, %", "number"),
    ]  # fmt: skip
    shown, beside = rungs(result), counted(result)
    if beside is not None:
        columns.append(Column(f"{COUNTED}, ms", "number"))
    end_ns = max((rung.total_ns or 0 for rung in shown), default=0)
    rows = []
    for rung in shown:
        now_ns, saved_ns = rung.total_ns or 0, rung.saved_ns or 0
        lane = [charts.Bar(0, now_ns, rung.kind)]
        if saved_ns > 0:
            lane.append(charts.Bar(now_ns, min(now_ns + saved_ns, end_ns), f"{rung.kind} saved"))
        notes: list[Content] = [tag("code", rung.title)]
        if rung.step is not None:
            why = f": {rung.step.detail}" if rung.saved_ns is None else ""
            notes.append(tag("span", _verdict(rung.step), why, class_="detail"))
        rows.append([
            Cell(join(notes)),
            Cell(charts.bars([lane], end_ns)),
            Cell(ms(rung.total_ns) or "not ready"),
            Cell(minus(ms(rung.saved_ns))),
            Cell(ms(rung.step.spread_ns) if rung.step is not None else ""),
            Cell(minus(in_all(result, rung.total_ns)) if rung.step is not None else ""),
            *([] if beside is None else [Cell(ms(beside[rung.number - 1]))]),
        ])  # fmt: skip
    caption = (
        f"Each system against the one above it, ms, {figure_name(figure_words(result))}, medians over the boots. The "
        "pale end of a bar is what the step saved; the savings add up to the whole."
    )
    whole = result.whole
    total = [
        Cell(join(["in all", tag("span", _verdict(whole), class_="detail")])), Cell(charts.axis(end_ns)),
        Cell(ms(whole.after_ns) or "not ready"), Cell(minus(ms(whole.saved_ns))), Cell(ms(whole.spread_ns)),
        Cell(minus(in_all(result, whole.after_ns))),
        *([] if beside is None else [Cell(ms(beside[-1]))]),
    ]  # fmt: skip
    return table(caption, columns, rows, kind="ladder", foot=total)


def _verdict(step: Comparison) -> Html:
    return tag("span", step.verdict, class_=f"verdict {step.verdict.replace(' ', '-')}")


def _differences(rung: Rung) -> Html:
    if rung.step is None:
        return Html()
    found = [tag("li", tag("code", difference)) for difference in rung.step.differences]
    same = tag("p", "Nothing that is booted, and no word of QEMU's command line.")
    return join([
        tag("h3", f"{rung.title} against {rung.number - 1}"),
        tag("p", f"{rung.step.verdict}: {rung.step.detail}"),
        tag("ul", *found) if found else same,
    ])  # fmt: skip
