"""Boots, series, comparisons and techniques for a terminal: plain tables of 80 columns, readable when piped.

Everything is ASCII but the bars, which turn to `#` where the output cannot show blocks. Text from outside is made
visible first, so a guest cannot send escapes to the user's terminal.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.experiments.chance import Chance
from bootlab.measure.price import counted_view, priced_view
from bootlab.measure.record import BootRecord, PowerOnRecord, PriceRecord
from bootlab.measure.statistics.series import spread_ns
from bootlab.report.boots.launch import launch_lines, parts_lines, parts_side_by_side
from bootlab.report.boots.screen import screen_change, screen_lines
from bootlab.report.boots.side_by_side import Side, align
from bootlab.report.boots.timings import timing_change, timing_lines
from bootlab.report.boots.two_views import views
from bootlab.report.lives.words import chance_words, side_chances
from bootlab.report.parts.cautions import series_warnings, warnings
from bootlab.report.parts.figures import (
    COUNTED,
    clock_of,
    count,
    median_boot,
    median_ready_ns,
    model_lines,
    ms,
    percent,
    price_words,
    ready_times,
    spread_words,
    visible,
)
from bootlab.report.parts.terminal_tables import CellBar, foot, plain_table
from bootlab.timeline.marks import SUSPENDING


def boot(record: BootRecord) -> RenderableType:
    """Return one boot: what became of it, its phases as bars with ms and share, and its clock."""
    ready = record.ready_ns
    head = Text(visible(record.system), style="bold")
    head.append(f"  {record.outcome.value}", style="green" if ready else "bold red")
    if ready is not None and record.price is not None:
        head.append(f"  {ms(record.counted_ns)} ms {COUNTED}", style="bold")
        head.append(f"; {ms(record.price.total_ns)} ms {price_words(record.price.model)}", style="bold")
    elif ready is not None:
        head.append(f"  {ms(ready)} ms {record.clock}", style="bold")
    lines: list[RenderableType] = [head]
    if record.detail:
        lines.append(Text(visible(record.detail), style="red"))
    lines += [Text(visible(remark), style="yellow") for remark in record.remarks]
    lines += launch_lines(record)
    if record.power_on is not None:
        lines.append(Text(visible(power_on_words(record.power_on))))
        lines += [Text(line) for line in early_wake_lines(record)]
    if record.phases:
        lines.append(_phases(record))
    if record.power_on is not None:
        lines += _wakes(record.power_on)
    if record.read_up_to:
        read = (f"{visible(name)} {count(size)}" for name, size in record.read_up_to.items())
        lines.append(Text(f"bytes read up to other marks: {', '.join(read)}"))
    lines += screen_lines([record])
    lines += timing_lines([record])
    if record.bootstage:
        lines += [Text(), Text("U-Boot's own stages (bootstage)", style="bold"), _bootstage(record), Text()]
    lines += [Text(line) for line in model_lines([record])]
    if record.instructions is not None and record.idle_ns is not None:
        lines.append(Text(f"{count(record.instructions)} instructions, {ms(record.idle_ns)} ms idle, up to ready"))
    if record.price is not None:
        lines.append(Text(_price_line(record.price)))
    if record.charges:
        lines.append(_charges(record))
    if record.exact_disks and not record.disks:
        lines.append(Text("its disks answer at once: reading and writing takes no time, and repeats exactly"))
    return Group(*lines, *foot(clock_of([record]), record.hashes, record.run))


def power_on_words(power_on: PowerOnRecord) -> str:
    """Return how a machine was switched on, what it found, and what became of that."""
    words = f"power-on: {power_on.kind}"
    if power_on.fault is not None:
        words += f", {power_on.fault}{f' in {power_on.fault_file}' if power_on.fault_file else ''}"
    sources = {"kept-ram": "root from kept RAM", "disk": "root from disk", "card": "kernel and root from the card"}
    sources["image"] = "went on from its image"
    if power_on.source is not None:
        words += f"; {sources.get(power_on.source, power_on.source)}"
    if power_on.refused is not None:
        words += f"; refused: {power_on.refused}"
    if power_on.changes_taken is not None:
        words += f"; changes of generation {power_on.changes_taken} over it"
    return words if power_on.changes_refused is None else f"{words}; changes refused: {power_on.changes_refused}"


def early_wake_lines(record: BootRecord) -> list[str]:
    """Return what an early wake-up was good for, and what it costs if nobody comes; nothing where there was none."""
    wake = None if record.power_on is None else record.power_on.wake
    if wake is None:
        return []
    by = {"rtc": "the alarm of its clock", "key": "a key"}.get(wake.by, wake.by)
    behind = (
        "" if wake.at == SUSPENDING or wake.at_to_wake_ns is None else f"{ms(wake.at_to_wake_ns)} ms after {wake.at}, "
    )
    lines = [f"woken by {by} {behind}{ms(wake.slept_ns)} ms after it began to fall asleep"]
    if wake.ignition_ns is not None and wake.ignition_to_ready_ns is not None and record.ready_ns is not None:
        before_ns = wake.ignition_ns - record.ready_ns
        early = f", {ms(before_ns)} ms early" if before_ns > 0 else ""
        waited = ms(wake.ignition_to_ready_ns)
        lines.append(f"ignition {ms(wake.ignition_ns)} ms after the wake: ready {waited} ms after it{early}")
        if record.instructions is not None and wake.idle_awake_ns is not None:
            took = "" if wake.fell_asleep_ns is None else f", which took {ms(wake.fell_asleep_ns)} ms before"
            lines.append(
                f"if nobody comes that was for nothing: {count(record.instructions)} instructions, "
                f"{ms(wake.idle_awake_ns)} ms idle awake, and falling asleep again{took}"
            )
    return lines


def _wakes(power_on: PowerOnRecord) -> list[RenderableType]:
    """Return how long each device took to wake; nothing where nobody asked."""
    lines: list[RenderableType] = []
    if power_on.devices:
        rows = plain_table("device that woke", "driver", "ms>")
        for one in power_on.devices:
            rows.add_row(visible(one.device), Text(visible(one.driver), overflow="fold"), ms(one.duration_ns))
        lines = [rows, Text("devices wake at the same time: their times are no parts of a sum", style="dim")]
    untold = power_on.devices_untold
    return [*lines, Text(f"devices not told of: {visible(untold)}")] if untold else lines


def _price_line(price: PriceRecord) -> str:
    parts = (
        ("instructions", price.instructions_ns),
        ("idle", price.idle_ns),
        ("exits and pages", price.charged_ns),
    )
    corrected = [(f"corrected for {what}", time) for what, time in price.corrections.items()]
    return f"{price_words(price.model)}: {', '.join(f'{what} {ms(time)} ms' for what, time in (*parts, *corrected))}"


def _charges(record: BootRecord) -> Table:
    whole_ns = record.ready_ns if record.price is None else record.price.total_ns
    of = "charged to the clock" if record.price is None else f"of the {price_words(record.price.model)}"
    rows = plain_table(of, "times>", "ms>", "%>")
    for name, one in sorted(record.charges.items(), key=lambda item: -item[1].ns):
        rows.add_row(visible(name), count(one.count), ms(one.ns), percent(one.ns, whole_ns))
    return rows


def series(records: Sequence[BootRecord], chances: Sequence[Chance] = ()) -> RenderableType:
    """Return a series: median, spread and every boot; at least one record, all of one system on one clock.

    `chances`: what took another time with every seed.
    """
    middle = median_boot(records)
    times, whole = ready_times(records), median_ready_ns(records)
    head = Text(visible(middle.system), style="bold")
    head.append(f"  {len(times)} of {len(records)} boots ready", style="" if len(times) == len(records) else "bold red")
    lines: list[RenderableType] = [head]
    if whole is not None:
        for what, view in views(records):
            of_view = ready_times(view)
            spread = spread_words(spread_ns(of_view), median_ready_ns(view))
            lines.append(Text(f"median {ms(median_ready_ns(view))} ms {what}, spread {spread}"))
        lines += [Text(line) for line in model_lines([middle])]
    headings = [f"{what} ms>" for what, _ in views(records)] if middle.price is not None else ["ready ms>"]
    members = plain_table("seed>", *headings, "instructions>", "idle ms>", "outcome", "boot")
    for record in records:
        outcome = Text(record.outcome.value, style="" if record.ready_ns is not None else "red")
        figures = [ms(one.ready_ns) for _, (one,) in views([record])] if record.price is not None else None
        members.add_row(
            str(record.seed), *(figures or [ms(record.ready_ns), *[""] * (len(headings) - 1)]),
            count(record.instructions), ms(record.idle_ns), outcome,
            # Below the run, which is named at the end: a whole path leaves the figures no room.
            Text(visible("/".join(Path(record.run).parts[-2:])), overflow="fold"),
        )  # fmt: skip
    lines.append(members)
    # Boots that fail alike say so once.
    why = dict.fromkeys(f"{record.outcome.value}: {record.detail}" for record in records if record.ready_ns is None)
    lines += [Text(visible(line), style="red") for line in why]
    cautions = [*series_warnings(records), *(": ".join(chance_words(one, of_life=False)) for one in chances)]
    lines += [Text(visible(f"caution: {caution}"), style="yellow") for caution in cautions]
    if middle.phases:
        lines += [Text(), Text(f"phases of the median boot, seed {middle.seed}"), _phases(middle)]
    lines += parts_lines(records)
    lines += screen_lines(records)
    lines += timing_lines(records)
    return Group(*lines, *foot(clock_of(records), middle.hashes))


def comparison(
    before: Sequence[BootRecord],
    after: Sequence[BootRecord],
    verdict: str = "",
    chances: Mapping[str, Sequence[Chance]] = MappingProxyType({}),
) -> RenderableType:
    """Return two boots, or the median boots of two series, phase by phase with the change.

    `verdict` is a line that says whether the difference is outside the spread, when somebody measured that; `chances`:
    side -> what took another time there with every seed. Raises InputError when the sides are on different clocks.
    """
    cautions = [*warnings(before, after), *side_chances(chances)]
    one, other = median_boot(before), median_boot(after)
    lines: list[RenderableType] = []
    for name, middle, boots in (("before", one, before), ("after ", other, after)):
        many = f", median of {len(boots)} boots" if len(boots) > 1 else ""
        outcome = f"  {middle.outcome.value}{many}"
        lines.append(Text.assemble((f"{name}  ", "dim"), (visible(middle.system), "bold"), outcome))
    lines += [Text(visible(f"caution: {caution}"), style="yellow") for caution in cautions]
    shown = views([*before, *after])
    for what, view in shown:
        lines += [Text(), Text(f"{what}, ms", style="bold")] if len(shown) > 1 else []
        lines.append(_side_by_side(view[: len(before)], view[len(before) :]))
    lines += parts_side_by_side(before, after)
    lines += screen_change(before, after)
    lines += timing_change(before, after)
    lines += [Text(line) for line in model_lines([one, other])]
    if verdict:
        lines.append(Text(visible(verdict)))
    return Group(*lines, *foot(clock_of([*before, *after]), {}))


def _side_by_side(before: Sequence[BootRecord], after: Sequence[BootRecord]) -> Table:
    rows = plain_table("phase", "before ms>", "after ms>", "change ms>", "change %>")
    one, other = median_boot(before), median_boot(after)
    for row in align([Side("", "", middle.ready_ns, middle.phases) for middle in (one, other)]):
        rows.add_row(Text(visible(row.name)), *_change(*row.durations_ns()))
    times = [median_ready_ns(boots) for boots in (before, after)]
    rows.add_section()
    if times[0] is not None and times[1] is not None:
        rows.add_row("power-on to ready", *_change(times[0], times[1]), style="bold")
    else:
        rows.add_row("power-on to ready", *(ms(time) or "not ready" for time in times), "", "", style="bold")
    return rows


def _phases(record: BootRecord) -> Table:
    if record.price is not None:
        return _priced_phases(record, record.price)
    end_ns = max((phase.start_ns + phase.duration_ns for phase in record.phases), default=0)
    reads = any(phase.read_bytes is not None for phase in record.phases)
    rows = plain_table("phase", "", f"ms {record.clock}>", "%>", *(["bytes read>"] if reads else []))
    rows.columns[1].ratio = 1
    for phase in record.phases:
        start, end = phase.start_ns / max(end_ns, 1), (phase.start_ns + phase.duration_ns) / max(end_ns, 1)
        name = Text(visible(phase.name), overflow="fold")
        read = [count(phase.read_bytes)] if reads else []
        rows.add_row(name, CellBar(start, end), ms(phase.duration_ns), percent(phase.duration_ns, end_ns), *read)
    return rows


def _priced_phases(record: BootRecord, price: PriceRecord) -> Table:
    counted, priced = counted_view(record), priced_view(record)
    figures = {one.name: one for one in priced.phases}
    rows = plain_table("phase", "", f"{COUNTED} ms>", f"{price_words(price.model)} ms>", "%>")
    rows.columns[1].ratio = 1
    for phase in counted.phases:
        own = figures.get(phase.name)
        start_ns, took_ns = (own.start_ns, own.duration_ns) if own is not None else (0, 0)
        bar = CellBar(start_ns / max(price.total_ns, 1), (start_ns + took_ns) / max(price.total_ns, 1))
        name = Text(visible(phase.name), overflow="fold")
        rows.add_row(name, bar, ms(phase.duration_ns), ms(took_ns), percent(took_ns, price.total_ns))
    return rows


def _bootstage(record: BootRecord) -> Table:
    rows = plain_table("stage", "ms by its timer>", "since the last>")
    last_ns = 0
    for stage in record.bootstage:
        rows.add_row(Text(visible(stage.name), overflow="fold"), ms(stage.t_ns), ms(stage.t_ns - last_ns))
        last_ns = stage.t_ns
    return rows


def _change(before_ns: int, after_ns: int) -> list[RenderableType]:
    change = after_ns - before_ns
    style = "green" if change < 0 else "red" if change > 0 else ""
    figures = ms(change, sign=True), percent(change, before_ns, sign=True)
    return [ms(before_ns), ms(after_ns), *(Text(figure, style=style) for figure in figures)]
