"""Call trees: sums over random boots against what the boots were made of, pruning, recursion, and speed."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import SwitchFlag
from bootlab.profile.tree.call_tree import LEAVES, CallTree, Weight, build_call_tree
from bootlab.profile.waits.off_cpu import Reason, find_off_cpu

FUNCTIONS = ("start_kernel", "schedule", "do_one_initcall", "msleep")


WEIGHTS: tuple[Weight, ...] = ("instructions", "elapsed")


def parse(data: bytes) -> Profile:
    return parse_profile(data, FUNCTIONS, 0)


def by_task(folded: dict[str, int]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for stack, weight in folded.items():
        sums[stack.split(";")[0]] += weight
    return sums


@pytest.mark.parametrize("seed", range(12))
def test_random_boots_add_up(make_boot: Callable[[int], Any], seed: int) -> None:
    boot = make_boot(seed)
    profile, truth = parse(boot.finish()), boot.truth
    for slices in (None, range(boot.slice), [0], [1, 3], []):
        chosen = range(len(profile.slices)) if slices is None else slices
        tree = build_call_tree(profile, slices)
        executed: dict[str, int] = defaultdict(int)
        for (number, stack), instructions in truth.instructions.items():
            if number in chosen:
                executed[stack] += instructions
        elapsed = defaultdict(int, executed)
        for (number, stack, leaf), ns in truth.off_cpu_ns.items():
            # A task that never ran has no stack for its wait to stand under.
            if number in chosen and ns and (";" in stack or stack in boot.has_run()):
                elapsed[f"{stack};{leaf}"] += ns
        assert dict(tree.folded()) == executed
        assert dict(tree.folded("elapsed")) == elapsed
        assert tree.total_instructions[0] == sum(executed.values())
        assert tree.total_elapsed_ns[0] == sum(elapsed.values())


@pytest.mark.parametrize("seed", range(10))
def test_a_tasks_elapsed_time_is_its_life(make_boot: Callable[[int], Any], seed: int) -> None:
    boot = make_boot(seed)
    profile = parse(boot.finish())
    elapsed = by_task(dict(build_call_tree(profile).folded("elapsed")))
    for task, life_ns in boot.truth.lives.items():
        label = boot.truth.labels[task]
        assert elapsed[label] == (life_ns if label in boot.has_run() else 0)
    # The machine's own time, once: whoever ran, and nobody.
    tree = build_call_tree(profile)
    idle_ns = int(tree.self_elapsed_ns[tree.function == tree.names.index("[idle]")].sum())
    assert tree.total_instructions[0] + idle_ns == profile.end_ns


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("seed", range(4))
def test_pruning_keeps_sums(make_boot: Callable[[int], Any], seed: int, weight: Weight) -> None:
    tree = build_call_tree(parse(make_boot(seed).finish()))
    for threshold in (0, 1, 500, 3000, 10**9):
        pruned = tree.pruned(threshold, weight)
        assert (pruned.parent[1:] < np.arange(1, len(pruned))).all()
        for other in WEIGHTS:
            assert pruned.total(other)[0] == tree.total(other)[0]
        whole = {tuple(tree.path(node)): node for node in range(len(tree))}
        for node in range(len(pruned)):
            path = pruned.path(node)
            if path and path[-1] == "[pruned]":
                continue
            same = whole[tuple(path)]
            assert [pruned.total(w)[node] for w in WEIGHTS] == [tree.total(w)[same] for w in WEIGHTS]
            assert [pruned.own(w)[node] for w in WEIGHTS] == [tree.own(w)[same] for w in WEIGHTS]
            assert pruned.total(weight)[node] >= threshold or node == 0
        again = pruned.pruned(threshold, weight)
        assert sorted(again.folded("elapsed")) == sorted(pruned.folded("elapsed"))
    assert len(tree.pruned(10**9, weight)) == 2


@pytest.mark.parametrize("seed", range(3))
def test_a_subtree_alone(make_boot: Callable[[int], Any], seed: int) -> None:
    tree = build_call_tree(parse(make_boot(seed).finish()))
    assert tree.below(0) is tree
    for node in range(1, len(tree), 17):
        alone = tree.below(node)
        assert alone.children(0) == [1] and alone.name(1) == tree.name(node)
        for weight in WEIGHTS:
            assert alone.total(weight)[0] == alone.total(weight)[1] == tree.total(weight)[node]
            prefix = ";".join(tree.path(node)[:-1])
            inside = {f"{prefix};{stack}".strip(";"): value for stack, value in alone.folded(weight)}
            assert inside.items() <= dict(tree.folded(weight)).items()


@pytest.mark.parametrize("seed", range(5))
def test_a_recursion_counts_once(make_boot: Callable[[int], Any], seed: int) -> None:
    tree = build_call_tree(parse(make_boot(seed).finish()))
    own: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    elapsed: dict[str, int] = defaultdict(int)
    for stack, weight in tree.folded():
        own[stack.split(";")[-1]] += weight
        for name in set(stack.split(";")):
            total[name] += weight
    for stack, weight in tree.folded("elapsed"):
        for name in set(stack.split(";")):
            elapsed[name] += weight
    found = tree.top_functions()
    assert {one.name: one.total_instructions for one in found if one.total_instructions} == total
    assert {one.name: one.self_instructions for one in found if one.self_instructions} == own
    assert {one.name: one.total_elapsed_ns for one in found} == elapsed
    assert sum(one.calls for one in found) == tree.calls.sum()
    assert tree.top_functions(3) == found[:3]
    assert [one.self_instructions for one in found] == sorted((one.self_instructions for one in found), reverse=True)


def test_a_sleeper_waits_until_it_is_woken(profile_writer: Any) -> None:
    writer = profile_writer
    idle, init = writer.task("swapper/0", 0), writer.task("init", 1)
    writer.spend("swapper/0-0;start_kernel", 100)
    writer.switch(idle, init, "swapper/0-0;schedule", flags=0)
    writer.spend("init-1;msleep", 10)
    writer.switch(init, idle, "init-1;msleep;schedule")
    writer.idle("swapper/0-0;schedule", 400)
    writer.wake(init, idle, "swapper/0-0;schedule")
    writer.spend("swapper/0-0;schedule", 30)
    writer.wake(init, idle, "swapper/0-0;schedule")  # It is awake: this one does nothing.
    writer.switch(idle, init, "swapper/0-0;schedule", flags=0)
    writer.spend("init-1;start_kernel", 5)
    writer.switch(init, idle, "init-1;start_kernel", flags=0)
    writer.cut("ready")
    writer.spend("swapper/0-0", 50)
    profile = parse(writer.end())
    rows = find_off_cpu(profile)
    assert [(row["task"], row["start_ns"], row["woken_ns"], row["end_ns"], row["wake"]) for row in rows] == [
        (init, 0, 0, 100, -1),
        (init, 110, 510, 540, 0),
        (init, 545, 545, 595, -1),
    ]
    assert [Reason(row["reason"]).name for row in rows] == ["NEW", "SLEEP", "PREEMPTED"]
    assert rows["open"].tolist() == [False, False, True]
    assert dict(build_call_tree(profile, profile.up_to("ready")).folded("elapsed")) == {
        "swapper/0-0;start_kernel": 100,
        "swapper/0-0;schedule": 30,
        "swapper/0-0;schedule;[idle]": 400,
        "init-1;[runnable]": 100,
        "init-1;msleep": 10,
        "init-1;msleep;schedule;[wait]": 400,
        "init-1;msleep;schedule;[runnable]": 30,
        "init-1;start_kernel": 5,
    }
    assert dict(build_call_tree(profile, [1]).folded("elapsed")) == {
        "swapper/0-0": 50,
        "init-1;start_kernel;[runnable]": 50,
    }


def test_the_dead_do_not_wait(profile_writer: Any) -> None:
    idle, shell = profile_writer.task("swapper/0", 0), profile_writer.task("sh", 2)
    profile_writer.spend("sh-2;exit", 10)
    profile_writer.switch(shell, idle, "sh-2;exit", flags=SwitchFlag.DEAD | SwitchFlag.SLEEPS)
    profile_writer.spend("swapper/0-0", 1000)
    profile = parse(profile_writer.end())
    assert len(find_off_cpu(profile)) == 0
    assert profile.tasks[shell].exited_ns == 10


def test_a_newline_in_a_name_ends_no_line(profile_writer: Any) -> None:
    profile_writer.task("we\nird", 1)
    profile_writer.spend("we\nird-1;[user]\t\u2028", 10)
    profile = parse(profile_writer.end())
    (line,) = build_call_tree(profile).folded()
    assert line == ("we\\nird-1;[user]\\t\\u2028", 10)


def test_a_semicolon_in_a_name_ends_no_frame() -> None:
    zero, ones = np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64)
    tree = CallTree(["sh;x-7", "main", *LEAVES], np.array([0, 0, 1]), np.array([0, 0, 1]), zero, ones, ones, 0)
    assert list(tree.folded()) == [("[unattributed]", 1), ("sh:x-7", 1), ("sh:x-7;main", 1)]


def test_ns_per_instruction(profile_writer: Any) -> None:
    profile_writer.task("swapper/0", 0)
    profile_writer.spend("swapper/0-0;start_kernel", 100)
    profile_writer.t_ns = 200
    tree = build_call_tree(parse_profile(profile_writer.end(), FUNCTIONS, 1))
    assert (tree.total_instructions[0], tree.total_elapsed_ns[0]) == (100, 200)


def big_tree(nodes: int) -> CallTree:
    dice = np.random.default_rng(1)
    # Like a boot: deep where it last was, and new branches anywhere.
    recent = np.maximum(np.arange(1, nodes) - dice.geometric(0.3, nodes - 1), 0)
    parent = np.r_[0, np.where(dice.random(nodes - 1) < 0.03, dice.integers(0, np.arange(1, nodes)), recent)]
    own = dice.integers(0, 10_000, nodes)
    names = [f"function_{number}" for number in range(20_000)]
    function = dice.integers(0, len(names), nodes)
    ones = np.ones(nodes, dtype=np.int64)
    return CallTree([*names, *LEAVES], parent, function, ones, own, own, 0)


@pytest.mark.bench
def test_speed_on_a_quarter_million_nodes() -> None:
    tree = big_tree(250_000)
    steps: dict[str, Callable[[], object]] = {
        "totals": lambda: (tree.total_instructions, tree.total_elapsed_ns),
        "pruned": lambda: tree.pruned(30_000),
        "top": lambda: tree.top_functions(100),
        "below": lambda: tree.below(1),
    }
    for name, step in steps.items():
        start = time.process_time()
        step()
        taken = time.process_time() - start
        print(f"{name}: {taken:.3f} s")
        assert taken < 1, name
