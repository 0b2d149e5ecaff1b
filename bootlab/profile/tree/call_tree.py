"""The call tree of a boot, or of some of its phases, with what each node cost: the data of every flame graph.

Two weights. Instructions are what was executed. Elapsed is a task's own time: its instructions as ns, and its waits,
each a leaf below the function that waited. Tasks wait beside each other, so elapsed adds up to a task's life, not to
the boot.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.reader import Profile
from bootlab.profile.recorded.record_types import Integers
from bootlab.profile.tree.shape import TreeShape
from bootlab.profile.waits.off_cpu import find_off_cpu
from bootlab.profile.waits.sleep_reasons import WaitKind, find_cause

WAIT: Final = "[wait]"
"""Leaf: the task slept until something woke it."""
NO_WORK: Final = "[no work]"
"""Leaf: a kernel thread slept because there was nothing for it to do."""
RUNNABLE: Final = "[runnable]"
"""Leaf: the task could have run and another did: preempted, woken and not yet back, or new."""
IDLE: Final = "[idle]"
"""Leaf: the machine had nothing to do here. Under the idle task, as a rule."""
PRUNED: Final = "[pruned]"
"""Leaf: the sum of what was too small to keep."""
LEAVES: Final = (WAIT, NO_WORK, RUNNABLE, IDLE, PRUNED)
"""The last names of every tree, in this order."""
UNATTRIBUTED: Final = "[unattributed]"
"""What the root of all is called where a weight of its own has to be named; a sound profile has none there."""

Weight = Literal["instructions", "elapsed"]


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class FunctionTotal:
    """One function over all stacks. In the totals a function that calls itself counts once.

    `self_` figures are of its own code, `total_` with all it called (and, elapsed, waited for).
    """

    function: int
    name: str
    calls: int
    self_instructions: int
    total_instructions: int
    self_elapsed_ns: int
    total_elapsed_ns: int

    def as_json(self) -> dict[str, Any]:
        """Return the figures with the function's name, ready for JSON; its number is one boot's own."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "function"}


@dataclass(frozen=True)
class CallTree:
    """A call tree; arrays are indexed by node, node 0 is the root of all and its children are tasks and stages.

    Nodes below `len(profile.nodes)` are the profile's own until `pruned` or `below` renumber them; waits follow. A
    parent has a lower number than its children. `calls`: how often a node was entered in the chosen slices, 0 for what
    was entered earlier; for leaves the number of waits. `shift`: one instruction is 2**shift ns.
    """

    names: Sequence[str]
    """Function number -> name; the last ones are LEAVES."""
    parent: Integers
    function: Integers
    calls: Integers
    self_instructions: Integers
    self_elapsed_ns: Integers
    """Instructions as ns, and for the leaves the wait."""
    shift: int

    @cached_property
    def shape(self) -> TreeShape:
        """Depths, order and sums over the nodes."""
        return TreeShape(self.parent)

    @cached_property
    def total_instructions(self) -> Integers:
        """The instructions of each node and everything below it."""
        return self.shape.totals(self.self_instructions)

    @cached_property
    def total_elapsed_ns(self) -> Integers:
        """The elapsed time of each node and everything below it, in ns."""
        return self.shape.totals(self.self_elapsed_ns)

    def __len__(self) -> int:
        return len(self.parent)

    def name(self, node: int) -> str:
        """Return the name of a node's function."""
        return self.names[int(self.function[node])] if node else UNATTRIBUTED

    def path(self, node: int) -> list[str]:
        """Return the names from a task or stage down to `node`; empty for the root."""
        return [self.name(step) for step in self.shape.path(node)]

    def children(self, node: int) -> list[int]:
        """Return the nodes called from `node`, in the order they were first called."""
        return [child for child in np.flatnonzero(self.parent == node).tolist() if child]

    def own(self, weight: Weight) -> Integers:
        """Return each node's own weight: instructions, or elapsed ns."""
        return self.self_instructions if weight == "instructions" else self.self_elapsed_ns

    def total(self, weight: Weight) -> Integers:
        """Return each node's weight with everything below it: instructions, or elapsed ns."""
        return self.total_instructions if weight == "instructions" else self.total_elapsed_ns

    def folded(self, weight: Weight = "instructions") -> Iterator[tuple[str, int]]:
        """Yield each stack that has a weight of its own: names joined by `;`, and the weight (instructions or ns).

        The stacks below one node follow each other. A `;` in a name becomes `:`, and what would end a line is escaped.
        """
        own = self.own(weight)
        weights = own.tolist()
        for stack, node in self.stacks(own != 0):
            yield stack, weights[node]

    def stacks(self, chosen: NDArray[np.bool_] | None = None) -> Iterator[tuple[str, int]]:
        """Yield (stack, node) of all nodes, or of the `chosen` ones, in the order of `folded`."""
        depths, functions = self.shape.depth.tolist(), self.function.tolist()
        wanted = [True] * len(self) if chosen is None else chosen.tolist()
        names = [_frame(name) for name in self.names]
        if len(self) and wanted[0]:
            yield UNATTRIBUTED, 0
        stack = [""] * int(self.shape.depth.max(initial=0))
        for node in np.argsort(self.shape.enter)[1:].tolist():
            stack[depths[node] - 1] = names[functions[node]]
            if wanted[node]:
                yield ";".join(stack[: depths[node]]), node

    def pruned(self, threshold: int, weight: Weight = "elapsed") -> "CallTree":
        """Return the tree without nodes whose total is below `threshold` (instructions or ns); every sum is kept.

        What is left out below a node becomes one leaf `[pruned]` of it, in both weights.
        """
        return self.pruned_to(self.total(weight) >= threshold)

    def pruned_to(self, keep: NDArray[np.bool_], under: Integers | None = None) -> "CallTree":
        """Return the tree of the nodes in `keep`; the parent of each must be in it too. Otherwise as pruned().

        `under`: the nodes that get a leaf, sorted; None is those that have lost something.
        """
        kept = np.flatnonzero(self.lasting(keep))
        instructions, elapsed = self.cut_off(keep)
        if under is None:
            under = np.flatnonzero((instructions != 0) | (elapsed != 0))
        return replace(
            self._only(kept),
            parent=np.r_[_renumbered(self.parent, kept), np.searchsorted(kept, under)],
            function=np.r_[self.function[kept], np.full(len(under), self.leaf(PRUNED))],
            calls=np.r_[self.calls[kept], np.zeros(len(under), dtype=np.int64)],
            self_instructions=np.r_[self.self_instructions[kept], instructions[under]],
            self_elapsed_ns=np.r_[self.self_elapsed_ns[kept], elapsed[under]],
        )

    def cut_off(self, keep: NDArray[np.bool_]) -> tuple[Integers, Integers]:
        """Return for each node in `keep` what its children outside of it hold: instructions and elapsed ns."""
        keep = self.lasting(keep)
        cut = np.flatnonzero(~keep & keep[self.parent])
        instructions, elapsed = (
            _sums(self.parent[cut], total[cut], len(self)) for total in (self.total_instructions, self.total_elapsed_ns)
        )
        return instructions, elapsed

    def busy(self) -> "CallTree":
        """Return the tree without the time in which kernel threads had nothing to do: most of all elapsed time.

        What is left of elapsed time is work, and waits for something.
        """
        useless = self.function == self.leaf(NO_WORK)
        return replace(self, self_elapsed_ns=np.where(useless, 0, self.self_elapsed_ns))

    def below(self, node: int) -> "CallTree":
        """Return the tree of `node` alone, as the only child of the root: one task's flame graph, for instance."""
        if not node:
            return self
        enter = self.shape.enter
        inside = (enter >= enter[node]) & (enter < enter[node] + self.shape.size[node])
        tree = self._only(np.r_[0, np.flatnonzero(inside)])
        # The root keeps its place and nothing else; whatever was between it and `node` is gone.
        for own in (tree.self_instructions, tree.self_elapsed_ns, tree.calls):
            own[0] = 0
        return tree

    def top_functions(self, limit: int | None = None) -> list[FunctionTotal]:
        """Return what each function cost, most instructions of its own first, at most `limit` of them."""
        count = len(self.names)
        function = self.function.copy()
        function[:1] = 0
        outermost = self.shape.outermost(function)
        outermost[:1] = False
        sums = [
            _sums(function[1:], own[1:], count) for own in (self.calls, self.self_instructions, self.self_elapsed_ns)
        ]
        totals = [
            _sums(function[outermost], total[outermost], count)
            for total in (self.total_instructions, self.total_elapsed_ns)
        ]
        calls, instructions, elapsed = sums
        order = np.lexsort((-totals[1], -totals[0], -instructions))
        order = order[(totals[0][order] != 0) | (totals[1][order] != 0)][:limit]
        columns = (order, calls[order], instructions[order], totals[0][order], elapsed[order], totals[1][order])
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [FunctionTotal(number, self.names[number], *figures) for number, *figures in rows]

    def leaf(self, name: str) -> int:
        """Return the function number of one of LEAVES."""
        return len(self.names) - len(LEAVES) + LEAVES.index(name)

    def lasting(self, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of the nodes in `keep` pruned_to() keeps: what was pruned before joins what is pruned now."""
        lasting: NDArray[np.bool_] = keep & (self.function != self.leaf(PRUNED))
        lasting[:1] = True
        return lasting

    def _only(self, kept: Integers) -> "CallTree":
        return replace(
            self,
            parent=_renumbered(self.parent, kept),
            function=self.function[kept],
            calls=self.calls[kept],
            self_instructions=self.self_instructions[kept],
            self_elapsed_ns=self.self_elapsed_ns[kept],
        )


def _frame(name: str) -> str:
    # A task may be called anything, a newline included.
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), name.replace(";", ":"))


def build_call_tree(profile: Profile, slices: Iterable[int] | None = None) -> CallTree:
    """Return the call tree of the slices with these indexes, such as `profile.up_to("ready")`; None is all of them.

    Waits and idle stretches count with the part that lies inside those slices.
    """
    chosen = [profile.slices[index] for index in (range(len(profile.slices)) if slices is None else slices)]
    count = len(profile.nodes)
    calls, instructions = (np.zeros(count, dtype=np.int64) for _ in range(2))
    for piece in chosen:
        node = piece.weights["node"]
        np.add.at(calls, node, piece.weights["calls"].astype(np.int64))
        np.add.at(instructions, node, piece.weights["instructions"])
    leaf_parent, leaf_kind, leaf_calls, leaf_ns = _leaves(profile, _intervals([(s.start_ns, s.end_ns) for s in chosen]))
    parent = profile.nodes["parent"].astype(np.int64)
    parent[:1] = 0
    return CallTree(
        names=[*profile.names, *LEAVES],
        parent=np.r_[parent, leaf_parent],
        function=np.r_[profile.nodes["function"].astype(np.int64), len(profile.names) + leaf_kind],
        calls=np.r_[calls, leaf_calls],
        self_instructions=np.r_[instructions, np.zeros(len(leaf_ns), dtype=np.int64)],
        self_elapsed_ns=np.r_[instructions << profile.shift, leaf_ns],
        shift=profile.shift,
    )


def _leaves(profile: Profile, intervals: list[tuple[int, int]]) -> tuple[Integers, Integers, Integers, Integers]:
    # Parent, kind (index into LEAVES), number and sum in ns of the waits, one for each parent and kind.
    key, start, end = _waits(profile)
    inside = np.zeros(len(key), dtype=np.int64)
    for low, high in intervals:
        inside += np.maximum(np.minimum(end, high) - np.maximum(start, low), 0)
    some = np.flatnonzero(inside)
    leaves, which = np.unique(key[some], return_inverse=True)
    number = _sums(which, np.ones(len(some), dtype=np.int64), len(leaves))
    return leaves // len(LEAVES), leaves % len(LEAVES), number, _sums(which, inside[some], len(leaves))


@lru_cache(maxsize=2)
def _waits(profile: Profile) -> tuple[Integers, Integers, Integers]:
    # Of every wait its node and kind as one key, its start and its end in ns.
    rows = find_off_cpu(profile)
    asleep = rows[rows["woken_ns"] > rows["start_ns"]]
    nodes, which = np.unique(asleep["node"], return_inverse=True)
    causes = [find_cause(profile.path(node)[1:]).kind for node in nodes.tolist()]
    leaves = [LEAVES.index(NO_WORK if cause is WaitKind.IDLE else WAIT) for cause in causes]
    sleeps = np.array(leaves, dtype=np.int64)[which]
    idles = profile.idles
    pieces = (
        (asleep["node"], sleeps, asleep["start_ns"], asleep["woken_ns"]),
        (rows["node"], LEAVES.index(RUNNABLE), rows["woken_ns"], rows["end_ns"]),
        (idles["node"], LEAVES.index(IDLE), idles["start_ns"], idles["end_ns"]),
    )
    key = np.concatenate([node.astype(np.int64) * len(LEAVES) + leaf for node, leaf, _, _ in pieces])
    start = np.concatenate([start for _, _, start, _ in pieces])
    end = np.concatenate([end for _, _, _, end in pieces])
    return key, start, end


def _intervals(pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    # Slices that follow each other as one interval.
    joined: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _sums(index: NDArray[np.integer], values: Integers, count: int) -> Integers:
    # bincount() adds floats, which is inexact above 2**53.
    sums = np.zeros(count, dtype=np.int64)
    np.add.at(sums, index, values)
    return sums


def _renumbered(parent: Integers, kept: Integers) -> Integers:
    # Parents in the numbering of `kept`, which is sorted; a parent that was not kept becomes the root.
    place = np.searchsorted(kept, parent[kept])
    return np.where(kept[np.minimum(place, len(kept) - 1)] == parent[kept], place, 0)
