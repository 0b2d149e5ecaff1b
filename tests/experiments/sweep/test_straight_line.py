"""Slopes against lines whose answer is known, and against numpy's own."""

import numpy as np
import pytest

from bootlab.experiments.sweep.straight_line import fit, slope


def test_points_on_a_line_give_it_back() -> None:
    line = fit([1, 2, 4, 8], [1_000 + 250 * x for x in (1, 2, 4, 8)])
    assert (line.slope, line.at_zero, line.residual) == (250, 1000, 0)
    assert line.is_straight(4, spread_ns=0) is True


def test_a_step_is_no_straight_line() -> None:
    # What comes once, with the second CPU of any number.
    line = fit([1, 2, 4, 8], [0, 100, 100, 100])
    assert round(line.residual, 1) == 48.7
    assert line.is_straight(4, spread_ns=10) is False
    assert line.is_straight(4, spread_ns=50) is True, "noise of that size would hide it"


def test_two_points_cannot_tell() -> None:
    line = fit([1, 2], [5, 9])
    assert (line.slope, line.is_straight(2, spread_ns=0)) == (4, None)


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_numpy(seed: int) -> None:
    generator = np.random.default_rng(seed)
    places = sorted(generator.uniform(0, 8, 6))
    values = [int(value) for value in generator.integers(0, 10**9, 6)]
    wanted = np.polyfit(places, values, 1)
    line = fit(places, values)
    assert [line.slope, line.at_zero] == pytest.approx(list(wanted))
    assert slope(places, values) == line.slope
    assert line.residual == pytest.approx(max(abs(np.polyval(wanted, places) - values)))
