"""Makes the small real profile of tests/data/profile out of a boot's directory; its README says of which boot.

    python tests/profile/small_profile.py DIRECTORY tests/data/profile/NAME [--upto MARK] [--least INSTRUCTIONS]

Stacks that cost less than `--least` and that no other record refers to are given to the function that called them, so
that every sum stays what it was. Short spans and functions left without a node are dropped; everything else is kept.
"""

import argparse
import gzip
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bootlab.profile.asked.profiling import function_names, functions_text, read_functions
from bootlab.profile.recorded.profile import LAST_SLICE, Profile, Task
from bootlab.profile.recorded.reader import read_profile
from bootlab.profile.recorded.record_types import MAGIC, NONE, RECORD, CallKind, ChunkKind
from bootlab.profile.recorded.trace import read_trace

SPAN_NS = 1_000_000


class Pruned:
    """The smaller numbering of nodes and functions."""

    def __init__(self, profile: Profile, slices: range, least: int) -> None:
        shape, nodes = profile.shape, profile.nodes
        own = np.zeros(len(nodes), dtype=np.int64)
        for number in slices:
            np.add.at(own, profile.slices[number].weights["node"], profile.slices[number].weights["instructions"])
        keep = shape.totals(own) >= least
        # Tasks and stages, and what says whether a probe succeeded.
        keep[(shape.depth < 2) | np.isin(nodes["function"], [profile.names.index("driver_bound")])] = True
        for referring in (profile.switches["previous_node"], profile.wakes["node"], profile.idles["node"]):
            keep[referring] = True
        keep[[one.node for one in (*profile.calls, *profile.events)]] = True
        for level in reversed(shape.levels[1:]):
            keep[shape.parent[level[keep[level]]]] = True
        # Every node's nearest kept ancestor, in the new numbers.
        self.node = np.where(keep, np.cumsum(keep) - 1, 0)
        for level in shape.levels[1:]:
            self.node[level] = np.where(keep[level], self.node[level], self.node[shape.parent[level]])
        self.nodes = nodes[keep]
        self.old_parents = shape.parent[keep]
        called = [one.argument for one in profile.calls if one.kind == CallKind.INITCALL]
        self.called = frozenset(called)
        used = np.unique(np.r_[self.nodes["function"], profile.syscalls["function"]])
        self.used = used[used < len(profile.names)]
        self.profile = profile


def numbered(
    pruned: Pruned, functions: list[tuple[int, str, str]]
) -> tuple[list[tuple[int, str, str]], dict[int, int]]:
    """Return the lines of the functions file that are kept and old number -> new number of every function."""
    known = pruned.profile.kernel_functions
    lines = {number for number in pruned.used.tolist() if number < known}
    lines |= {number for number, (address, _, _) in enumerate(functions) if address in pruned.called}
    kept = sorted(lines)
    rest = [number for number in pruned.used.tolist() if number >= known]
    return [functions[number] for number in kept], {old: new for new, old in enumerate([*kept, *rest])}


def chunk(kind: ChunkKind, rows: Iterable[tuple[Any, ...]] | np.ndarray, text: bytes = b"") -> bytes:
    """Return one chunk; records that have a `slice` lose it."""
    if isinstance(rows, np.ndarray):
        rows = rows[list(RECORD[kind].names or ())].tolist()
    body = np.array(list(rows), dtype=RECORD[kind]).tobytes() + text + bytes(-len(text) % 8)
    return struct.pack("<II", kind, len(body)) + body


def small_profile(profile: Profile, functions: list[tuple[int, str, str]], upto: str, least: int) -> tuple[bytes, str]:
    """Return the file and its functions file."""
    slices = profile.up_to(upto)
    end = profile.slices[slices[-1]]
    pruned = Pruned(profile, slices, least)
    lines, number_of = numbered(pruned, functions)
    parts = [MAGIC]
    for old, new in number_of.items():
        if new >= len(lines):
            text = profile.names[old].encode()
            fields = (new, int(profile.spaces[old]), len(text), int(profile.addresses[old]))
            parts.append(chunk(ChunkKind.NAME, [fields], text))
    parents = [NONE, *pruned.node[pruned.old_parents[1:]].tolist()]
    named = [number_of.get(int(function), 0) for function in pruned.nodes["function"]]
    parts.append(chunk(ChunkKind.NODE, zip(parents, named, strict=True)))
    parts.append(chunk(ChunkKind.TASK, task_rows(profile.tasks, end.end_ns)))
    for kind, array, fields in (
        (ChunkKind.SWITCH, profile.switches, ("t_ns", "previous_node")),
        (ChunkKind.WAKE, profile.wakes, ("t_ns", "node")),
        (ChunkKind.IDLE, profile.idles, ("end_ns", "node")),
        (
            ChunkKind.SPAN,
            profile.spans[profile.spans["end_ns"] - profile.spans["start_ns"] >= SPAN_NS],
            ("end_ns", "node"),
        ),
    ):
        rows = array[array[fields[0]] <= end.end_ns].copy()
        rows[fields[1]] = pruned.node[rows[fields[1]]]
        parts.append(chunk(kind, rows))
    for call in profile.calls:
        if call.end_ns <= end.end_ns:
            row = (*call[:6], int(pruned.node[call.node]), *call[7:-1], len(call.text.encode()))
            parts.append(chunk(ChunkKind.CALL, [row], call.text.encode()))
    for event in profile.events:
        if event.t_ns <= end.end_ns:
            row = (*event[:5], int(pruned.node[event.node]), *event[6:-1], len(event.text.encode()))
            parts.append(chunk(ChunkKind.EVENT, [row], event.text.encode()))
    for index in slices:
        parts += slice_chunks(profile, pruned, number_of, index)
    idles = profile.idles[profile.idles["end_ns"] <= end.end_ns]
    idle_ns = int((idles["end_ns"] - idles["start_ns"]).sum())
    parts.append(chunk(ChunkKind.END, [(end.end_ns, end.end_instructions, idle_ns)]))
    return b"".join(parts), functions_text(lines)


def task_rows(tasks: list[Task], until_ns: int) -> list[tuple[Any, ...]]:
    """Return the records of the tasks that were made by then, in the order of time."""
    rows = []
    for task in tasks:
        parent = NONE if task.parent is None else task.parent
        rows += [
            (t_ns, task.number, parent, task.pid, task.tgid, comm.encode())
            for t_ns, comm in task.names
            if task.started_ns <= until_ns
        ]
    return sorted(rows, key=lambda row: (row[0], row[1]))


def slice_chunks(profile: Profile, pruned: Pruned, number_of: dict[int, int], index: int) -> list[bytes]:
    """Return what belongs to one slice, and the cut that ends it."""
    piece = profile.slices[index]
    sums = np.zeros((2, len(pruned.nodes)), dtype=np.int64)
    place = pruned.node[piece.weights["node"]]
    # A call of a function that is gone is not a call of its caller.
    lasting = pruned.nodes["function"][place] == profile.nodes["function"][piece.weights["node"]]
    np.add.at(sums[0], place[lasting], piece.weights["calls"][lasting].astype(np.int64))
    np.add.at(sums[1], place, piece.weights["instructions"])
    weights = [(node, *sums[:, node].tolist()) for node in np.flatnonzero(sums.any(axis=0)).tolist()]
    calls = profile.syscalls[profile.syscalls["slice"] == index].copy()
    calls["function"] = [number_of[int(function)] for function in calls["function"]]
    parts = [chunk(ChunkKind.WEIGHT, weights), chunk(ChunkKind.SYSCALL, calls)]
    parts.append(chunk(ChunkKind.COUNTS, profile.counts[profile.counts["slice"] == index]))
    if piece.name != LAST_SLICE:
        name = piece.name.encode()
        parts.append(chunk(ChunkKind.CUT, [(piece.end_ns, piece.end_instructions, len(name))], name))
    return parts


def main() -> None:
    """Make it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--upto", default="ready")
    parser.add_argument("--least", type=int, default=3_000_000)
    asked = parser.parse_args()
    trace = read_trace(asked.directory / "trace.txt")
    assert trace.shift is not None
    functions = read_functions(asked.directory / "functions.txt")
    profile = read_profile(asked.directory / "profile.bin", function_names(functions), trace.shift)
    data, text = small_profile(profile, functions, asked.upto, asked.least)
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "profile.bin.gz").write_bytes(gzip.compress(data, 9, mtime=0))
    (asked.out / "functions.txt").write_text(text)
    (asked.out / "profile.json").write_bytes((asked.directory / "profile.json").read_bytes())


if __name__ == "__main__":
    main()
