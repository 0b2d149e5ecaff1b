"""Two recordings of other tools side by side, for a terminal."""

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.experiments.importing import Imported
from bootlab.report.parts.figures import percent, visible
from bootlab.report.parts.terminal_tables import keep_whole, plain_table
from bootlab.report.recording.side_by_side import Sides, compare_sides
from bootlab.report.recording.words import amount, clock_words, signed, title_of, unit_of
from bootlab.timeline.clock import Clock
from bootlab.timeline.recording_differences import Difference

_SHOWN: Final = 12


def comparison(before: Imported, after: Imported) -> RenderableType:
    """Return two recordings phase by phase, then what changed most of each kind. Raises InputError."""
    sides = compare_sides(before, after)
    lines: list[RenderableType] = [
        Text.assemble((f"{word}  ", "dim"), (visible(one.name), "bold"), f"  {one.recording.format}")
        for word, one in (("before", before), ("after ", after))
    ]
    lines += [Text(f"caution: {visible(caution)}", style="yellow") for caution in sides.cautions]
    clock = before.recording.timeline.clock
    if sides.phases:
        lines += [Text(), _table("phase", sides.phases, clock, total=sides.total)]
    for source, rows in sides.things.items():
        lines += [Text(), *_changed(title_of(source), source, rows, clock)]
    if sides.functions:
        lines += [Text(), *_changed("Functions, by what they took themselves", "function", sides.functions, clock)]
    if sides.series:
        lines += [Text(), _series(sides)]
    notes = [(word, note) for word, one in (("before", before), ("after", after)) for note in one.recording.notes]
    lines += [Text(f"note: {word}: {visible(note)}", style="yellow") for word, note in notes]
    return Group(*lines, Text(), Text(f"before: {clock_words(before.recording)}", style="dim"),
                 Text(f"after: {clock_words(after.recording)}", style="dim"))  # fmt: skip


def _changed(title: str, source: str, rows: Sequence[Difference], clock: Clock) -> list[RenderableType]:
    changed = [row for row in rows if row.change_ns]
    gone, new = sum(row.after_ns is None for row in rows), sum(row.before_ns is None for row in rows)
    heading = f"{title}: {len(rows)}, of which {gone} only before and {new} only after"
    if len(changed) > _SHOWN:
        heading += f"; the {_SHOWN} that changed most"
    return [Text(heading), _table(source, changed[:_SHOWN], clock)] if changed else [Text(f"{heading}; none changed")]


def _table(what: str, rows: Sequence[Difference], clock: Clock, *, total: Difference | None = None) -> Table:
    unit = unit_of(clock)
    listed = plain_table(what, f"before {unit}>", f"after {unit}>", f"change {unit}>", "change %>")
    keep_whole(listed, [])
    for row in rows:
        listed.add_row(Text(visible(row.name), overflow="fold"), *_cells(row, clock))
    if total is not None:
        listed.add_section()
        listed.add_row(Text(total.name), *_cells(total, clock), style="bold")
    return listed


def _cells(row: Difference, clock: Clock) -> list[RenderableType]:
    style = "green" if row.change_ns < 0 else "red" if row.change_ns > 0 else ""
    share = percent(row.change_ns, row.before_ns, sign=True) if row.after_ns is not None else "gone"
    if row.before_ns is None:
        share = "new"
    return [
        amount(row.before_ns, clock), amount(row.after_ns, clock), Text(signed(row.change_ns, clock), style=style),
        Text(share, style=style),
    ]  # fmt: skip


def _series(sides: Sides) -> Table:
    listed = plain_table("figure", "before>", "after>", "saved>", "95 % of it", "unit")
    keep_whole(listed, [])
    for row in sides.series:
        listed.add_row(Text(visible(row.name), overflow="fold"), row.before, row.after, row.saved,
                       Text(row.interval), Text(visible(row.unit)))  # fmt: skip
    return listed
