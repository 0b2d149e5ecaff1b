"""Verdicts: the rule on plain figures, and how often it is wrong on noise."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from bootlab.errors import InputError
from bootlab.experiments.verdict import Judgement, virtual_verdict, wall_verdict
from bootlab.techniques.model.verdict import Verdict

MS = 1_000_000
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


def two_humped(share: float) -> Draw:
    return lambda rng, n: np.where(rng.random(n) < share, 0.0, 10.0) + rng.normal(size=n)


LAWS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "skewed": lambda rng, n: rng.lognormal(size=n),
    "two humps": two_humped(0.5),
    "two uneven humps": two_humped(1 / 3),
}


def test_a_saving_outside_the_spread_is_faster() -> None:
    assert virtual_verdict([100, 104, 98], [100, 101, 104], [80, 81, 79]) == Judgement(21, 6, Verdict.FASTER)


def test_a_cost_outside_the_spread_is_slower() -> None:
    assert virtual_verdict([100, 104, 98], [100, 101, 104], [120, 121, 122]).verdict is Verdict.SLOWER


def test_a_saving_inside_the_spread_shows_nothing() -> None:
    assert virtual_verdict([100, 120], [110, 110, 110], [91, 92, 93]) == Judgement(18, 20, Verdict.NO_DIFFERENCE_SHOWN)


def test_a_saving_must_clear_the_spread_by_a_quarter() -> None:
    assert virtual_verdict([100, 96], [100, 100, 100], [95, 95, 95]).verdict is Verdict.NO_DIFFERENCE_SHOWN
    assert virtual_verdict([100, 96], [100, 100, 100], [94, 94, 94]).verdict is Verdict.FASTER


def test_one_overlapping_boot_shows_nothing() -> None:
    assert virtual_verdict([100, 102], [100, 101, 102], [50, 50, 101]).verdict is Verdict.NO_DIFFERENCE_SHOWN


def test_a_system_that_never_moves_needs_any_saving_at_all() -> None:
    assert virtual_verdict([100] * 3, [100] * 3, [99] * 3).verdict is Verdict.FASTER
    assert virtual_verdict([100] * 3, [100] * 3, [100] * 3).verdict is Verdict.NO_DIFFERENCE_SHOWN


def test_baseline_members_count_as_null_even_when_not_listed() -> None:
    assert virtual_verdict([], [100, 150], [90, 90]).spread_ns == 50


def test_empty_families_are_refused() -> None:
    with pytest.raises(InputError, match="no boot before"):
        virtual_verdict([1], [], [1])
    with pytest.raises(InputError, match="no boot after"):
        virtual_verdict([1], [1], [])


def verdicts(law: str, gain: float, trials: int) -> list[Verdict]:
    rng = np.random.default_rng(23)
    found = []
    for _ in range(trials):
        boots = (1000 * MS + LAWS[law](rng, 9) * MS).astype(np.int64).tolist()
        before, null, after = boots[:3], boots[:6], [int(t_ns - gain * MS) for t_ns in boots[6:]]
        found.append(virtual_verdict(null, before, after).verdict)
    return found


@pytest.mark.parametrize("law", LAWS)
def test_a_change_that_does_nothing_rarely_gets_a_verdict(law: str) -> None:
    trials = 8000
    wrong = sum(verdict is not Verdict.NO_DIFFERENCE_SHOWN for verdict in verdicts(law, 0, trials))
    assert wrong < 0.01 * trials


def test_a_real_saving_is_found() -> None:
    assert sum(verdict is Verdict.FASTER for verdict in verdicts("normal", 6, 2000)) > 0.95 * 2000


def test_wall_clock() -> None:
    before = [100 * MS + noise for noise in (0, 3, 9, 4, 7, 2)]
    faster = wall_verdict(before, [80 * MS + noise for noise in (1, 8, 2, 5, 5)], seed=1)
    assert faster.verdict is Verdict.FASTER
    assert 0 <= faster.spread_ns < faster.saved_ns
    slower = wall_verdict(before, [120 * MS + noise for noise in (1, 8, 2, 5, 5)], seed=1)
    assert slower.verdict is Verdict.SLOWER
    assert 0 <= slower.spread_ns < -slower.saved_ns
    same = wall_verdict(before, before, seed=1)
    assert (same.saved_ns, same.verdict) == (0, Verdict.NO_DIFFERENCE_SHOWN)


def test_wall_clock_wants_five_boots() -> None:
    with pytest.raises(InputError, match="need at least 5"):
        wall_verdict([1, 2, 3], [1, 2, 3], seed=1)
