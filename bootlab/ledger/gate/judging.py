"""The gate's rule: has a figure become longer by more than its limit? Values in, values out; all in ns.

It is the rule of every verdict (experiments/verdict.py), asked of boots before that were made longer by the limit:
a change that does nothing is stopped as seldom as it gets a verdict elsewhere. What nobody could see is not passed but
told: every system has a smallest change that can be seen, and a limit below it is no limit.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from bootlab.errors import InputError
from bootlab.experiments.verdict import FEWEST_NULLS, FEWEST_SEEDS, NEAR_FRESH, Times, virtual_verdict, wall_verdict
from bootlab.measure.statistics.series import median_ns, saved, spread_ns
from bootlab.techniques.model.verdict import Verdict

NEAR_SPREADS: Final = 4
"""The smallest change, in spreads, where fresh boots of both sides confirm what is near.

Of changes of twice as much a gate whose limit is the smallest one misses 0.2 % at most, and it stops not one that does
nothing: tests/ledger/gate/test_rates.py, four laws of noise. With 2 spreads it misses up to 15 %, with 3 up to 0.9 %.
"""
PLAIN_SPREADS: Final = 7
"""The same where the side before has no fresh boots: there a change must be plain, of more than five spreads. With 6 it
misses up to 1.1 %."""
_LIMIT: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?|\.[0-9]{1,9}) ?(ns|us|ms|s|%)")
_UNITS_NS: Final[dict[str, float | None]] = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "%": None}
_LIMIT_BELOW: Final = 1e6


class GateVerdict(StrEnum):
    """What the gate says of a figure."""

    UNCHANGED = "unchanged"
    SHORTER = "shorter"
    LONGER = "longer"
    CANNOT_SAY = "cannot say"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class GateJudgement:
    """What is said of one figure; `longer_ns` is how much longer its median is, negative for shorter."""

    verdict: GateVerdict
    longer_ns: int
    limit_ns: int
    smallest_ns: int
    """The smallest change that this gate sees for certain on this system."""
    spread_ns: int
    why: str = ""
    wants: tuple[int, int] = (0, 0)
    """Fresh boots that are still missing, before and after."""


def judge_exact(before: Times, after: Times, limit_ns: int | None, *, fresh_before: bool) -> GateJudgement:
    """Judge a figure on the virtual clock. `limit_ns`: by how much it may become longer; None is the smallest change.

    `fresh_before`: whether the side before can be booted again, or is on record only. Raises InputError when a side has
    no boot.
    """
    # Of the first look alone: what is promised before a boot cannot depend on those that a near answer takes.
    spread = spread_ns([*before.seeds, *before.null])
    fresh_before = fresh_before or len(before.fresh) >= NEAR_FRESH[0]
    smallest_ns = max(1, (NEAR_SPREADS if fresh_before else PLAIN_SPREADS) * spread)
    allowed_ns = smallest_ns if limit_ns is None else limit_ns
    longer_ns = median_ns(after.seeds) - median_ns(before.seeds)
    said = GateJudgement(GateVerdict.UNCHANGED, longer_ns, allowed_ns, smallest_ns, spread)
    if len(before.seeds) < FEWEST_SEEDS or len(before.null) < FEWEST_NULLS:
        why = (
            f"an answer takes {FEWEST_SEEDS} seeds and {FEWEST_NULLS} null changes of the baseline, and on record are "
            f"{len(before.seeds)} and {len(before.null)}: bootlab try records them"
        )
        return replace(said, verdict=GateVerdict.CANNOT_SAY, why=why)
    if allowed_ns < smallest_ns:
        return replace(said, verdict=GateVerdict.CANNOT_SAY, why=_too_small(spread))
    if longer_ns > allowed_ns:
        later = Times(*([one + allowed_ns for one in part] for part in (before.seeds, before.null, before.fresh)))
        judged = virtual_verdict(later, after)
        if judged.verdict is Verdict.LONGER:
            return replace(said, verdict=GateVerdict.LONGER)
        if any(judged.wants):
            return replace(said, verdict=GateVerdict.CANNOT_SAY, why="near the limit", wants=judged.wants)
    if virtual_verdict(before, after).verdict is Verdict.SHORTER:
        return replace(said, verdict=GateVerdict.SHORTER)
    return said


def judge_either_way(before: Times, after: Times, limit_ns: int | None) -> GateJudgement:
    """Judge a figure of two sides that can both be booted again: longer or shorter, by more than `limit_ns` if given.

    What a gate lets pass is none of its changes; here each one counts that gets a verdict. Raises InputError when a
    side has no boot.
    """
    spread = spread_ns([*before.seeds, *before.null])
    smallest_ns = max(1, NEAR_SPREADS * spread)
    allowed_ns = smallest_ns if limit_ns is None else limit_ns
    judged = virtual_verdict(before, after)
    said = GateJudgement(GateVerdict.UNCHANGED, -judged.saved_ns, allowed_ns, smallest_ns, spread)
    if allowed_ns < smallest_ns:
        return replace(said, verdict=GateVerdict.CANNOT_SAY, why=_too_small(spread))
    if any(judged.wants):
        return replace(said, verdict=GateVerdict.CANNOT_SAY, why="near the limit", wants=judged.wants)
    if limit_ns is not None and abs(judged.saved_ns) <= limit_ns:
        return said
    verdicts = {Verdict.LONGER: GateVerdict.LONGER, Verdict.SHORTER: GateVerdict.SHORTER}
    return replace(said, verdict=verdicts.get(judged.verdict, GateVerdict.UNCHANGED))


def judge_noisy(before: Sequence[int], after: Sequence[int], limit_ns: int | None) -> GateJudgement:
    """Judge a figure on a noisy clock: longer or not where the 95 % interval leaves the limit out, else no answer.

    Raises InputError below five boots a side.
    """
    interval = saved(before, after, seed=1)
    reach = max(interval.high_ns - interval.estimate_ns, interval.estimate_ns - interval.low_ns)
    smallest_ns = max(1, 2 * reach)
    allowed_ns = smallest_ns if limit_ns is None else limit_ns
    said = GateJudgement(GateVerdict.UNCHANGED, -interval.estimate_ns, allowed_ns, smallest_ns, reach)
    if allowed_ns < smallest_ns:
        return replace(said, verdict=GateVerdict.CANNOT_SAY, why=_too_small(reach))
    at_limit = wall_verdict([one + allowed_ns for one in before], after, seed=1).verdict
    if at_limit is Verdict.SLOWER:
        return replace(said, verdict=GateVerdict.LONGER)
    if at_limit is not Verdict.FASTER:
        return replace(said, verdict=GateVerdict.CANNOT_SAY, why="the 95 % interval holds the limit: boot more")
    shorter = wall_verdict(before, after, seed=1).verdict is Verdict.FASTER
    return replace(said, verdict=GateVerdict.SHORTER if shorter else GateVerdict.UNCHANGED)


@dataclass(frozen=True, slots=True)
class Limit:
    """By how much a figure may become longer: ns, or a share of what it was."""

    ns: int | None = None
    share: float | None = None

    def of(self, before_ns: int) -> int | None:
        """Return the limit of a figure that was `before_ns`; None where none was given."""
        return round(self.share * before_ns) if self.share is not None else self.ns


def parse_limit(words: str) -> Limit:
    """Return the limit in `2ms`, `500us`, `0.1s` or `1%`. Raises InputError for anything else."""
    found = _LIMIT.fullmatch(words)
    if found is not None and 0 < (value := float(found[1])) < _LIMIT_BELOW:
        unit = _UNITS_NS[found[2]]
        return Limit(share=value / 100) if unit is None else Limit(ns=max(1, round(value * unit)))
    raise InputError(f"--limit {words}: not a time or a share", hint="--limit 2ms, 500us, 0.1s or 1%")


def _too_small(spread: int) -> str:
    return f"the limit is below what can be seen: boots move by {spread / 1e6:.3g} ms for no reason"
