"""ftrace's text (`cat /sys/kernel/tracing/trace`, trace_pipe) -> Recording: initcalls, processes, who ran, call graph.

An event line is `TASK-PID [CPU] flags TIME: event: arguments`; a task's name may hold blanks, dashes and brackets, so a
line is read from its bracketed CPU outwards. function_graph is in ftrace_graph.py. Read once, in bounded memory.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.kernel.ftrace_graph import GraphReader, is_graph_row
from bootlab.importers.kernel.ftrace_suspend import EVENTS as SUSPEND_EVENTS
from bootlab.importers.kernel.ftrace_suspend import SuspendEvents
from bootlab.importers.reading.cycles import in_ns
from bootlab.importers.reading.longest_spans import LongestSpans
from bootlab.importers.reading.source import Head, Source
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.stack_tree import StackTree
from bootlab.timeline.timeline import Timeline

TRACE: Final = Clock("trace", 1_000)
"""trace_clock's local, global, mono and others in seconds with six places. As a rule printk's clock, or close to it."""
CYCLES: Final = Clock("tsc", 1, "cycles")
IDLE: Final = "[idle]"
_ABOUT: Final = "the kernel's trace clock (local unless trace_clock= says otherwise); zero is the kernel's start"

#           <idle>-0       [000] ...1.     0.606755: sched_switch: prev_comm=...
#  kworker/R-ext4--147  (    147) [001] d..2.  5.93: ...           with the column of options/record-tgid
_EVENT = re.compile(
    r"(?P<task>.{0,40}?)-(?P<pid>\d{1,10})\s+(?:\([\s\d-]{1,12}\)\s+)?\[(?P<cpu>\d{1,4})\]\s+(?:[^\s:]{1,12}\s+)?"
    r"(?P<time>\d{1,12}(?:\.\d{6,9})?): (?P<event>\w{1,64}): *(?P<arguments>.*)"
)
#  kworker/u8:1    34 [001]     5.933871:       initcall:initcall_start: func=...             perf script
_PERF = re.compile(
    r"(?P<task>\S.{0,40}?)\s+(?P<pid>-?\d{1,10})(?:/-?\d{1,10})?\s+\[(?P<cpu>\d{1,4})\]\s+(?:[^\s:]{1,12}\s+)?"
    r"(?P<time>\d{1,12}\.\d{6,9}):\s+(?:\d{1,20}\s+)?[\w-]{1,64}:(?P<event>\w{1,64}): *(?P<arguments>.*)"
)
# What trace-cmd makes of the same event: swapper/2:0 [120] R ==> rcu_sched:11 [120]
_SWITCH_REPORTED = re.compile(
    r".{0,60}?:\d{1,10} \[-?\d{1,4}\] \S{1,8} ==> (?P<name>.{0,40}):(?P<pid>\d{1,10}) \[-?\d{1,4}\]"
)
_TOLD_BY_TRACE_CMD = re.compile(r"(?:cpus=\d{1,5}|version = \d{1,3}|CPU \d{1,5} is empty|trace-cmd version .*)\s*")
_SWITCH = re.compile(r"prev_comm=.{0,40} prev_pid=\d+ .*?==> next_comm=(?P<name>.{0,40}) next_pid=(?P<pid>\d{1,10}) ")
_INITCALL = re.compile(
    r"func=(?P<function>[^\s+]{1,256})(?:\+\S*)?(?: \[(?P<module>\w+)\])?(?: ret=(?P<result>-?\d{1,10}))?"
)
_LOST = re.compile(r"CPU:\d+ \[LOST (\d{1,18}) EVENTS\]")
_WRITTEN = re.compile(r"# entries-in-buffer/entries-written: (\d{1,18})/(\d{1,18})")
# Header lines of pm-graph's own files: # command | initcall_debug trace_clock=global
_HEADER = re.compile(r"# (sysinfo|command|kparams|boot-\S+) ?\|? ?(.*)")
_GRAPH_EVENTS: Final = ("funcgraph_entry", "funcgraph_exit")
_PROCESS: Final = {
    "sched_process_exec": re.compile(r"filename=(?P<what>.*?) pid="),
    "sched_process_fork": re.compile(r"child_comm=(?P<what>.*?) child_pid="),
    "sched_process_exit": re.compile(r"comm=(?P<what>.*?) pid="),
}


@dataclass
class _TraceState:
    spans: LongestSpans = field(default_factory=LongestSpans)
    sums: StackTree = field(default_factory=StackTree)
    events: list[Event] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    open_calls: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    initcalls: int = 0
    running: dict[str, tuple[str, int]] = field(default_factory=dict)
    """CPU -> who runs on it and since when."""
    ran: dict[str, list[int]] = field(default_factory=dict)
    """Task -> ns on a CPU, times it was put there."""
    suspend: SuspendEvents = field(default_factory=SuspendEvents)
    level: tuple[str, int] | None = None
    cycles: bool = False
    lost: int = 0
    overwritten: int = 0
    rows: int = 0
    last_ns: int = 0
    standing: int = 0
    """Events at time zero: before the clock ran."""


def recognise(head: Head) -> str:
    """Return the tracer's header, or the first line of events or of a call graph, of which most lines are such."""
    rows = [row for row in head.rows[:60] if row.strip()]
    header = next((row for row in rows if row.startswith("# tracer: ")), "")
    told = [row for row in rows if not row.startswith("#")]
    found = [row for row in told if _EVENT.match(row.strip()) or _PERF.match(row.strip()) or is_graph_row(row)]
    return header or (found[0] if len(found) >= 2 and 2 * len(found) >= len(told) else "")


def read(source: Source, options: Options) -> Recording:
    """Return what was traced. Raises FormatError for a file in which no line is ftrace's."""
    state, graph = _TraceState(), GraphReader()
    match, take, tally = _EVENT.match, _take_event, source.tally
    for _, row in source.rows():
        stripped = row.lstrip()
        if not stripped:
            continue
        if stripped[0] == "#":
            tally.aside("comments")
            _take_comment(stripped, state)
        elif (found := match(stripped) or _PERF.match(stripped)) is not None:
            state.rows += 1
            if found["event"].startswith(_GRAPH_EVENTS) and graph.take(_as_graph_row(found)):
                tally.used("lines of the call graph")
                continue
            tally.used("events")
            take(found, state)
        elif graph.take(row):
            tally.used("lines of the call graph")
        elif (lost := _LOST.search(row)) is not None:
            tally.used("what the tracer says it lost")
            state.lost += int(lost[1])
        elif _TOLD_BY_TRACE_CMD.fullmatch(stripped) is not None:
            tally.aside("heads")
    if not state.rows and not graph.rows:
        raise source.expected("lines such as `systemd-1 [000] ..... 0.718069: initcall_start: func=...`")
    return _recording(source, state, graph, options)


def _as_graph_row(found: "re.Match[str]") -> str:
    # trace-cmd writes the tracer's rows as events of their own: funcgraph_entry: 0.537 us | foo();
    return f"{found['time']} | {found['cpu']}) {found['task']}-{found['pid']} | {found['arguments']}"


def _take_comment(row: str, state: _TraceState) -> None:
    if (found := _WRITTEN.match(row)) is not None:
        state.overwritten += max(int(found[2]) - int(found[1]), 0)
    elif (found := _HEADER.match(row)) is not None and len(state.facts) < 8:
        state.facts[found[1]] = found[2][:4096]


def _take_event(found: "re.Match[str]", state: _TraceState) -> None:
    task, pid, cpu, at, name, arguments = found.groups()
    whole, dot, fraction = at.partition(".")
    if dot:
        t_ns = int(whole) * 1_000_000_000 + int(fraction.ljust(9, "0"))
    else:
        t_ns, state.cycles = int(whole), True
    state.last_ns = t_ns
    state.standing += t_ns == 0
    if name == "sched_switch":
        switch = _SWITCH.match(arguments) or _SWITCH_REPORTED.match(arguments)
        if switch is not None:
            name, pid = switch.groups()
            _switch(cpu, f"{name}-{pid}" if pid != "0" else IDLE, t_ns, state)
    elif name in ("initcall_start", "initcall_finish"):
        _take_initcall(name == "initcall_start", arguments, pid, t_ns, state)
    elif name == "initcall_level":
        _take_level(arguments, t_ns, state)
    elif name in SUSPEND_EVENTS:
        if (ended := state.suspend.take(name, arguments, pid, t_ns)) is not None:
            state.spans.add(ended)
    elif (process := _PROCESS.get(name)) is not None and (what := process.search(arguments)) is not None:
        _keep(Event(t_ns, f"{task}-{pid}", f"{name.removeprefix('sched_process_')} {what['what']}"), state)
    elif len(state.events) < MOST_SPANS:
        _keep(Event(t_ns, f"{task}-{pid}", f"{name}: {arguments}"[:4096]), state)


def _keep(event: Event, state: _TraceState) -> None:
    if len(state.events) < MOST_SPANS:
        state.events.append(event)


def _switch(cpu: str, following: str, t_ns: int, state: _TraceState) -> None:
    before = state.running.get(cpu)
    if before is not None:
        name, since = before
        took = t_ns - since
        sums, track = state.sums, f"CPU {int(cpu)}"
        node = sums.below(sums.below(0, track), name)
        sums.charge(node, max(took, 0))
        sums.enter(node)
        ran = state.ran.setdefault(name, [0, 0]) if len(state.ran) < MOST_SPANS else state.ran.get(name, [0, 0])
        ran[0] += max(took, 0)
        ran[1] += 1
        if took > state.spans.least_ns:
            state.spans.add((since, t_ns, "running", name, track, ""))
    state.running[cpu] = (following, t_ns)


def _take_initcall(starts: bool, arguments: str, pid: str, t_ns: int, state: _TraceState) -> None:
    found = _INITCALL.match(arguments)
    if found is None:
        return
    key = (found["function"], pid)
    if starts:
        if len(state.open_calls) < MOST_SPANS:
            state.open_calls.setdefault(key, []).append(t_ns)
        return
    begun = state.open_calls.get(key)
    if begun:
        state.initcalls += 1
        about = [f"returned {found['result']}"] if found["result"] not in (None, "0") else []
        about += [f"module {found['module']}"] if found["module"] else []
        state.spans.add((begun.pop(0), t_ns, "initcall", found["function"], "", "; ".join(about)))


def _take_level(arguments: str, t_ns: int, state: _TraceState) -> None:
    # The last level ends with the last initcall; what comes after it is user space.
    _end_level(t_ns, state)
    state.level = (arguments.partition("level=")[2][:64], t_ns)


def _end_level(t_ns: int, state: _TraceState) -> None:
    if state.level is not None:
        state.spans.add((state.level[1], t_ns, "initcall level", state.level[0], "", ""))
    state.level = None


def _recording(source: Source, state: _TraceState, graph: GraphReader, options: Options) -> Recording:
    spans = state.spans.spans()
    last_call_ns = max((span.end_ns for span in spans if span.source == "initcall"), default=None)
    if state.level is not None and last_call_ns is not None and last_call_ns > state.level[1]:
        spans.append(Span(state.level[1], last_call_ns, "initcall level", state.level[0]))
    spans += graph.spans.spans()
    lengths = [Length(ran[0], "on the CPU", name, f"{ran[1]} times") for name, ran in state.ran.items() if name != IDLE]
    clock = TRACE
    recording = Recording(
        format=IMPORTER.name,
        tool="ftrace",
        timeline=Timeline.of(clock, state.events, spans),
        about_clock=_ABOUT,
        phases=tuple(_phases(state)),
        lengths=tuple(sorted(lengths, key=lambda one: -one.took_ns)[:MOST_SPANS]),
        stacks=(*state.sums.stacks(), *graph.sums.stacks()),
        facts=state.facts,
        notes=tuple(_notes(source, state, graph)),
    )
    return in_ns(recording, CYCLES, options.tsc_hz) if state.cycles else recording


def _phases(state: _TraceState) -> Iterator[Span]:
    entered, resumed = state.suspend.entered_ns, state.suspend.resumed_ns
    if entered is not None and resumed is not None and resumed >= entered:
        yield Span(entered, resumed, "phase", "suspend and resume")


def _notes(source: Source, state: _TraceState, graph: GraphReader) -> Iterator[str]:
    if state.standing > 1:
        yield f"{state.standing} events have the time 0: they came before the trace clock ran, and have no lengths."
    if state.overwritten:
        yield f"The ring buffer overwrote {state.overwritten} events: trace_buf_size= makes it larger."
    if state.lost or graph.lost:
        yield f"{state.lost + graph.lost} events were lost by the tracer."
    unfinished = sum(map(len, state.open_calls.values()))
    if unfinished:
        yield f"{unfinished} initcalls had not returned when the trace ended, or their ends were lost."
    yield from graph.notes()
    dropped = state.spans.dropped + graph.spans.dropped
    if dropped:
        yield f"{dropped} short spans are in the sums and not in the chart: it has the {MOST_SPANS} longest."
    if state.sums.full or graph.sums.full:
        yield "The call tree was too large to be kept whole: its rarest paths are counted with their callers."
    if source.cut_rows:
        yield f"{source.cut_rows} endless lines were cut."


IMPORTER: Final = Importer(
    "ftrace",
    "ftrace's text, with initcall and sched events or function_graph; trace-cmd report; perf script of trace events",
    recognise,
    read,
)
