"""Boots what a gate takes: both sides on the virtual clock, and fresh boots only where an answer is near its limit."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from bootlab.experiments.family import Family
from bootlab.experiments.family_boots import FamilyBoots, is_rebuilt
from bootlab.experiments.verdict import NEAR_FRESH
from bootlab.ledger.gate.figures import GateBaseline, times_of
from bootlab.ledger.gate.judging import GateJudgement, GateVerdict, Limit, judge_exact, judge_noisy
from bootlab.measure.statistics.series import median_ns
from bootlab.system import System

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True, slots=True)
class Held:
    """A system held against what it was: its boots, those before, and what is said of each figure."""

    before: GateBaseline
    after: Family
    judged: dict[str, GateJudgement]


def hold_exact(
    boots: FamilyBoots,
    system: System,
    against: GateBaseline | System,
    figures: dict[str, Limit],
    nulls: int,
    note: Callable[[str], None],
) -> Held:
    """Boot a system, and what it is held against where that is a system, too, until every figure has its answer.

    Near the limit fresh boots of both sides decide; where both build their kernels, and not alike, these take turns
    with null builds: what another build does by chance stops nothing.
    """
    again = against if isinstance(against, System) else None
    booted: dict[str, Family] = {}
    if again is not None and boots.engine.parallel > len(boots.seeds) + nulls:
        booted = boots.families({BEFORE: (again, nulls), AFTER: (system, nulls)})
    if isinstance(against, GateBaseline):
        before = against
    else:
        before = GateBaseline(against.name, booted.get(BEFORE) or boots.family(BEFORE, against, nulls=nulls))
        if before.family is not None and before.family.failed is None:
            for what in figures:
                # A figure that there is not is told before the other side is booted, where that cannot be at once.
                before.times(what)
    after = booted.get(AFTER) or boots.family(AFTER, system, nulls=nulls)
    while True:
        if after.failed is not None or (before.family is not None and before.family.failed is not None):
            return Held(before, after, {})
        before.expect_like(after)
        judged = {
            what: judge_exact(
                before.times(what), times_of(after, what), _limit(before, what, limit), fresh_before=again is not None
            )
            for what, limit in figures.items()
        }
        own, other = (max(one.wants[side] for one in judged.values()) for side in (0, 1))
        if (own and again is None) or not (own or other):
            return Held(before, after, _final(judged))
        builds = is_rebuilt(again, system) and len(after.fresh) + other >= NEAR_FRESH[1]
        note(f"near the limit: {own + other} fresh boots{', of null builds of both kernels' if builds else ''}")
        jobs = [
            boots.fresh_jobs(before.family, again, own, null_builds=builds) if again and before.family else [],
            boots.fresh_jobs(after, system, other, null_builds=builds),
        ]
        records = boots.engine.boot_all([*jobs[0], *jobs[1]])
        if jobs[0] and before.family is not None:
            fresh = (*before.family.fresh, *records[: len(jobs[0])])
            before = GateBaseline(before.name, replace(before.family, fresh=fresh))
        after = replace(after, fresh=(*after.fresh, *records[len(jobs[0]) :]))


def hold_noisy(before: GateBaseline, after: Family, figures: dict[str, Limit]) -> Held:
    """Return what boots on a noisy clock say; they were booted in turn."""
    if after.failed is not None or (before.family is not None and before.family.failed is not None):
        return Held(before, after, {})
    before.expect_like(after)
    judged = {}
    for what, limit in figures.items():
        sides = before.times(what).seeds, times_of(after, what).seeds
        judged[what] = judge_noisy(*sides, _limit(before, what, limit))
    return Held(before, after, judged)


def _limit(before: GateBaseline, what: str, limit: Limit) -> int | None:
    return limit.of(median_ns(before.times(what).seeds))


def _final(judged: dict[str, GateJudgement]) -> dict[str, GateJudgement]:
    why = "near the limit, and what it is held against is on record: it cannot be booted afresh"
    return {
        what: replace(one, verdict=GateVerdict.CANNOT_SAY, why=why) if any(one.wants) else one
        for what, one in judged.items()
    }
