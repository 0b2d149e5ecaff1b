"""Verdict: is a saving more than the system moves for no reason? Values in, values out; all in ns.

An exact boot is not a significant one: the same boot repeats to the nanosecond, yet any change, even a meaningless word
on the command line, re-rolls addresses and scheduling. So a verdict compares families of boots, never two boots.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bootlab.errors import InputError
from bootlab.measure.statistics.series import median_ns, saved, spread_ns
from bootlab.techniques.model.verdict import Verdict

# A saving must be more than 5/4 of the spread; virtual_verdict says what that buys.
_SPREAD_FACTOR = (5, 4)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a change saved (negative: cost), and what a saving must exceed to be one."""

    saved_ns: int
    spread_ns: int
    verdict: Verdict


def virtual_verdict(null: Sequence[int], before: Sequence[int], after: Sequence[int]) -> Judgement:
    """Judge a change by exact boots: `before` and `after` with the same seeds, `null` with changes that mean nothing.

    `null` are the boots that differ from the baseline by seed or by a meaningless word only; the members of `before`
    count as such whether or not they are in it. Faster: the medians differ by more than 5/4 of the range of the null
    family, and every boot after is shorter than every null boot. Slower: likewise. Else no difference shown.

    How often a change that does nothing gets a verdict, simulated 400,000 times per noise law with 3 boots before,
    5 more null boots and 3 after: normal 0.1 %, uniform 0.15 %, exponential 0.35 %, lognormal (sigma 1) 0.4 %, two
    humps 10 or 50 standard deviations apart 0.1 %. Without the factor 5/4 it is up to 0.5 %, and without the separation
    as well up to 3 %; with only 3 more null boots up to 0.8 %. Skewed noise errs towards "slower". The rate is per
    change: of 25 useless ones tried together, one gets a verdict in about one trial in ten. A true saving of 5 standard
    deviations of normal noise is found in 85 % of trials, one of 6 in 95 %.
    Raises InputError when a family is empty.
    """
    for name, family in (("before", before), ("after", after)):
        if not family:
            raise InputError(f"no boot {name} the change to judge it by")
    unchanged = [*null, *before]
    gain_ns, spread = median_ns(before) - median_ns(after), spread_ns(unchanged)
    more, than = _SPREAD_FACTOR
    verdict = Verdict.NO_DIFFERENCE_SHOWN
    if abs(gain_ns) * than > spread * more:
        if max(after) < min(unchanged):
            verdict = Verdict.FASTER
        elif min(after) > max(unchanged):
            verdict = Verdict.SLOWER
    return Judgement(gain_ns, spread, verdict)


def wall_verdict(before: Sequence[int], after: Sequence[int], *, seed: int) -> Judgement:
    """Judge a change by noisy boots, interleaved: a verdict when the 95 % interval of the saving leaves out zero.

    `spread_ns` is how far the interval reaches from the saving towards zero. A change that does nothing gets a verdict
    in 3 to 5 % of trials (600 simulated per law and size: normal, lognormal and two-humped noise, 5, 7, 10 and 20 boots
    a side). Raises InputError below five boots on either side.
    """
    interval = saved(before, after, seed=seed)
    gain_ns = interval.estimate_ns
    reach = gain_ns - interval.low_ns if gain_ns >= 0 else interval.high_ns - gain_ns
    if interval.spans_zero:
        verdict = Verdict.NO_DIFFERENCE_SHOWN
    else:
        verdict = Verdict.FASTER if interval.low_ns > 0 else Verdict.SLOWER
    return Judgement(gain_ns, reach, verdict)
