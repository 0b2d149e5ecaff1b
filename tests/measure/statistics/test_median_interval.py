"""The interval against the published table of the sign test, and against what it promises."""

import random

import pytest

from bootlab.errors import InputError
from bootlab.measure.statistics.median_interval import median_interval


@pytest.mark.parametrize(
    ("n", "left_out"),
    # Conover, Practical Nonparametric Statistics (1999), table A3 gives the same ranks from the binomial distribution.
    [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (10, 1), (11, 1), (12, 2), (15, 3), (20, 5), (25, 7), (30, 9), (50, 17)],
)
def test_leaves_out_as_many_at_either_end_as_it_may(n: int, left_out: int) -> None:
    values = list(range(100, 100 + n))
    random.Random(n).shuffle(values)
    assert median_interval(values) == (100 + left_out, 100 + n - 1 - left_out)


def test_holds_the_median_as_often_as_promised() -> None:
    generator = random.Random(2)
    held = 0
    for _ in range(2000):
        low, high = median_interval([round(generator.expovariate(1e-6)) for _ in range(15)])
        held += low <= 693_147 <= high
    assert held / 2000 > 0.95


def test_nothing_has_no_median() -> None:
    with pytest.raises(InputError, match="no boot"):
        median_interval([])
