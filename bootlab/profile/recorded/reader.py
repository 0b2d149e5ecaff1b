"""Reader of the plugin's profile (plugin/profile_format.h): a file to arrays and values, nothing interpreted.

A QEMU that was killed leaves whole chunks and perhaps part of one; that is a profile too, up to where it ends. Then
records may refer to functions, nodes or tasks that were still to be written, and are left out.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from bootlab.errors import InputError
from bootlab.profile.recorded.chunks import ProfileChunks
from bootlab.profile.recorded.compressed import find_kept, read_kept
from bootlab.profile.recorded.profile import LAST_SLICE, Profile, Slice, Task
from bootlab.profile.recorded.record_types import (
    NONE,
    Call,
    ChunkKind,
    EventKind,
    Integers,
    ProfileEvent,
    Records,
    Space,
    SwitchFlag,
)

__all__ = ["Profile", "Slice", "Task", "parse_profile", "read_profile"]

# What the fields of a record refer to. A task may be unknown, everything else must be there.
_REFERENCES: Final[Mapping[ChunkKind, Mapping[str, str]]] = {
    ChunkKind.WEIGHT: {"node": "node"},
    ChunkKind.SWITCH: {"previous": "task", "next": "task", "previous_node": "node"},
    ChunkKind.WAKE: {"wakee": "task", "waker": "task", "node": "node"},
    ChunkKind.IDLE: {"node": "node"},
    ChunkKind.SPAN: {"node": "node", "task": "task"},
    ChunkKind.SYSCALL: {"task": "task", "function": "function"},
    ChunkKind.COUNTS: {},
    ChunkKind.CHARGED: {"node": "node"},
    ChunkKind.TRAP: {"node": "node"},
    ChunkKind.PAGE: {"node": "node"},
}
_TIMES: Final[Mapping[ChunkKind, tuple[str, str]]] = {
    ChunkKind.SWITCH: ("t_ns", "t_ns"),
    ChunkKind.WAKE: ("t_ns", "t_ns"),
    ChunkKind.IDLE: ("start_ns", "end_ns"),
    ChunkKind.SPAN: ("start_ns", "end_ns"),
    ChunkKind.CHARGED: ("start_ns", "end_ns"),
}
_LONGEST_NS: Final = 10**15
# Of these a slice has its own, so they get a field with its index.
_SLICED: Final = frozenset({ChunkKind.WEIGHT, ChunkKind.SYSCALL, ChunkKind.COUNTS, ChunkKind.TRAP, ChunkKind.PAGE})

Value = TypeVar("Value", Call, ProfileEvent)


def read_profile(path: Path, functions: Sequence[str], shift: int) -> Profile:
    """Return the profile in a file, or in the compressed one that it has become.

    `functions`: the names in the functions file that the plugin was given, by line from 0. `shift`: one instruction is
    2**shift ns, from the trace. A file that was cut off gives what there is, with `complete` False.
    Raises InputError when it cannot be read, is not a profile, or is damaged.
    """
    try:
        data = read_kept(path, cut_off=True)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{find_kept(path)}: {error}") from error
    return parse_profile(data, functions, shift, str(path))


def parse_profile(data: bytes, functions: Sequence[str], shift: int, name: str = "profile") -> Profile:
    """Return the profile in `data`; `name` is what messages call it. Otherwise as read_profile()."""
    chunks = ProfileChunks(data, len(functions), name)
    known = _Known(chunks, len(functions))
    known.check_cuts()
    records = {kind: known.only(kind, chunks.records(kind)) for kind in _REFERENCES}
    calls = known.only_values("call", chunks.calls)
    events = known.only_values("event", chunks.events)
    end_ns, end_instructions, idle_ns = chunks.end or _last_moment(chunks, records)
    new = chunks.names
    return Profile(
        names=[*functions, *(text for _, _, text in new)],
        spaces=np.array([Space.KERNEL] * len(functions) + [space for space, _, _ in new], dtype=np.int8),
        addresses=np.array([0] * len(functions) + [address for _, address, _ in new], dtype=np.uint64),
        nodes=known.nodes,
        slices=_slices(chunks.cuts, records[ChunkKind.WEIGHT], end_ns, end_instructions),
        tasks=_tasks(known.tasks, events, records[ChunkKind.SWITCH]),
        switches=records[ChunkKind.SWITCH],
        wakes=records[ChunkKind.WAKE],
        idles=records[ChunkKind.IDLE],
        spans=records[ChunkKind.SPAN],
        calls=calls,
        events=events,
        syscalls=records[ChunkKind.SYSCALL],
        counts=records[ChunkKind.COUNTS],
        end_ns=end_ns,
        end_instructions=end_instructions,
        idle_ns=idle_ns,
        kernel_functions=len(functions),
        shift=shift,
        complete=chunks.end is not None,
        dropped=known.dropped,
        charges=records[ChunkKind.CHARGED],
        traps=records[ChunkKind.TRAP],
        pages=records[ChunkKind.PAGE],
    )


class _Known:
    # What a record may refer to. In a whole file anything else is damage, in one that was cut off it is left out.

    def __init__(self, chunks: ProfileChunks, functions: int) -> None:
        self.chunks = chunks
        self.dropped = 0
        self.limits = {"function": functions + len(chunks.names)}
        self.nodes = self._nodes(chunks.records(ChunkKind.NODE))
        self.limits["node"] = len(self.nodes)
        self.tasks = self._tasks(chunks.records(ChunkKind.TASK))
        self.limits["task"] = len(np.unique(self.tasks["task"]))

    def only(self, kind: ChunkKind, records: Records) -> Records:
        sound = np.ones(len(records), dtype=np.bool_)
        for field, what in _REFERENCES[kind].items():
            values = records[field]
            sound &= (values < self.limits[what]) | ((values == NONE) if what == "task" else False)
        self._drop(kind.name.lower(), records, sound)
        if kind in _TIMES:
            start, end = _TIMES[kind]
            self._check_times(kind.name.lower(), records[start][sound], records[end][sound])
        if kind not in _SLICED:
            return records[sound]
        sliced = np.zeros(int(sound.sum()), dtype=[*records.dtype.descr, ("slice", "<i8")])
        for field in records.dtype.names or ():
            sliced[field] = records[field][sound]
        sliced["slice"] = self.chunks.slices(kind)[sound]
        return sliced

    def only_values(self, what: str, values: list[Value]) -> list[Value]:
        nodes, tasks = self.limits["node"], self.limits["task"]
        sound = [value.node < nodes and (value.task < tasks or value.task == NONE) for value in values]
        self._drop(what, values, np.array(sound, dtype=np.bool_))
        times = [value[:2] if isinstance(value, Call) else (value.t_ns, value.t_ns) for value in values]
        start_ns, end_ns = np.array(times, dtype=np.int64).reshape(-1, 2).T
        self._check_times(what, start_ns, end_ns)
        return [value for value, is_sound in zip(values, sound, strict=True) if is_sound]

    def check_cuts(self) -> None:
        ends = [(t_ns, instructions) for t_ns, instructions, _ in self.chunks.cuts]
        ends += [self.chunks.end[:2]] if self.chunks.end else []
        steps = np.diff(np.array([(0, 0), *ends], dtype=np.int64), axis=0)
        if (steps < 0).any():
            number = int(np.argmax((steps < 0).any(axis=1)))
            raise self.chunks.damage(f"slice {number} ends at {ends[number][0]} ns, before it began")

    def _check_times(self, what: str, start_ns: Integers, end_ns: Integers) -> None:
        # One wrong time would be in every figure.
        last_ns = self.chunks.end[0] if self.chunks.end else _LONGEST_NS
        bad = np.flatnonzero((start_ns < 0) | (end_ns < start_ns) | (end_ns > last_ns))
        if len(bad):
            at = bad[0]
            raise self.chunks.damage(f"{what} {at} at {start_ns[at]} to {end_ns[at]} ns of {last_ns}")

    def _drop(self, what: str, records: Sequence[object] | Records, sound: NDArray[np.bool_]) -> None:
        bad = np.flatnonzero(~sound)
        if len(bad) and self.chunks.end is not None:
            raise self.chunks.damage(f"{what} {bad[0]} refers to what is not there: {records[bad[0]]}")
        self.dropped += len(bad)

    def _nodes(self, nodes: Records) -> Records:
        if not len(nodes):
            raise InputError(f"{self.chunks.name}: no stacks: the boot ended before the plugin wrote any")
        sound = (nodes["parent"] < np.arange(len(nodes))) & (nodes["function"] < self.limits["function"])
        sound[0] = nodes["parent"][0] == NONE and nodes["function"][0] < self.limits["function"]
        if not sound[0]:
            raise self.chunks.damage("its first node is not the root of all")
        if self.chunks.end is not None:
            self._drop("node", nodes, sound)
            return nodes
        # Nodes after an unknown one would be numbered wrongly without it.
        whole = len(nodes) if sound.all() else int(np.argmin(sound))
        self.dropped += len(nodes) - whole
        return nodes[:whole]

    def _tasks(self, tasks: Records) -> Records:
        # A number that has not come yet is the next one.
        furthest = np.maximum.accumulate(tasks["task"].astype(np.int64)) if len(tasks) else np.zeros(0, dtype=np.int64)
        steps = np.diff(furthest, prepend=-1)
        if (steps > 1).any():
            raise self.chunks.damage(f"task {tasks['task'][np.argmax(steps > 1)]} comes before the one ahead of it")
        return tasks


def _slices(cuts: list[tuple[int, int, str]], weights: Records, end_ns: int, end_instructions: int) -> list[Slice]:
    bounds = np.searchsorted(weights["slice"], np.arange(len(cuts) + 2))
    start_ns = start_instructions = 0
    slices = []
    for number, (t_ns, instructions, name) in enumerate([*cuts, (end_ns, end_instructions, LAST_SLICE)]):
        own = weights[bounds[number] : bounds[number + 1]]
        if number == len(cuts) and not len(own) and (t_ns, instructions) == (start_ns, start_instructions):
            break  # Its last mark ended the boot.
        slices.append(Slice(name, start_ns, t_ns, start_instructions, instructions, own))
        start_ns, start_instructions = t_ns, instructions
    return slices


def _last_moment(chunks: ProfileChunks, records: Mapping[ChunkKind, Records]) -> tuple[int, int, int]:
    # The end of a profile that has none: ns, instructions, idle ns.
    cut_ns, instructions, _ = chunks.cuts[-1] if chunks.cuts else (0, 0, LAST_SLICE)
    weights = records[ChunkKind.WEIGHT]
    instructions += int(weights["instructions"][weights["slice"] == len(chunks.cuts)].sum())
    idles = records[ChunkKind.IDLE]
    times = [cut_ns, *(event.t_ns for event in chunks.events[-1:]), *(call.end_ns for call in chunks.calls[-1:])]
    for kind, field in (
        (ChunkKind.SWITCH, "t_ns"),
        (ChunkKind.WAKE, "t_ns"),
        (ChunkKind.IDLE, "end_ns"),
        (ChunkKind.SPAN, "end_ns"),
    ):
        times.append(int(records[kind][field].max(initial=0)))
    return max(times), instructions, int((idles["end_ns"] - idles["start_ns"]).sum())


def _tasks(records: Records, events: list[ProfileEvent], switches: Records) -> list[Task]:
    exited: dict[int, int] = {}
    for event in events:
        if event.kind == EventKind.EXIT:
            exited.setdefault(event.task, event.t_ns)
    # On its way out a task closes its files and frees its memory: it ends when it leaves its CPU for good.
    left = dict(zip(switches["previous"].tolist(), switches["t_ns"].tolist(), strict=True))
    back = dict(zip(switches["next"].tolist(), switches["t_ns"].tolist(), strict=True))
    exited |= {task: left[task] for task, t_ns in exited.items() if max(t_ns, back.get(task, 0)) <= left.get(task, -1)}
    last = switches[(switches["flags"] & SwitchFlag.DEAD) != 0]
    exited |= dict(zip(last["previous"].tolist(), last["t_ns"].tolist(), strict=True))
    of_task: dict[int, list[tuple[int, int, int, int, str]]] = {}
    for t_ns, number, parent, pid, tgid, comm in records.tolist():
        of_task.setdefault(number, []).append((t_ns, parent, pid, tgid, comm.decode(errors="backslashreplace")))
    tasks = []
    for number, told in of_task.items():
        names: list[tuple[int, str]] = []
        for t_ns, _, _, _, comm in told:
            if not names or names[-1][1] != comm:
                names.append((t_ns, comm))
        parent = next((parent for _, parent, *_ in told if parent != NONE), None)
        pid = next((pid for _, _, pid, _, _ in reversed(told) if pid >= 0), -1)
        tgid = next((tgid for *_, tgid, _ in reversed(told) if tgid >= 0), -1)
        tasks.append(Task(number, parent, pid, tgid, tuple(names), told[0][0], exited.get(number)))
    return tasks
