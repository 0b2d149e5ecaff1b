"""What a bisection found, for a terminal: each step with its author, its share and the functions that grew."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.ledger.bisect.result import BisectResult, BisectStep, GrownFunction
from bootlab.ledger.gate.judging import GateVerdict
from bootlab.report.bisect.words import account_words, bounds, head_words, one_line, short, step_words, work_words
from bootlab.report.gate.text import STYLES
from bootlab.report.parts.figures import clock_sentence, ms, visible
from bootlab.report.parts.terminal_tables import foot, keep_whole, plain_table

_FUNCTIONS = 8
_PHASES = 4
_SKIPS = 10
_ROWS = 40


def bisection(result: BisectResult) -> RenderableType:
    """Return what a bisection found as a terminal shows it."""
    head = Text.assemble((visible(result.system), "bold"), f" {short(result.good)}..{short(result.bad)} ")
    head.append(head_words(result), style=STYLES[result.verdict])
    lines: list[RenderableType] = [head]
    if result.why:
        lines.append(Text(visible(result.why), style="yellow", overflow="fold"))
    for step in result.steps:
        lines += [Text(), *_step(step, result, "")]
    for step in result.doubtful:
        words = f"not confirmed: {step_words(step)}: {ms(step.longer_ns, sign=True)} ms {visible(step.why)}"
        lines += [Text(), Text(words.strip(), style="yellow", overflow="fold")]
    lines.append(Text())
    if result.steps:
        lines.append(Text(account_words(result), style="bold" if result.explained else "bold yellow"))
    lines += [Text(words, style="dim", overflow="fold") for words in bounds(result)]
    if result.measured:
        lines += [Text(), *_measured(result)]
    lines += _skipped(result)
    lines += [Text(), Text(work_words(result), style="dim")]
    clock = clock_sentence(result.clock, result.ns_per_instruction, result.cpu, result.seeds, result.accelerator)
    return Group(*lines, *foot(clock, result.hashes, result.run))


def _step(step: BisectStep, result: BisectResult, indent: str) -> list[RenderableType]:
    style = "red" if step.verdict is GateVerdict.LONGER else "green"
    share = f", {100 * step.share:.0f} % of the whole" if step.share is not None else ""
    lines: list[RenderableType] = [
        Text.assemble(
            indent, (f"{ms(step.longer_ns, sign=True)} ms", f"bold {style}"), f"{share}  ", (step_words(step), "bold")
        )
    ]
    if step.kind == "commit" and step.after.author:
        lines.append(Text(f"{indent}  {visible(step.after.author)}, {visible(step.after.date)}", overflow="fold"))
    for state in step.between[:_SKIPS]:
        lines.append(Text(f"{indent}  {short(state)} {visible(state.subject)}", overflow="fold"))
    if len(step.between) > _SKIPS:
        lines.append(Text(f"{indent}  and {len(step.between) - _SKIPS} more", style="dim"))
    if moved := [(name, ns) for name, ns in step.phases.items() if ns]:
        moved.sort(key=lambda one: -abs(one[1]))
        words = ", ".join(f"{visible(name)} {ms(ns, sign=True)} ms" for name, ns in moved[:_PHASES])
        lines.append(Text(f"{indent}  phases: {words}", overflow="fold"))
    if step.changed:
        lines.append(Text(f"{indent}  differs: {visible(', '.join(step.changed))}", overflow="fold"))
    if step.functions:
        lines.append(_functions(step.functions))
    if step.profile:
        lines.append(Text(f"{indent}  both profiles: {visible(step.profile)}", style="dim", overflow="fold"))
    if step.whole_merge:
        lines.append(Text(f"{indent}  a merge: {visible(step.whole_merge)}", overflow="fold"))
    if step.inside:
        lines.append(Text(f"{indent}  a merge, which brought:"))
        for one in step.inside:
            lines += _step(one, result, f"{indent}    ")
    return lines


def _functions(functions: list[GrownFunction]) -> Table:
    rows = plain_table("  function", "before ms>", "after ms>", "change ms>", "with all it called ms>")
    keep_whole(rows, rows.columns[1:])
    for one in functions[:_FUNCTIONS]:
        gone = not (one.after_ns or one.total_after_ns)
        mark = " (new)" if one.is_new else " (gone)" if gone else ""
        rows.add_row(
            Text(f"  {visible(one.name)}{mark}"),
            ms(one.before_ns),
            ms(one.after_ns),
            ms(one.after_ns - one.before_ns, sign=True),
            ms(one.total_after_ns - one.total_before_ns, sign=True),
        )
    return rows


def _measured(result: BisectResult) -> list[RenderableType]:
    sides = {result.good.name, result.bad.name}
    sides |= {state.name for step in result.steps for state in (step.before, step.after)}
    few = len(result.measured) <= _ROWS
    shown = [one for one in result.measured if few or one.state.name in sides]
    rows = plain_table("measured", f"{visible(result.figure)} ms>", "boots>", "")
    keep_whole(rows, rows.columns[:3])
    for one in shown:
        place = "in a merge" if one.position is None else f"{one.position:>4}"
        subject = Text(visible(one.state.subject), style="dim", overflow="ellipsis", no_wrap=True)
        rows.add_row(Text(f"{place} {short(one.state)}"), ms(one.time_ns), str(one.boots), subject)
    if few:
        return [rows]
    return [rows, Text(f"and {len(result.measured) - len(shown)} more, which --json has", style="dim")]


def _skipped(result: BisectResult) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for one in result.skipped[:_SKIPS]:
        words = f"passed over: {short(one.state)} {one_line(one.reason)}"
        lines.append(Text(words, style="yellow", overflow="fold"))
        if one.log:
            lines.append(Text(f"  see {visible(one.log)}", style="dim", overflow="fold"))
    if len(result.skipped) > _SKIPS:
        lines.append(Text(f"and {len(result.skipped) - _SKIPS} more were passed over", style="yellow"))
    return [Text(), *lines] if lines else []
