"""The boot in the order of time as the page's scripts take it: a lane for each task, its frames and its waits as spans.

Spans refer to nodes of the page's call tree, which has their names and depths; a wait is a span of a `[wait]` leaf.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import NONE, Integers, Records
from bootlab.profile.tree.call_tree import IDLE, LEAVES, NO_WORK, RUNNABLE, WAIT
from bootlab.profile.waits.off_cpu import find_off_cpu
from bootlab.profile.waits.schedule import find_runs
from bootlab.report.parts.markup import Html
from bootlab.report.profile.number_columns import Pack
from bootlab.report.profile.tree_blocks import KINDS, Numbering

_SPAN: Final = np.dtype([(name, "<i8") for name in ("lane", "level", "start", "end", "place", "note")])


@dataclass(frozen=True, slots=True)
class TrackSpan:
    """A named span above the tasks. `kind` is one of tree_blocks.KINDS; `note` is a line about it."""

    start_ns: int
    end_ns: int
    name: str
    kind: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """A task, or a stage before there were any. `key`: the task's number, or minus the stage's node.

    `runs`: when it ran, as rows of (start, end) in ns. `ran_ns`: how long; a stage's CPUs may take turns with others.
    """

    key: int
    title: str
    begins_ns: int
    ends_ns: int
    runs: Integers
    ran_ns: int


@dataclass
class Notes:
    """Texts by number, each kept once; 0 is none."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, note: str) -> int:
        """Return the number of a note, a new one for one that is new; 0 for an empty note."""
        return self.numbers.setdefault(note, len(self.numbers) + 1) if note else 0


def time_block(
    profile: Profile,
    numbering: Numbering,
    marks: Mapping[str, int],
    tracks: Mapping[str, Sequence[TrackSpan]],
    wake_notes: Mapping[tuple[int, int], str],
    shown_ns: int,
) -> Html:
    """Return the block `profile-time`.

    `tracks`: title -> spans that are no frames, the critical path for instance. `wake_notes`: (task, start in ns of its
    sleep) -> what ended it. `shown_ns`: up to when it is shown at first.
    """
    pack, notes = Pack(), Notes()
    shown_tracks = add_tracks(pack, tracks, notes)
    spans = _spans(profile, numbering, wake_notes, notes)
    add_lanes(pack, _lanes(profile, numbering, spans), spans)
    pack.texts("notes", notes.numbers)
    # Power-on is where the axis begins anyway.
    ordered = sorted(((name, t_ns) for name, t_ns in marks.items() if t_ns > 0), key=lambda mark: mark[1])
    facts = {
        "end_ns": profile.end_ns, "shown_ns": shown_ns or profile.end_ns, "tracks": shown_tracks,
        "marks": [{"name": name, "t_ns": t_ns} for name, t_ns in ordered],
    }  # fmt: skip
    return pack.block("profile-time", facts)


def add_tracks(pack: Pack, tracks: Mapping[str, Sequence[TrackSpan]], notes: Notes) -> list[dict[str, str | int]]:
    """Add the columns of the tracks above the lanes, and return what the scripts must know of each track."""
    names = Notes()
    columns: dict[str, list[int]] = {name: [] for name in ("start", "took", "name", "kind", "row", "note")}
    shown: list[dict[str, str | int]] = []
    for title, spans in tracks.items():
        ends: list[int] = []
        for span in sorted(spans, key=lambda one: (one.start_ns, -one.end_ns)):
            row = next((row for row, end in enumerate(ends) if end <= span.start_ns), len(ends))
            ends[row : row + 1] = [span.end_ns]
            values = (span.start_ns, span.end_ns - span.start_ns, names.number(span.name) - 1, KINDS.index(span.kind),
                      row, notes.number(span.note))  # fmt: skip
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
        if spans:
            shown.append({"title": title, "rows": len(ends), "count": len(spans)})
    for name, column in columns.items():
        (pack.differences if name == "start" else pack.numbers)(f"track.{name}", np.array(column, dtype=np.int64))
    pack.texts("track.text", names.numbers)
    return shown


def _spans(profile: Profile, numbering: Numbering, wake_notes: Mapping[tuple[int, int], str], notes: Notes) -> Records:
    # All spans; `lane` is a task's number, or minus the node of a stage.
    parts = [_frames(profile, numbering), *_waits(profile, numbering, wake_notes, notes), _idles(profile, numbering)]
    spans = np.concatenate(parts)
    return spans[(spans["place"] >= 0) & (spans["end"] > spans["start"])]


def spans_of(columns: Mapping[str, Integers]) -> Records:
    """Return spans as `add_lanes` takes them, from columns lane, level, start, end, place and perhaps note."""
    spans = np.zeros(len(columns["lane"]), dtype=_SPAN)
    for name, column in columns.items():
        spans[name] = column
    return spans


def _made(lane: Integers, level: Integers, start: Integers, end: Integers, place: Integers) -> Records:
    return spans_of({"lane": lane, "level": level, "start": start, "end": end, "place": place})


def _frames(profile: Profile, numbering: Numbering) -> Records:
    spans = profile.spans
    node = spans["node"].astype(np.int64)
    shape = profile.shape
    # What no task ran, firmware for one, has a lane of its own, and its root is a frame; a task's root is its lane.
    stage = spans["task"] == NONE
    lane = np.where(stage, -shape.top[node], spans["task"].astype(np.int64))
    level = shape.depth[node] - np.where(stage, 1, 2)
    made = _made(lane, level, spans["start_ns"], spans["end_ns"], numbering.places[node])
    return made[level >= 0]


def _leaf(
    profile: Profile, numbering: Numbering, rows: Records, leaves: Sequence[str], lane: Integers, ends: tuple[str, str]
) -> Records:
    # As spans of the first of `leaves` that the tree has there.
    node = rows["node"].astype(np.int64)
    place = np.full(len(node), -1, dtype=np.int64)
    for leaf in leaves:
        function = np.full(len(node), len(profile.names) + LEAVES.index(leaf))
        place = np.where(place < 0, numbering.leaf_places(node, function), place)
    level = np.maximum(profile.shape.depth[node] - 1, 0)
    return _made(lane, level, rows[ends[0]], rows[ends[1]], place)


def _waits(
    profile: Profile, numbering: Numbering, wake_notes: Mapping[tuple[int, int], str], notes: Notes
) -> tuple[Records, Records]:
    rows = find_off_cpu(profile)
    lane = rows["task"].astype(np.int64)
    asleep = _leaf(profile, numbering, rows, (WAIT, NO_WORK), lane, ("start_ns", "woken_ns"))
    asleep["note"] = [
        notes.number(wake_notes.get(key, "")) for key in zip(lane.tolist(), rows["start_ns"].tolist(), strict=True)
    ]
    return asleep, _leaf(profile, numbering, rows, (RUNNABLE,), lane, ("woken_ns", "end_ns"))


def _idles(profile: Profile, numbering: Numbering) -> Records:
    # An idle stretch belongs to the task in whose stack the CPU halted: its idle task, as a rule.
    switches = profile.switches[profile.switches["previous"] != NONE]
    tops = profile.shape.top[switches["previous_node"]]
    task = dict(zip(tops.tolist(), switches["previous"].tolist(), strict=True))
    halted = profile.shape.top[profile.idles["node"]].tolist()
    lane = np.array([task.get(top, -top) for top in halted], dtype=np.int64)
    return _leaf(profile, numbering, profile.idles, (IDLE,), lane, ("start_ns", "end_ns"))


def _lanes(profile: Profile, numbering: Numbering, spans: Records) -> list[Lane]:
    # In the order in which they began.
    runs = find_runs(profile)
    by_task = runs[np.argsort(runs["task"], kind="stable")]
    tasks = by_task["task"].astype(np.int64)
    lanes = []
    for task in profile.tasks:
        mine = by_task[np.searchsorted(tasks, task.number) : np.searchsorted(tasks, task.number, side="right")]
        pieces = np.stack([mine["start_ns"], mine["end_ns"]], axis=1)
        if task.pid == 0:
            pieces = _without(pieces, profile.idles)
        ends = profile.end_ns if task.exited_ns is None else task.exited_ns
        ran_ns = int((pieces[:, 1] - pieces[:, 0]).sum())
        lanes.append(Lane(task.number, task.label, task.started_ns, ends, pieces, ran_ns))
    for stage in np.unique(spans["lane"][spans["lane"] < 0]).tolist():
        mine = spans[spans["lane"] == stage]
        begins, ends = int(mine["start"].min()), int(mine["end"].max())
        title = profile.names[int(profile.nodes["function"][-stage])]
        ran_ns = int(numbering.whole.total_instructions[-stage]) << profile.shift
        lanes.append(Lane(stage, title, begins, ends, np.array([[begins, ends]]), ran_ns))
    return sorted(lanes, key=lambda lane: (lane.begins_ns, lane.key))


def _without(pieces: Integers, idles: Records) -> Integers:
    # The pieces less the idle stretches in them; both are in order of time.
    kept = []
    starts, ends = idles["start_ns"].tolist(), idles["end_ns"].tolist()
    for begin, end in pieces.tolist():
        at = begin
        for index in range(bisect_left(ends, begin), len(starts)):
            if starts[index] >= end:
                break
            if starts[index] > at:
                kept.append((at, starts[index]))
            at = max(at, ends[index])
        if at < end:
            kept.append((at, end))
    return np.array(kept, dtype=np.int64).reshape(-1, 2)


def add_lanes(pack: Pack, lanes: Sequence[Lane], spans: Records) -> None:
    """Add the columns of the lanes and of their spans, whose `lane` is a lane's key."""
    place = {lane.key: index for index, lane in enumerate(lanes)}
    keys, which = np.unique(spans["lane"], return_inverse=True)
    lane = np.array([place[key] for key in keys.tolist()], dtype=np.int64)[which]
    order = np.lexsort((spans["start"], spans["level"], lane))
    lane, spans = lane[order], spans[order]
    rows = np.zeros(len(lanes), dtype=np.int64)
    np.maximum.at(rows, lane, spans["level"] + 1)
    row = (np.cumsum(rows) - rows)[lane] + spans["level"]
    pack.texts("lane.title", [one.title for one in lanes])
    columns = {
        "rows": rows, "begins": [one.begins_ns for one in lanes], "ends": [one.ends_ns for one in lanes],
        "runs": [len(one.runs) for one in lanes],
        "ran": [one.ran_ns for one in lanes],
    }  # fmt: skip
    for name, values in columns.items():
        pack.numbers(f"lane.{name}", np.array(values, dtype=np.int64))
    pack.numbers("rows.end", np.cumsum(np.bincount(row, minlength=int(rows.sum()))))
    pack.differences("span.start", spans["start"])
    pack.numbers("span.took", spans["end"] - spans["start"])
    pack.differences("span.node", spans["place"])
    pack.numbers("span.note", spans["note"])
    runs = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(one.runs for one in lanes)])
    pack.differences("run.start", runs[:, 0])
    pack.numbers("run.took", runs[:, 1] - runs[:, 0])
