"""Verdicts: the rule on plain figures. How often it is wrong on noise: tests/bench/test_verdict_rates.py."""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import pytest

from bootlab.errors import InputError
from bootlab.experiments.verdict import (
    NEAR_FRESH,
    Judgement,
    Times,
    chance_margin_ns,
    chance_of_order,
    exceeds_spread,
    virtual_verdict,
    wall_verdict,
)
from bootlab.techniques.model.verdict import Verdict
from tests.simulated_boots import LAWS, Law, useless_techniques

MS = 1_000_000
BASE = Times([100, 101, 104], [100, 104, 98, 101, 103])
NEAR = Times([85, 86, 84])
"""16 below `BASE`: more than its spread, which is 6, and less than five of them."""


def judged(before: Times, *after: int, fresh: Sequence[int] = ()) -> Judgement:
    return virtual_verdict(before, Times(after, fresh=fresh))


def with_fresh(before: Times, fresh: Sequence[int]) -> Times:
    return Times(before.seeds, before.null, fresh)


def test_a_plain_saving_takes_five_boots() -> None:
    assert judged(BASE, 60, 61, 59) == Judgement(41, 6, Verdict.NO_DIFFERENCE_SHOWN, (0, 2))
    assert judged(BASE, 60, 61, 59, fresh=[62]).wants == (0, 1)
    assert judged(BASE, 60, 61, 59, fresh=[62, 58]) == Judgement(41, 6, Verdict.SHORTER)
    assert judged(BASE, 60, 61, 59, 62, 58) == Judgement(41, 6, Verdict.SHORTER), "further seeds count as well"


def test_a_plain_cost_is_longer() -> None:
    assert judged(BASE, 140, 141, 142, fresh=[139, 150]).verdict is Verdict.LONGER


def test_a_fresh_boot_inside_makes_what_was_plain_near() -> None:
    one = judged(BASE, 60, 61, 59, fresh=[62, 101])
    assert (one.verdict, one.wants) == (Verdict.NO_DIFFERENCE_SHOWN, (8, 3))


def test_a_near_saving_takes_fresh_boots_of_both_sides() -> None:
    one = virtual_verdict(BASE, NEAR)
    assert (one.verdict, one.wants, one.saved_ns) == (Verdict.NO_DIFFERENCE_SHOWN, NEAR_FRESH, 16)
    lower, higher = [85, 84, 86, 83, 87], [100, 99, 101, 102, 98, 104, 97, 103]
    assert judged(with_fresh(BASE, higher[:5]), *NEAR.seeds, fresh=lower[:1]).wants == (3, 4)
    one = judged(with_fresh(BASE, higher), *NEAR.seeds, fresh=lower)
    assert (one.verdict, one.wants) == (Verdict.SHORTER, (0, 0))
    assert one.spread_ns == 7, "the fresh boots before show how far it moves as well"
    assert one.saved_ns == 15, "of the fresh boots, which nobody chose"


def test_of_two_single_figures_only_more_than_the_spread_counts() -> None:
    assert exceeds_spread(7, 6)
    assert not exceeds_spread(6, 6)
    assert not exceeds_spread(-7, 6), "shorter is not larger"


def test_single_boots_lie_apart_by_chance_as_far_as_a_verdict_lets_pass() -> None:
    spread_ns = 8 * MS
    margin_ns = chance_margin_ns(spread_ns)
    before = Times([100 * MS] * 3, [100 * MS, 100 * MS + spread_ns, 100 * MS])
    for by_ns, wants_more in ((margin_ns, False), (margin_ns + 1, True)):
        judged_so = virtual_verdict(before, Times([100 * MS - by_ns] * 3))
        assert (judged_so.wants != (0, 0)) is wants_more


@pytest.mark.parametrize(
    ("lower", "verdict"),
    [
        # Five of the forty pairs in the wrong order: by chance in 1.5 % of cases. With four it is 0.9 %.
        ([85, 84, 86, 83, 102], Verdict.NO_DIFFERENCE_SHOWN),
        ([85, 84, 86, 83, 100], Verdict.SHORTER),
        ([112, 113, 114, 115, 116], Verdict.NO_DIFFERENCE_SHOWN),
    ],
)
def test_fresh_boots_that_do_not_agree_confirm_nothing(lower: list[int], verdict: Verdict) -> None:
    higher = [110, 105, 106, 95, 96, 97, 98, 101]
    assert judged(with_fresh(BASE, higher), *NEAR.seeds, fresh=lower).verdict is verdict


def test_one_outlier_among_the_fresh_boots_before_does_not_hide_a_saving() -> None:
    higher = [100, 99, 101, 102, 98, 104, 97, 20]
    assert (
        judged(with_fresh(BASE, higher), *NEAR.seeds, fresh=[85, 84, 86, 83, 87]).verdict is Verdict.NO_DIFFERENCE_SHOWN
    )
    higher = [100, 99, 101, 102, 98, 104, 97, 86]
    assert judged(with_fresh(BASE, higher), *NEAR.seeds, fresh=[85, 84, 86, 83, 87]).verdict is Verdict.SHORTER


def test_what_the_system_moved_elsewhere_makes_it_near() -> None:
    after = Times([60, 61, 59], fresh=[62, 58])
    assert virtual_verdict(BASE, after, known_ns=8).verdict is Verdict.SHORTER
    one = virtual_verdict(BASE, after, known_ns=9)
    assert (one.verdict, one.spread_ns, one.wants) == (Verdict.NO_DIFFERENCE_SHOWN, 9, (8, 3))


def test_a_saving_inside_the_spread_is_not_looked_at() -> None:
    before = Times([110, 110, 110], [100, 120])
    assert judged(before, 91, 92, 93) == Judgement(18, 20, Verdict.NO_DIFFERENCE_SHOWN)


def test_a_difference_must_clear_the_spread_by_a_quarter() -> None:
    before = Times([100, 100, 100], [100, 96])
    assert judged(before, 95, 95, 95).wants == (0, 0)
    assert judged(before, 94, 94, 94).wants == NEAR_FRESH


def test_one_overlapping_boot_shows_nothing() -> None:
    assert judged(Times([100, 101, 102], [100, 102]), 50, 50, 101) == Judgement(51, 2, Verdict.NO_DIFFERENCE_SHOWN)


def test_a_system_that_never_moves_needs_any_saving_at_all() -> None:
    before = Times([100] * 3, [100] * 3)
    assert judged(before, *[99] * 5).verdict is Verdict.SHORTER
    assert judged(before, *[100] * 5).verdict is Verdict.NO_DIFFERENCE_SHOWN


def test_empty_families_are_refused() -> None:
    with pytest.raises(InputError, match="no boot before"):
        virtual_verdict(Times([], [1]), Times([1]))
    with pytest.raises(InputError, match="no boot after"):
        virtual_verdict(Times([1]), Times([], [1]))
    with pytest.raises(InputError, match="no boots to rank"):
        chance_of_order([], [1])


def test_the_chance_of_an_order_is_counted() -> None:
    """Every order of two and three different values, one by one."""
    counted = []
    for lower in combinations(range(5), 2):
        higher = [rank for rank in range(5) if rank not in lower]
        counted.append(sum(one > other for one in lower for other in higher))
    for misplaced in range(7):
        lower, higher = next(
            (list(lower), [rank for rank in range(5) if rank not in lower])
            for lower in combinations(range(5), 2)
            if counted[list(combinations(range(5), 2)).index(lower)] == misplaced
        )
        at_most = sum(one <= misplaced for one in counted)
        assert chance_of_order(lower, higher) == at_most / comb(5, 2)


def test_values_that_are_alike_err_towards_chance() -> None:
    assert chance_of_order([1, 1, 1], [1, 1, 1]) > 0.5
    assert chance_of_order([1, 2, 3], [3, 4, 5]) == chance_of_order([1, 2, 4], [3, 5, 6])


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_change_that_does_nothing_rarely_gets_a_verdict(law: Law) -> None:
    """100 trials of ten useless techniques; the bench takes many more, and its rates are in docs/measuring.md."""
    assert sum(useless_techniques(law, trials=100, techniques=10, seed=23)) <= 5


def test_a_real_saving_is_found() -> None:
    normal = next(law for law in LAWS if law.name == "normal")
    found = sum(useless_techniques(normal, trials=200, techniques=1, seed=7, saved=8.0))
    assert found > 0.95 * 200


def test_wall_clock() -> None:
    before = [100 * MS + noise for noise in (0, 3, 9, 4, 7, 2)]
    faster = wall_verdict(before, [80 * MS + noise for noise in (1, 8, 2, 5, 5)], seed=1)
    assert faster.verdict is Verdict.FASTER
    assert faster.saved_ns - faster.spread_ns > 19 * MS
    slower = wall_verdict(before, [120 * MS + noise for noise in (1, 8, 2, 5, 5)], seed=1)
    assert slower.verdict is Verdict.SLOWER
    assert slower.saved_ns + slower.spread_ns < -19 * MS
    same = wall_verdict(before, before, seed=1)
    assert (same.verdict, same.saved_ns) == (Verdict.NO_DIFFERENCE_SHOWN, 0)


def test_wall_clock_needs_boots() -> None:
    with pytest.raises(InputError, match="need at least 5"):
        wall_verdict([1, 2, 3], [1, 2, 3], seed=1)
