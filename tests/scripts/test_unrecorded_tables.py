"""Tables of figures that no record knows are found, and what needs no record is not taken for one."""

from pathlib import Path

import pytest

from scripts.publishing.unrecorded import find_unrecorded, unrecorded_lines

TABLE = "| a | ms |\n|---|---:|\n| x | 1.5 |\n| y | 2.5 |\n"


def test_this_tree_has_none() -> None:
    assert list(find_unrecorded()) == []


def test_a_table_is_told_by_its_document_and_line(tmp_path: Path) -> None:
    (tmp_path / "docs" / "cases").mkdir(parents=True)
    (tmp_path / "README.md").write_text("# x\n")
    (tmp_path / "docs" / "cases" / "x.md").write_text(f"# x\n\n{TABLE}")
    (fault,) = find_unrecorded(tmp_path)
    assert fault.startswith("docs/cases/x.md:3: a table of figures that no command measured")


@pytest.mark.parametrize("around", ["<!-- measured: x -->\n{}<!-- end: x -->\n", "<!-- not measured -->\n{}"])
def test_a_table_of_figures_is_claimed_by_a_comment(around: str) -> None:
    assert list(unrecorded_lines(f"Words.\n\n{TABLE}\nMore.\n")) == [3]
    assert list(unrecorded_lines(around.format(TABLE))) == []
    assert list(unrecorded_lines(f"{around.format(TABLE)}\n{TABLE}")) == [around.format(TABLE).count("\n") + 2]


def test_words_are_no_figures_and_a_page_that_is_made_needs_no_claim() -> None:
    assert list(unrecorded_lines("| a | b |\n|---|---|\n| `x` | 1 |\n")) == []
    assert list(unrecorded_lines(f"# X\n\nWhat it is. This page is generated from x.\n\n{TABLE}")) == []


def test_what_a_script_measured_and_wrote_needs_one() -> None:
    """Nothing makes such a page anew when what it measured changes."""
    assert list(unrecorded_lines(f"<!-- Written by scripts/x. Do not edit. -->\n\n{TABLE}")) == [3]
