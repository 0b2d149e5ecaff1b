"""What is new or grew in what boots do, told from what moves for no reason; on profiles that are counted by hand."""

from pathlib import Path

import pytest

from bootlab.ledger.gate.grown_work import Costs, grown_costs, grown_work, in_order, work_of
from bootlab.ledger.gate.result import Grown, GrownKind
from tests.report.analysed import analysis_of, small_profile

F, P = GrownKind.FUNCTION, GrownKind.PROCESS


def names(grown: list[Grown]) -> dict[str, tuple[int | None, int]]:
    return {one.name: (one.before, one.after) for one in grown}


@pytest.mark.parametrize(
    ("before", "after", "again", "named"),
    [
        ({}, {"new": 1}, {"new": 1}, True),
        ({"old": 10}, {"old": 11}, {"old": 11}, True),
        ({"old": 10}, {"old": 10}, {"old": 10}, False),
        ({"old": 10}, {"old": 9}, {"old": 9}, False),
        ({"old": 10}, {"old": 20}, {"old": 10}, False),
        ({"old": 10}, {"old": 12}, {"old": 15}, False),
        ({"old": 10}, {"old": 14}, {"old": 15}, True),
        ({}, {"chance": 5}, {}, False),
    ],
)
def test_what_both_boots_have_more_of_by_more_than_they_differ_is_named(
    before: dict[str, int], after: dict[str, int], again: dict[str, int], named: bool
) -> None:
    def sides(one: dict[str, int]) -> Costs:
        return {(F, name): cost for name, cost in one.items()}

    assert bool(grown_costs(sides(before), sides(after), sides(again))) is named


def test_one_instruction_more_of_a_function_is_named(tmp_path: Path) -> None:
    works = []
    for extra in (0, 1, 1):
        (folder := tmp_path / str(len(works))).mkdir()
        works.append(work_of(analysis_of(small_profile(folder, extra=extra))))
    found = grown_work(*works)
    assert names([one for one in found if one.kind is F]) == {"inner": (3000, 3001)}
    assert grown_work(works[0], works[0], works[0]) == []


def test_a_program_that_was_not_run_before_is_a_new_process(tmp_path: Path) -> None:
    works = []
    for name in ("helper", "other"):
        (folder := tmp_path / name).mkdir()
        works.append(work_of(analysis_of(small_profile(folder, name=name))))
    found = names([one for one in grown_work(works[0], works[1], works[1]) if one.kind is P])
    # The 15 us that it ran up to ready, not what came after.
    assert found == {"/bin/other": (None, 15_000)}


def test_new_ones_come_first_of_their_kind_then_the_largest() -> None:
    rows = [Grown(kind=F, name="a", before=1, after=9), Grown(kind=F, name="b", before=None, after=2),
            Grown(kind=P, name="c", before=1, after=2), Grown(kind=F, name="d", before=1, after=3)]  # fmt: skip
    assert [one.name for one in in_order(rows)] == ["c", "b", "a", "d"]
