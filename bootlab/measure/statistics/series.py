"""Statistics of boot times: what a series shows, and whether it has two humps. Values in, values out; all in ns.

Boot times are skewed and often two-humped, so nothing here assumes a normal law, and no mean is taken: the mean of two
humps is a boot that never happened. numpy is imported where it is used, to keep `import bootlab` cheap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bootlab.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_BOOTS: Final = 5
"""Fewer boots a side say nothing about a noisy clock: their medians' interval is their range."""
_RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Summary:
    """A series in four figures."""

    n: int
    min_ns: int
    median_ns: int
    max_ns: int


@dataclass(frozen=True, slots=True)
class Interval:
    """A difference and the 95 % interval around it."""

    low_ns: int
    estimate_ns: int
    high_ns: int

    @property
    def spans_zero(self) -> bool:
        return self.low_ns <= 0 <= self.high_ns


@dataclass(frozen=True, slots=True)
class Humps:
    """Two groups of boots with nothing between them."""

    low: Summary
    high: Summary


def median_ns(values: Sequence[int]) -> int:
    """Return the median; the middle of the two middle values, rounded down, when their number is even.

    Raises InputError when there is no value.
    """
    ordered = sorted(_some(values))
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) // 2


def spread_ns(values: Sequence[int]) -> int:
    """Return the range of `values`: of boots that differ in nothing that matters, how far the system moves anyway."""
    return max(_some(values)) - min(values)


def summarize(values: Sequence[int]) -> Summary:
    """Return number, least, median and greatest of `values`. Raises InputError when there is none."""
    return Summary(len(values), min(_some(values)), median_ns(values), max(values))


def saved(before: Sequence[int], after: Sequence[int], *, seed: int) -> Interval:
    """Return median(before) - median(after) with its 95 % interval; positive is time saved.

    Percentile bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13): both sides are
    resampled 10,000 times. The same seed gives the same interval. An interval that spans zero is "no difference shown",
    which is not "no difference". Raises InputError below five values on either side.
    """
    import numpy as np

    for side, values in (("before", before), ("after", after)):
        if len(values) < FEWEST_BOOTS:
            raise InputError(
                f"{len(values)} boots {side}, need at least {FEWEST_BOOTS} to tell a difference from noise",
                hint=f"-n {2 * FEWEST_BOOTS} is a good start",
            )
    generator = np.random.default_rng(seed)

    def medians(values: Sequence[int]) -> "NDArray[np.float64]":
        drawn = generator.choice(np.asarray(values, dtype=np.int64), size=(_RESAMPLES, len(values)))
        middles: NDArray[np.float64] = np.median(drawn, axis=1)
        return middles

    low, high = np.percentile(medians(before) - medians(after), (2.5, 97.5))
    return Interval(int(np.floor(low)), median_ns(before) - median_ns(after), int(np.ceil(high)))


def _some(values: Sequence[int]) -> Sequence[int]:
    if not values:
        raise InputError("no boot to summarize", hint="every boot of the series failed; bootlab boot shows one of them")
    return values


# 99 % quantiles of the dip of n uniform values, the hardest of all one-humped laws to tell from two humps: Hartigan and
# Hartigan's table as extended to 1,000,001 samples per n by M. Maechler (R package diptest, qDiptab).
_DIP_99: Final = (
    (5, 0.19651),
    (6, 0.19186),
    (7, 0.18412),
    (8, 0.17299),
    (9, 0.16416),
    (10, 0.15968),
    (15, 0.13598),
    (20, 0.12062),
    (30, 0.10148),
    (50, 0.08120),
    (100, 0.05902),
    (200, 0.04269),
)
# A hump is at least a fifth of the boots, and two of them; fewer are outliers.
_FEWEST_SHARE = 5


def humps(values: Sequence[int]) -> Humps | None:
    """Return the two humps of a series, or None when one hump explains it or there are fewer than five boots.

    Dip test (J. A. Hartigan and P. M. Hartigan, The Dip Test of Unimodality, Annals of Statistics 13, 1985): two humps
    when no one-humped distribution function comes as close to that of `values` as it would for 99 % of uniform samples
    of this size. Simulated on 1,500 to 4,000 series per law and size, 5 to 50 boots: false alarms up to 1.4 % on
    uniform values, under 1 % on normal, exponential, lognormal and outlier-ridden ones. Two equal humps 20 of their
    standard deviations apart are found in 68 % of series of 10 boots and in 96 % of series of 20; the overlooked series
    have few boots in one hump.
    The series is then cut at its widest gap that leaves a fifth of the boots on either side.
    """
    n = len(values)
    if n < _DIP_99[0][0] or _one_hump_fits(values, _critical_dip(n)):
        return None
    ordered = sorted(values)
    fewest = max(2, -(-n // _FEWEST_SHARE))
    gaps = [(ordered[cut] - ordered[cut - 1], cut) for cut in range(fewest, n - fewest + 1)]
    if not gaps:
        return None
    _, cut = max(gaps)
    return Humps(summarize(ordered[:cut]), summarize(ordered[cut:]))


def _critical_dip(n: int) -> float:
    import numpy as np

    # The dip shrinks with the root of n, so that is what is interpolated, and kept beyond the table.
    sizes = [size for size, _ in _DIP_99]
    return float(np.interp(n, sizes, [dip * size**0.5 for size, dip in _DIP_99]) / n**0.5)


def _one_hump_fits(values: Sequence[int], within: float) -> bool:
    # Is there a distribution function, convex up to some mode and concave after it, that stays within `within` of the
    # empirical one? The mode can be taken at a value: between two values a straight line is convex and concave.
    import numpy as np

    points, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    above = np.cumsum(counts) / len(values)
    below = above - counts / len(values)
    lowest, fits = _convex_up_to(points, below, above, within)
    # Seen from the other end, what is concave is convex.
    highest, fits_after = _convex_up_to(-points[::-1], 1 - above[::-1], 1 - below[::-1], within)
    return bool(np.any(fits & fits_after[::-1] & (lowest <= 1 - highest[::-1] + 1e-12)))


def _convex_up_to(
    points: "NDArray[np.float64]", below: "NDArray[np.float64]", above: "NDArray[np.float64]", within: float
) -> "tuple[NDArray[np.float64], NDArray[np.bool_]]":
    # For each point: the least left limit there of a rising convex function that stays inside the band before it, and
    # whether there is one. `below` and `above` are the empirical function left and right of its step at each point.
    import numpy as np

    least, most = above - within, below + within
    distance = points[:, None] - points[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(distance > 0, (least[:, None] - most[None, :]) / distance, 0.0)
    # A convex function that is at most `most` at i and at least `least` at j > i goes on at least this steeply after j.
    steepest = np.maximum(slopes.max(axis=1), 0.0)
    lines = np.where(distance > 0, least[None, :] + steepest[None, :] * distance, -np.inf)
    reached = lines.max(axis=1)
    limit = np.maximum(reached, below - within)
    inside = np.maximum(reached, least) <= most + 1e-12
    passes = np.concatenate(([True], np.logical_and.accumulate(inside)[:-1]))
    return limit, passes & (limit <= most + 1e-12)
