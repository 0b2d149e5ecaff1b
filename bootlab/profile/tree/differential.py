"""Two boots' call trees laid over each other, path by path: what a differential flame graph shows.

Pids and numbers of kernel workers differ between any two boots and mean nothing, so tasks of one name are one. All
other names are compared as they are, `.constprop` and `.isra` included: a compiler that clones a function made another.
A few assembler frames at the bottom of stacks are passed over, or nothing of one kernel would be like another's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.record_types import Integers
from bootlab.profile.tables.plain_data import Result
from bootlab.profile.tree.call_tree import LEAVES, CallTree, Weight
from bootlab.profile.tree.shape import TreeShape
from bootlab.profile.tree.without_symbols import as_one, moved_stages

_PID: Final = re.compile(r"-(?:\d+|-1)$")
_WORKER: Final = re.compile(r"^kworker/(?:u\d+|(\d+)):\d+(H?)")
# Assembler that one kernel has at the bottom of every stack and another has not: 6.6 gave ret_from_fork() a part in C.
_PASSED_OVER: Final = frozenset(
    {"ret_from_fork_asm", "common_startup_64", "secondary_startup_64", "secondary_startup_64_no_verify"}
)


def task_name(label: str) -> str:
    """Return the name of a task or stage without what another boot numbers differently: `sh-71` is `sh`."""
    name = _PID.sub("", label)
    return _WORKER.sub(lambda worker: f"kworker/{worker[1] or 'u'}{worker[2]}", name)


@dataclass(frozen=True, slots=True)
class PathDifference(Result):
    """One path in both boots, with everything below it: instructions, or ns, by the weight that was asked for."""

    path: tuple[str, ...]
    before: int
    after: int

    @property
    def difference(self) -> int:
        """How much more it is in the second boot."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class FunctionDifference(Result):
    """One function of a name, over all its stacks in both boots; in the totals a recursion counts once."""

    name: str
    self_before: int
    self_after: int
    total_before: int
    total_after: int


@dataclass(frozen=True)
class TreeDifference:
    """Two boots in trees of one shape: node n of `before` and of `after` is the same path, with 0 where it never ran.

    `places`: for each node of the first and of the second tree that were compared, its node here, -1 if it was pruned.
    """

    before: CallTree
    after: CallTree
    places: tuple[Integers, Integers]

    def difference(self, weight: Weight) -> Integers:
        """Return for each node how much more the second boot spent in it and below: instructions, or elapsed ns."""
        return self.after.total(weight) - self.before.total(weight)

    def own_difference(self, weight: Weight) -> Integers:
        """Return for each node how much more the second boot spent in the node itself."""
        return self.after.own(weight) - self.before.own(weight)

    def pruned(self, threshold: int, weight: Weight = "elapsed") -> "TreeDifference":
        """Return the trees without nodes that are below `threshold` in both boots; every sum is kept."""
        keep = np.maximum(self.before.total(weight), self.after.total(weight)) >= threshold
        lost = sum(np.abs(cut) for tree in (self.before, self.after) for cut in tree.cut_off(keep))
        under = np.flatnonzero(lost)
        left = self.before.lasting(keep)
        place = np.where(left, np.cumsum(left) - 1, -1)
        first, second = (np.where(old < 0, -1, place[old]) for old in self.places)
        return TreeDifference(self.before.pruned_to(keep, under), self.after.pruned_to(keep, under), (first, second))

    def folded(self, weight: Weight = "instructions") -> Iterator[tuple[str, int, int]]:
        """Yield (stack, before, after) of each stack with a weight of its own in either: difffolded.pl's format."""
        before, after = self.before.own(weight).tolist(), self.after.own(weight).tolist()
        for stack, node in self.before.stacks():
            if before[node] or after[node]:
                yield stack, before[node], after[node]

    def largest(self, limit: int, weight: Weight = "elapsed") -> list[PathDifference]:
        """Return the paths whose own weight changed most, in either direction, with the weight of just that path."""
        own = self.own_difference(weight)
        order = np.argsort(-np.abs(own), kind="stable")[:limit]
        before, after = self.before.own(weight), self.after.own(weight)
        return [
            PathDifference(tuple(self.before.path(node)), int(before[node]), int(after[node]))
            for node in order.tolist()
            if own[node]
        ]

    def functions(self, weight: Weight = "instructions") -> list[FunctionDifference]:
        """Return every function that costs something in either boot, the largest difference of its own first."""
        rows: dict[str, list[int]] = {}
        for side, tree in enumerate((self.before, self.after)):
            for one in tree.top_functions():
                row = rows.setdefault(one.name, [0, 0, 0, 0])
                row[side] += one.self_instructions if weight == "instructions" else one.self_elapsed_ns
                row[2 + side] += one.total_instructions if weight == "instructions" else one.total_elapsed_ns
        found = [FunctionDifference(name, *row) for name, row in rows.items() if any(row)]
        return sorted(found, key=lambda one: (-abs(one.self_after - one.self_before), one.name))


def compare_trees(before: CallTree, after: CallTree) -> TreeDifference:
    """Return the two trees over each other. A difference in ns says something only if both have the same `shift`.

    Code without a symbol is one function of its stage where it lies elsewhere in the other boot.
    """
    moved_on = moved_stages((before, after))
    before, after = as_one(before, moved_on), as_one(after, moved_on)
    numbers: dict[str, int] = {}
    whole = (before, after)
    parts = [_Part(tree, _compared(tree), numbers) for tree in whole]
    parents, names = _merge(parts, len(numbers))
    places = [part.place_of_all() for part in parts]
    # The leaves come last, as every tree has them.
    plain = [name for name in numbers if name not in LEAVES]
    final = {name: number for number, name in enumerate([*plain, *LEAVES])}
    function = np.array([final[name] for name in numbers], dtype=np.int64)[names]

    def moved(tree: CallTree, place: Integers) -> CallTree:
        calls, instructions, elapsed = np.zeros((3, len(parents)), dtype=np.int64)
        np.add.at(calls, place, np.where(_compared(tree), tree.calls, 0))
        np.add.at(instructions, place, tree.self_instructions)
        np.add.at(elapsed, place, tree.self_elapsed_ns)
        return CallTree(list(final), parents, function, calls, instructions, elapsed, tree.shift)

    return TreeDifference(moved(before, places[0]), moved(after, places[1]), (places[0], places[1]))


def _compared(tree: CallTree) -> NDArray[np.bool_]:
    # The nodes that are not passed over.
    skipped = [number for number, name in enumerate(tree.names) if name in _PASSED_OVER]
    compared: NDArray[np.bool_] = ~np.isin(tree.function, skipped)
    compared[:1] = True
    return compared


class _Part:
    # One tree without the frames that are passed over; `place` says where each of its nodes is in the common tree.

    def __init__(self, tree: CallTree, kept: NDArray[np.bool_], numbers: dict[str, int]) -> None:
        # The node itself, or its nearest ancestor that is kept.
        self.stands_for = np.arange(len(tree), dtype=np.int64)
        for level in tree.shape.levels[1:]:
            passed = level[~kept[level]]
            self.stands_for[passed] = self.stands_for[tree.parent[passed]]
        self.nodes = np.flatnonzero(kept)
        self.shape = TreeShape(np.searchsorted(self.nodes, self.stands_for[tree.parent[self.nodes]]))
        self.name = self._numbered(tree, numbers)
        self.place = np.zeros(len(self.nodes), dtype=np.int64)

    def place_of_all(self) -> Integers:
        return self.place[np.searchsorted(self.nodes, self.stands_for)]

    def _numbered(self, tree: CallTree, numbers: dict[str, int]) -> Integers:
        # Each node's name as a number that is the same in both trees.
        function, is_top = tree.function[self.nodes], self.shape.depth == 1
        number = np.zeros(len(self.nodes), dtype=np.int64)
        for nodes, rename in ((np.flatnonzero(is_top), task_name), (np.flatnonzero(~is_top), str)):
            used, which = np.unique(function[nodes], return_inverse=True)
            named = [numbers.setdefault(rename(tree.names[one]), len(numbers)) for one in used.tolist()]
            number[nodes] = np.array(named, dtype=np.int64)[which]
        return number


def _merge(parts: list[_Part], count: int) -> tuple[Integers, Integers]:
    # Parents and names of the common tree, made a level at a time.
    parents, names, size = [np.zeros(1, dtype=np.int64)], [parts[0].name[:1]], 1
    nothing = np.zeros(0, dtype=np.int64)
    for depth in range(1, max(len(part.shape.levels) for part in parts)):
        levels = [part.shape.levels[depth] if depth < len(part.shape.levels) else nothing for part in parts]
        keys = [
            part.place[part.shape.parent[level]] * count + part.name[level]
            for part, level in zip(parts, levels, strict=True)
        ]
        paths, which = np.unique(np.concatenate(keys), return_inverse=True)
        parents.append(paths // count)
        names.append(paths % count)
        for part, level, numbers in zip(parts, levels, np.split(which, [len(keys[0])]), strict=True):
            part.place[level] = size + numbers
        size += len(paths)
    return np.concatenate(parents), np.concatenate(names)
