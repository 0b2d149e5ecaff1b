"""A recording as the page's scripts take it: the blocks `profile-tree` and `profile-time` of a profile, without counts.

Times are shifted so that the axis begins at zero: firmware may lie before a clock's zero.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from bootlab.profile.tree.call_tree import CallTree
from bootlab.profile.tree.differential import compare_trees
from bootlab.report.parts.markup import Html
from bootlab.report.profile.number_columns import Pack
from bootlab.report.profile.time_blocks import Lane, Notes, TrackSpan, add_lanes, add_tracks, spans_of
from bootlab.report.profile.tree_blocks import add_shape
from bootlab.report.recording.tree import RecordingTree, placed_spans, tree_of
from bootlab.report.recording.words import title_of
from bootlab.timeline.recording import Recording

_WAITS: Final = ("[wait]", "[idle]")


def tree_block(recording: Recording, tree: RecordingTree) -> Html:
    """Return the block `profile-tree` of a recording."""
    pack, whole = Pack(), tree.tree
    _add_names(pack, whole)
    _add_times(pack, 0, whole)
    part = {"name": "the recording", "ns": int(whole.total_elapsed_ns[0]), "shown": True}
    return pack.block("profile-tree", _facts(recording, 1, part))


def both_block(before: Recording, after: Recording) -> Html:
    """Return the block `profile-tree` of two recordings in one tree."""
    difference = compare_trees(tree_of(before).tree, tree_of(after).tree)
    pack = Pack()
    _add_names(pack, difference.before)
    sides = (difference.before, difference.after)
    for side, tree in enumerate(sides):
        _add_times(pack, side, tree)
    was_ns, ns = (int(tree.total_elapsed_ns[0]) for tree in sides)
    return pack.block("profile-tree", _facts(after, 2, {"name": "all", "ns": ns, "was_ns": was_ns, "shown": True}))


def _facts(recording: Recording, sides: int, part: Mapping[str, Any]) -> dict[str, Any]:
    clock = recording.timeline.clock
    return {"slices": [part], "sides": sides, "ns_per_instruction": 1, "timed": True, "unit": clock.unit}


def _add_names(pack: Pack, tree: CallTree) -> None:
    tops = {tree.names[int(function)] for function in tree.function[tree.shape.depth == 1]}
    add_shape(pack, tree, [_kind(name, tops) for name in tree.names])


def _add_times(pack: Pack, side: int, tree: CallTree) -> None:
    places = tree.shape.enter
    order = np.argsort(places)
    some = order[(tree.calls[order] != 0) | (tree.self_elapsed_ns[order] != 0)]
    pack.differences(f"{side}.0.nodes", places[some])
    pack.numbers(f"{side}.0.calls", tree.calls[some])
    pack.numbers(f"{side}.0.instructions", np.zeros(len(some), dtype=np.int64))
    pack.numbers(f"{side}.0.waited", tree.self_elapsed_ns[some])


def time_block(recording: Recording, tree: RecordingTree) -> Html:
    """Return the block `profile-time` of a recording: its phases and what overlaps on top, a lane for each thread."""
    pack, notes = Pack(), Notes()
    first_ns = recording.start_ns
    tracks = add_tracks(pack, _tracks(recording, first_ns), notes)
    placed = placed_spans(recording.timeline.spans)
    titles = list(dict.fromkeys(one.span.track for one in placed))
    keys = {title: key for key, title in enumerate(titles)}
    drawn = [(one, node) for one in placed if (node := tree.nodes.get(one.path)) is not None]
    columns = {
        "lane": [keys[one.span.track] for one, _ in drawn],
        "level": [len(one.path) - 2 for one, _ in drawn],
        "start": [one.span.start_ns - first_ns for one, _ in drawn],
        "end": [one.span.end_ns - first_ns for one, _ in drawn],
        "place": tree.tree.shape.enter[[node for _, node in drawn]].tolist() if drawn else [],
        "note": [notes.number(one.span.about) for one, _ in drawn],
    }
    spans = spans_of({name: np.array(values, dtype=np.int64) for name, values in columns.items()})
    lanes = []
    for title, key in keys.items():
        tops = [one.span for one in placed if one.span.track == title and len(one.path) == 2]
        runs = np.array(sorted((top.start_ns - first_ns, top.end_ns - first_ns) for top in tops), dtype=np.int64)
        ran_ns = int((runs[:, 1] - runs[:, 0]).sum())
        lanes.append(Lane(key, title, int(runs[0, 0]), int(runs[:, 1].max()), runs, ran_ns))
    add_lanes(pack, lanes, spans)
    pack.texts("notes", notes.numbers)
    end_ns = max(recording.end_ns - first_ns, 1)
    marks = [{"name": phase.name, "t_ns": phase.start_ns - first_ns} for phase in recording.phases]
    facts = {
        "end_ns": end_ns, "shown_ns": end_ns, "tracks": tracks,
        "marks": [mark for mark in marks if mark["t_ns"]], "unit": recording.timeline.clock.unit,
    }  # fmt: skip
    return pack.block("profile-time", facts)


def _tracks(recording: Recording, first_ns: int) -> Mapping[str, Sequence[TrackSpan]]:
    spans = [*recording.phases, *(span for span in recording.timeline.spans if not span.track)]
    tracks: dict[str, list[TrackSpan]] = {}
    for span in spans:
        title = "Phases" if span.source == "phase" else title_of(span.source)
        kind = {"phase": "stage", "initcall": "kernel", "probe": "module"}.get(span.source, "task")
        start, end = span.start_ns - first_ns, span.end_ns - first_ns
        tracks.setdefault(title, []).append(TrackSpan(start, max(end, start), span.name, kind, span.about))
    return tracks


def _kind(name: str, threads: set[str]) -> str:
    return "task" if name in threads else "wait" if name in _WAITS or name.startswith("waits for ") else "kernel"
