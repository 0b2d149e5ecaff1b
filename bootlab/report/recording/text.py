"""Recordings of other tools for a terminal: the same plain tables as for our own boots."""

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.report.parts.figures import count, percent, visible
from bootlab.report.parts.terminal_tables import CellBar, keep_whole, plain_table
from bootlab.report.recording.words import (
    CHAINS,
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
from bootlab.timeline.recording import Recording, Series

_SHOWN: Final = 12


def recording(one: Recording, name: str) -> RenderableType:
    """Return one recording: phases, then the longest of each kind of thing in it."""
    head = Text(visible(name), style="bold")
    head.append(f"  {one.format}, written by {visible(one.tool)}", style="")
    lines: list[RenderableType] = [head]
    lines += [Text(f"{visible(key)}: {visible(value)}", overflow="ellipsis", no_wrap=True, style="dim")
              for key, value in one.facts.items()]  # fmt: skip
    lines += [Text(f"note: {visible(note)}", style="yellow") for note in one.notes]
    if one.text:
        lines.append(Text(f"{count(len(one.text))} lines without a time are in the page, in their places", style="dim"))
    if one.phases:
        lines += [Text(), _phases(one)]
    for source, rows in rows_by_source(one).items():
        lines += [Text(), *_longest(one, source, rows)]
    if any(len(stack.frames) > 2 for stack in one.stacks):
        lines += [Text(), *_stacks(one)]
    if one.series:
        lines += [Text(), *_series(one.series)]
    if not lines[1:] or (not one.phases and not one.lengths and not one.timeline.spans and not one.stacks
                         and not one.series):  # fmt: skip
        lines.append(Text(f"{count(len(one.timeline.events))} events; nothing in it has a length"))
    return Group(*lines, Text(), Text(clock_words(one), style="dim"))


def _phases(one: Recording) -> Table:
    clock = one.timeline.clock
    first = min(phase.start_ns for phase in one.phases)
    whole = max(max(phase.end_ns for phase in one.phases) - first, 1)
    rows = plain_table("phase", "", f"{unit_of(clock)}>", "%>")
    rows.columns[1].ratio = 1
    for phase in one.phases:
        bar = CellBar((phase.start_ns - first) / whole, (phase.end_ns - first) / whole)
        took = phase.duration_ns
        rows.add_row(Text(visible(phase.name), overflow="fold"), bar, amount(took, clock), percent(took, whole))
    return rows


def _longest(one: Recording, source: str, rows: Sequence[RecordingRow]) -> list[RenderableType]:
    clock, unit = one.timeline.clock, unit_of(one.timeline.clock)
    shown = rows if source in CHAINS else rows[:_SHOWN]
    more = f", the {shown_first(source)} {len(shown)}" if len(shown) < len(rows) else ""
    heading = f"{title_of(source)}: {count(len(rows))}, {amount(total_ns(rows), clock)} {unit} added up{more}"
    dated, told = any(row.start_ns is not None for row in shown), any(row.about for row in shown)
    columns = [f"took {unit}>", *([f"at {unit}>"] if dated else []), source, *(["about"] if told else [])]
    listed = plain_table(*columns)
    keep_whole(listed, [])
    for row in shown:
        cells: list[RenderableType] = [amount(row.took_ns, clock)]
        cells += [amount(row.start_ns, clock)] if dated else []
        cells.append(Text(visible(row.name), overflow="fold"))
        cells += [Text(visible(row.about), overflow="fold", style="dim")] if told else []
        listed.add_row(*cells)
    return [Text(visible(heading)), listed]


def _stacks(one: Recording) -> list[RenderableType]:
    clock = one.timeline.clock
    own: dict[str, list[int]] = {}
    for stack in one.stacks:
        figures = own.setdefault(stack.frames[-1], [0, 0])
        figures[0] += stack.own_ns
        figures[1] += stack.calls
    longest = sorted(own.items(), key=lambda item: -item[1][0])[:_SHOWN]
    listed = plain_table(f"itself {unit_of(clock)}>", "calls>", "function")
    keep_whole(listed, [])
    for name, (own_ns, calls) in longest:
        listed.add_row(amount(own_ns, clock), count(calls), Text(visible(name), overflow="fold"))
    return [Text(f"Functions: {count(len(own))}, by what they took themselves"), listed]


def _series(all_of_it: Sequence[Series]) -> list[RenderableType]:
    rows = plain_table("figure", "boots>", "median>", interval_heading(all_of_it), "least>", "most>", "unit")
    keep_whole(rows, [])
    cautions: list[RenderableType] = []
    for one in all_of_it:
        figures = series_figures(one)
        rows.add_row(Text(visible(one.name), overflow="fold"), *figures.cells, Text(visible(figures.unit)))
        if figures.caution:
            cautions.append(Text(f"caution: {visible(one.name)}: {figures.caution}", style="yellow"))
    if any(len(one.values) < INTERVAL_BOOTS for one in all_of_it):
        cautions.append(Text(FEW_BOOTS, style="dim"))
    return [Text("Figures of several boots"), rows, *cautions]
