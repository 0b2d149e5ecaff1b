"""The page of a recording that another tool made: the same pictures and tables as for a boot of our own."""

from collections.abc import Mapping, Sequence
from typing import Final

from bootlab.experiments.importing import ImportedFile
from bootlab.report.parts import charts
from bootlab.report.parts.figures import count, percent
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Content, Html, join, tag
from bootlab.report.parts.sections import fold, key_figure, key_figures, pairs, scroll, section
from bootlab.report.parts.whole_page import page_header, shell
from bootlab.report.profile.downloads import csv_link, file_links
from bootlab.report.profile.pictures import SCRIPTS, flame_chart, flame_graph, without_scripts
from bootlab.report.profile.table_columns import code, columns_of
from bootlab.report.recording.blocks import time_block, tree_block
from bootlab.report.recording.tree import RecordingTree, tree_of
from bootlab.report.recording.words import (
    FEW_BOOTS,
    INTERVAL_BOOTS,
    RecordingRow,
    amount,
    clock_words,
    interval_heading,
    rows_by_source,
    series_figures,
    shown_first,
    title_of,
    total_ns,
    unit_of,
)
from bootlab.timeline.recording import Recording

_LONGEST: Final = 30
_FUNCTIONS: Final = 40
_EVENTS: Final = 5_000
_LISTED: Final = 2_000
_NO_SCRIPTS: Final = "The pictures need scripts. The tables are complete without them."


def recording_page(
    one: Recording, name: str, files: Sequence[ImportedFile], exported: Mapping[str, str] | None = None
) -> str:
    """Return the page of one recording, or of several that were laid over each other."""
    tree = tree_of(one)
    has_frames = len(tree.tree) > 1
    sections = [
        *([section("phases", "Where the time goes", _phases(one))] if one.phases else []),
        *([section("timeline", "In the order of time", join([without_scripts(_NO_SCRIPTS),
                                                             flame_chart([(0, "all")], timed=True)]))]
          if one.timeline.spans or one.phases else []),
        *([section("flame-graph", "Flame graph", flame_graph(timed=True)),
           section("functions", "Functions", _functions(one, tree))] if has_frames else []),
        *(section(f"longest-{index}", title_of(source), _longest(one, source, rows))
          for index, (source, rows) in enumerate(rows_by_source(one).items())),
        *([section("series", "Figures of several boots", _series(one))] if one.series else []),
        *([section("events", "Events", _events(one))] if one.timeline.events or one.text else []),
        *([section("files", "Files", file_links(exported))] if exported else []),
        section("provenance", "Provenance", pairs([
            *((f"{file.name}", join([f"{file.format}, {count(file.size)} bytes, sha256 ", tag("code", file.sha256)]))
              for file in files),
            ("written by", one.tool), ("clock", clock_words(one)), *sorted(one.facts.items()),
        ])),
    ]  # fmt: skip
    cautions = join(tag("p", note, class_="caution", role="note") for note in one.notes)
    head = page_header("imported recording", name, clock_words(one), join([_keys(one), cautions]), Html())
    blocks = [tree_block(one, tree), time_block(one, tree)]
    return shell(f"{name}: imported recording", head, sections, styles=["profile.css"], scripts=SCRIPTS, data=blocks)


def _keys(one: Recording) -> Html:
    clock, unit = one.timeline.clock, unit_of(one.timeline.clock)
    figures = []
    if one.phases:
        first, last = min(phase.start_ns for phase in one.phases), max(phase.end_ns for phase in one.phases)
        figures.append(key_figure("in all", "recommended", amount(last - first, clock), unit, "first phase to last"))
    for source, rows in list(rows_by_source(one).items())[:2]:
        longest = max(rows, key=lambda row: row.took_ns)
        note = join([tag("code", longest.name), f" took {amount(longest.took_ns, clock)} {unit}"])
        figures.append(key_figure(title_of(source), "", count(len(rows)), "", note))
    if not figures:
        figures.append(key_figure("events", "", count(len(one.timeline.events)), "", one.format))
    return key_figures(*figures)


def _phases(one: Recording) -> Html:
    clock, unit = one.timeline.clock, unit_of(one.timeline.clock)
    first = min(phase.start_ns for phase in one.phases)
    whole = max(max(phase.end_ns for phase in one.phases) - first, 1)
    rows = [
        [
            Cell(phase.name),
            Cell(charts.bars([[charts.Bar(phase.start_ns - first, phase.end_ns - first, "recommended")]], whole)),
            Cell(amount(phase.start_ns, clock), phase.start_ns),
            Cell(amount(phase.duration_ns, clock), phase.duration_ns),
            Cell(percent(phase.duration_ns, whole)),
        ]
        for phase in one.phases
    ]
    columns = [Column("phase"), Column("", "chart"), Column(f"at, {unit}", "number"), Column(f"took, {unit}", "number")]
    columns.append(Column("share, %", "number share"))
    return table(f"Phases, {unit} on the {clock.name} clock.", columns, rows, kind="waterfall")


def _longest(one: Recording, source: str, rows: Sequence[RecordingRow]) -> Html:
    clock, unit = one.timeline.clock, unit_of(one.timeline.clock)
    longest = max(*(row.took_ns for row in rows), 1)

    def cells(row: RecordingRow) -> list[Cell]:
        return [
            code(row.name), Cell(charts.bars([[charts.Bar(0, row.took_ns, "recommended")]], longest), row.took_ns),
            Cell(amount(row.took_ns, clock), row.took_ns), Cell(amount(row.start_ns, clock), row.start_ns),
            Cell(row.about),
        ]  # fmt: skip

    columns = columns_of(f"{source}`", "took|", f"took, {unit}>", f"at, {unit}>", "about")
    caption = (
        f"The {shown_first(source)} {min(len(rows), _LONGEST)} of {count(len(rows))}, "
        f"{amount(total_ns(rows), clock)} {unit} added up, {clock.name} clock."
    )
    shown = scroll(
        title_of(source),
        table(caption, columns, [cells(row) for row in rows[:_LONGEST]], kind="longest", sortable=True),
        "sideways",
    )
    if len(rows) <= _LONGEST:
        return shown
    plain = [columns[0], *columns[2:]]
    every = [[one_row[0], *one_row[2:]] for one_row in map(cells, rows[:_LISTED])]
    listed = table(f"{title_of(source)}, {clock.name} clock", plain, every, kind="raw", sortable=True)
    title = f"All {count(len(rows))}" if len(rows) <= _LISTED else f"The {shown_first(source)} {_LISTED}"
    return join([shown, fold(title, scroll(title_of(source), listed), csv_link("longest.csv", plain, every))])


def _functions(one: Recording, tree: RecordingTree) -> Html:
    unit = one.timeline.clock.unit
    whole = int(tree.tree.total_elapsed_ns[0])
    top = sorted(tree.tree.top_functions(), key=lambda row: -row.self_elapsed_ns)[:_FUNCTIONS]
    rows = [
        [
            code(row.name), Cell(count(row.self_elapsed_ns), row.self_elapsed_ns),
            Cell(percent(row.self_elapsed_ns, whole), row.self_elapsed_ns),
            Cell(count(row.total_elapsed_ns), row.total_elapsed_ns),
            Cell(percent(row.total_elapsed_ns, whole), row.total_elapsed_ns),
        ]
        for row in top
    ]  # fmt: skip
    columns = columns_of("function`", "itself>", "itself, %>", "with all it called>", "with all, %>")
    said = tag("span", f"Of everything recorded, in {unit} on the {one.timeline.clock.name} clock.", class_="of-what")
    caption = join([f"The {len(rows)} functions that took most themselves. ", said])
    return table(caption, columns, rows, kind="functions", sortable=True)


def _series(one: Recording) -> Html:
    rows, cautions = [], []
    for series in one.series:
        figures = series_figures(series)
        rows.append([code(series.name), *(Cell(cell) for cell in figures.cells), Cell(figures.unit)])
        if figures.caution:
            cautions.append(tag("p", f"{series.name}: {figures.caution}", class_="caution", role="note"))
    columns = columns_of("figure`", "boots>", "median>", interval_heading(one.series), "least>", "most>", "unit")
    few = f" {FEW_BOOTS}" if any(len(series.values) < INTERVAL_BOOTS for series in one.series) else ""
    caption = f"Each figure over all boots, {one.timeline.clock.name} clock.{few}"
    shown = table(caption, columns, rows, kind="raw", sortable=True)
    return join([*cautions, scroll("figures of several boots", shown, "sideways")])


def _events(one: Recording) -> Html:
    clock, events = one.timeline.clock, one.timeline.events
    newline = Html("\n")
    lines: list[Content] = []

    def add(stamp: str, said: str) -> None:
        lines.append(tag("span", tag("span", stamp.rjust(13), class_="stamp"), "  ", tag("span", said, class_="said"),
                         newline, class_="line"))  # fmt: skip

    texts = list(one.text[:_EVENTS])
    texts.reverse()
    for number, event in enumerate(events[:_EVENTS]):
        while texts and texts[-1].after <= number:
            add("", texts.pop().text)
        add(f"{event.t_ns / 1e9:.6f}" if clock.unit == "ns" else str(event.t_ns), event.name)
    while texts and (texts[-1].after <= _EVENTS or len(events) <= _EVENTS):
        add("", texts.pop().text)
    title = f"{count(len(events))} events" + (f", the first {count(_EVENTS)}" if len(events) > _EVENTS else "")
    title += f", {count(len(one.text))} lines without a time" if one.text else ""
    title += ", s" if clock.unit == "ns" else f", {clock.unit}"
    return fold(title, scroll("events", tag("pre", join(lines)), "console"), opened=len(lines) <= 200)
