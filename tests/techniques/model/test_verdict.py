"""Verdicts in the words of their clock: what results of 0.1 said, and which verdicts save, cost and undo each other."""

from typing import Any

import pytest

from bootlab.techniques.model.verdict import Verdict, in_words_of_the_clock


@pytest.mark.parametrize(
    ("verdict", "clock", "read"),
    [
        ("faster", "virtual", "shorter"),
        ("slower", "virtual", "longer"),
        ("shorter", "virtual", "shorter"),
        ("no difference shown", "virtual", "no difference shown"),
        ("faster", "wall", "faster"),
        ("slower", "wall", "slower"),
        ("faster", None, "faster"),
    ],
)
def test_a_row_is_read_in_the_words_of_its_clock(verdict: str, clock: str | None, read: str) -> None:
    row = {"technique": "idle", "verdict": verdict}
    assert in_words_of_the_clock(row, clock) == {"technique": "idle", "verdict": read}
    assert row["verdict"] == verdict, "and stays as it was"


@pytest.mark.parametrize("damaged", [None, "faster", ["faster"], {}, {"verdict": ["faster"]}, {"verdict": None}])
def test_what_is_no_row_is_left_to_whoever_reads_it(damaged: Any) -> None:
    assert in_words_of_the_clock(damaged, "virtual") == damaged


def test_each_verdict_with_a_direction_has_its_opposite_on_the_same_clock() -> None:
    assert [one for one in Verdict if one.saves] == ["shorter", "faster"]
    assert [one for one in Verdict if one.costs] == ["longer", "slower"]
    opposites = {one.value: one.opposite.value for one in Verdict if one.opposite is not one}
    assert opposites == {"shorter": "longer", "longer": "shorter", "faster": "slower", "slower": "faster"}
