"""Folded stacks: `frame;frame;frame WEIGHT` a line, which every flame graph tool reads."""

from pathlib import Path

from bootlab.profile.tree.call_tree import CallTree, Weight
from bootlab.profile.tree.differential import TreeDifference


def write_folded(tree: CallTree, path: Path, weight: Weight) -> None:
    """Write all stacks of a tree with their own weight: instructions, or elapsed ns. Raises OSError."""
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as out:
        out.writelines(f"{stack} {value}\n" for stack, value in tree.folded(weight))


def write_folded_difference(trees: TreeDifference, path: Path, weight: Weight) -> None:
    """Write `stack BEFORE AFTER` lines, as difffolded.pl gives flamegraph.pl. Raises OSError."""
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as out:
        out.writelines(f"{stack} {before} {after}\n" for stack, before, after in trees.folded(weight))
