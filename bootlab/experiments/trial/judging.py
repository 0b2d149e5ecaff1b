"""Turns families of boots into rows of a trial's result: a verdict and a proof for each technique, sizes and times."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bootlab.build.source.config_text import read_config
from bootlab.experiments.family import (
    Family,
    execution_judgement,
    expect_none_killed,
    judgement,
    median_timings,
    times,
    timings_of,
)
from bootlab.experiments.trial.pictures import same_pictures
from bootlab.experiments.trial.result import FRESH, Ablated, Baseline, Finished, Judged, Member, StackName, Step
from bootlab.experiments.verdict import Judgement
from bootlab.findings.technique_evidence import evidence_of
from bootlab.measure.line_and_card_cost import modelled_load_ns
from bootlab.measure.record import BootRecord
from bootlab.measure.statistics.series import median_ns, spread_ns
from bootlab.system import NULL_WORD
from bootlab.techniques.model.evidence import Effect
from bootlab.techniques.model.option_risks import losses, worst
from bootlab.techniques.model.technique import Risk, Technique
from bootlab.techniques.model.verdict import Verdict

_NO_EFFECT = "the boot shows that the knob had no effect"
_NOT_SHOWN = "no boot shows that the knob took effect: not recommended"


@dataclass(frozen=True, slots=True)
class _Along:
    """What changed with a technique besides the options that it is about."""

    changed: dict[str, tuple[str, str]] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    risk: Risk = Risk.NONE


def judge(technique: Technique, before: Family, after: Family, *, wall: bool) -> Judged:
    """Return the verdict on a technique: `after` is `before` with it.

    Raises BootFailed when a machine was killed from outside.
    """
    for family in (before, after):
        expect_none_killed(family)
    along = _along(technique, before, after)
    if after.failed is not None:
        detail = _broken(after, after.failed)
        if before.failed is not None:
            detail += f"; without it, {_too(before.failed)}"
        return _with(_failed_row(technique, Verdict.BROKE_IT, detail, before, after), along)
    if (failed := before.failed) is not None:
        return _with(_row_on_unsteady(technique, before, after, _unsteady(failed)), along)
    judged = judgement(before, after, wall=wall)
    verdict, effect, detail = _proven(technique, judged.verdict, before=before, after=after)
    measured = _measured_row(technique, replace(judged, verdict=verdict), effect, detail, after)
    executed = execution_judgement(before, after)
    if executed is not None:
        executed = replace(executed, verdict=_where_proven(executed.verdict, effect))
    added = {**_fresh_of(before, after), **_split(before, after, executed), **_counted(before, after)}
    added["same_pictures"] = same_pictures(before, after)
    return _with(measured.model_copy(update=added), along)


def judge_ablation(
    technique: Technique, stack: StackName, alone_ns: int | None, whole: Family, without: Family, *, wall: bool
) -> Ablated:
    """Return what a technique does in a finished stack: `without` is the stack `whole` less this technique.

    Raises BootFailed when a machine was killed from outside.
    """
    for family in (whole, without):
        expect_none_killed(family)
    along = _along(technique, without, whole)
    if without.failed is not None:
        why = f"the stack needs it: without it {_broken(without, without.failed)}"
        if whole.failed is not None:
            why = f"without it {_broken(without, without.failed)}; with it, {_too(whole.failed)}"
        judged = _failed_row(technique, Verdict.BROKE_IT, why, whole, without)
        return ablated(_with(judged, along), stack, alone_ns)
    if (failed := whole.failed) is not None:
        judged = _failed_row(technique, Verdict.NO_VERDICT, _unsteady(failed), whole, without)
        return ablated(_with(judged, along), stack, alone_ns)
    # Taking it out is the change; putting it back has the opposite verdict and the opposite saving.
    taken_out = judgement(whole, without, wall=wall)
    verdict, effect, detail = _proven(technique, taken_out.verdict.opposite, before=without, after=whole)
    put_back = Judgement(-taken_out.saved_ns, taken_out.spread_ns, verdict)
    measured = _measured_row(technique, put_back, effect, detail, without)
    executed = execution_judgement(whole, without)
    if executed is not None:
        executed = replace(executed, verdict=_where_proven(executed.verdict.opposite, effect))
    added = {**_fresh_of(whole, without), **_split(without, whole, executed), **_counted(without, whole)}
    return ablated(_with(measured.model_copy(update=added), along), stack, alone_ns)


def ablated(judged: Judged, stack: StackName, alone_ns: int | None) -> Ablated:
    """Return the row of a technique that was taken out of a stack. `alone_ns`: what it saved alone, None if unknown."""
    return Ablated.of(judged, stack=stack, alone_ns=alone_ns)


def row(
    technique: Technique,
    verdict: Verdict,
    detail: str,
    *,
    spread_ns: int = 0,
    members: Sequence[BootRecord] = (),
) -> Judged:
    """Return a row without figures: of a technique that does not apply, could not be built, or broke the boot."""
    sizes, load_ns = (members[0].sizes, members[0].load_ns) if members else ({}, 0)
    return Judged(
        technique=technique.name,
        layer=technique.change.layer.value,
        risk=technique.text.risk.value,
        ready_ns=None,
        saved_ns=None,
        spread_ns=spread_ns,
        verdict=verdict,
        proof="",
        detail=detail,
        members=[_member(record) for record in members],
        phases=[],
        sizes=sizes,
        load_ns=load_ns,
    )


def step_of(judged: Judged, stack: StackName, base: Family, now: Family, retried: bool) -> Step:
    """Return a step of a stack that stands at `now` when this technique is on it, or was not put there."""
    saved_ns = _total_ns(base) - _total_ns(now)
    return Step.of(judged, stack=stack, total_saved_ns=saved_ns, retried=retried)


def baseline_of(family: Family) -> Baseline:
    """Return the unchanged system's row: its median boot, and how far it moves for no reason."""
    record = family.median
    return Baseline(
        sizes=record.sizes,
        load_ns=record.load_ns,
        user_space_ns=record.user_space_ns,
        ready_ns=_ready_ns(record),
        price_ns=_price_ns(record),
        counted_ns=_counted_ns(record),
        instructions=record.instructions,
        idle_ns=record.idle_ns,
        spread_ns=_spread_ns(family),
        timings_ns=median_timings(family.members),
        timing_spreads_ns={name: spread_ns(found) for name, found in timings_of(family.boots).items() if found},
        members=[_member(item) for item in family.members],
        null_members=[_member(item, f"{NULL_WORD}={number}") for number, item in enumerate(family.null, 1)],
        phases=record.phases,
    )


def finished_of(base: Family, family: Family, techniques: Sequence[str], failed: BootRecord | None = None) -> Finished:
    """Return where a stack ended. `failed`: a boot of it beside those of `family` that was not ready."""
    record = family.median
    failed = failed or family.failed
    return Finished(
        sizes=record.sizes,
        load_ns=record.load_ns,
        user_space_ns=record.user_space_ns,
        ready_ns=_ready_ns(record),
        price_ns=_price_ns(record),
        counted_ns=_counted_ns(record),
        timings_ns=median_timings(family.members),
        ratio=_total_ns(base) / _total_ns(family),
        techniques=list(techniques),
        run=record.run,
        unsteady="" if failed is None else f"{failed.run}: {_why(failed)}",
    )


def unsteady(judged: Judged, failed: BootRecord) -> Judged:
    """Return the row of a technique with which the system failed once a change that means nothing was added."""
    detail = _by_nothing(failed)
    none = (
        "ready_ns",
        "saved_ns",
        "user_space_ns",
        "load_saved_ns",
        "execution",
        "price_ns",
        "counted_ns",
        "counted_saved_ns",
    )
    figures: dict[str, object] = {
        **dict.fromkeys(none),
        "timings_ns": {},
        "phases": [],
        "proof": "",
        "same_pictures": {},
    }
    return judged.model_copy(update={"verdict": Verdict.BROKE_IT, "detail": detail, **figures})


def _failed_row(technique: Technique, verdict: Verdict, detail: str, before: Family, after: Family) -> Judged:
    failed = row(technique, verdict, detail, spread_ns=_spread_ns(before), members=after.members)
    return failed.model_copy(update=_fresh_of(before, after))


def _row_on_unsteady(technique: Technique, before: Family, after: Family, detail: str) -> Judged:
    """Return the row of a technique whose own boots are all well, on a system that now and then fails: no saving."""
    nothing = Judgement(0, _spread_ns(before), Verdict.NO_VERDICT)
    measured = _measured_row(technique, nothing, "", detail, after)
    said = {"saved_ns": None, "same_pictures": same_pictures(before, after), **_fresh_of(before, after)}
    return measured.model_copy(update=said)


def _measured_row(
    technique: Technique, judgement: Judgement, effect: Effect | Literal[""], detail: str, family: Family
) -> Judged:
    record = family.median
    return Judged(
        sizes=record.sizes,
        load_ns=record.load_ns,
        user_space_ns=record.user_space_ns,
        technique=technique.name,
        layer=technique.change.layer.value,
        risk=technique.text.risk.value,
        ready_ns=_ready_ns(record),
        price_ns=_price_ns(record),
        counted_ns=_counted_ns(record),
        timings_ns=median_timings(family.members),
        saved_ns=judgement.saved_ns,
        spread_ns=judgement.spread_ns,
        verdict=judgement.verdict,
        proof=effect,
        detail=detail,
        members=[_member(item) for item in family.members],
        phases=record.phases,
    )


def _along(technique: Technique, before: Family, after: Family) -> _Along:
    """Return what changed in the kernel's configuration; nothing where one of the two is not known."""
    if before.kernel_config is None or after.kernel_config is None or before.kernel_config == after.kernel_config:
        return _Along()
    was, now = read_config(before.kernel_config), read_config(after.kernel_config)
    changed = {
        option: (was.get(option, "n"), now.get(option, "n"))
        for option in sorted(was.keys() | now.keys())
        if was.get(option) != now.get(option)
    }
    lost = losses(changed, now)
    about = technique.change.options
    return _Along(
        {option: values for option, values in changed.items() if option not in about},
        [one.option for one in lost if one.option not in about],
        worst(one.risk for one in lost),
    )


def _with(judged: Judged, along: _Along) -> Judged:
    risk = worst((Risk(judged.risk), along.risk)).value
    return judged.model_copy(update={"risk": risk, "also_changed": along.changed, "also_lost": along.lost})


def _proven(technique: Technique, verdict: Verdict, *, before: Family, after: Family) -> tuple[Verdict, Effect, str]:
    effect = technique.proof.prove(
        evidence_of(after.members[0], after.kernel_config), evidence_of(before.members[0], before.kernel_config)
    )
    detail = {Effect.NONE: _NO_EFFECT, Effect.NOT_SHOWN: _NOT_SHOWN}.get(effect, "")
    return _where_proven(verdict, effect), effect, detail


def _where_proven(verdict: Verdict, effect: Effect) -> Verdict:
    # Whatever moved a boot that shows no effect, it was not this knob.
    return Verdict.NO_DIFFERENCE_SHOWN if effect is Effect.NONE else verdict


def _split(before: Family, after: Family, executed: Judgement | None) -> dict[str, object]:
    """Return what of the saving is loading, by a model, and the verdict on the rest; nothing without a model."""
    loads = [modelled_load_ns(family.median) for family in (before, after)]
    if executed is None or loads[0] is None or loads[1] is None:
        return {}
    return {"load_saved_ns": loads[0] - loads[1], "execution": executed.verdict}


def _counted(before: Family, after: Family) -> dict[str, object]:
    """Return what a change saves in instructions and idle time where the verdict is on a price; else nothing."""
    counted = [[ns for one in side.members if (ns := _counted_ns(one)) is not None] for side in (before, after)]
    return {"counted_saved_ns": median_ns(counted[0]) - median_ns(counted[1])} if all(counted) else {}


def _why(record: BootRecord) -> str:
    return f"{record.outcome.value}: {record.detail}"


def _broken(family: Family, failed: BootRecord) -> str:
    return _why(failed) if failed in family.members else _by_nothing(failed)


def _by_nothing(record: BootRecord) -> str:
    return f"with a change that means nothing: {_why(record)} ({record.run})"


def _unsteady(record: BootRecord) -> str:
    return f"what it stands on is not steady: {record.run}: {_why(record)}"


def _too(record: BootRecord) -> str:
    return f"too, now and then: {record.run}: {_why(record)}"


def _spread_ns(family: Family) -> int:
    ready_ns = times(family.boots)
    return spread_ns(ready_ns) if ready_ns else 0


def _price_ns(record: BootRecord) -> int | None:
    return None if record.price is None else record.price.total_ns


def _counted_ns(record: BootRecord) -> int | None:
    return None if record.price is None else record.counted_ns


def _ready_ns(record: BootRecord) -> int:
    assert record.ready_ns is not None  # the median is one of the boots that were ready
    return record.ready_ns


def _total_ns(family: Family) -> int:
    total_ns = family.median.total_ns
    assert total_ns is not None  # the median is one of the boots that were ready
    return total_ns


def _fresh_of(before: Family, after: Family) -> dict[str, list[Member]]:
    return {
        name: [_member(item, FRESH) for item in family.fresh]
        for name, family in (("fresh_before", before), ("fresh_members", after))
    }


def _member(record: BootRecord, change: str = "") -> Member:
    return Member(
        seed=record.seed,
        ready_ns=record.ready_ns,
        instructions=record.instructions,
        idle_ns=record.idle_ns,
        outcome=record.outcome.value,
        run=record.run,
        price_ns=_price_ns(record),
        change=change,
        ticks_moved_ns=record.ticks_moved_ns,
    )
