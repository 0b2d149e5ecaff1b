"""The search of a bisection on made-up lines: what it finds, what it measures for that, and what it cannot see."""

import random
from collections.abc import Container, Sequence

import pytest

from bootlab.ledger.bisect.search import Stretch, middle_out, most_measured, search


class Levels:
    """A line whose states have levels; two differ by more than `least`."""

    def __init__(self, levels: Sequence[int], broken: Container[int] = (), least: int = 0) -> None:
        self.levels = levels
        self.broken = broken
        self.least = least
        self.asked: set[int] = {0, len(levels) - 1}
        self.tried: list[int] = []

    def usable(self, index: int) -> bool:
        if index not in self.asked:
            self.tried.append(index)
        self.asked.add(index)
        return index not in self.broken

    def differ(self, before: int, after: int) -> bool:
        assert before in self.asked and after in self.asked, "only what was measured can be compared"
        return abs(self.levels[after] - self.levels[before]) > self.least


def levels(length: int, steps: dict[int, int]) -> list[int]:
    return [sum(by for at, by in steps.items() if at <= index) for index in range(length)]


def test_a_step_is_found_wherever_it_is_with_as_few_as_promised() -> None:
    for length in (2, 3, 4, 17, 65, 100):
        for at in range(1, length):
            line = Levels(levels(length, {at: 5}))
            assert search(line, length - 1).changed == [Stretch(at - 1, at)]
            assert len(line.asked) <= most_measured(length - 1, 1)
    assert most_measured(64, 1) == 8


def test_steps_of_one_direction_are_all_found_with_as_few_as_promised() -> None:
    chance = random.Random(1)
    for _ in range(300):
        length = chance.randint(2, 200)
        steps = {
            at: chance.randint(1, 9) for at in chance.sample(range(1, length), chance.randint(1, min(6, length - 1)))
        }
        line = Levels(levels(length, steps))
        found = search(line, length - 1)
        assert [one.after for one in found.changed] == sorted(steps)
        assert len(line.asked) <= most_measured(length - 1, len(steps))


def test_steps_of_both_directions_are_found_where_no_halving_hides_them() -> None:
    found = search(Levels(levels(65, {20: 10, 41: -5})), 64)
    assert [(one.before, one.after) for one in found.changed] == [(19, 20), (40, 41)]


def test_steps_that_cancel_each_other_are_found_by_a_thorough_search_alone() -> None:
    cancelling = levels(33, {5: 10, 9: -10, 30: 3})
    found = search(Levels(cancelling), 32)
    assert [one.after for one in found.changed] == [30]
    assert (0, 16) in found.alike and found.not_looked_into >= 15
    line = Levels(cancelling)
    assert [one.after for one in search(line, 32, thorough=True).changed] == [5, 9, 30]
    assert len(line.asked) == 33


def test_ends_that_are_alike_are_not_looked_into() -> None:
    line = Levels(levels(50, {10: 5, 20: -5}))
    found = search(line, 49)
    assert (found.changed, found.alike, found.not_looked_into) == ([], [(0, 49)], 48)
    assert line.tried == []


def test_a_neighbour_is_taken_for_what_is_broken() -> None:
    assert search(Levels(levels(65, {41: 5}), broken={32, 48, 40}), 64).changed == [Stretch(39, 41)]
    assert search(Levels(levels(65, {41: 5}), broken={32, 33, 31, 48}), 64).changed == [Stretch(40, 41)]


def test_what_is_broken_in_a_row_is_leapt_over() -> None:
    line = Levels(levels(200, {150: 5}), broken=range(80, 121))
    assert search(line, 199).changed == [Stretch(149, 150)]
    assert len([index for index in line.tried if index in line.broken]) <= 12


def test_all_broken_names_the_whole_range() -> None:
    line = Levels(levels(20, {7: 5}), broken=range(1, 19))
    assert search(line, 19).changed == [Stretch(0, 19)]
    assert sorted(line.tried) == list(range(1, 19))
    thorough = Levels(levels(20, {7: 5}), broken=range(1, 19))
    assert search(thorough, 19, thorough=True).changed == [Stretch(0, 19)]


def test_many_small_steps_are_one_gradual_change() -> None:
    line = Levels(list(range(9)), least=5)
    assert search(line, 8).changed == [Stretch(0, 8, blurred=True)]


@pytest.mark.parametrize(("before", "after"), [(0, 1), (0, 2), (3, 10), (0, 64), (5, 105)])
def test_the_middle_comes_first_and_each_once(before: int, after: int) -> None:
    found = list(middle_out(before, after))
    assert sorted(found) == list(range(before + 1, after))
    assert found[:1] == [(before + after) // 2][: after - before - 1]
