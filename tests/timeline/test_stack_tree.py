"""Stacks that are filled as a log is read: their own time and calls, and the limits that they stay within."""

from bootlab.timeline.recording import Stack
from bootlab.timeline.stack_tree import DEEPEST, StackTree


def test_each_stack_has_its_own_time_and_calls() -> None:
    tree = StackTree()
    main = tree.below(0, "main")
    read = tree.below(main, "read")
    assert tree.below(main, "read") == read != tree.below(0, "read")
    tree.enter(main)
    tree.charge(main, 5)
    tree.enter(read, 3)
    tree.charge(read, 2)
    tree.charge(read, 4)
    assert tree.frames(read) == ("main", "read") and tree.frames(0) == ()
    # The stack `read` without a caller was never entered nor charged.
    assert tree.stacks() == (Stack(("main",), 5, 1), Stack(("main", "read"), 6, 3))
    assert tree.stacks(lambda own: own * 10)[1] == Stack(("main", "read"), 60, 3)
    assert not tree.full


def test_what_is_called_too_deep_counts_as_its_callers_own() -> None:
    tree, number = StackTree(), 0
    for depth in range(DEEPEST + 10):
        number = tree.below(number, f"f{depth}")
    assert len(tree.frames(number)) == DEEPEST
    assert tree.frames(number)[-1] == f"f{DEEPEST - 1}"
    assert tree.full


def test_all_stacks_together_have_a_limit() -> None:
    tree = StackTree()
    number = 0
    for depth in range(DEEPEST - 1):
        number = tree.below(number, f"f{depth}")
    # 255 stacks of 1 to 255 frames are 32,640 frames; each leaf below is another 256: 7,685 of them fit into 2,000,000.
    leaves = [tree.below(number, f"leaf{leaf}") for leaf in range(7_700)]
    assert sum(leaf != number for leaf in leaves) == (2_000_000 - 32_640) // 256 == 7_685
    assert tree.full and leaves[-1] == number
    # What is known already is found again.
    assert tree.below(number, "leaf0") == leaves[0]
