"""What each technique of a trial does to the system's `[timings]`, for a terminal, its page and a document."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from bootlab.experiments.trial.result import TryResult
from bootlab.report.boots.timings import NO_VERDICT, NOT_SEEN
from bootlab.report.parts.figures import ms, visible
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markdown import markdown_table, plain
from bootlab.report.parts.markup import Html
from bootlab.report.parts.sections import minus
from bootlab.report.parts.terminal_tables import keep_whole, plain_table
from bootlab.report.trial.words import in_order, kept_steps

_TITLE: Final = f"timings, medians: what each saved of them; {NO_VERDICT}"


@dataclass(frozen=True, slots=True)
class TimingRow:
    """A technique alone, or a stack up to one of its steps. `saved_ns`: of the baseline, by timing; None: not seen."""

    name: str
    saved_ns: dict[str, int | None]


def timing_rows(result: TryResult) -> list[TimingRow]:
    """Return what each technique alone, and each stack by each step that was kept, saved of every timing.

    Empty for a system without any, and in older results.
    """
    return list(_rows(result)) if result.baseline.timings_ns else []


def timing_table(result: TryResult) -> list[RenderableType]:
    """Return the same for a terminal, below the baseline and how far each moves for no reason."""
    base = result.baseline
    rows = timing_rows(result)
    if not rows:
        return []
    shown = plain_table("technique", *(f"{visible(name)} ms>" for name in base.timings_ns))
    keep_whole(shown, shown.columns[1:])
    shown.add_row("baseline", *(ms(taken) or NOT_SEEN for taken in base.timings_ns.values()), style="bold")
    moves = [ms(base.timing_spreads_ns.get(name)) for name in base.timings_ns]
    shown.add_row("moves by, for no reason", *moves, style="dim")
    for one in rows:
        saved = [ms(one.saved_ns[name]) or NOT_SEEN for name in base.timings_ns]
        shown.add_row(Text(visible(one.name), overflow="fold"), *saved)
    return [Text(), Text(_TITLE), shown]


def timings_of_page(result: TryResult) -> Html:
    """Return the same for a page; empty for a system without timings."""
    base = result.baseline
    rows = timing_rows(result)
    if not rows:
        return Html()
    columns = [Column("technique", "code"), *(Column(f"{name}, ms", "number") for name in base.timings_ns)]
    cells = [
        [Cell("baseline"), *(Cell(ms(taken) or NOT_SEEN) for taken in base.timings_ns.values())],
        [Cell("moves by, for no reason"), *(Cell(ms(base.timing_spreads_ns.get(name))) for name in base.timings_ns)],
        *([Cell(one.name), *(_saved(one.saved_ns[name]) for name in base.timings_ns)] for one in rows),
    ]
    return table(f"{_TITLE[0].upper()}{_TITLE[1:]}.", columns, cells)


def timings_markdown(result: TryResult) -> str:
    """Return the same for a document, with what each timing came to; empty for a system without timings."""
    base = result.baseline
    rows = [["baseline", *(ms(taken) or NOT_SEEN for taken in base.timings_ns.values())]]
    for one in timing_rows(result):
        cells = [_reached(base.timings_ns[name], one.saved_ns[name]) for name in base.timings_ns]
        rows.append([plain(one.name), *cells])
    rows.append(["moves by, for no reason", *(ms(base.timing_spreads_ns.get(name)) for name in base.timings_ns)])
    titles = ["timings, medians", *(f"{plain(name)} ms (saved)>" for name in base.timings_ns)]
    return markdown_table(titles, rows) if base.timings_ns else ""


def _reached(before_ns: int | None, saved_ns: int | None) -> str:
    return NOT_SEEN if before_ns is None or saved_ns is None else f"{ms(before_ns - saved_ns)} ({ms(saved_ns)})"


def _saved(saved_ns: int | None) -> Cell:
    return Cell(NOT_SEEN if saved_ns is None else minus(ms(saved_ns)))


def _rows(result: TryResult) -> Iterator[TimingRow]:
    base = result.baseline.timings_ns

    def saved(now: dict[str, int | None]) -> dict[str, int | None]:
        pairs = {name: (before, now.get(name)) for name, before in base.items()}
        return {
            name: one - other if one is not None and other is not None else None for name, (one, other) in pairs.items()
        }

    for one in in_order(result.alone):
        if one.saved_ns is not None:
            yield TimingRow(one.technique, saved(one.timings_ns))
    for stack in result.final:
        for number, step in enumerate(kept_steps(result, stack), 1):
            yield TimingRow(f"{stack}, step {number}: {step.technique}", saved(step.timings_ns))
