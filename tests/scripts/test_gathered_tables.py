"""Tables that people put together from several runs: each is recorded, and says when it is older than its inputs."""

from pathlib import Path

import pytest

from scripts.publishing.gathered import (
    as_measured,
    as_older,
    find_gathered_faults,
    gathered_text,
    read_gathered,
    unrecorded_lines,
)
from scripts.publishing.tables import Recorded, read_record, write_record

TABLE = "| a | ms |\n|---|---:|\n| x | 1.5 |\n| y | 2.5 |\n"
OLDER = "\nMeasured before a change of `*.toml`.\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "system.toml").write_text("name = 'x'\n")
    (tmp_path / "README.md").write_text(f"# x\n\n<!-- gathered: x -->\n{TABLE}<!-- end: x -->\n")
    return tmp_path


def recorded(tree: Path) -> dict[str, Recorded]:
    return {"x": as_measured("x", Recorded(document="README.md", inputs={"*.toml": ""}), tree)}


def text_of(tree: Path) -> str | None:
    return gathered_text("x", (tree / "README.md").read_text())


def test_the_gathered_tables_of_this_tree_are_as_recorded() -> None:
    assert list(find_gathered_faults(read_gathered())) == []


def test_a_table_that_was_edited_is_a_fault_until_it_is_recorded(tree: Path) -> None:
    tables = recorded(tree)
    assert list(find_gathered_faults(tables, tree)) == []
    readme = tree / "README.md"
    readme.write_text(readme.read_text().replace("1.5", "1.6"))
    (fault,) = find_gathered_faults(tables, tree)
    assert fault == "x: README.md: not what was recorded: scripts/publish --gathered x, once measured"
    assert list(find_gathered_faults(recorded(tree), tree)) == []


def test_a_table_that_no_file_decides_is_a_fault(tree: Path) -> None:
    (fault,) = find_gathered_faults({"x": recorded(tree)["x"].model_copy(update={"inputs": {}})}, tree)
    assert fault.startswith("x: docs/gathered.json: no file decides its figures")


def test_a_table_older_than_its_inputs_has_to_say_so(tree: Path) -> None:
    tables = recorded(tree)
    (tree / "system.toml").write_text("name = 'y'\n")
    (fault,) = find_gathered_faults(tables, tree)
    assert fault.startswith("x: README.md: older than *.toml: measure it again, or scripts/publish --older x")
    older = {"x": as_older("x", tables["x"], tree)}
    assert text_of(tree) == TABLE + OLDER
    assert older["x"].inputs == tables["x"].inputs
    assert list(find_gathered_faults(older, tree)) == []
    # Said once, however often it is asked for.
    assert as_older("x", older["x"], tree) == older["x"]


def test_another_change_behind_an_older_table_is_a_fault_again(tree: Path) -> None:
    table = Recorded(document="README.md", inputs={"system.toml": "", "other.toml": ""})
    tables = {"x": as_measured("x", table, tree)}
    (tree / "system.toml").write_text("name = 'y'\n")
    older = {"x": as_older("x", tables["x"], tree)}
    assert text_of(tree) == TABLE + OLDER.replace("*", "system")
    (tree / "other.toml").write_text("")
    assert "older than other.toml, system.toml" in next(iter(find_gathered_faults(older, tree)))
    older = {"x": as_older("x", older["x"], tree)}
    assert text_of(tree) == TABLE + OLDER.replace("`*.toml`", "`other.toml`, `system.toml`")
    assert list(find_gathered_faults(older, tree)) == []


@pytest.mark.parametrize("change", ["new", "gone", "renamed"])
def test_a_file_that_comes_or_goes_below_a_glob_is_a_change(tree: Path, change: str) -> None:
    (tree / "a.toml").write_text("")
    tables = recorded(tree)
    if change == "new":
        (tree / "b.toml").write_text("")
    elif change == "gone":
        (tree / "a.toml").unlink()
    else:
        (tree / "a.toml").rename(tree / "b.toml")
    assert "older than *.toml" in next(iter(find_gathered_faults(tables, tree)))


def test_a_table_that_says_to_be_older_and_is_not_is_a_fault(tree: Path) -> None:
    tables = recorded(tree)
    (tree / "system.toml").write_text("name = 'y'\n")
    older = {"x": as_older("x", tables["x"], tree)}
    with pytest.raises(ValueError, match="leave that line out"):
        as_measured("x", older["x"], tree)
    (tree / "system.toml").write_text("name = 'x'\n")
    assert "older than nothing, but says so" in next(iter(find_gathered_faults(older, tree)))
    assert list(find_gathered_faults({"x": as_older("x", older["x"], tree)}, tree)) == []
    assert text_of(tree) == TABLE


def test_many_changed_files_are_counted_and_the_line_is_folded(tree: Path) -> None:
    names = [f"{number}{'x' * 30}.toml" for number in range(9)]
    table = as_measured("x", Recorded(document="README.md", inputs=dict.fromkeys(names, "")), tree)
    for name in names:
        (tree / name).write_text("")
    as_older("x", table, tree)
    lines = (text_of(tree) or "").rstrip().split("\n")
    assert lines[-1].endswith("; more such: 5.")
    assert all(len(line) <= 120 for line in lines)


def test_a_file_that_is_gone_is_counted_and_not_named(tree: Path) -> None:
    table = Recorded(document="README.md", inputs={"system.toml": "", "new.toml": ""})
    tables = {"x": as_measured("x", table, tree)}
    (tree / "system.toml").unlink()
    older = {"x": as_older("x", tables["x"], tree)}
    assert text_of(tree) == TABLE + "\nMeasured before a change of files that are gone: 1.\n"
    (tree / "new.toml").write_text("")
    older = {"x": as_older("x", older["x"], tree)}
    assert text_of(tree) == TABLE + "\nMeasured before a change of `new.toml`; more such: 1.\n"
    assert list(find_gathered_faults(older, tree)) == []


def test_a_table_without_a_record_or_without_a_place_is_a_fault(tree: Path) -> None:
    assert list(find_gathered_faults({}, tree)) == ["x: README.md: docs/gathered.json does not know this table"]
    tables = recorded(tree)
    (tree / "README.md").write_text("# x\n")
    assert list(find_gathered_faults(tables, tree)) == ["x: README.md has no such table between its two comments"]
    with pytest.raises(ValueError, match="or has it twice"):
        as_measured("x", tables["x"], tree)


@pytest.mark.parametrize(
    "around",
    [
        "<!-- gathered: x -->\n{}<!-- end: x -->\n",
        "<!-- measured: x -->\n{}<!-- end: x -->\n",
        "<!-- not measured -->\n{}",
    ],
)
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


def test_the_record_is_read_as_it_was_written(tree: Path) -> None:
    tables = recorded(tree)
    write_record(tree / "gathered.json", tables)
    assert read_record(tree / "gathered.json", Recorded) == tables


def test_a_comment_of_c_or_toml_is_no_change(tree: Path) -> None:
    (tree / "a.c").write_text('puts("// no comment"); /* one */\n')
    table = as_measured("x", Recorded(document="README.md", inputs={"*.c": "", "*.toml": ""}), tree)
    (tree / "a.c").write_text('puts("// no comment");  // another\n')
    (tree / "system.toml").write_text("# said why\nname = 'x'\n")
    assert list(find_gathered_faults({"x": table}, tree)) == []
    (tree / "a.c").write_text('puts("// a comment");\n')
    assert "older than *.c:" in next(iter(find_gathered_faults({"x": table}, tree)))
