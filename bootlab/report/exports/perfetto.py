"""The boot as a trace that ui.perfetto.dev and chrome://tracing open: Chrome's Trace Event Format, in JSON.

Tasks are threads, with the calls and waits that were long enough to be recorded one by one; vCPUs, initcalls and marks
have tracks of their own. Events are written as they are made, so a long boot needs no more memory than a short one.
"""

import json
from collections.abc import Callable, Container, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import NONE, EventKind, Integers, Records
from bootlab.profile.tables.initcalls import InitcallTable
from bootlab.profile.tree.call_tree import RUNNABLE, WAIT
from bootlab.profile.waits.off_cpu import find_off_cpu

# Processes of the trace. Numbers of ours, because Perfetto takes process and thread 0 for the host's idle task.
_BOOT: Final = 1
_CPUS: Final = 2
_INITCALLS: Final = 3
_KERNEL: Final = 4
_FIRST_PROCESS: Final = 10
_STAGES: Final = 1_000_000
"""The thread of what ran before there were tasks."""
_EVENTS: Final[Mapping[int, str]] = {
    EventKind.FORK: "fork",
    EventKind.EXEC: "exec",
    EventKind.EXIT: "exit",
    EventKind.DEFER: "probe deferred",
    EventKind.MODULE: "module loaded",
}

Event = dict[str, Any]


def write_perfetto(
    profile: Profile,
    path: Path,
    *,
    marks: Mapping[str, int],
    initcalls: InitcallTable | None = None,
    kernel_threads: Container[int] = (),
) -> None:
    """Write the trace. `marks`: name -> ns. `kernel_threads`: tasks that are shown as one process. Raises OSError."""
    writer = _Trace(profile, kernel_threads)
    with path.open("w", encoding="ascii", newline="\n") as out:
        out.write('{"displayTimeUnit":"ns","otherData":{"clock":"virtual, ns since power-on"},"traceEvents":[\n')
        before = ""
        for event in writer.events(marks, initcalls):
            out.write(before + json.dumps(event, separators=(",", ":")))
            before = ",\n"
        out.write("\n]}\n")


class _Trace:
    def __init__(self, profile: Profile, kernel_threads: Container[int]) -> None:
        self.profile = profile
        self.kernel_threads = kernel_threads
        self.process_of = {task.number: self._process(task.number) for task in profile.tasks}
        self.names = np.array(profile.names, dtype=object)[profile.nodes["function"]] if profile.names else []

    def events(self, marks: Mapping[str, int], initcalls: InitcallTable | None) -> Iterator[Event]:
        yield from self._processes(initcalls)
        for name, t_ns in marks.items():
            yield instant(name, t_ns, _BOOT, 1, "g")
        for piece in self.profile.slices:
            yield complete(f"to {piece.name}", piece.start_ns, piece.end_ns, _BOOT, 1)
        yield from self._calls_and_waits()
        yield from self._cpus()
        for number, lane in enumerate(initcalls.lanes if initcalls else (), start=1):
            for bar in lane.bars:
                yield {**complete(bar.name, bar.start_ns, bar.end_ns, _INITCALLS, number), "cat": bar.kind}
        yield from self._task_events()
        yield from self._arrows()

    def _process(self, task: int) -> int:
        # Threads of one process are together, as are all kernel threads.
        if task in self.kernel_threads:
            return _KERNEL
        tgid = self.profile.tasks[task].tgid
        leader = next((one.number for one in self.profile.tasks if one.tgid == tgid >= 0), task)
        return _FIRST_PROCESS + leader

    def _processes(self, initcalls: InitcallTable | None) -> Iterator[Event]:
        fixed = {_BOOT: "phases and marks", _CPUS: "vCPUs", _INITCALLS: "initcalls, modules, probes", _KERNEL: "kernel"}
        for order, (process, name) in enumerate(fixed.items()):
            yield named("process_name", process, 0, name)
            yield _sorted("process_sort_index", process, 0, order)
        yield named("thread_name", _BOOT, 1, "phases")
        yield named("thread_name", _BOOT, _STAGES, "before the kernel")
        for vcpu in np.unique(self.profile.switches["vcpu"]).tolist():
            yield named("thread_name", _CPUS, vcpu + 1, f"vCPU {vcpu}")
        for number, lane in enumerate(initcalls.lanes if initcalls else (), start=1):
            yield named("thread_name", _INITCALLS, number, lane.thread)
        seen = {_KERNEL}
        for task in self.profile.tasks:
            process = self.process_of[task.number]
            if process not in seen:
                seen.add(process)
                yield named("process_name", process, 0, task.label)
                yield _sorted("process_sort_index", process, 0, process)
            yield named("thread_name", process, task.number + 1, task.label)
            yield _sorted("thread_sort_index", process, task.number + 1, task.number)

    def _calls_and_waits(self) -> Iterator[Event]:
        # One list, sorted, because a frame must come before those in it even where they begin at the same ns.
        spans, rows = self.profile.spans, find_off_cpu(self.profile)
        asleep = np.flatnonzero(rows["woken_ns"] > rows["start_ns"])
        ready = np.flatnonzero(rows["end_ns"] > rows["woken_ns"])
        start = np.r_[spans["start_ns"], rows["start_ns"][asleep], rows["woken_ns"][ready]]
        end = np.r_[spans["end_ns"], rows["woken_ns"][asleep], rows["end_ns"][ready]]
        task = np.r_[spans["task"], rows["task"][asleep], rows["task"][ready]].astype(np.int64)
        depth = np.r_[self.profile.shape.depth[spans["node"]], np.full(len(asleep) + len(ready), 1 << 30)]
        wakes = self._wakers(rows, asleep)
        order = np.lexsort((depth, -end, start, task))
        for place in order.tolist():
            thread = self._thread(int(task[place]))
            times = (int(start[place]), int(end[place]), *thread)
            if place < len(spans):
                yield complete(self.names[spans["node"][place]], *times)
            elif place < len(spans) + len(asleep):
                yield {**complete(WAIT, *times), "args": wakes(place - len(spans))}
            else:
                yield complete(RUNNABLE, *times)

    def _wakers(self, rows: Records, asleep: Integers) -> Callable[[int], dict[str, str]]:
        wakes = self.profile.wakes

        def woken_by(place: int) -> dict[str, str]:
            wake = int(rows["wake"][asleep[place]])
            if wake < 0:
                return {}
            waker = int(wakes["waker"][wake])
            name = self.profile.tasks[waker].label if waker != NONE else "unknown"
            return {"woken by": name, "in": str(self.names[wakes["node"][wake]])}

        return woken_by

    def _arrows(self) -> Iterator[Event]:
        # From the CPU on which a task was woken up to the wait that this ended. An arrow begins and ends in a bar,
        # and what a CPU runs is one at any moment.
        rows, wakes = find_off_cpu(self.profile), self.profile.wakes
        ended = rows[(rows["woken_ns"] > rows["start_ns"]) & (rows["wake"] >= 0)]
        first_ns = {
            vcpu: int(self.profile.switches["t_ns"][self.profile.switches["vcpu"] == vcpu][0])
            for vcpu in np.unique(self.profile.switches["vcpu"]).tolist()
        }
        for number, (task, wake) in enumerate(ended[["task", "wake"]].tolist()):
            t_ns, vcpu = int(wakes["t_ns"][wake]), int(wakes["vcpu"][wake])
            if t_ns <= first_ns.get(vcpu, t_ns):
                continue
            arrow: Event = {"cat": "wake", "name": "woken", "id": number}
            # The last ns before: at the moment itself the next bar may begin.
            yield {**arrow, "ph": "s", "pid": _CPUS, "tid": vcpu + 1, "ts": _us(t_ns - 1)}
            process, thread = self._thread(task)
            yield {**arrow, "ph": "f", "bp": "e", "pid": process, "tid": thread, "ts": _us(t_ns - 1)}

    def _thread(self, task: int) -> tuple[int, int]:
        return (_BOOT, _STAGES) if task == NONE else (self.process_of[task], task + 1)

    def _cpus(self) -> Iterator[Event]:
        tasks = self.profile.tasks
        for vcpu in np.unique(self.profile.switches["vcpu"]).tolist():
            switches = self.profile.switches[self.profile.switches["vcpu"] == vcpu]
            ends = np.r_[switches["t_ns"][1:], self.profile.end_ns]
            for start, end, task in zip(
                switches["t_ns"].tolist(), ends.tolist(), switches["next"].tolist(), strict=True
            ):
                if end > start and task != NONE:
                    yield complete(tasks[task].name_at(end), start, end, _CPUS, vcpu + 1)
            idles = self.profile.idles[self.profile.idles["vcpu"] == vcpu]
            for start, end in zip(idles["start_ns"].tolist(), idles["end_ns"].tolist(), strict=True):
                yield complete("idle", start, end, _CPUS, vcpu + 1)

    def _task_events(self) -> Iterator[Event]:
        for event in self.profile.events:
            if event.kind in _EVENTS:
                what = f"{_EVENTS[event.kind]} {event.text}".strip()
                yield instant(what, event.t_ns, *self._thread(event.task), "t")


def _us(ns: int) -> float:
    # The format's unit; a float holds ns of boots of up to three months.
    return ns / 1000


def complete(name: str, start_ns: int, end_ns: int, process: int, thread: int) -> Event:
    """Return a bar of one thread, from ns to ns."""
    times = {"ts": _us(start_ns), "dur": _us(end_ns - start_ns)}
    return {"ph": "X", "name": name, "pid": process, "tid": thread, **times}


def instant(name: str, t_ns: int, process: int, thread: int, scope: str) -> Event:
    """Return a moment. `scope`: t of its thread, p of its process, g of the whole trace."""
    return {"ph": "i", "name": name, "pid": process, "tid": thread, "ts": _us(t_ns), "s": scope}


def named(what: str, process: int, thread: int, name: str) -> Event:
    """Return what names a process or thread; `what`: process_name or thread_name."""
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _sorted(what: str, process: int, thread: int, order: int) -> Event:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"sort_index": order}}
