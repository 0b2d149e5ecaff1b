"""Turns families of boots into rows of a trial's result: a verdict and a proof for each technique, sizes and times."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypedDict

from bootlab.experiments.family import NULL_WORD, Family, expect_none_killed
from bootlab.experiments.trial.result import Ablated, Baseline, Finished, Judged, Member, StackName, Step
from bootlab.experiments.verdict import Judgement, virtual_verdict, wall_verdict
from bootlab.findings.technique_evidence import evidence_of
from bootlab.measure.record import BootRecord, PhaseRecord
from bootlab.techniques.model.evidence import Effect
from bootlab.techniques.model.technique import Technique
from bootlab.techniques.model.verdict import Verdict

_OPPOSITE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
_NO_EFFECT = "the boot shows that the knob had no effect"


class _Loaded(TypedDict):
    """What a family booted from, and how long its median boot took to user space."""

    sizes: dict[str, int]
    load_ns: int
    user_space_ns: int | None


class _Row(_Loaded):
    """The fields of a `Judged`, for rows that say more."""

    technique: str
    layer: str
    risk: str
    ready_ns: int | None
    saved_ns: int | None
    spread_ns: int
    verdict: Verdict
    proof: Effect | Literal[""]
    detail: str
    members: list[Member]
    phases: list[PhaseRecord]


def judge(technique: Technique, before: Family, after: Family, *, wall: bool) -> Judged:
    """Return the verdict on a technique: `after` is `before` with it.

    Raises BootFailed when a machine was killed from outside.
    """
    for family in (before, after):
        expect_none_killed(family)
    failed = after.failed
    if failed is not None:
        return row(technique, Verdict.BROKE_IT, _why(failed), spread_ns=_spread_ns(before), members=after.members)
    judgement = _judgement(before, after, wall)
    verdict, effect, detail = _proven(technique, judgement.verdict, before=before, after=after)
    return _measured_row(technique, replace(judgement, verdict=verdict), effect, detail, after)


def judge_ablation(
    technique: Technique, stack: StackName, alone_ns: int | None, whole: Family, without: Family, *, wall: bool
) -> Ablated:
    """Return what a technique does in a finished stack: `without` is the stack `whole` less this technique.

    Raises BootFailed when a machine was killed from outside.
    """
    for family in (whole, without):
        expect_none_killed(family)
    failed = without.failed
    if failed is not None:
        why = f"the stack needs it: without it {_why(failed)}"
        judged = row(technique, Verdict.BROKE_IT, why, spread_ns=_spread_ns(whole), members=without.members)
        return ablated(judged, stack, alone_ns)
    # Taking it out is the change; putting it back has the opposite verdict and the opposite saving.
    judgement = _judgement(whole, without, wall)
    opposite = _OPPOSITE.get(judgement.verdict, judgement.verdict)
    verdict, effect, detail = _proven(technique, opposite, before=without, after=whole)
    put_back = Judgement(-judgement.saved_ns, judgement.spread_ns, verdict)
    return ablated(_measured_row(technique, put_back, effect, detail, without), stack, alone_ns)


def ablated(judged: Judged, stack: StackName, alone_ns: int | None) -> Ablated:
    return Ablated(**_row_of(judged), stack=stack, alone_ns=alone_ns)


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
    return Step(**_row_of(judged), stack=stack, total_saved_ns=saved_ns, retried=retried)


def baseline_of(family: Family) -> Baseline:
    record = family.median
    return Baseline(
        **_loaded(record),
        ready_ns=_ready_ns(record),
        instructions=record.instructions,
        idle_ns=record.idle_ns,
        spread_ns=_spread_ns(family),
        members=[_member(item) for item in family.members],
        null_members=[_member(item, f"{NULL_WORD}={number}") for number, item in enumerate(family.null, 1)],
        phases=record.phases,
    )


def finished_of(base: Family, family: Family, techniques: Sequence[str]) -> Finished:
    record = family.median
    return Finished(
        **_loaded(record),
        ready_ns=_ready_ns(record),
        ratio=_total_ns(base) / _total_ns(family),
        techniques=list(techniques),
        run=record.run,
    )


def _measured_row(technique: Technique, judgement: Judgement, effect: Effect, detail: str, family: Family) -> Judged:
    record = family.median
    return Judged(
        **_loaded(record),
        technique=technique.name,
        layer=technique.change.layer.value,
        risk=technique.text.risk.value,
        ready_ns=_ready_ns(record),
        saved_ns=judgement.saved_ns,
        spread_ns=judgement.spread_ns,
        verdict=judgement.verdict,
        proof=effect,
        detail=detail,
        members=[_member(item) for item in family.members],
        phases=record.phases,
    )


def _row_of(judged: Judged) -> _Row:
    return _Row(
        technique=judged.technique,
        layer=judged.layer,
        risk=judged.risk,
        ready_ns=judged.ready_ns,
        saved_ns=judged.saved_ns,
        spread_ns=judged.spread_ns,
        verdict=judged.verdict,
        proof=judged.proof,
        detail=judged.detail,
        members=judged.members,
        phases=judged.phases,
        sizes=judged.sizes,
        load_ns=judged.load_ns,
        user_space_ns=judged.user_space_ns,
    )


def _loaded(record: BootRecord) -> _Loaded:
    return _Loaded(sizes=record.sizes, load_ns=record.load_ns, user_space_ns=record.user_space_ns)


def _judgement(before: Family, after: Family, wall: bool) -> Judgement:
    if wall:
        return wall_verdict(before.times_ns, after.times_ns, seed=1)
    return virtual_verdict(before.null_ns, before.times_ns, after.times_ns)


def _proven(technique: Technique, verdict: Verdict, *, before: Family, after: Family) -> tuple[Verdict, Effect, str]:
    effect = technique.proof.prove(
        evidence_of(after.members[0], after.kernel_config), evidence_of(before.members[0], before.kernel_config)
    )
    if effect is Effect.NONE:
        # Whatever moved the boot, it was not this knob.
        return Verdict.NO_DIFFERENCE_SHOWN, effect, _NO_EFFECT
    return verdict, effect, ""


def _why(record: BootRecord) -> str:
    return f"{record.outcome.value}: {record.detail}"


def _spread_ns(family: Family) -> int:
    return max(family.null_ns) - min(family.null_ns)


def _ready_ns(record: BootRecord) -> int:
    assert record.ready_ns is not None  # the median is one of the boots that were ready
    return record.ready_ns


def _total_ns(family: Family) -> int:
    total_ns = family.median.total_ns
    assert total_ns is not None  # the median is one of the boots that were ready
    return total_ns


def _member(record: BootRecord, change: str = "") -> Member:
    return Member(
        seed=record.seed,
        ready_ns=record.ready_ns,
        instructions=record.instructions,
        idle_ns=record.idle_ns,
        outcome=record.outcome.value,
        run=record.run,
        change=change,
    )
