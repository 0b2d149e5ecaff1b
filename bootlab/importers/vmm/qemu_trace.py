"""QEMU's trace events as text -> Recording: `qemu -trace PATTERN -msg timestamp=on`, or what simpletrace.py prints.

    719585@1608130130.441188:memory_region_ops_read cpu 0 mr 0x562fdfbb3820 addr 0x3cc value 0x67 size 1
    fw_cfg_select 14.250 pid=719585 s=0x55e6 key_value=0x19 key_name=file_dir ret=0x1

The first form has the thread and the wall clock; the second, of the backend `simple`, the microseconds since the event
before it. Requests of disks are paired by their address. Events of the backend `ftrace` are in ftrace's own text.
"""

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.longest_spans import LongestSpans
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.importers.reading.text_in_place import LONGEST_TEXT, in_place
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

HOST: Final = Clock("host", 1_000)
_LOGGED = re.compile(
    r"(?P<thread>\d{1,10})@(?P<seconds>\d{1,11})\.(?P<micros>\d{6}):(?P<event>[a-z]\w{1,63})(?: (?P<about>.*))?"
)
_SIMPLE = re.compile(
    r"(?P<event>[a-z]\w{1,63}) (?P<delta>-?\d{1,12}\.\d{3}) pid=(?P<thread>\d{1,10})(?: (?P<about>\w{1,40}=.*))?"
)
# current_run_state 6 (prelaunch) new_state 9 (running), or current_state_str=prelaunch ... new_state_str=running
_STATE = re.compile(
    r"(?:\(|current_state_str=)(?P<before>[\w-]{1,40})\)? new_state[ =]\w{1,8} "
    r"(?:\(|new_state_str=)(?P<after>[\w-]{1,40})"
)
_BEGINS: Final = {
    "virtio_blk_handle_read": "virtio-blk read", "virtio_blk_handle_write": "virtio-blk write", "dma_blk_io": "DMA",
}  # fmt: skip
_ENDS: Final = ("virtio_blk_req_complete", "dma_complete")
_REQUEST = re.compile(r"\b(?P<key>(?:req|dbs)[ =]0x[0-9a-f]{1,16})\b")
_MOST_OPEN: Final = 10_000
_MOST_GAPS: Final = 1_000
_MOST_KINDS: Final = 5_000
_KINDS_SHOWN: Final = 12
_MOST_LATE: Final = 4_096
"""An event that is written behind so many later ones still gets its place among them."""


@dataclass
class _QemuTrace:
    events: list[Event] = field(default_factory=list)
    lines: list[tuple[int | None, str]] = field(default_factory=list)
    gaps: LongestSpans = field(default_factory=lambda: LongestSpans(_MOST_GAPS))
    requests: LongestSpans = field(default_factory=LongestSpans)
    open: dict[str, tuple[str, int, str]] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    threads: set[str] = field(default_factory=set)
    states: list[tuple[int, str, str]] = field(default_factory=list)
    first_us: int | None = None
    now_ns: int = 0
    last_ns: int = 0
    count: int = 0
    behind: int = 0
    """Events that are stamped earlier than the one above them."""
    unordered: list[tuple[int, int, str, str]] = field(default_factory=list)
    """The last events, as a heap by their stamps: those that nothing written later can come before are taken off."""
    passed_ns: int | None = None
    """The stamp of the last event that was taken off."""


def recognise(head: Head) -> str:
    """Return the first event, of a file in which they stand before anything else, or close to it."""
    rows = [row for row in head.rows[:60] if row.strip()]
    found = [row for row in rows if _LOGGED.fullmatch(row) or _SIMPLE.fullmatch(row)]
    return found[0] if found and 2 * len(found) >= len(rows) else ""


def read(source: Source, options: Options) -> Recording:
    """Return the events, the longest times without one, and requests. Raises FormatError where no line has a stamp."""
    trace = _QemuTrace()
    for _, row in source.rows():
        text = row.rstrip()
        if (found := _LOGGED.fullmatch(text)) is not None:
            _take(trace, found, _logged_ns(trace, found), source.tally)
        elif (found := _SIMPLE.fullmatch(text)) is not None:
            _take(trace, found, trace.now_ns + _simple_ns(found["delta"]), source.tally)
        elif text and len(trace.lines) < 2 * MOST_SPANS:
            source.tally.text("lines without a time")
            trace.lines.append((None, text[:LONGEST_TEXT]))
    if not trace.count:
        raise source.expected(
            "events with a time such as `719585@1608130130.441188:fw_cfg_select ...`, which QEMU writes with "
            "-msg timestamp=on"
        )
    while trace.unordered:
        _pass(trace)
    return _recording(trace)


def _logged_ns(trace: _QemuTrace, found: "re.Match[str]") -> int:
    us = int(found["seconds"]) * 1_000_000 + int(found["micros"])
    if trace.first_us is None:
        trace.first_us = us
    return (us - trace.first_us) * 1_000


def _simple_ns(delta: str) -> int:
    whole, _, part = delta.lstrip("-").partition(".")
    ns = int(whole) * 1_000 + int(part)
    return -ns if delta.startswith("-") else ns


def _take(trace: _QemuTrace, found: "re.Match[str]", t_ns: int, tally: Tally) -> None:
    name, about = found["event"], (found["about"] or "")[:LONGEST_TEXT]
    tally.used("events")
    trace.count += 1
    trace.now_ns = t_ns
    if len(trace.threads) < _MOST_KINDS:
        trace.threads.add(found["thread"])
    if name in trace.kinds or len(trace.kinds) < _MOST_KINDS:
        trace.kinds[name] = trace.kinds.get(name, 0) + 1
    if len(trace.events) < MOST_SPANS:
        trace.events.append(Event(t_ns, "QEMU", f"{name} {about}".rstrip()))
        trace.lines.append((t_ns, ""))
    heapq.heappush(trace.unordered, (t_ns, trace.count, name, about[:120]))
    if len(trace.unordered) > _MOST_LATE:
        _pass(trace)
    trace.behind += t_ns < trace.last_ns
    trace.last_ns = max(t_ns, trace.last_ns)
    if name == "runstate_set" and (state := _STATE.search(about)) and len(trace.states) < MOST_SPANS:
        trace.states.append((t_ns, state["before"], state["after"]))
    elif (name in _BEGINS or name in _ENDS) and (key := _REQUEST.search(about)):
        _pair(trace, name, key["key"].replace("=", " "), t_ns, about)


def _pass(trace: _QemuTrace) -> None:
    # The earliest event that has no place yet ends the time without one that led to it.
    t_ns, _, name, about = heapq.heappop(trace.unordered)
    if trace.passed_ns is not None and t_ns > trace.passed_ns:
        trace.gaps.add((trace.passed_ns, t_ns, "until", name, "", about))
    trace.passed_ns = t_ns if trace.passed_ns is None else max(t_ns, trace.passed_ns)


def _pair(trace: _QemuTrace, name: str, key: str, t_ns: int, about: str) -> None:
    if name in _BEGINS and len(trace.open) < _MOST_OPEN:
        trace.open[key] = (_BEGINS[name], t_ns, about)
    elif name in _ENDS and (begun := trace.open.pop(key, None)) is not None:
        what, start_ns, about = begun
        trace.requests.add((start_ns, t_ns, "request", what, "", about[:120]))


def _recording(trace: _QemuTrace) -> Recording:
    most = sorted(trace.kinds.items(), key=lambda kind: (-kind[1], kind[0]))[:_KINDS_SHOWN]
    return Recording(
        format=IMPORTER.name,
        tool="QEMU's trace events",
        timeline=Timeline.of(HOST, trace.events, [*trace.gaps.spans(), *trace.requests.spans()]),
        about_clock="the host's clock; zero is the first event",
        phases=tuple(_phases(trace)),
        text=in_place(trace.lines),
        facts={
            "events": f"{trace.count} of {len(trace.kinds)} kinds, in {len(trace.threads)} threads",
            "most frequent": ", ".join(f"{name} ({count})" for name, count in most),
        },
        notes=tuple(_notes(trace)),
    )


def _phases(trace: _QemuTrace) -> Iterator[Span]:
    # The machine's states, by QEMU's own account of them; what is behind the last one lasts up to the last event.
    before = min(0, *(event.t_ns for event in trace.events))
    for t_ns, state, _ in trace.states:
        if t_ns > before:
            yield Span(before, t_ns, "phase", state)
            before = t_ns
    if trace.states and trace.last_ns > before:
        yield Span(before, trace.last_ns, "phase", trace.states[-1][2])


def _notes(trace: _QemuTrace) -> Iterator[str]:
    if trace.count > len(trace.events):
        yield f"The first {len(trace.events)} of {trace.count} events are listed; sums and gaps are of all of them."
    if trace.gaps.dropped:
        yield f"The {_MOST_GAPS} longest times without an event are listed."
    if trace.behind:
        yield (
            f"{trace.behind} events are stamped earlier than one above them: threads write when they can, each stamps "
            "before."
        )
    if trace.open:
        yield f"{len(trace.open)} requests have no end in the trace."


IMPORTER: Final = Importer(
    "qemu-trace",
    "QEMU's trace events: -trace PATTERN -msg timestamp=on (log), or simpletrace.py's text",
    recognise,
    read,
)
