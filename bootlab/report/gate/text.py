"""A gate's answer for a terminal: each figure with its limit, where the time went, what differs, what grew."""

from collections import Counter
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from bootlab.ledger.gate.judging import GateVerdict
from bootlab.ledger.gate.result import GateResult, Grown, GrownKind
from bootlab.report.parts.figures import clock_sentence, ms, percent, visible
from bootlab.report.parts.terminal_tables import foot, keep_whole, plain_table

FIGURE_COLUMNS: Final = (
    "figure", "baseline ms>", "now ms>", "change ms>", "%>", "limit ms>", "detectable ms>", "verdict"
)  # fmt: skip
PHASE_COLUMNS: Final = ("phase of the median boot", "baseline ms>", "now ms>", "change ms>")
GROWN_COLUMNS: Final = ("new or grew", "name", "baseline>", "now>", "more>")
STYLES = {
    GateVerdict.LONGER: "bold red",
    GateVerdict.BROKEN: "bold red",
    GateVerdict.CANNOT_SAY: "yellow",
    GateVerdict.UNCHANGED: "green",
    GateVerdict.SHORTER: "green",
}


def gate(result: GateResult) -> RenderableType:
    """Return a gate's answer as a terminal shows it."""
    head = Text.assemble((visible(result.system), "bold"), f" against {visible(named(result))}: ")
    head.append(result.verdict.value, style=STYLES[result.verdict])
    lines: list[RenderableType] = [head]
    if result.why:
        lines.append(Text(visible(result.why), style="red", overflow="fold"))
    if result.broken_run:
        lines.append(Text(f"its console: {visible(result.broken_run)}/console.log", overflow="fold"))
    if result.figures:
        rows = plain_table(*FIGURE_COLUMNS)
        keep_whole(rows, rows.columns[1:7])
        for one in result.figures:
            rows.add_row(
                Text(visible(one.what)),
                ms(one.before_ns),
                ms(one.after_ns),
                ms(one.longer_ns, sign=True),
                percent(one.longer_ns, one.before_ns, sign=True),
                ms(one.limit_ns),
                ms(one.smallest_ns),
                Text(one.verdict.value, style=STYLES[one.verdict]),
            )
        lines += [Text(), rows]
        lines += [Text(visible(f"{one.what}: {one.why}"), style="yellow") for one in result.figures if one.why]
        lines.append(Text(visible(column_words(result)), style="dim", overflow="fold"))
    lines += [*_why(result), *_grown(result)]
    lines.append(Text())
    lines.append(Text(rate_words(result), style="dim"))
    clock = clock_sentence(result.clock, result.ns_per_instruction, result.cpu, result.seeds, result.accelerator)
    return Group(*lines, *foot(clock, result.hashes, result.run))


def named(result: GateResult) -> str:
    """Return what it was held against, with the commit where there is one."""
    return f"{result.against} ({result.against_commit[:12]})" if result.against_commit else result.against


def column_words(result: GateResult) -> str:
    """Return what the columns of the figures mean."""
    return (
        f"baseline: {named(result)}; now: {result.system}; limit: how much longer it may be; detectable: the smallest "
        "change that is seen for certain"
    )


def rate_words(result: GateResult) -> str:
    """Return how many boots the answer rests on, and how often a change that does nothing is stopped."""
    return (
        f"{result.boots_before} boots of the baseline, {result.boots_after} of now; of changes that do nothing at most "
        f"{result.wrong:.1%} are stopped"
    )


def _why(result: GateResult) -> list[RenderableType]:
    lines: list[RenderableType] = []
    if result.changed:
        lines += [Text(), Text(visible(f"differs: {', '.join(result.changed)}"))]
    moved = [one for one in result.phases if one.before_ns != one.after_ns]
    if moved and result.verdict is not GateVerdict.UNCHANGED:
        rows = plain_table(*PHASE_COLUMNS)
        keep_whole(rows, rows.columns[1:])
        for one in sorted(moved, key=lambda phase: phase.before_ns - phase.after_ns):
            longer = ms(one.after_ns - one.before_ns, sign=True)
            rows.add_row(Text(visible(one.name)), ms(one.before_ns), ms(one.after_ns), longer)
        lines += [Text(), rows]
    return lines


SHOWN_OF_A_KIND: Final = 6
"""What an answer of one screen has room for; the document has all of it."""


def grown_figure(one: Grown, value: int | None) -> str:
    """Return a figure of something that grew, with its unit: bytes of files, ms of what runs."""
    if value is None:
        return "new"
    return f"{value:,} B" if one.kind in (GrownKind.FILE, GrownKind.UNIT) else f"{value / 1e6:.6f} ms"


def shown_growth(result: GateResult) -> tuple[list[Grown], str]:
    """Return the first of each kind, and in words how many that leaves out; empty for none."""
    counted = Counter[GrownKind]()
    shown = []
    for one in result.grown:
        counted[one.kind] += 1
        if counted[one.kind] <= SHOWN_OF_A_KIND:
            shown.append(one)
    more = {kind: number - SHOWN_OF_A_KIND for kind, number in counted.items() if number > SHOWN_OF_A_KIND}
    return shown, ", ".join(f"{number} more of kind {kind.value}" for kind, number in more.items())


def _grown(result: GateResult) -> list[RenderableType]:
    lines: list[RenderableType] = []
    shown, more = shown_growth(result)
    if shown:
        rows = plain_table(*GROWN_COLUMNS)
        keep_whole(rows, rows.columns[2:])
        for one in shown:
            rows.add_row(
                one.kind.value,
                Text(visible(one.name), overflow="fold"),
                grown_figure(one, one.before),
                grown_figure(one, one.after),
                grown_figure(one, one.more),
            )
        lines += [Text(), rows]
    if more:
        lines.append(Text(f"and {more}: --json has them", style="dim"))
    if result.profile and not shown:
        lines += [Text(), Text("nothing is new, and nothing grew")]
    lines += [Text(visible(f"not looked at: {one}"), style="yellow", overflow="fold") for one in result.not_looked_at]
    if result.profile:
        words = f"profiles of both sides, and of a null change: bootlab report {visible(result.profile)}"
        lines.append(Text(words, style="dim", overflow="fold"))
    return lines
