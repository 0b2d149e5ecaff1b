"""Two call trees over each other: every path of either is there once, and nothing is lost or made up."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.tree.call_tree import CallTree, Weight, build_call_tree
from bootlab.profile.tree.differential import compare_trees, task_name

FUNCTIONS = ("start_kernel", "schedule", "do_one_initcall", "msleep")
WEIGHTS: tuple[Weight, ...] = ("instructions", "elapsed")


def tree_of(data: bytes) -> CallTree:
    return build_call_tree(parse_profile(data, FUNCTIONS, 0))


def plain(tree: CallTree, weight: Weight) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for stack, value in tree.folded(weight):
        task, _, rest = stack.partition(";")
        sums[f"{task_name(task)};{rest}".strip(";")] += value
    return sums


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("seed", range(0, 12, 2))
def test_both_sides_keep_every_stack(make_boot: Callable[[int], Any], seed: int, weight: Weight) -> None:
    before, after = tree_of(make_boot(seed).finish()), tree_of(make_boot(seed + 1).finish())
    both = compare_trees(before, after)
    assert (both.before.parent == both.after.parent).all() and (both.before.function == both.after.function).all()
    assert (both.before.parent[1:] < np.arange(1, len(both.before))).all()
    assert len({tuple(both.before.path(node)) for node in range(len(both.before))}) == len(both.before)
    assert dict(both.before.folded(weight)) == plain(before, weight)
    assert dict(both.after.folded(weight)) == plain(after, weight)
    assert both.difference(weight)[0] == after.total(weight)[0] - before.total(weight)[0]
    folded = {stack: (old, new) for stack, old, new in both.folded(weight)}
    assert {stack: old for stack, (old, _) in folded.items() if old} == plain(before, weight)
    pruned = both.pruned(3000, weight)
    assert (pruned.before.parent == pruned.after.parent).all()
    assert pruned.difference(weight)[0] == both.difference(weight)[0]
    assert pruned.before.total("instructions")[0] == before.total("instructions")[0]
    assert len(pruned.before) < len(both.before)
    for tree, place, kept in zip((before, after), both.places, pruned.places, strict=True):
        for node in range(1, len(tree)):
            task, *rest = tree.path(node)
            assert both.before.path(int(place[node])) == [task_name(task), *rest]
            assert kept[node] < 0 or pruned.before.path(int(kept[node])) == [task_name(task), *rest]


def test_a_boot_against_itself(make_boot: Callable[[int], Any]) -> None:
    tree = tree_of(make_boot(3).finish())
    same = compare_trees(tree, tree)
    for weight in WEIGHTS:
        assert not same.difference(weight).any() and same.largest(9, weight) == []
    assert all(one.self_before == one.self_after and one.total_before == one.total_after for one in same.functions())


def test_what_changed_most_comes_first(profile_writer: Any) -> None:
    writer = type(profile_writer)
    old, new = writer(), writer()
    for one in (old, new):
        one.task("swapper/0", 0)
        one.spend("swapper/0-0;start_kernel", 100)
    old.spend("cryptomgr_test-71;schedule;msleep", 5000)
    old.spend("cryptomgr_test-72;schedule;msleep", 200)
    new.spend("kworker/0:2-33;schedule", 70)
    old.spend("kworker/0:0-9;schedule", 60)
    both = compare_trees(tree_of(old.end()), tree_of(new.end()))
    assert [(one.path, one.before, one.after, one.difference) for one in both.largest(2, "instructions")] == [
        (("cryptomgr_test", "schedule", "msleep"), 5200, 0, -5200),
        (("kworker/0", "schedule"), 60, 70, 10),
    ]
    first = both.functions()[0]
    assert (first.name, first.self_before, first.self_after, first.total_before) == ("msleep", 5200, 0, 5200)


def test_frames_that_only_one_kernel_has_at_the_bottom_are_passed_over(profile_writer: Any) -> None:
    old, new = type(profile_writer)(), type(profile_writer)()
    for one, bottom in ((old, "ret_from_fork"), (new, "ret_from_fork_asm;ret_from_fork")):
        one.task("kthreadd", 2)
        one.spend(f"kthreadd-2;{bottom};kthread", 100)
        one.spend(f"kthreadd-2;{bottom}", 7)
    new.spend("kthreadd-2;ret_from_fork_asm", 3)
    both = compare_trees(tree_of(old.end()), tree_of(new.end()))
    assert list(both.folded()) == [
        ("kthreadd", 0, 3),
        ("kthreadd;ret_from_fork", 7, 7),
        ("kthreadd;ret_from_fork;kthread", 100, 100),
    ]
    assert len(set(both.places[1].tolist())) == len(both.places[1]) - 1


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("swapper/0-0", "swapper/0"),
        ("sh-71", "sh"),
        ("systemd-udevd-140", "systemd-udevd"),
        ("kworker/0:1-12", "kworker/0"),
        ("kworker/3:2H-12", "kworker/3H"),
        ("kworker/u4:0-9", "kworker/u"),
        ("unknown--1", "unknown"),
        ("[firmware]", "[firmware]"),
    ],
)
def test_numbers_of_tasks_are_dropped(label: str, name: str) -> None:
    assert task_name(label) == name
