"""Turns families of boots into rows of a trial's result: a verdict and a proof for each technique, sizes and times."""

from collections.abc import Sequence
from typing import Any

from bootlab.errors import BootFailed
from bootlab.experiments.family import NULL_WORD, Family
from bootlab.experiments.trial.result import Ablated, Baseline, Finished, Judged, Member, Step
from bootlab.experiments.verdict import Judgement, Verdict, virtual_verdict, wall_verdict
from bootlab.findings.evidence import evidence_of
from bootlab.measure.record import BootRecord, Outcome
from bootlab.techniques.model.evidence import Effect
from bootlab.techniques.model.technique import Technique

DOES_NOT_APPLY = "does not apply"
_OPPOSITE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
_NO_EFFECT = "the boot shows that the knob had no effect"


def judge(technique: Technique, before: Family, after: Family, *, wall: bool) -> Judged:
    """Return the verdict on a technique: `after` is `before` with it.

    Raises BootFailed when a machine was killed from outside.
    """
    failed = _failed(after)
    if failed is not None:
        spread_ns = max(before.null_ns) - min(before.null_ns)
        return row(technique, Verdict.BROKE_IT.value, _why(failed), spread_ns=spread_ns, members=after.members)
    judgement = _judgement(before, after, wall)
    verdict, effect, detail = _proven(technique, judgement.verdict, before=before, after=after)
    return Judged.model_validate(
        {
            **dict(row(technique, verdict.value, detail, spread_ns=judgement.spread_ns, members=after.members)),
            **_measured(after),
            "saved_ns": judgement.saved_ns,
            "proof": effect.value,
        }
    )


def judge_ablation(
    technique: Technique, stack: str, alone_ns: int | None, whole: Family, without: Family, *, wall: bool
) -> Ablated:
    """Return what a technique does in a finished stack: `without` is the stack `whole` less this technique.

    Raises BootFailed when a machine was killed from outside.
    """
    failed = _failed(without)
    if failed is not None:
        spread_ns = max(whole.null_ns) - min(whole.null_ns)
        why = f"the stack needs it: without it {_why(failed)}"
        judged = row(technique, Verdict.BROKE_IT.value, why, spread_ns=spread_ns, members=without.members)
        return ablated(judged, stack, alone_ns)
    # Taking it out is the change; putting it back has the opposite verdict and the opposite saving.
    judgement = _judgement(whole, without, wall)
    opposite = _OPPOSITE.get(judgement.verdict, judgement.verdict)
    verdict, effect, detail = _proven(technique, opposite, before=without, after=whole)
    judged = row(technique, verdict.value, detail, spread_ns=judgement.spread_ns, members=without.members)
    values = {**dict(judged), **_measured(without), "saved_ns": -judgement.saved_ns, "proof": effect.value}
    return ablated(Judged.model_validate(values), stack, alone_ns)


def ablated(judged: Judged, stack: str, alone_ns: int | None) -> Ablated:
    return Ablated.model_validate({**dict(judged), "stack": stack, "alone_ns": alone_ns})


def row(
    technique: Technique,
    verdict: str,
    detail: str,
    *,
    spread_ns: int = 0,
    members: Sequence[BootRecord] = (),
) -> Judged:
    """Return a row without figures: of a technique that does not apply, could not be built, or broke the boot."""
    sizes, load_ns = (members[0].sizes, members[0].load_ns) if members else ({}, 0)
    return Judged.model_validate(
        {
            "technique": technique.name,
            "layer": technique.change.layer.value,
            "risk": technique.text.risk.value,
            "ready_ns": None,
            "saved_ns": None,
            "spread_ns": spread_ns,
            "verdict": verdict,
            "proof": "",
            "detail": detail,
            "members": [_member(record) for record in members],
            "phases": [],
            "sizes": sizes,
            "load_ns": load_ns,
        }
    )


def step_of(judged: Judged, stack: str, base: Family, now: Family, retried: bool) -> Step:
    """Return a step of a stack that stands at `now` when this technique is on it, or was not put there."""
    saved_ns = _total_ns(base) - _total_ns(now)
    return Step.model_validate({**dict(judged), "stack": stack, "total_saved_ns": saved_ns, "retried": retried})


def baseline_of(family: Family) -> Baseline:
    record = family.median
    return Baseline.model_validate(
        {
            **_measured(family),
            "instructions": record.instructions,
            "idle_ns": record.idle_ns,
            "spread_ns": max(family.null_ns) - min(family.null_ns),
            "members": [_member(item) for item in family.members],
            "null_members": [_member(item, f"{NULL_WORD}={number}") for number, item in enumerate(family.null, 1)],
        }
    )


def finished_of(base: Family, family: Family, techniques: Sequence[str]) -> Finished:
    values = _measured(family)
    del values["phases"]
    ratio = _total_ns(base) / _total_ns(family)
    return Finished.model_validate({**values, "ratio": ratio, "techniques": list(techniques), "run": family.median.run})


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


def _measured(family: Family) -> dict[str, Any]:
    record = family.median
    return {
        "ready_ns": record.ready_ns,
        "load_ns": record.load_ns,
        "user_space_ns": record.user_space_ns,
        "sizes": record.sizes,
        "phases": record.phases,
    }


def _failed(family: Family) -> BootRecord | None:
    failed = family.failed
    if failed is not None and failed.outcome is Outcome.TARGET_DIED:
        # Killed from outside, most likely: it must not count against the technique.
        raise BootFailed(f"{failed.run}: {failed.detail}", hint="go on with --resume: this boot alone is run again")
    return failed


def _why(record: BootRecord) -> str:
    return f"{record.outcome.value}: {record.detail}"


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
