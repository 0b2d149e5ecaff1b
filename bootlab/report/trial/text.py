"""A trial for a terminal: verdicts, sizes and times, the stacks as a ladder, what each technique adds to them."""

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.experiments.trial.result import Judged, Step, TryResult
from bootlab.report.lives.words import chance_words
from bootlab.report.parts.figures import COUNTED, count, ms, percent, price_words, ratio_words, visible
from bootlab.report.parts.terminal_tables import CellBar, foot, keep_whole, plain_table
from bootlab.report.trial.pictures import pictures_words
from bootlab.report.trial.published import account_of, published_figures
from bootlab.report.trial.timings import timing_table
from bootlab.report.trial.words import (
    VERDICTS,
    FileRow,
    along_words,
    clock_words,
    cost_words,
    file_rows,
    from_mark_words,
    in_order,
    inputs_of,
    kept,
    moves_words,
    time_words,
    unit_words,
)
from bootlab.techniques.model.evidence import Effect
from bootlab.techniques.model.verdict import Verdict

_STYLES = {
    Verdict.SHORTER: "green",
    Verdict.FASTER: "green",
    Verdict.LONGER: "red",
    Verdict.SLOWER: "red",
    Verdict.BROKE_IT: "red",
}


def try_result(result: TryResult) -> RenderableType:
    """Return a trial: every technique by verdict, sizes and times, the stacks as a ladder, ablation, then the clock."""
    base = result.baseline
    figure = f"{ms(base.total_ns)} {unit_words(result)}"
    lines: list[RenderableType] = [
        Text.assemble((visible(result.system), "bold"), "  baseline ", (figure, "bold")),
        Text(moves_words(base)),
        *([Text(f"times: {time_words(result)}")] if result.storage is not None else []),
    ]
    told = (": ".join(chance_words(one, of_life=False)) for one in result.chances)
    lines += [Text(visible(f"caution: {one}"), style="yellow") for one in told]
    if result.alone:
        lines += [Text(), _verdicts(result), *_split(result)]
    # A ladder climbed without them has its own reasons; else a step has some only where its technique alone has none.
    why = [one for one in in_order(result.alone or result.stack) if one.saved_ns is None]
    measured = {one.technique for one in result.alone if one.saved_ns is not None}
    why += [one for one in result.stack if one.saved_ns is None and one.technique in measured]
    if why:
        lines += [Text(), _reasons(why)]
    if along := [one for one in in_order(result.alone or result.stack) if one.also_changed]:
        lines += [Text(), Text("what else a technique changed of the kernel's configuration"), _along(along)]
    if files := file_rows(result):
        storage = f"; {result.storage.words}, before power-on" if result.storage is not None else ""
        lines += [Text(), Text(f"sizes in KiB, times in {_times(result)}{storage}"), _files(files, result)]
    if result.stack:
        lines += [
            Text(),
            Text(f"stacks, plan {visible(result.plan)}: each step on top of the ones above it; no bar: not kept"),
        ]
        lines.append(_ladder(result))
        if any(step.retried for step in result.stack):
            lines.append(Text("* tried again here: alone it failed or did nothing", style="dim"))
        lines += _published(result)
    lines += timing_table(result)
    if pictures := pictures_words(result):
        lines += [Text(), Text(pictures)]
    if result.ablation:
        lines += [Text(), Text("ablation: each left out of the finished stack, the others left in"), _ablation(result)]
        lines += _reasons_of_ablation(result)
    lines.append(Text())
    for stack, end in result.final.items():
        many = f"{len(end.techniques)} technique{'' if len(end.techniques) == 1 else 's'}"
        lines.append(
            Text.assemble(
                (f"{stack}: ", ""), (f"{ms(end.total_ns)} {unit_words(result)}, {end.ratio:.2f}x", "bold"),
                f" {ratio_words(result.clock, result.price)}, {many}{_incl(result)}",
            )
        )  # fmt: skip
        if end.unsteady:
            lines.append(Text(f"{stack}: fails with a change that means nothing: {visible(end.unsteady)}", style="red"))
    if result.wrong is not None:
        lines.append(Text(f"of techniques that do nothing at most {result.wrong:.1%} get a verdict", style="dim"))
    clock = clock_words(result)
    host = [Text(words, style="dim") for words in (cost_words(result), *from_mark_words(result.from_mark)) if words]
    return Group(*lines, *foot(clock, result.hashes, result.run, result.board_model), *host)


def _incl(result: TryResult) -> str:
    return "" if result.storage is None else f"; {time_words(result)}"


def _times(result: TryResult) -> str:
    return "ms from power-on" if result.price is None else unit_words(result)


def _files(files: list[FileRow], result: TryResult) -> Table:
    inputs = inputs_of(files)
    headings = [f"{visible(name)}>" for name in inputs] + (["load>"] if result.storage is not None else [])
    rows = plain_table("system", *headings, "user>", "ready>")
    keep_whole(rows, rows.columns[1:])
    for one in files:
        figures = [count(-(-one.sizes[name] // 1024)) if name in one.sizes else "" for name in inputs]
        figures += [ms(one.load_ns)] if result.storage is not None else []
        name = Text(visible(one.name), overflow="fold", style="" if one.verdict in VERDICTS else "bold")
        rows.add_row(name, *figures, ms(one.user_space_ns), ms(one.ready_ns))
    return rows


def _ablation(result: TryResult) -> Table:
    rows = plain_table("technique", "alone ms>", "in stack ms>", "spread>", "verdict", "proof")
    keep_whole(rows, rows.columns[1:])
    stack = ""
    for one in result.ablation:
        if one.stack != stack:
            stack = one.stack
            rows.add_row(Text(stack, style="bold"))
        figures = ms(one.alone_ns), ms(one.saved_ns), ms(one.spread_ns)
        verdict = Text(one.verdict, style=_STYLES.get(one.verdict, "dim"))
        rows.add_row(Text(" ").append_text(_name(one)), *figures, verdict, one.proof)
    return rows


def _reasons_of_ablation(result: TryResult) -> list[RenderableType]:
    why = [one for one in result.ablation if one.saved_ns is None]
    return [Text(f"{visible(one.technique)}, {one.stack}: {visible(one.detail)}", style="dim") for one in why]


def _verdicts(result: TryResult) -> Table:
    # A technique's name begins with its layer.
    rows = plain_table("technique", "risk", *saved_titles(result), "%>", "spread>", "proof")
    keep_whole(rows, rows.columns[1:])
    verdict = ""
    for one in in_order(result.alone):
        if one.saved_ns is None:
            continue
        if one.verdict != verdict:
            verdict = one.verdict
            rows.add_row(Text(verdict, style=f"bold {_STYLES.get(verdict, '')}".strip()))
        proof = Text(one.proof, style="yellow" if one.proof == Effect.NONE else "")
        rows.add_row(
            Text(" ").append_text(_name(one)), visible(one.risk), ms(one.saved_ns),
            *([ms(one.counted_saved_ns)] if result.price is not None else []),
            percent(one.saved_ns, result.baseline.total_ns), ms(one.spread_ns), proof,
        )  # fmt: skip
    return rows


def saved_titles(result: TryResult) -> list[str]:
    """Return the headings of what a technique saves: of the price, and of instructions + idle beside it."""
    if result.price is None:
        return ["saved ms>"]
    return [f"saved of {price_words(result.price.model)} ms>", f"of {COUNTED} ms>"]


def _split(result: TryResult) -> list[RenderableType]:
    """Return what of each saving is loading by a model, and the verdict on the rest; nothing without a model."""
    rows = plain_table("technique", "load ms>", "without the load ms>", "and that is")
    keep_whole(rows, rows.columns[1:])
    for one in in_order(result.alone):
        if one.load_saved_ns is None or one.execution is None or one.saved_ns is None:
            continue
        verdict = Text(one.execution, style=_STYLES.get(one.execution, "dim"))
        rows.add_row(_name(one), ms(one.load_saved_ns), ms(one.saved_ns - one.load_saved_ns), verdict)
    return [Text(), Text("of what each saves, loading and what is without it"), rows] if rows.row_count else []


def _reasons(judged: Iterable[Judged]) -> Table:
    rows = plain_table("technique", "risk", "verdict", "why")
    for one in judged:
        style = _STYLES.get(one.verdict, "dim")
        why = Text(visible(one.detail), overflow="fold")
        rows.add_row(_name(one), visible(one.risk), Text(one.verdict, style=style), why)
    return rows


def _along(judged: Iterable[Judged]) -> Table:
    rows = plain_table("technique", "risk", "besides")
    for one in judged:
        rows.add_row(_name(one), visible(one.risk), Text(visible(along_words(one)), overflow="fold"))
    return rows


def _ladder(result: TryResult) -> Table:
    base_ns = result.baseline.total_ns
    ready = "ready ms>" if result.price is None else f"{price_words(result.price.model)} ms>"
    ready = ready if result.storage is None else f"load+{ready}"
    counted = [f"{COUNTED} ms>"] if result.price is not None else []
    rows = plain_table("step", "saved ms>", ready, "in all %>", *counted, "")
    keep_whole(rows, rows.columns[:-1] if not counted else rows.columns[:2])
    own = [ms(result.baseline.counted_ns)] if counted else []
    rows.add_row("baseline", "", ms(base_ns), "", *own, CellBar(0, 1, "bright_black"))
    stack = ""
    for step in result.stack:
        if step.stack != stack:
            stack = step.stack
            rows.add_row(Text(stack, style="bold"))
        rows.add_row(*_rung(result, step))
    return rows


def _published(result: TryResult) -> list[RenderableType]:
    """Return what the plan's account published of the steps that were booted, and of which machine; else nothing."""
    account = account_of(result.plan)
    published = published_figures(result.plan)
    booted = [step.technique for step in result.stack if step.ready_ns is not None and step.technique in published]
    if account is None or not booted:
        return []
    rows = plain_table("step", "published")
    for technique in dict.fromkeys(booted):
        rows.add_row(Text(technique, overflow="fold"), Text(published[technique], overflow="fold"))
    return [Text(), Text(f"published of these steps: {account.where}"), rows]


def _rung(result: TryResult, step: Step) -> list[RenderableType]:
    name = Text(" ").append_text(_name(step)).append("*" if step.retried else "")
    counted = [ms(step.counted_ns)] if result.price is not None else []
    if not kept(result, step):
        name.stylize("dim")
        figures = [Text(ms(time), style="dim") for time in (step.saved_ns, step.total_ns)]
        own = [Text(figure, style="dim") for figure in counted]
        return [name, *figures, "", *own, Text(step.verdict, style="dim")]
    share = (step.total_ns or 0) / max(result.baseline.total_ns, 1)
    bar = CellBar(0, min(share, 1.0), "yellow" if step.stack == "with risks" else "blue")
    share_saved = percent(step.total_saved_ns, result.baseline.total_ns)
    return [name, ms(step.saved_ns), ms(step.total_ns), share_saved, *counted, bar]


def _name(one: Judged) -> Text:
    return Text(visible(one.technique), overflow="fold")
