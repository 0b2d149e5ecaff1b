"""Searches that a tailoring keeps: found again as they were, looked for anew where they are damaged."""

from pathlib import Path

import pytest
from pydantic import TypeAdapter

from bootlab.errors import StoreError
from bootlab.experiments.tailor.attempts import Attempt, Attempts
from bootlab.experiments.tailor.code_cost import CodeCost
from bootlab.experiments.tailor.kept_searches import Searches
from bootlab.experiments.tailor.kernel_use import Use
from bootlab.experiments.tailor.unused_options import Cut, Drop, Kept

FORM = TypeAdapter(tuple[Cut, Attempts])
DROP = Drop("BUS", ("DISK",), ("NONE",), ("bus.o",), 200, 10, Use.EARLY, value="y", why="given up by name")
FOUND = (
    Cut((DROP,), (Kept("EXT4", "executed: ext4_run in ext4.o", "used"),), frozenset({"EXT4", "NET"})),
    Attempts((Attempt("BUS", "y", CodeCost(5, 1, 0, "bus_run"), DROP),), ()),
)


class Looking:
    """Looks, and counts how often."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> tuple[Cut, Attempts]:
        self.count += 1
        return FOUND


def test_what_was_found_is_not_looked_for_again(tmp_path: Path) -> None:
    look = Looking()
    assert Searches(tmp_path / "searches").find(FORM, ["kernel", "record", ["NET"], True], look) == FOUND
    assert Searches(tmp_path / "searches").find(FORM, ["kernel", "record", ["NET"], True], look) == FOUND
    assert look.count == 1
    Searches(tmp_path / "searches").find(FORM, ["kernel", "record", ["NET", "EXT4"], True], look)
    assert look.count == 2


@pytest.mark.parametrize("damage", ["", "{}", '[{"drops": [], "kept": []}, {}]'])
def test_a_damaged_one_is_made_anew(tmp_path: Path, damage: str) -> None:
    look, searches = Looking(), Searches(tmp_path / "searches")
    searches.find(FORM, ["kernel"], look)
    (kept,) = (tmp_path / "searches").iterdir()
    kept.write_text(damage)
    assert searches.find(FORM, ["kernel"], look) == FOUND
    assert look.count == 2
    assert searches.find(FORM, ["kernel"], look) == FOUND
    assert look.count == 2


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "searches").write_text("")
    with pytest.raises(StoreError, match="cannot write the run"):
        Searches(tmp_path / "searches").find(FORM, ["kernel"], Looking())
