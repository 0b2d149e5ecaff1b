"""How well a few boots know their median, without any assumption about how boots are spread."""

from collections.abc import Sequence
from math import comb
from typing import Final

from bootlab.errors import InputError

_OUTSIDE: Final = 0.025


def median_interval(values: Sequence[int]) -> tuple[int, int]:
    """Return an interval that holds the median of the law behind `values` with 95 % probability at least.

    Between two of the values, counted alike from both ends (the sign test's interval: H. A. David and H. N. Nagaraja,
    Order Statistics, 2003, section 7.1). Fewer than six values cannot promise 95 %: their whole range is returned.
    Raises InputError when there is no value.
    """
    if not values:
        raise InputError("no boot to summarize", hint="every boot of the series failed; bootlab boot shows one of them")
    ordered, n = sorted(values), len(values)
    below, cut = 0.0, 0
    # Each value is below the median with probability 1/2: how many may be left out at either end?
    while (below := below + comb(n, cut) / 2**n) <= _OUTSIDE:
        cut += 1
    cut = max(cut - 1, 0)
    return ordered[cut], ordered[n - 1 - cut]
