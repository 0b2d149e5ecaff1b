"""A recording's call tree: its stacks, or its spans on tracks, as the same type that a profile of our own has.

So the flame graph, the flame chart, folded stacks and SVG are the ones that profiles use. Nothing here counted
instructions: the only weight is time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bootlab.profile.tree.call_tree import LEAVES, CallTree
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Recording, Stack
from bootlab.timeline.stack_tree import DEEPEST

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlacedSpan:
    """A span in its thread: `path` is the thread, then the frames down to this one."""

    span: Span
    path: Path
    own_ns: int


@dataclass(frozen=True)
class RecordingTree:
    """A call tree and which node each path of frames is."""

    tree: CallTree
    nodes: dict[Path, int]


def placed_spans(spans: Iterable[Span]) -> list[PlacedSpan]:
    """Return the spans that are part of a thread, with the frames above each: those of its track that contain it.

    A span that overlaps the one before it without lying inside it ends that one's claim to it: it goes to the level of
    the last one that contains it.
    """
    tracks: dict[str, list[Span]] = {}
    for span in spans:
        if span.track:
            tracks.setdefault(span.track, []).append(span)
    placed: list[PlacedSpan] = []
    for track, mine in tracks.items():
        placed += _nested(track, sorted(mine, key=lambda one: (one.start_ns, -one.end_ns)))
    return placed


def tree_of(recording: Recording) -> RecordingTree:
    """Return the call tree of a recording; only its root where nothing in it belongs to a thread."""
    stacks: Iterable[Stack] = recording.stacks
    if not recording.stacks:
        placed = sorted(placed_spans(recording.timeline.spans), key=lambda one: (one.span.start_ns, len(one.path)))
        stacks = (Stack(one.path, one.own_ns, 1) for one in placed)
    builder = _Builder()
    for stack in stacks:
        builder.add(stack)
    return RecordingTree(builder.tree(), builder.nodes)


def _nested(track: str, spans: Sequence[Span]) -> Iterator[PlacedSpan]:
    open_spans: list[tuple[Span, Path, list[int]]] = []
    done: list[tuple[Span, Path, list[int]]] = []
    for span in spans:
        while open_spans and (open_spans[-1][0].end_ns < span.end_ns or open_spans[-1][0].end_ns <= span.start_ns):
            open_spans.pop()
        above = open_spans[-1][1] if open_spans else (track,)
        # What is nested more deeply than any stack counts as its caller's.
        path = (*above, span.name) if len(above) <= DEEPEST else above
        if open_spans:
            open_spans[-1][2][0] += span.duration_ns
        entry = (span, path, [0])
        open_spans.append(entry)
        done.append(entry)
    return (PlacedSpan(span, path, max(span.duration_ns - inside[0], 0)) for span, path, inside in done)


@dataclass
class _Builder:
    nodes: dict[Path, int] = field(default_factory=dict)
    functions: dict[str, int] = field(default_factory=dict)
    parent: list[int] = field(default_factory=lambda: [0])
    function: list[int] = field(default_factory=lambda: [0])
    calls: list[int] = field(default_factory=lambda: [0])
    own_ns: list[int] = field(default_factory=lambda: [0])

    def add(self, stack: Stack) -> None:
        node = 0
        for depth in range(1, len(stack.frames) + 1):
            node = self._node(stack.frames[:depth], node)
        self.calls[node] += stack.calls
        self.own_ns[node] += stack.own_ns

    def tree(self) -> CallTree:
        columns = (self.parent, self.function, self.calls, self.own_ns)
        parent, function, calls, own_ns = (np.array(column, dtype=np.int64) for column in columns)
        return CallTree(
            names=[*self.functions, *LEAVES],
            parent=parent,
            function=function,
            calls=calls,
            self_instructions=np.zeros(len(parent), dtype=np.int64),
            self_elapsed_ns=own_ns,
            shift=0,
        )

    def _node(self, path: Path, parent: int) -> int:
        node = self.nodes.get(path)
        if node is None:
            node = self.nodes[path] = len(self.parent)
            self.parent.append(parent)
            self.function.append(self.functions.setdefault(path[-1], len(self.functions)))
            self.calls.append(0)
            self.own_ns.append(0)
        return node
