"""Where a task's time on a CPU went: the innermost frame that was long enough to be recorded, at every moment.

Frames shorter than the profile's span limit count for the frame that called them, so nothing is lost; what lies outside
every recorded frame (a function that never returned) counts for the task itself.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Integers
from bootlab.profile.tables.plain_data import Result
from bootlab.profile.waits.schedule import group
from bootlab.profile.waits.sleep_reasons import HALLS, bare, find_context


@dataclass(frozen=True, slots=True)
class Frame(Result):
    """A function and the time spent in it and below. `node`: None for a task that is meant as a whole."""

    name: str
    node: int | None
    ns: int


@dataclass(frozen=True, slots=True)
class _Pieces:
    starts: list[int]
    ends: list[int]
    nodes: list[int]


_NONE: Final = _Pieces([], [], [])


class RunningTime:
    """The recorded frames of one profile, cut so that at most one is there at any moment of a task."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._pieces: dict[int, _Pieces] = {}
        self._contexts: dict[int, str] = {}

    @cached_property
    def _spans(self) -> dict[int, Integers]:
        spans, depth = self.profile.spans, self.profile.shape.depth
        order = np.lexsort((depth[spans["node"]], -spans["end_ns"], spans["start_ns"], spans["task"]))
        return group(spans["task"], order)

    @cached_property
    def _roots(self) -> dict[int, int]:
        # The node that is the root of each task's stacks; the last, of a task that changed its name.
        roots: dict[int, int] = {}
        top = self.profile.shape.top
        for rows, node, task in (
            (self.profile.switches, "previous_node", "previous"),
            (self.profile.spans, "node", "task"),
        ):
            roots |= zip(rows[task].tolist(), top[rows[node]].tolist(), strict=True)
        return roots

    def nodes(self, task: int, start_ns: int, end_ns: int) -> Counter[int]:
        """Return how long each node was the innermost recorded frame of a task between two times; they add up."""
        pieces = self._pieces_of(task)
        result: Counter[int] = Counter()
        rest = end_ns - start_ns
        first = max(bisect_right(pieces.starts, start_ns) - 1, 0)
        for index in range(first, bisect_left(pieces.starts, end_ns, first)):
            ns = min(pieces.ends[index], end_ns) - max(pieces.starts[index], start_ns)
            if ns > 0:
                result[pieces.nodes[index]] += ns
                rest -= ns
        if rest:
            result[self._roots.get(task, 0)] += rest
        return result

    def _pieces_of(self, task: int) -> _Pieces:
        pieces = self._pieces.get(task)
        if pieces is None:
            rows = self._spans.get(task)
            pieces = self._pieces[task] = _NONE if rows is None else _cut(self.profile, rows)
        return pieces

    def explain(self, nodes: Mapping[int, int], limit: int = 3) -> tuple[str, tuple[Frame, ...]]:
        """Return the function most of the time of `nodes` was spent in, and the `limit` longest frames below it.

        It is the innermost one that holds two thirds of the time, named after what it ran for. Where it only leads to
        what matters, as do_one_initcall() does, its callees are named instead.
        """
        total = sum(nodes.values())
        below, children = self._totals(nodes)
        node = 0
        while True:
            best = max(children.get(node, ()), key=lambda child: (below[child], -child), default=None)
            if best is None or 3 * below[best] < 2 * total:
                break
            node = best
        inner = sorted(children.get(node, ()), key=lambda child: (-below[child], child))
        frames = tuple(Frame(self._name(child), child, below[child]) for child in inner[:limit])
        if not node or ((bare(self._name(node)) in HALLS or node in self._tops) and frames):
            more = f" and {len(inner) - limit} more" if len(inner) > limit else ""
            return ", ".join(frame.name for frame in frames) + more, frames
        own = Frame(self._name(node), node, below[node])
        context = self.context(node)
        return own.name if context in ("", own.name) else f"{context}: {own.name}", frames or (own,)

    def context(self, node: int) -> str:
        """Return what a node ran for: an initcall, a worker's function, a system call, a thread; "" where not known."""
        context = self._contexts.get(node)
        if context is None:
            context = self._contexts[node] = find_context(self.profile.path(node)[1:])[0]
        return context

    @cached_property
    def _tops(self) -> frozenset[int]:
        return frozenset(np.unique(self.profile.shape.top).tolist())

    def _name(self, node: int) -> str:
        return self.profile.names[int(self.profile.nodes["function"][node])]

    def _totals(self, nodes: Mapping[int, int]) -> tuple[Counter[int], dict[int, list[int]]]:
        parent = self.profile.shape.parent
        below: Counter[int] = Counter()
        children: dict[int, list[int]] = {}
        for node, ns in nodes.items():
            while True:
                new = node not in below
                below[node] += ns
                if not node:
                    break
                above = int(parent[node])
                if new:
                    children.setdefault(above, []).append(node)
                node = above
        return below, children


def _cut(profile: Profile, rows: Integers) -> _Pieces:
    # Spans of one task nest: outer ones come first, and what an inner one covers is not the outer one's.
    spans = profile.spans[rows]
    pieces = _Pieces([], [], [])
    open_spans: list[tuple[int, int]] = []
    at = 0

    def add(until: int, node: int) -> None:
        nonlocal at
        if at < until:
            pieces.starts.append(at)
            pieces.ends.append(until)
            pieces.nodes.append(node)
            at = until

    columns = (spans["start_ns"].tolist(), spans["end_ns"].tolist(), spans["node"].tolist())
    for start, end, node in zip(*columns, strict=True):
        while open_spans and open_spans[-1][0] <= start:
            add(*open_spans.pop())
        if open_spans:
            add(start, open_spans[-1][1])
        at = max(at, start)
        open_spans.append((end, node))
    while open_spans:
        add(*open_spans.pop())
    return pieces
