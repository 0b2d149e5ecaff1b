"""Sections of a try's page: verdicts, sizes and times, the ladder of the stacks, ablation, raw members.

The ladder shows every step that was tried; one that was not kept has no bar, because no later step stands on it.
"""

from collections.abc import Sequence

from bootlab.experiments.trial.result import Judged, Member, Step, TryResult
from bootlab.report.boots.side_by_side import largest_change
from bootlab.report.parts import charts
from bootlab.report.parts.figures import COUNTED, count, ms, percent, price_words, ratio_words
from bootlab.report.parts.html_tables import Cell, Column, KindRow, table
from bootlab.report.parts.markup import Content, Html, join, tag
from bootlab.report.parts.sections import key_figure, key_figures, minus
from bootlab.report.trial.published import published_figures
from bootlab.report.trial.words import (
    KINDS,
    VERDICTS,
    along_words,
    file_rows,
    in_order,
    inputs_of,
    kept,
    measure_words,
    moves_words,
    time_words,
    unit_words,
)
from bootlab.techniques.model.verdict import Verdict

_KINDS = {Verdict.SHORTER: "gain", Verdict.FASTER: "gain", Verdict.LONGER: "loss", Verdict.SLOWER: "loss"}
"""The CSS classes of verdicts that moved the boot."""


def try_keys(result: TryResult) -> Html:
    """Return the large figures: where it started and where each stack ended."""
    base = result.baseline
    moved = moves_words(base)
    figures = [key_figure("baseline", "baseline", ms(base.total_ns), _unit(result), f"{moved}{_incl(result)}")]
    for stack, end in result.final.items():
        note = join([
            tag("strong", f"{end.ratio:.2f}\N{MULTIPLICATION SIGN}"), f" {ratio_words(result.clock, result.price)}, ",
            f"{len(end.techniques)} technique{'' if len(end.techniques) == 1 else 's'}{_incl(result)}",
            f"; fails with a change that means nothing: {end.unsteady}" if end.unsteady else "",
        ])  # fmt: skip
        kind = KINDS.get(stack, "recommended")
        figures.append(key_figure(stack, kind, ms(end.total_ns), _unit(result), note))
    return key_figures(*figures)


def verdict_table(result: TryResult) -> Html:
    """Return every technique alone against the baseline; sortable."""
    columns = [
        Column("technique", "code"),
        Column("verdict"),
        Column("saved", "chart"),
        Column("saved, ms", "number"),
        Column("saved, %", "number"),
        Column("spread, ms", "number"),
        Column(_ready(result), "number"),
        Column("layer"),
        Column("risk"),
        Column("proof"),
    ]
    modelled = any(one.load_saved_ns is not None for one in result.alone)
    if modelled:
        columns[5:5] = [Column("of it load, ms", "number"), Column("without the load, ms", "number"), Column("so")]
    if result.price is not None:
        columns.append(Column(f"saved of {COUNTED}, ms", "number"))
    judged = in_order(result.alone)
    savings = [one.saved_ns or 0 for one in judged]
    axis = min(savings, default=0), max(savings, default=0)
    rows = [_verdict_row(result, one, axis, modelled) for one in judged]
    caption = (
        f"Each technique alone against the baseline: {measure_words(result)}, medians over seeds"
        f"{_incl(result)}. The grey band round zero is the spread: {_counts(result)}."
    )
    return table(caption, columns, rows, kind="verdicts", sortable=True)


def _verdict_row(result: TryResult, one: Judged, axis: tuple[int, int], modelled: bool) -> list[Cell]:
    change = largest_change(result.baseline.phases, one.phases) if one.verdict in _KINDS else None
    where = f"mostly {change[0]}: {minus(ms(change[1], sign=True))} ms" if change and change[1] else ""
    notes = [tag("span", note, class_="detail") for note in (one.detail, where, along_words(one)) if note]
    measured = one.saved_ns is not None
    kind = _KINDS.get(one.verdict, "same")
    return [
        Cell(join([tag("code", one.technique), *notes]), one.technique),
        Cell(_verdict(one.verdict), VERDICTS.index(one.verdict)),
        Cell(charts.saving(one.saved_ns, one.spread_ns, *axis, kind) if measured else "", one.saved_ns),
        Cell(minus(ms(one.saved_ns)), one.saved_ns),
        Cell(minus(percent(one.saved_ns, result.baseline.total_ns)), one.saved_ns),
        *(_split(one) if modelled else ()),
        Cell(ms(one.spread_ns) if measured else "", one.spread_ns if measured else None),
        Cell(ms(one.total_ns), one.total_ns),
        Cell(one.layer),
        Cell(one.risk),
        Cell(one.proof),
        *([Cell(minus(ms(one.counted_saved_ns)), one.counted_saved_ns)] if result.price is not None else []),
    ]


def _split(one: Judged) -> list[Cell]:
    """Return what of a saving is loading, by a model, what is not, and the verdict on that."""
    if one.load_saved_ns is None or one.execution is None or one.saved_ns is None:
        return [Cell("")] * 3
    rest_ns = one.saved_ns - one.load_saved_ns
    return [
        Cell(minus(ms(one.load_saved_ns)), one.load_saved_ns),
        Cell(minus(ms(rest_ns)), rest_ns),
        Cell(_verdict(one.execution), VERDICTS.index(one.execution)),
    ]


def _verdict(verdict: str) -> Html:
    return tag("span", verdict, class_=f"verdict {verdict.replace(' ', '-')}")


def ladder(result: TryResult) -> Html:
    """Return the stacks step by step, each with what it saved on top of the step before."""
    base_ns = result.baseline.total_ns
    end_ns = max([base_ns, *(step.total_ns or 0 for step in result.stack if kept(result, step))])
    columns = [
        Column("step", "code"),
        Column("ready", "chart"),
        Column(_ready(result), "number"),
        Column("saved, ms", "number"),
        Column("in all, %", "number"),
    ]
    baseline = charts.bars([[charts.Bar(0, base_ns, "baseline")]], end_ns)
    rows: list[Sequence[Cell] | KindRow] = [[Cell("baseline"), Cell(baseline), Cell(ms(base_ns)), Cell(""), Cell("")]]
    stack = ""
    for step in result.stack:
        if step.stack != stack:
            stack = step.stack
            swatch = tag("span", stack, class_=f"swatch {KINDS[stack]}")
            rows.append(KindRow([Cell(swatch), *[Cell("")] * 4], "stack"))
        rung = _rung(result, step, end_ns)
        rows.append(rung if kept(result, step) else KindRow(rung, "dropped"))
    caption = (
        f"Stacks, plan {result.plan!r}: each step is measured on top of the ones above it, {measure_words(result)}"
        f"{_incl(result)}. The pale end of a bar is what the step saved."
    )
    return table(caption, columns, rows, kind="ladder")


def _rung(result: TryResult, step: Step, end_ns: int) -> list[Cell]:
    base_ns = result.baseline.total_ns
    notes: list[Content] = [tag("code", step.technique)]
    if published := published_figures(result.plan).get(step.technique):
        notes.append(tag("span", f"published: {published}", class_="detail"))
    if step.retried:
        notes.append(tag("span", "tried again here: alone it failed or did nothing", class_="detail"))
    if along := along_words(step):
        notes.append(tag("span", along, class_="detail"))
    if not kept(result, step):
        why = f": {step.detail}" if step.detail else ""
        notes.append(tag("span", _verdict(step.verdict), f"{why}; not kept", class_="detail"))
        return [Cell(join(notes)), Cell(""), Cell(ms(step.total_ns)), Cell(minus(ms(step.saved_ns))), Cell("")]
    if step.saved_ns is None:
        notes.append(tag("span", _verdict(step.verdict), f": {step.detail}", class_="detail"))
    now_ns, saved_ns = step.total_ns or 0, step.saved_ns or 0
    lane = [charts.Bar(0, now_ns, KINDS[step.stack])]
    if saved_ns > 0:
        lane.append(charts.Bar(now_ns, min(now_ns + saved_ns, end_ns), f"{KINDS[step.stack]} saved"))
    return [
        Cell(join(notes)),
        Cell(charts.bars([lane], end_ns)),
        Cell(ms(now_ns)),
        Cell(minus(ms(step.saved_ns))),
        Cell(minus(percent(step.total_saved_ns, base_ns))),
    ]


def try_groups(result: TryResult) -> list[tuple[str, Sequence[Member]]]:
    """Return every boot of the trial as (what was booted, its boots)."""
    rows: list[tuple[str, str, Judged]] = [(one.technique, "baseline", one) for one in result.alone]
    rows += [(f"{one.stack} + {one.technique}", f"{one.stack} before {one.technique}", one) for one in result.stack]
    rows += [(f"{one.stack} without {one.technique}", f"{one.stack}, whole", one) for one in result.ablation]
    groups: list[tuple[str, Sequence[Member]]] = [
        ("baseline", result.baseline.members),
        ("baseline, null change", result.baseline.null_members),
    ]
    told: set[str] = set()
    for after, before, one in rows:
        groups += [(after, one.members), (f"{after}, fresh", one.fresh_members)]
        # Several techniques are confirmed by the same boots of what stood before them.
        groups.append((f"{before}, fresh", [boot for boot in one.fresh_before if boot.run not in told]))
        told |= {boot.run for boot in one.fresh_before}
    return [(what, members) for what, members in groups if members or "fresh" not in what]


def boots_in(result: TryResult) -> str:
    """Return how many boots the trial holds, with digit groups."""
    return count(sum(len(members) for _, members in try_groups(result)))


def files_table(result: TryResult) -> Html:
    """Return what every system of the trial is made of, and its times to user space and to ready; sortable."""
    files = file_rows(result)
    inputs = inputs_of(files)
    columns = [Column("system", "code"), Column("verdict"), *(Column(f"{name}, KiB", "number") for name in inputs)]
    if result.storage is not None:
        columns.append(Column("load, ms", "number"))
    columns += [Column("user space, ms", "number"), Column("ready, ms", "number")]
    rows = []
    for one in files:
        sizes = [one.sizes.get(name) for name in inputs]
        cells = [Cell(one.name), Cell(one.verdict)]
        cells += [Cell("" if size is None else count(-(-size // 1024)), size) for size in sizes]
        if result.storage is not None:
            cells.append(Cell(ms(one.load_ns), one.load_ns))
        cells += [Cell(ms(time), time) for time in (one.user_space_ns, one.ready_ns)]
        rows.append(cells)
    storage = f" Loading kernel and initramfs comes before: {result.storage.words}." if result.storage else ""
    caption = (
        f"Sizes of what is booted, and ms from power-on to the first instruction in user space and to ready, "
        f"{_clock(result)}, medians over seeds.{storage}"
    )
    return table(caption, columns, rows, kind="files", sortable=True)


def ablation_table(result: TryResult) -> Html:
    """Return what each technique saves alone and in the finished stacks, side by side; sortable."""
    columns = [
        Column("technique", "code"),
        Column("stack"),
        Column("alone, ms", "number"),
        Column("in the stack, ms", "number"),
        Column("saved in the stack", "chart"),
        Column("spread, ms", "number"),
        Column("verdict"),
        Column("proof"),
    ]
    savings = [one.saved_ns or 0 for one in result.ablation]
    low_ns, high_ns = min(0, *savings), max(0, *savings)
    rows = []
    for one in result.ablation:
        kind = _KINDS.get(one.verdict, "same")
        measured = one.saved_ns is not None
        note = tag("span", one.detail, class_="detail") if one.detail else ""
        rows.append([
            Cell(join([tag("code", one.technique), note]), one.technique),
            Cell(one.stack),
            Cell(minus(ms(one.alone_ns)), one.alone_ns),
            Cell(minus(ms(one.saved_ns)), one.saved_ns),
            Cell(charts.saving(one.saved_ns, one.spread_ns, low_ns, high_ns, kind) if measured else "", one.saved_ns),
            Cell(ms(one.spread_ns) if measured else "", one.spread_ns if measured else None),
            Cell(_verdict(one.verdict), VERDICTS.index(one.verdict)),
            Cell(one.proof),
        ])  # fmt: skip
    caption = (
        f"Each technique left out of the finished stack, the others left in: {measure_words(result)}, medians "
        f"over seeds{_incl(result)}. The verdict is on the stack with it against the stack without it."
    )
    return table(caption, columns, rows, kind="verdicts", sortable=True)


def _ready(result: TryResult) -> str:
    ready = "ready, ms" if result.price is None else f"{price_words(result.price.model)}, ms"
    return ready if result.storage is None else f"load + {ready}"


def _incl(result: TryResult) -> str:
    return "" if result.storage is None else f"; {time_words(result)}"


def _counts(result: TryResult) -> str:
    if result.clock != "virtual":
        return "a saving must reach beyond it to count"
    return "a saving is seen beyond it, and counts when fresh boots confirm it"


def _unit(result: TryResult) -> str:
    return unit_words(result)


def _clock(result: TryResult) -> str:
    return f"{result.clock} clock" if result.price is None else unit_words(result)
