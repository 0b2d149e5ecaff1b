"""The shape of a tree given as parents: depths, roots, order. Everything is done a level at a time in numpy.

A boot has 250,000 nodes and a hundred levels: a hundred array operations, no recursion.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.record_types import Integers


class TreeShape:
    """A tree whose node 0 is the root and in which a parent has a lower number than its children."""

    def __init__(self, parents: NDArray[np.unsignedinteger] | Integers) -> None:
        self.parent: Integers = parents.astype(np.int64)
        if len(self.parent):
            self.parent[0] = 0

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def depth(self) -> Integers:
        """Number of steps from the root; 0 for the root itself."""
        # Pointer jumping: after k rounds every node knows its 2**k-th ancestor.
        depth = np.ones(len(self), dtype=np.int64)
        depth[:1] = 0
        ancestor = self.parent
        while ancestor.any():
            depth = depth + depth[ancestor]
            ancestor = ancestor[ancestor]
        return depth

    @cached_property
    def levels(self) -> list[Integers]:
        """The nodes of each depth, the root's level first."""
        order = np.argsort(self.depth, kind="stable")
        ends = np.cumsum(np.bincount(self.depth))
        return np.split(order, ends[:-1]) if len(self) else []

    @cached_property
    def top(self) -> Integers:
        """For each node its ancestor just below the root: the task or stage it belongs to; 0 for the root."""
        top = np.arange(len(self), dtype=np.int64)
        for level in self.levels[2:]:
            top[level] = top[self.parent[level]]
        return top

    def totals(self, own: Integers) -> Integers:
        """Return for each node the sum of `own` over it and everything below it."""
        total = own.astype(np.int64)
        for level in reversed(self.levels[1:]):
            np.add.at(total, self.parent[level], total[level])
        return total

    @cached_property
    def size(self) -> Integers:
        """Number of nodes in each subtree, its root included."""
        return self.totals(np.ones(len(self), dtype=np.int64))

    @cached_property
    def enter(self) -> Integers:
        """Position of each node in preorder; its subtree is the positions `enter .. enter + size - 1`."""
        enter = np.zeros(len(self), dtype=np.int64)
        # Before a child come its parent and the subtrees of the siblings with lower numbers.
        for level in self.levels[1:]:
            level = level[np.argsort(self.parent[level], kind="stable")]
            parent, size = self.parent[level], self.size[level]
            before = np.cumsum(size) - size
            first = np.r_[True, parent[1:] != parent[:-1]]
            enter[level] = (
                enter[parent] + 1 + before - np.repeat(before[first], np.diff(np.r_[np.flatnonzero(first), len(level)]))
            )
        return enter

    def at_or_below(self, roots: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which nodes are one of `roots` or have one above them."""
        within = np.zeros(len(self) + 1, dtype=np.int64)
        # Subtrees that end at one place are counted off there, each; no two begin at one.
        within[self.enter[roots]] = 1
        np.subtract.at(within, self.enter[roots] + self.size[roots], 1)
        return (np.cumsum(within) > 0)[self.enter]

    def path(self, node: int) -> list[int]:
        """Return the nodes from just below the root down to `node`; empty for the root."""
        steps = []
        while node:
            steps.append(node)
            node = int(self.parent[node])
        return steps[::-1]

    def outermost(self, label: Integers) -> NDArray[np.bool_]:
        """Return which nodes have no ancestor with the same label: what counts a recursion once."""
        order = np.lexsort((self.enter, label))
        labels, enter = label[order], self.enter[order]
        leave = enter + self.size[order]
        first = np.r_[True, labels[1:] != labels[:-1]][: len(order)]
        # Subtrees nest or are apart, so a node lies in an earlier one iff it begins before the furthest end so far.
        group = np.cumsum(first) * (len(self) + 1)
        furthest = np.maximum.accumulate(leave + group)
        result = np.empty(len(self), dtype=np.bool_)
        result[order] = first | (enter + group >= np.r_[0, furthest[:-1]][: len(order)])
        return result
