"""Folded stacks, of one profile and of two."""

from pathlib import Path

from bootlab.profile.tree.call_tree import build_call_tree
from bootlab.profile.tree.differential import compare_trees
from bootlab.report.exports.folded import write_folded, write_folded_difference
from tests.report.exports.boots import random_profile


def test_folded_stacks(tmp_path: Path) -> None:
    tree = build_call_tree(random_profile(1))
    write_folded(tree, tmp_path / "folded", "elapsed")
    rows = [line.rpartition(" ") for line in (tmp_path / "folded").read_text().splitlines()]
    assert {stack: int(weight) for stack, _, weight in rows} == dict(tree.folded("elapsed"))


def test_folded_difference(tmp_path: Path) -> None:
    both = compare_trees(build_call_tree(random_profile(1)), build_call_tree(random_profile(2)))
    write_folded_difference(both, tmp_path / "folded", "instructions")
    rows = [line.rsplit(" ", 2) for line in (tmp_path / "folded").read_text().splitlines()]
    assert sum(int(row[1]) for row in rows) == both.before.total_instructions[0]
    assert sum(int(row[2]) for row in rows) == both.after.total_instructions[0]
