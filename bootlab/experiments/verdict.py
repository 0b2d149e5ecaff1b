"""Verdict: is a saving more than the system moves for no reason? Values in, values out; all in ns.

An exact boot is not a significant one: the same boot repeats to the nanosecond, yet any change, even a meaningless word
on the command line, re-rolls addresses and scheduling. So a verdict compares families of boots, never two boots; and it
is said only when boots that nobody had seen before show the same. `make bench` says how often it is wrong
(tests/bench/test_verdict_rates.py), docs/measuring.md what that was.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from bootlab.errors import InputError
from bootlab.measure.statistics.series import median_ns, saved, spread_ns
from bootlab.techniques.model.verdict import Verdict

FEWEST_SEEDS: Final = 3
"""Boots a side that a difference is first seen in (virtual clock)."""
FEWEST_NULLS: Final = 3
"""Null changes of the side before, or of the baseline that a whole trial is compared with."""
FEWEST_WALL: Final = 5
"""Boots a side on a noisy clock."""
PLAIN_BOOTS: Final = 5
"""Boots of the changed system, fresh ones included, that a difference of more than `PLAIN` spreads takes."""
NEAR_FRESH: Final = (8, 5)
"""Fresh boots before and after that confirm a smaller one."""
PLAIN: Final = 5
"""A difference of so many spreads is plain: no law of noise was found that comes that far by chance."""

WRONG: Final = {"virtual": 0.001, "wall": 0.05}
"""Clock -> the share of changes that do nothing and get a verdict, at most (docs/measuring.md, Rates)."""

# A difference must be more than 5/4 of the spread to be looked at more closely.
_SPREAD_FACTOR: Final = (5, 4)
# By chance alone fresh boots would lie so far to the same side once in a hundred times, whatever the law of the noise.
_CONFIRMED: Final = 0.01


@dataclass(frozen=True, slots=True)
class Times:
    """ns to ready of the boots of one side."""

    seeds: Sequence[int]
    """With the seeds that both sides have; a difference is seen in them first."""
    null: Sequence[int] = ()
    """With changes that mean nothing."""
    fresh: Sequence[int] = ()
    """With other seeds and other changes that mean nothing, booted because a difference was seen."""

    @property
    def all(self) -> list[int]:
        return [*self.seeds, *self.null, *self.fresh]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a change saved (negative: cost), and what a saving must exceed to be one."""

    saved_ns: int
    """By the fresh boots where both sides have all that a near difference takes, else by the seeds.

    Whoever looks at a difference because it is large sees it too large; the fresh boots were not chosen.
    """
    spread_ns: int
    verdict: Verdict
    wants: tuple[int, int] = (0, 0)
    """Fresh boots that are still missing, before and after: a difference was seen, and is not confirmed yet."""


def virtual_verdict(before: Times, after: Times, *, known_ns: int = 0) -> Judgement:
    """Judge a change by exact boots. Shorter, longer, or no difference shown; the last too while boots are wanted.

    A difference is seen when the medians of the seeds differ by more than 5/4 of the spread, and every boot after lies
    beyond every unchanged one. The spread is the range of all unchanged boots; `known_ns` is a wider one that the same
    system showed elsewhere, in a trial that of its baseline. What was seen is then confirmed:

    - it is plain, more than five times the spread: five boots after, fresh ones among them, lie beyond every unchanged
      one;
    - it is near: of eight fresh boots before and five after the latter rank so low (or high) as by chance in one case
      of a hundred (Mann and Whitney, Annals of Mathematical Statistics 18, 1947; exact, one side).

    Raises InputError when a side has no boot with a seed.
    """
    for name, side in (("before", before), ("after", after)):
        if not side.seeds:
            raise InputError(f"no boot {name} the change to judge it by")
    first_ns = [*before.seeds, *before.null]
    gain_ns = median_ns(before.seeds) - median_ns(after.seeds)
    spread = max(spread_ns(before.all), known_ns)
    verdict = _seen(gain_ns, spread_ns(first_ns), first_ns, after.seeds)
    if verdict is Verdict.NO_DIFFERENCE_SHOWN:
        return Judgement(gain_ns, spread, verdict)
    if abs(gain_ns) > PLAIN * spread and _beyond(verdict, before.all, after.all):
        missing = max(0, PLAIN_BOOTS - len(after.all))
        return Judgement(gain_ns, spread, Verdict.NO_DIFFERENCE_SHOWN if missing else verdict, (0, missing))
    wanted_before, wanted_after = NEAR_FRESH
    wants = max(0, wanted_before - len(before.fresh)), max(0, wanted_after - len(after.fresh))
    if any(wants):
        return Judgement(gain_ns, spread, Verdict.NO_DIFFERENCE_SHOWN, wants)
    lower, higher = (after.fresh, before.fresh) if verdict is Verdict.SHORTER else (before.fresh, after.fresh)
    confirmed = chance_of_order(lower, higher) <= _CONFIRMED
    gain_ns = median_ns(before.fresh) - median_ns(after.fresh)
    return Judgement(gain_ns, spread, verdict if confirmed else Verdict.NO_DIFFERENCE_SHOWN)


def wall_verdict(before: Sequence[int], after: Sequence[int], *, seed: int) -> Judgement:
    """Judge a change by noisy boots, interleaved: a verdict when the 95 % interval of the saving leaves out zero.

    `spread_ns` is how far the interval reaches from the saving towards zero. A change that does nothing gets a verdict
    in 2.4 to 5.2 % of trials (1,000 simulated per law and size: tests/bench/test_verdict_rates.py; eleven laws and real
    boots, 5, 7, 10 and 20 a side). Raises InputError below five boots on either side.
    """
    interval = saved(before, after, seed=seed)
    gain_ns = interval.estimate_ns
    reach = gain_ns - interval.low_ns if gain_ns >= 0 else interval.high_ns - gain_ns
    if interval.spans_zero:
        verdict = Verdict.NO_DIFFERENCE_SHOWN
    else:
        verdict = Verdict.FASTER if interval.low_ns > 0 else Verdict.SLOWER
    return Judgement(gain_ns, reach, verdict)


def exceeds_spread(difference_ns: int, spread: int) -> bool:
    """Return whether one figure is larger than another by more than the system moves for no reason (`spread`, in ns).

    Of two single figures this is all that can be asked, and it is no verdict: that takes families of boots.
    """
    return difference_ns > spread


def chance_margin_ns(spread: int) -> int:
    """Return how far two single boots may lie apart by chance: below it a verdict does not look at a difference."""
    more, than = _SPREAD_FACTOR
    return round(more / than * spread)


def chance_of_order(lower: Sequence[int], higher: Sequence[int]) -> float:
    """Return how often chance alone would put `lower` at least so far below `higher`, both drawn from one law.

    Exact where no two values are alike. Of two that are alike half a point goes to either side, which errs towards
    more often. Raises InputError when a side is empty.
    """
    if not lower or not higher:
        raise InputError("no boots to rank")
    twice_misplaced = sum((one > other) * 2 + (one == other) for one in lower for other in higher)
    ways = _ways(len(lower), len(higher))
    # Half a misplaced pair counts as a whole one.
    return sum(ways[: -(-twice_misplaced // 2) + 1]) / sum(ways)


@cache
def _ways(lower: int, higher: int) -> list[int]:
    """Number of orders of so many values with 0, 1, 2 ... pairs in which the one of `lower` is the greater."""
    if not lower or not higher:
        return [1]
    # The greatest of all is one of `lower`, above all of `higher`, or it is not.
    ways = [0] * (lower * higher + 1)
    for misplaced, count in enumerate(_ways(lower - 1, higher)):
        ways[misplaced + higher] += count
    for misplaced, count in enumerate(_ways(lower, higher - 1)):
        ways[misplaced] += count
    return ways


def _seen(gain_ns: int, spread: int, unchanged: Sequence[int], after: Sequence[int]) -> Verdict:
    more, than = _SPREAD_FACTOR
    if abs(gain_ns) * than > spread * more:
        for verdict in (Verdict.SHORTER, Verdict.LONGER):
            if _beyond(verdict, unchanged, after):
                return verdict
    return Verdict.NO_DIFFERENCE_SHOWN


def _beyond(verdict: Verdict, unchanged: Sequence[int], after: Sequence[int]) -> bool:
    return max(after) < min(unchanged) if verdict is Verdict.SHORTER else min(after) > max(unchanged)
