"""A disk image's lives for a terminal: one table of all lives, what only the first did, and what was chance."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.experiments.chance import Chance
from bootlab.experiments.lives.result import LivesResult, OnlyFirst
from bootlab.measure.record import BootRecord, Outcome
from bootlab.report.boots.side_by_side import Side, align
from bootlab.report.lives.words import chance_words, life_words, process_words, rest_words, step_words, title
from bootlab.report.parts.figures import clock_of, disk_lines, median_boot, ms, visible
from bootlab.report.parts.terminal_tables import CellBar, foot, plain_table


def lives(result: LivesResult) -> RenderableType:
    """Return the lives in lines: their phases side by side, what only the first did, chance, and what failed."""
    middles = [median_boot(one.boots) for one in result.lives]
    lines: list[RenderableType] = [Text(visible(title(result)), style="bold"), _phases(result, middles)]
    for one in result.lives:
        lines += [Text(visible(line), style="red") for line in _failures(one.life, one.boots)]
        lines += [Text(f"life {one.life}: {line}") for line in disk_lines(median_boot(one.boots))]
    if result.only_first:
        last = result.lives[-1].life
        lines += [Text(), Text(f"where life 1 differs from life {last}, ms", style="bold"), _only_first(result)]
        lines.append(Text(rest_words(result)))
    for chance in result.chances:
        lines += [Text(), *_chance(chance)]
    last_boot = result.lives[-1].boots[0]
    return Group(*lines, *foot(clock_of(middles), last_boot.hashes, result.run))


def _phases(result: LivesResult, middles: Sequence[BootRecord]) -> Table:
    rows = plain_table("phase", *(f"life {one.life}>" for one in result.lives), "")
    rows.columns[-1].ratio = 1
    longest_ns = max((record.ready_ns or 0 for record in middles), default=0)
    for row in align([Side("", "", record.ready_ns, record.phases) for record in middles]):
        begin, end = row.spans[0]
        bar = CellBar(begin / max(longest_ns, 1), end / max(longest_ns, 1))
        rows.add_row(Text(visible(row.name)), *(ms(took) for took in row.durations_ns()), bar)
    rows.add_section()
    rows.add_row(
        "power-on to ready", *(ms(one.ready.median_ns if one.ready else None) or "not ready" for one in result.lives),
        style="bold",
    )  # fmt: skip
    if any(len(one.boots) > 1 for one in result.lives):
        rows.add_row("  shortest", *(ms(one.ready.min_ns) if one.ready else "" for one in result.lives))
        rows.add_row("  longest", *(ms(one.ready.max_ns) if one.ready else "" for one in result.lives))
    if result.chances:
        rows.add_row("  without what is chance", *(life_words(one) for one in result.lives))
    return rows


def _only_first(result: LivesResult) -> Table:
    rows = plain_table("up to the line", "life 1>", f"life {result.lives[-1].life}>", "more>", "what life 1 alone said")
    for step in result.only_first:
        rows.add_row(
            Text(visible(step_words(step)), overflow="fold"),
            ms(step.first_ns),
            ms(step.later_ns),
            ms(step.first_ns - step.later_ns, sign=True),
            Text(_said(step), overflow="fold"),
        )
    return rows


def _said(step: OnlyFirst) -> str:
    kinds = f"[{', '.join(step.kinds)}] " if step.kinds else ""
    if not step.said:
        return kinds.strip()
    more = f" (and {step.said_count - 1} lines more)" if step.said_count > 1 else ""
    return visible(f"{kinds}{step.said[0]}{more}")


def _chance(chance: Chance) -> list[RenderableType]:
    head, seeds = chance_words(chance)
    processes = [Text(visible(f"  {process_words(one)}")) for one in chance.processes]
    return [Text(visible(head), style="yellow"), Text(f"  {seeds}"), *processes]


def _failures(life: int, boots: Sequence[BootRecord]) -> list[str]:
    failed = [record for record in boots if record.outcome is not Outcome.READY]
    return [f"life {life}, seed {record.seed}: {record.outcome.value}: {record.detail}" for record in failed]
