"""Tables of figures in the documents: each is what a command measured, of what lies in the tree now."""

import shlex
from pathlib import Path

import pytest

from scripts.publishing.tables import (
    Published,
    command_line,
    find_faults,
    first_tables,
    inputs_now,
    read_published,
    text_hash,
    with_text,
)
from scripts.publishing.techniques import find_new_techniques, takes_whole_catalogue, techniques_now

TEXT = "| a |\n|---|\n| 1 |\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "system.toml").write_text("name = 'x'\n")
    (tmp_path / "README.md").write_text(f"# x\n\n<!-- measured: x -->\n{TEXT}<!-- end: x -->\n")
    return tmp_path


def table(tree: Path) -> Published:
    bare = Published(document="README.md", command=["try", "x"], inputs={"*.toml": ""})
    return bare.model_copy(update={"inputs": inputs_now(bare, tree), "text_sha256": text_hash(TEXT)})


def test_the_tables_of_this_tree_are_what_was_measured() -> None:
    assert list(find_faults(read_published())) == []


def test_what_tests_print_is_older_once_their_file_changes() -> None:
    for name, one in read_published().items():
        printers = {word.partition("::")[0] for word in one.printer if word.startswith("tests/")}
        assert printers <= set(one.inputs), name


def test_a_table_that_was_edited_by_hand_is_a_fault(tree: Path) -> None:
    tables = {"x": table(tree)}
    assert list(find_faults(tables, tree)) == []
    readme = tree / "README.md"
    readme.write_text(readme.read_text().replace("| 1 |", "| 2 |"))
    assert list(find_faults(tables, tree)) == ["x: README.md: the table is not what was measured: scripts/publish x"]


def test_a_table_older_than_what_it_was_measured_on_is_a_fault(tree: Path) -> None:
    tables = {"x": table(tree)}
    (tree / "system.toml").write_text("name = 'y'\n")
    assert list(find_faults(tables, tree)) == ["x: README.md: older than *.toml: scripts/publish x"]


def test_a_table_that_no_file_decides_is_a_fault(tree: Path) -> None:
    (fault,) = find_faults({"x": table(tree).model_copy(update={"inputs": {}})}, tree)
    assert fault == "x: docs/published.json: no file decides its figures: then nothing says when it is older"


@pytest.mark.parametrize("change", ["new", "gone", "renamed"])
def test_a_file_that_comes_or_goes_below_a_glob_is_a_change(tree: Path, change: str) -> None:
    (tree / "a.toml").write_text("")
    tables = {"x": table(tree)}
    if change == "new":
        (tree / "b.toml").write_text("")
    elif change == "gone":
        (tree / "a.toml").unlink()
    else:
        (tree / "a.toml").rename(tree / "b.toml")
    assert "older than *.toml" in next(iter(find_faults(tables, tree)))


def test_a_comment_of_c_or_toml_is_no_change(tree: Path) -> None:
    (tree / "a.c").write_text('puts("// no comment"); /* one */\n')
    both = Published(document="README.md", command=["try", "x"], inputs={"*.c": "", "*.toml": ""})
    tables = {"x": both.model_copy(update={"inputs": inputs_now(both, tree), "text_sha256": text_hash(TEXT)})}
    (tree / "a.c").write_text('puts("// no comment");  // another\n')
    (tree / "system.toml").write_text("# said why\nname = 'x'\n")
    assert list(find_faults(tables, tree)) == []
    (tree / "a.c").write_text('puts("// a comment");\n')
    assert "older than *.c:" in next(iter(find_faults(tables, tree)))


def test_a_table_of_the_whole_catalogue_says_which_techniques_came_since(tree: Path) -> None:
    whole = table(tree).model_copy(update={"techniques": "cmdline_quiet kernel_smp_off"})
    assert takes_whole_catalogue(whole)
    (older,) = find_new_techniques({"x": whole}, ["cmdline_quiet", "kernel_new", "kernel_smp_off"])
    assert older == "x: README.md: it does not know of kernel_new, which came since: scripts/publish x"
    assert list(find_new_techniques({"x": whole}, ["cmdline_quiet"])) == []
    for words in (["try", "x", "cmdline_quiet"], ["try", "x", "--plan", "board-2019"], ["compare", "x", "y"]):
        assert not takes_whole_catalogue(whole.model_copy(update={"command": words}))
    assert "cmdline_quiet" in techniques_now()


def test_a_table_without_a_record_or_without_a_place_is_a_fault(tree: Path) -> None:
    assert list(find_faults({}, tree)) == ["x: README.md: docs/published.json does not know this table"]
    moved = table(tree).model_copy(update={"document": "docs/y.md"})
    (tree / "docs" / "y.md").write_text("")
    faults = list(find_faults({"x": moved}, tree))
    assert faults[0] == "x: docs/y.md has no such table between its two comments"


def test_a_document_may_have_the_first_tables_of_a_run_alone() -> None:
    said = f"Words.\n\n{TEXT}\nBetween.\n\n{TEXT.replace('1', '2')}\nWhat on.\n"
    assert first_tables(said, None) == said
    assert first_tables(said, 1) == f"Words.\n\n{TEXT}\nBetween.\n\nWhat on.\n"
    assert first_tables(f"{TEXT}\nBelow:\n\n{TEXT}\nEnd.\n", 1) == f"{TEXT}\nEnd.\n"
    assert first_tables(said, 0) == "Words.\n\nBetween.\n\nWhat on.\n"


def test_a_new_text_replaces_the_old_one_and_nothing_else() -> None:
    document = f"before\n<!-- measured: x -->\n{TEXT}<!-- end: x -->\nafter <!-- measured: y -->\n"
    assert with_text("x", document, "new\n") == document.replace(TEXT, "new\n")
    with pytest.raises(ValueError, match="has it twice"):
        with_text("y", document, "new\n")


def test_a_command_wider_than_a_window_stands_in_a_block_of_its_own() -> None:
    short = Published(document="README.md", command=["measure", "a b.toml"], inputs={})
    assert command_line("x", short) == "`bootlab measure 'a b.toml'`:"
    long = short.model_copy(update={"command": ["compare", *["examples/microvm/peer.toml"] * 5]})
    folded = command_line("x", long).split("\n")
    assert [line.strip(" \\") for line in folded] == [
        "bootlab compare" + " examples/microvm/peer.toml" * 3,
        "examples/microvm/peer.toml examples/microvm/peer.toml",
    ]
    assert folded[0].endswith(" \\")
    assert all(len(line) <= 120 and line.startswith("    ") for line in folded)


@pytest.mark.parametrize("length", range(60, 112))
def test_an_option_keeps_its_value(length: int) -> None:
    command = ["boot", "x" * length, "--set", "rootfs.kept_ram.verify=header", "-n", "3"]
    lines = command_line("x", Published(document="README.md", command=command, inputs={})).split("\n")
    assert not any(line.rstrip(" \\").endswith(("--set", "-n")) for line in lines)
    assert "\N{NO-BREAK SPACE}" not in "".join(lines)


@pytest.mark.parametrize("length", range(80, 115))
def test_an_option_stays_on_one_line(length: int) -> None:
    table = Published(document="README.md", command=["try", "x" * length, "--no-alone", "--nulls", "3"], inputs={})
    words = command_line("x", table).strip("`:").replace(" \\\n", " ").split()
    assert words == ["bootlab", "try", "x" * length, "--no-alone", "--nulls", "3"]


@pytest.mark.parametrize("length", range(60, 112))
def test_a_folded_command_is_the_same_command_in_a_shell(length: int) -> None:
    command = [
        "boot",
        "x" * length,
        "--set",
        'kernel.cmdline="console=ttyS0 quiet, and more"',
        "--set",
        "a+= quiet",
        "-q",
    ]
    folded = command_line("x", Published(document="README.md", command=command, inputs={}))
    assert shlex.split(folded.strip("`:").replace(" \\\n", " ")) == ["bootlab", *command]
    assert not any(line.count("'") % 2 for line in folded.split("\n"))


def test_a_command_that_reads_the_run_of_another_stands_below_it() -> None:
    command = ["try", "steady.toml", "initramfs_pruned", "--audit", "1"]
    two = Published(document="docs/x.md", before=[["audit", "steady.toml"]], command=command, inputs={})
    assert command_line("x", two).split("\n") == [
        "    bootlab audit steady.toml",
        "    bootlab try steady.toml initramfs_pruned --audit 1",
    ]


def test_a_table_of_several_runs_names_the_script_that_prints_it() -> None:
    table = Published(
        document="docs/x.md",
        before=[["boot", "a.toml"]],
        command=["boot", "a.toml", "--power-on", "suspended"],
        printer=["scripts/power-on-table", "1", "2"],
        inputs={},
    )
    assert command_line("x", table).split("\n") == [
        "    bootlab boot a.toml --runs DIR",
        "    bootlab boot a.toml --power-on suspended --runs DIR",
        "    scripts/power-on-table 1 2 --runs DIR",
    ]
