"""Decides in which order and in which words a trial is told, for the terminal and the page alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bootlab.experiments.trial.result import Judged, StackName, Step, TryResult
from bootlab.report.boots.side_by_side import Side
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


def kept(result: TryResult, step: Step) -> bool:
    """Return whether the finished stack holds this step."""
    finished = result.final.get(step.stack)
    return finished is not None and step.technique in finished.techniques and step.ready_ns is not None


def kept_steps(result: TryResult, stack: str) -> list[Step]:
    """Return the steps of a stack that stayed on it, in order."""
    return [step for step in result.stack if step.stack == stack and kept(result, step)]


def sides_of(result: TryResult) -> list[Side]:
    """Return the baseline and the end of each stack that holds anything."""
    sides = [Side("baseline", "baseline", result.baseline.ready_ns, result.baseline.phases)]
    for stack in result.final:
        steps = [step for step in kept_steps(result, stack) if step.phases]
        if steps:
            sides.append(Side(stack, KINDS.get(stack, "recommended"), steps[-1].ready_ns, steps[-1].phases))
    return sides


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
    rows = [FileRow("baseline", "", base.sizes, base.load_ns, base.user_space_ns, base.ready_ns)]
    rows += [
        FileRow(one.technique, one.verdict, one.sizes, one.load_ns, one.user_space_ns, one.ready_ns)
        for one in in_order(result.alone)
        if one.sizes
    ]
    rows += [
        FileRow(f"+ {step.technique}", step.verdict, step.sizes, step.load_ns, step.user_space_ns, step.ready_ns)
        for step in kept_steps(result, StackName.LADDER)
        if step.sizes
    ]
    rows += [
        FileRow(stack, f"{end.ratio:.2f}x", end.sizes, end.load_ns, end.user_space_ns, end.ready_ns)
        for stack, end in result.final.items()
    ]
    return rows if base.sizes else []


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
    return "ready" if result.storage is None else f"ready incl. {result.storage.words}"


def cost_words(result: TryResult) -> str:
    """Return what the trial cost on its host; empty when that was not recorded."""
    cost = result.cost
    if cost is None:
        return ""
    built = f"{cost.built} kernel{'' if cost.built == 1 else 's'} built in {cost.build_s:.0f} s"
    booted = f"{cost.boots} boots of {cost.qemu_s:.0f} s in {cost.booting_s:.0f} s, {cost.parallel} at a time"
    ratio = f", {cost.per_qemu:.2f}x the boots' own without building" if cost.per_qemu is not None else ""
    return f"host: {built}; {booted}; {cost.elapsed_s:.0f} s in all{ratio}"


def in_order(judged: Sequence[Judged]) -> list[Judged]:
    """Return by verdict, most welcome first, and by saving within one verdict."""
    return sorted(judged, key=lambda one: (VERDICTS.index(one.verdict), -(one.saved_ns or 0), one.technique))
