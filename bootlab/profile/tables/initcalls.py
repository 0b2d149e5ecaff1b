"""Initcalls, modules' init functions and driver probes, as the kernel ran them: exact, and without `initcall_debug`.

They come from the entries and returns of do_one_initcall(), of the functions that console_init() calls, of
do_init_module() and really_probe(). A call that had not returned by the end is in the tables, as unfinished.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import NONE, Call, CallFlag, CallKind, EventKind, Space
from bootlab.profile.tables.plain_data import Result

MODULE: Final = "module"
"""The level of a module's init function."""
UNKNOWN_LEVEL: Final = ""


@dataclass(frozen=True, slots=True)
class Initcall(Result):
    """One initcall. Times are ns since power-on, `duration_ns` is from entry to return.

    `cpu_ns`: what its own task executed in between, interrupts that came then included; the rest of the duration it
    waited, or others ran. `level`: as in symbols.initcall_levels, MODULE for a module's init function, "" if unknown.
    `thread`: name and pid of its task. `module`: the module it belongs to, "" for the kernel's own.
    """

    name: str
    level: str
    start_ns: int
    end_ns: int
    duration_ns: int
    cpu_ns: int
    thread: str
    task: int | None
    module: str
    finished: bool
    address: str
    """Link address of the function, hexadecimal; in a module, where it ran."""


@dataclass(frozen=True, slots=True)
class ModuleInit(Result):
    """One do_init_module(): a module's init function and what surrounds it. Times as in Initcall."""

    name: str
    start_ns: int
    end_ns: int
    duration_ns: int
    cpu_ns: int
    thread: str
    task: int | None
    finished: bool


class ProbeResult(StrEnum):
    """How a driver's probe of a device ended, as far as the profile can tell."""

    BOUND = "bound"
    FAILED = "failed"
    """The device was not bound to the driver; a missing device is the usual reason."""
    DEFERRED = "deferred"
    """It asked to be called again later."""
    RETURNED = "returned"
    """It came back; with which result is not known."""
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Probe(Result):
    """One really_probe(). Times as in Initcall.

    `attempt`: 1 for the first probe of this device by this driver, one more after each deferral. `inside`: the initcall
    or module of the same task that it ran in, "" for none.
    """

    device: str
    driver: str
    attempt: int
    result: ProbeResult
    start_ns: int
    end_ns: int
    duration_ns: int
    cpu_ns: int
    thread: str
    task: int | None
    inside: str

    @property
    def name(self) -> str:
        """Device and driver."""
        return f"{self.device} {self.driver}"


@dataclass(frozen=True, slots=True)
class GraphBar(Result):
    """One call in the boot graph; `depth` counts the bars of its lane that it lies in."""

    kind: str
    """`initcall`, `module` or `probe`."""
    name: str
    start_ns: int
    end_ns: int
    depth: int


@dataclass(frozen=True, slots=True)
class GraphLane(Result):
    """One thread's bars, in the order they began; `thread` is its name at the first."""

    task: int | None
    thread: str
    bars: tuple[GraphBar, ...]


@dataclass(frozen=True, slots=True)
class InitcallTable(Result):
    """All of them, each in the order they began. `lanes`: the same as spans per thread, the boot graph."""

    initcalls: tuple[Initcall, ...]
    modules: tuple[ModuleInit, ...]
    probes: tuple[Probe, ...]
    lanes: tuple[GraphLane, ...]


_KIND: Final[Mapping[type, str]] = {Initcall: "initcall", ModuleInit: "module", Probe: "probe"}


def find_initcalls(profile: Profile, names: Mapping[int, str], levels: Mapping[int, str]) -> InitcallTable:
    """Return the initcalls, modules and probes of a boot.

    `names`: link address -> name of a kernel function. `levels`: link address of an initcall -> its level.
    """
    known = (call for call in profile.calls if call.kind in set(CallKind))
    calls = sorted(known, key=lambda call: (call.start_ns, -call.end_ns))
    outer = _outer_calls(calls)
    found: dict[int, Initcall | ModuleInit | Probe] = {}
    run_time = _module_functions(profile)
    for call in calls:
        if call.kind == CallKind.MODULE:
            found[id(call)] = _module(profile, call)
        elif call.kind == CallKind.INITCALL:
            module = next((one.text for one in reversed(outer[id(call)]) if one.kind == CallKind.MODULE), "")
            name = names.get(call.argument) or run_time.get((call.argument, module))
            found[id(call)] = _initcall(profile, call, name, levels.get(call.argument), module)
    around = {number: [found[id(one)].name for one in above if id(one) in found] for number, above in outer.items()}
    found |= {id(call): probe for call, probe in _probes(profile, calls, around)}
    ones = [found[id(call)] for call in calls]
    return InitcallTable(
        initcalls=tuple(one for one in ones if isinstance(one, Initcall)),
        modules=tuple(one for one in ones if isinstance(one, ModuleInit)),
        probes=tuple(one for one in ones if isinstance(one, Probe)),
        lanes=tuple(_lanes([(one, len(outer[id(call)])) for call, one in zip(calls, ones, strict=True)])),
    )


def _outer_calls(calls: list[Call]) -> dict[int, list[Call]]:
    # For each call, by id(), those of its own task that it was made in, the innermost last.
    open_calls: dict[int, list[Call]] = {}
    outer = {}
    for call in calls:
        stack = open_calls.setdefault(call.task, [])
        while stack and not stack[-1].end_ns >= call.end_ns:
            stack.pop()
        outer[id(call)] = list(stack)
        stack.append(call)
    return outer


def _initcall(profile: Profile, call: Call, name: str | None, level: str | None, module: str) -> Initcall:
    return Initcall(
        name=name or (f"init [{module}]" if module else f"{call.argument:#x}"),
        level=level or (MODULE if module else UNKNOWN_LEVEL),
        start_ns=call.start_ns,
        end_ns=call.end_ns,
        duration_ns=call.end_ns - call.start_ns,
        cpu_ns=call.task_instructions << profile.shift,
        thread=_thread(profile, call),
        task=_task(call),
        module=module,
        finished=not call.flags & CallFlag.UNFINISHED,
        address=f"{call.argument:#x}",
    )


def _module(profile: Profile, call: Call) -> ModuleInit:
    return ModuleInit(
        name=call.text,
        start_ns=call.start_ns,
        end_ns=call.end_ns,
        duration_ns=call.end_ns - call.start_ns,
        cpu_ns=call.task_instructions << profile.shift,
        thread=_thread(profile, call),
        task=_task(call),
        finished=not call.flags & CallFlag.UNFINISHED,
    )


def _module_functions(profile: Profile) -> dict[tuple[int, str], str]:
    # (Run-time address, module) -> name. An init function's memory is freed and becomes the next module's.
    functions = {}
    for number in np.flatnonzero(profile.spaces == Space.MODULE).tolist():
        name = profile.names[number]
        functions[int(profile.addresses[number]), name.rpartition(" [")[2].removesuffix("]")] = name
    return functions


def _task(call: Call) -> int | None:
    return None if call.task == NONE else call.task


def _thread(profile: Profile, call: Call) -> str:
    if call.task == NONE:
        return ""
    task = profile.tasks[call.task]
    return f"{task.name_at(call.start_ns)}-{task.pid}"


def _device_and_driver(call: Call) -> tuple[str, str]:
    # Both can have blanks in their names; drivers have them more often (`i8042 kbd`).
    device, _, driver = call.text.partition("\t" if "\t" in call.text else " ")
    return device, driver


def _probes(profile: Profile, calls: list[Call], around: Mapping[int, list[str]]) -> Iterator[tuple[Call, Probe]]:
    found = [call for call in calls if call.kind == CallKind.PROBE]
    deferred, bound = _deferred(profile, found), _bound(profile, found)
    attempts: dict[str, int] = {}
    for call in found:
        device, driver = _device_and_driver(call)
        attempts[call.text] = attempts.get(call.text, 0) + 1
        if call.flags & CallFlag.UNFINISHED:
            result = ProbeResult.UNFINISHED
        elif id(call) in deferred:
            result = ProbeResult.DEFERRED
        else:
            result = bound.get(call.node, ProbeResult.RETURNED)
        yield (
            call,
            Probe(
                device=device,
                driver=driver,
                attempt=attempts[call.text],
                result=result,
                start_ns=call.start_ns,
                end_ns=call.end_ns,
                duration_ns=call.end_ns - call.start_ns,
                cpu_ns=call.task_instructions << profile.shift,
                thread=_thread(profile, call),
                task=_task(call),
                inside=around[id(call)][-1] if around[id(call)] else "",
            ),
        )


def _deferred(profile: Profile, probes: list[Call]) -> set[int]:
    # The kernel defers a device once really_probe() has returned, or from inside of it (before 5.14).
    deferred = set()
    for event in profile.events:
        if event.kind == EventKind.DEFER:
            mine = [
                call
                for call in probes
                if call.task == event.task
                and call.start_ns < event.t_ns
                and (not event.text or _device_and_driver(call)[0] == event.text)
            ]
            if mine:
                deferred.add(id(max(mine, key=lambda call: call.start_ns)))
    return deferred


def _bound(profile: Profile, probes: list[Call]) -> dict[int, ProbeResult]:
    # really_probe() calls driver_bound() if all went well. Counts are per node, so they tell where all or none did.
    if "driver_bound" not in profile.names[: profile.kernel_functions]:
        return {}
    function = profile.names.index("driver_bound")
    calls: dict[int, int] = {}
    nodes = np.flatnonzero(profile.nodes["function"] == function)
    entered = np.zeros(len(profile.nodes), dtype=np.int64)
    for piece in profile.slices:
        np.add.at(entered, piece.weights["node"], piece.weights["calls"].astype(np.int64))
    for node in nodes.tolist():
        parent = int(profile.nodes["parent"][node])
        calls[parent] = calls.get(parent, 0) + int(entered[node])
    results = {}
    for node in {call.node for call in probes}:
        times = sum(call.node == node for call in probes)
        if calls.get(node, 0) in (0, times):
            results[node] = ProbeResult.BOUND if calls.get(node, 0) else ProbeResult.FAILED
    return results


def _lanes(found: list[tuple[Initcall | ModuleInit | Probe, int]]) -> Iterator[GraphLane]:
    lanes: dict[int | None, list[tuple[str, GraphBar]]] = {}
    for one, depth in found:
        bar = GraphBar(_KIND[type(one)], one.name, one.start_ns, one.end_ns, depth)
        lanes.setdefault(one.task, []).append((one.thread, bar))
    for task, bars in lanes.items():
        yield GraphLane(task, bars[0][0], tuple(bar for _, bar in bars))
