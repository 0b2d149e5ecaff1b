"""The list of renames, and what is found by an old name."""

import re

import pytest

from bootlab.build.source import renamed_options
from bootlab.build.source.renamed_options import Renamed, earlier_names, find_new_name, load_renames

ROWS = {
    one.old: one
    for one in (
        Renamed("A", "B", "5.1", "0" * 12),
        Renamed("B", "C", "5.9", "1" * 12, inverted=True),
        Renamed("B_TOO", "C", "6.0", "2" * 12),
    )
}


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of three."""
    monkeypatch.setattr(renamed_options, "load_renames", lambda: ROWS)


def test_the_list_is_whole_and_in_order() -> None:
    rows = list(load_renames().values())
    assert [one.old for one in rows] == sorted(one.old for one in rows)
    for one in rows:
        assert re.fullmatch(r"\d\.\d+", one.linux) and re.fullmatch(r"[0-9a-f]{12}", one.commit), one
        assert one.old != one.new
    assert load_renames()["SPECULATION_MITIGATIONS"].new == "CPU_MITIGATIONS"


@pytest.mark.usefixtures("rows")
def test_a_name_is_followed_until_one_is_known() -> None:
    assert find_new_name("A", {"B"}) == ROWS["A"]
    assert find_new_name("A", {"C"}) == Renamed("A", "C", "5.1", "0" * 12, inverted=True)
    assert find_new_name("A", {"D"}) is None
    assert find_new_name("D", {"A"}) is None


@pytest.mark.usefixtures("rows")
def test_what_older_kernels_call_it() -> None:
    assert [(one.old, one.new, one.inverted) for one in earlier_names("C")] == [
        ("B", "C", True),
        ("B_TOO", "C", False),
        ("A", "C", True),
    ]
    assert earlier_names("A") == ()


def test_what_is_turned_round() -> None:
    assert [ROWS["B"].renamed_value(value) for value in ("y", "n", "17")] == ["n", "y", "17"]
    assert ROWS["A"].renamed_value("y") == "y"
