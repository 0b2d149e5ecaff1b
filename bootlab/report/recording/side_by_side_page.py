"""The page of two recordings of other tools: what changed, phase by phase and thing by thing."""

from collections.abc import Sequence
from typing import Final

from bootlab.experiments.importing import Imported
from bootlab.report.parts import charts
from bootlab.report.parts.figures import count, percent
from bootlab.report.parts.html_tables import Cell, table
from bootlab.report.parts.markup import Html, join, tag
from bootlab.report.parts.sections import fold, key_figure, key_figures, minus, pairs, scroll, section
from bootlab.report.parts.whole_page import page_header, shell
from bootlab.report.profile.downloads import csv_link
from bootlab.report.profile.pictures import SCRIPTS, flame_graph, without_scripts
from bootlab.report.profile.table_columns import code, columns_of
from bootlab.report.recording.blocks import both_block
from bootlab.report.recording.side_by_side import Sides, compare_sides
from bootlab.report.recording.words import amount, clock_words, signed, title_of, unit_of
from bootlab.timeline.clock import Clock
from bootlab.timeline.recording_differences import Difference

_SHOWN: Final = 30
_LISTED: Final = 2_000
_NO_SCRIPTS: Final = "The flame graph needs scripts. The tables are complete without it."


def recording_sides_page(before: Imported, after: Imported) -> str:
    """Return the page that lays one recording beside another. Raises InputError where nothing can be compared."""
    sides = compare_sides(before, after)
    clock = before.recording.timeline.clock
    sections = []
    if sides.phases:
        sections.append(section("phases", "Phase by phase", _phases(before, after, sides, clock)))
    if sides.functions:
        sections.append(section("flame-graph", "What takes more, what less", without_scripts(_NO_SCRIPTS),
                                flame_graph(both=True, timed=True)))  # fmt: skip
        sections.append(section("functions", "Functions", _functions(sides.functions, clock)))
    for index, (source, rows) in enumerate(sides.things.items()):
        sections.append(section(f"changed-{index}", title_of(source), _things(source, rows, clock)))
    if sides.series:
        sections.append(section("series", "Figures of several boots", _series(sides, clock)))
    sections.append(section("provenance", "Provenance", pairs([
        *((f"{word}: {file.name}", join([f"{file.format}, {count(file.size)} bytes, ", tag("code", file.sha256)]))
          for word, one in (("before", before), ("after", after)) for file in one.files),
        ("clock before", clock_words(before.recording)), ("clock after", clock_words(after.recording)),
    ])))  # fmt: skip
    cautions = [*sides.cautions, *(f"{word}: {note}" for word, one in (("before", before), ("after", after))
                                   for note in one.recording.notes)]  # fmt: skip
    told = join(tag("p", one, class_="caution", role="note") for one in cautions)
    name = f"{before.name} \N{RIGHTWARDS ARROW} {after.name}"
    head = page_header("two recordings", name, clock_words(after.recording), join([_keys(sides, clock), told]), Html())
    blocks = [both_block(before.recording, after.recording)] if sides.functions else []
    return shell(f"{name}: two recordings", head, sections, styles=["profile.css"],
                 scripts=SCRIPTS if blocks else (), data=blocks)  # fmt: skip


def _keys(sides: Sides, clock: Clock) -> Html:
    unit = unit_of(clock)
    if sides.total is not None:
        total = sides.total
        share = f"{minus(percent(total.change_ns, total.before_ns, sign=True))} %"
        return key_figures(
            key_figure("before", "baseline", amount(total.before_ns, clock), unit, "all phases"),
            key_figure("after", "recommended", amount(total.after_ns, clock), unit, "all phases"),
            key_figure("change", "", minus(signed(total.change_ns, clock)), unit, share),
        )
    figures = [
        key_figure(title_of(source), "", minus(signed(rows[0].change_ns, clock)), unit, tag("code", rows[0].name))
        for source, rows in list(sides.things.items())[:3]
        if rows
    ]
    return key_figures(*figures) if figures else Html()


def _phases(before: Imported, after: Imported, sides: Sides, clock: Clock) -> Html:
    longest = max(max(row.before_ns or 0, row.after_ns or 0) for row in sides.phases) or 1
    rows = [
        [Cell(row.name), Cell(_bars(row, longest)), *_figures(row, clock)]
        for row in [*sides.phases, *([sides.total] if sides.total is not None else [])]
    ]
    if sides.total is not None:
        rows[-1][1] = Cell("")
    unit = unit_of(clock)
    legend = tag("span", tag("span", before.name, class_="swatch baseline"),
                 tag("span", after.name, class_="swatch recommended"), class_="legend")  # fmt: skip
    columns = columns_of("phase", "took|", f"before, {unit}>", f"after, {unit}>", f"change, {unit}>", "change, %>")
    return table(join([f"Phases, {unit} on each recording's {clock.name} clock. ", legend]), columns, rows,
                 kind="waterfall")  # fmt: skip


def _things(source: str, rows: Sequence[Difference], clock: Clock) -> Html:
    changed = [row for row in rows if row.change_ns]
    longest = max((max(row.before_ns or 0, row.after_ns or 0) for row in changed[:_SHOWN]), default=1)
    unit = unit_of(clock)
    columns = columns_of(f"{source}`", "took|", f"before, {unit}>", f"after, {unit}>", f"change, {unit}>", "change, %>")
    gone, new = sum(row.after_ns is None for row in rows), sum(row.before_ns is None for row in rows)
    caption = (
        f"The {min(len(changed), _SHOWN)} that changed most of {count(len(rows))}, {gone} only before, {new} only "
        f"after; {clock.name} clock."
    )
    shown = [[code(row.name), Cell(_bars(row, longest)), *_figures(row, clock)] for row in changed[:_SHOWN]]
    drawn = table(caption, columns, shown, kind="longest", sortable=True)
    if len(rows) <= _SHOWN:
        return drawn
    plain = [columns[0], *columns[2:]]
    every = [[code(row.name), *_figures(row, clock)] for row in rows[:_LISTED]]
    listed = table(f"{title_of(source)}, {clock.name} clock", plain, every, kind="raw", sortable=True)
    return join([drawn, fold(f"All {count(len(rows))}" if len(rows) <= _LISTED else f"The first {_LISTED}",
                             scroll(title_of(source), listed), csv_link("changes.csv", plain, every))])  # fmt: skip


def _functions(rows: Sequence[Difference], clock: Clock) -> Html:
    cells = [
        [code(row.name), Cell(count(row.before_ns), row.before_ns), Cell(count(row.after_ns), row.after_ns),
         Cell(minus(f"{row.change_ns:+,}"), row.change_ns), Cell("")]
        for row in rows[:40] if row.change_ns
    ]  # fmt: skip
    said = tag("span", f"Of everything recorded, in {clock.unit} on the {clock.name} clock.", class_="of-what")
    columns = columns_of("function`", "itself, before>", "itself, after>", "change>", "change with all it called>")
    return table(join([f"The {len(cells)} functions that changed most themselves. ", said]), columns, cells,
                 kind="functions", sortable=True)  # fmt: skip


def _series(sides: Sides, clock: Clock) -> Html:
    columns = columns_of("figure`", "before>", "after>", "saved>", "95 % of it", "unit")
    rows = [[code(row.name), Cell(row.before), Cell(row.after), Cell(row.saved), Cell(row.interval), Cell(row.unit)]
            for row in sides.series]  # fmt: skip
    return table(f"Medians of both series, and what was saved between them; {clock.name} clock.", columns, rows,
                 kind="raw", sortable=True)  # fmt: skip


def _bars(row: Difference, longest_ns: int) -> Html:
    lanes = [[charts.Bar(0, row.before_ns or 0, "baseline")], [charts.Bar(0, row.after_ns or 0, "recommended")]]
    return charts.bars(lanes, longest_ns)


def _figures(row: Difference, clock: Clock) -> list[Cell]:
    share = "gone" if row.after_ns is None else "new" if row.before_ns is None else ""
    share = share or minus(percent(row.change_ns, row.before_ns, sign=True))
    return [
        Cell(amount(row.before_ns, clock), row.before_ns), Cell(amount(row.after_ns, clock), row.after_ns),
        Cell(minus(signed(row.change_ns, clock)), row.change_ns), Cell(share),
    ]  # fmt: skip
