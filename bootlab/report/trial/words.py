"""Decides in which order and in which words a trial is told, for the terminal and the page alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bootlab.experiments.from_mark import FromMarkResult
from bootlab.experiments.trial.result import Baseline, Finished, Judged, StackName, Step, TryResult
from bootlab.measure.price import priced_phases_of
from bootlab.report.boots.side_by_side import Side
from bootlab.report.parts.figures import clock_sentence, price_sentence, price_words, spread_words, visible
from bootlab.techniques.model.verdict import Verdict

KINDS = {
    "baseline": "baseline",
    StackName.RECOMMENDED: "recommended",
    StackName.WITH_RISKS: "risks",
    StackName.LADDER: "recommended",
}
"""Stack name -> the CSS class that colours it."""
VERDICTS = (
    Verdict.SHORTER,
    Verdict.FASTER,
    Verdict.NO_DIFFERENCE_SHOWN,
    Verdict.LONGER,
    Verdict.SLOWER,
    Verdict.BROKE_IT,
    Verdict.NO_VERDICT,
    Verdict.DOES_NOT_APPLY,
)
"""Most welcome first; the order in which verdicts are listed."""
_NAMED = 4


def moves_words(base: Baseline) -> str:
    """Return how far a baseline moves for no reason, and over which boots."""
    return f"moves by {spread_words(base.spread_ns, base.total_ns)} for no reason, {over_words(base)}"


def over_words(base: Baseline) -> str:
    """Return over how many boots a baseline moves for no reason, and of which the kernel's ticks were moved."""
    every = [*base.members, *base.null_members]
    moved = sum(one.ticks_moved_ns > 0 for one in every)
    ticks = "" if not moved else ", ticks moved" if moved == len(every) else f", ticks moved of {moved}"
    return f"over {len(every)} boots{ticks}"


def kept(result: TryResult, step: Step) -> bool:
    """Return whether the finished stack holds this step."""
    finished = result.final.get(step.stack)
    return finished is not None and step.technique in finished.techniques and step.ready_ns is not None


def kept_steps(result: TryResult, stack: str) -> list[Step]:
    """Return the steps of a stack that stayed on it, in order."""
    return [step for step in result.stack if step.stack == stack and kept(result, step)]


def sides_of(result: TryResult) -> list[Side]:
    """Return the baseline and the end of each stack that holds anything, by their price where there is one."""
    sides = [_side("baseline", "baseline", result.baseline)]
    for stack in result.final:
        steps = [step for step in kept_steps(result, stack) if step.phases]
        if steps:
            sides.append(_side(stack, KINDS.get(stack, "recommended"), steps[-1]))
    return sides


def _side(title: str, kind: str, row: Baseline | Step) -> Side:
    if row.price_ns is None:
        return Side(title, kind, row.ready_ns, row.phases)
    return Side(title, kind, row.price_ns, priced_phases_of(row.phases))


def unit_words(result: TryResult) -> str:
    """Return what the trial's figures are in: ms of its clock, or of a price."""
    return f"ms {result.clock}" if result.price is None else f"ms {price_words(result.price.model)}"


def measure_words(result: TryResult) -> str:
    """Return the same as part of a sentence about tables: `ms on the virtual clock`."""
    return f"ms on the {result.clock} clock" if result.price is None else unit_words(result)


def clock_words(result: TryResult) -> str:
    """Return the sentence that says what the trial's figures mean."""
    sentence = clock_sentence(result.clock, result.ns_per_instruction, result.cpu, result.seeds)
    return sentence + price_sentence(result.price)


@dataclass(frozen=True, slots=True)
class FileRow:
    """What one system of a trial is made of, and how long it took to load, to user space and to ready."""

    name: str
    verdict: str
    sizes: Mapping[str, int]
    load_ns: int
    user_space_ns: int | None
    ready_ns: int | None


def file_rows(result: TryResult) -> list[FileRow]:
    """Return the baseline, each technique alone that was booted, each step of a ladder, and where each stack ended.

    Empty if unrecorded.
    """
    base = result.baseline
    rows = [FileRow("baseline", "", base.sizes, base.load_ns, *_times(base))]
    rows += [
        FileRow(one.technique, one.verdict, one.sizes, one.load_ns, *_times(one))
        for one in in_order(result.alone)
        if one.sizes
    ]
    rows += [
        FileRow(f"+ {step.technique}", step.verdict, step.sizes, step.load_ns, *_times(step))
        for step in kept_steps(result, StackName.LADDER)
        if step.sizes
    ]
    rows += [
        FileRow(stack, f"{end.ratio:.2f}x", end.sizes, end.load_ns, *_times(end)) for stack, end in result.final.items()
    ]
    return rows if base.sizes else []


def _times(row: Baseline | Judged | Finished) -> tuple[int | None, int | None]:
    # A clock that is charged has times of its own, which are neither of the two figures.
    return (row.user_space_ns, row.ready_ns) if row.price_ns is None else (None, row.price_ns)


def inputs_of(rows: Sequence[FileRow]) -> list[str]:
    """Return which of kernel, initramfs and rootfs any of the rows has; other disks say nothing about a boot."""
    return [name for name in ("kernel", "initramfs", "rootfs") if any(name in row.sizes for row in rows)]


def along_words(one: Judged) -> str:
    """Return which options of the kernel changed besides those that the technique is about; empty where none did."""
    options = (
        "1 other option changes" if len(one.also_changed) == 1 else f"{len(one.also_changed)} other options change"
    )
    if not one.also_changed:
        return ""
    if one.also_lost:
        more = f" and {len(one.also_lost) - _NAMED} more" if len(one.also_lost) > _NAMED else ""
        return f"{options}; lost: {', '.join(one.also_lost[:_NAMED])}{more}"
    named = [f"{option} {was} -> {now}" for option, (was, now) in one.also_changed.items()]
    return f"{options}: {', '.join(named[:_NAMED])}{', ...' if len(named) > _NAMED else ''}"


def time_words(result: TryResult) -> str:
    """Return what a time of the trial is the time of: with a storage model it includes the load, and says so."""
    ready = "ready" if result.price is None else price_words(result.price.model)
    return ready if result.storage is None else f"{ready} incl. {result.storage.words}"


def cost_words(result: TryResult) -> str:
    """Return what the trial cost on its host; empty when that was not recorded."""
    cost = result.cost
    if cost is None:
        return ""
    built = f"{cost.built} kernel{'' if cost.built == 1 else 's'} built in {cost.build_s:.0f} s"
    booted = f"{cost.boots} boots of {cost.qemu_s:.0f} s in {cost.booting_s:.0f} s, {cost.parallel} at a time"
    ratio = f", {cost.per_qemu:.2f}x the boots' own without building" if cost.per_qemu is not None else ""
    return f"host: {built}; {booted}; {cost.elapsed_s:.0f} s in all{ratio}"


def from_mark_words(told: FromMarkResult | None) -> list[str]:
    """Return how many boots began at a mark, how many could not and why, and the host time; empty where none was to."""
    if told is None:
        return []
    others = sum(told.powered_on.values())
    lines = [
        f"{told.began} boots began at {visible(told.mark)}, where {told.kept} machines were kept, and {others} at "
        f"power-on: {told.skipped_s:.0f} host s not run again, {told.spent_s:.0f} spent on keeping and comparing"
    ]
    lines += [f"  {number} at power-on: {visible(why)}" for why, number in told.powered_on.items()]
    if told.given_up:
        lines.append(f"  given up: {visible(told.given_up)}")
    both = told.checked or "there was none to be: of none that began there a disk had changed"
    return [*lines, f"  the boot that was run both ways: {visible(both)}"]


def in_order(judged: Sequence[Judged]) -> list[Judged]:
    """Return by verdict, most welcome first, and by saving within one verdict."""
    return sorted(judged, key=lambda one: (VERDICTS.index(one.verdict), -(one.saved_ns or 0), one.technique))
