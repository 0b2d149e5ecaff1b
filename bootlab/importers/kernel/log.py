"""Kernel logs -> Recording: `dmesg`, `journalctl -k`, syslog, or a serial console's raw text.

What the lines mean is in dmesg.py. Durations are by the stamps; the kernel's own "after N usecs" stands beside them,
because before the clocksource switch it counts jiffies.
"""

import quopri
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from bootlab.importers.firmware import bootstage
from bootlab.importers.importer import Importer, Options
from bootlab.importers.kernel import dmesg
from bootlab.importers.kernel.dmesg import PRINTK, KernelLine, KernelLog, LoggedInitcall
from bootlab.importers.kernel.dmesg_forms import as_printk, is_dressed
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.systemd.analyze_text import parse_startup
from bootlab.importers.systemd.units import MONOTONIC
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

ABOUT_CLOCK: Final = "the kernel's own stamps; zero is somewhere in its first instructions, after firmware and loader"

# probe of 0000:00:1f.2 returned 1 after 5123 usecs               -517 is -EPROBE_DEFER
_PROBE = re.compile(r"probe of (?P<device>\S+) returned (?P<result>-?\d+) after (?P<usecs>\d+) usecs")
_LEVEL = re.compile(r"entering initcall level: (?P<level>\w+)")
_INIT = re.compile(r"Run (\S+) as init process")
_BANNER = re.compile(r"Linux version (\S+)")
_COMMAND_LINE = re.compile(r"(?:Kernel command|Command) line: (.*)")
_STARTUP: Final = "Startup finished in "
_DEFERRED: Final = -517
_LONGEST_TEXT: Final = 4096


def recognise(head: Head) -> bool:
    """Return whether a line has printk's stamp, or one that dmesg made of it, or is the kernel's banner."""
    return any(dmesg.is_kernel_line(row) or is_dressed(row) for row in head.rows)


def read(source: Source, options: Options) -> Recording:
    """Return the first boot of a kernel log. Raises FormatError for a file without a line of the kernel's."""
    told = as_printk(unquoted(source.text()))
    log = dmesg.parse(told.text)
    if not log.stamped and log.wrapped:
        raise source.expected("lines of a kernel log, such as `[    0.000000] Linux version ...`")
    if log.received:
        return _received(log)
    recording = recording_of(log, IMPORTER.name)
    clock = Clock(PRINTK.name, told.resolution_ns)
    timeline = replace(recording.timeline, clock=clock)
    return replace(recording, timeline=timeline, notes=(*told.notes, *recording.notes))


def recording_of(log: KernelLog, format_name: str) -> Recording:
    """Return a parsed kernel log as a recording on the PRINTK clock."""
    events = [Event(line.t_ns, "kernel", line.text[:_LONGEST_TEXT]) for line in log.lines if line.t_ns is not None]
    probes, lengths = _probes(log.lines)
    lengths += startup_lengths(log)
    if not log.stamped:
        lengths += _reported(log)[:MOST_SPANS]
    spans = [*_initcall_spans(log.initcalls), *probes, *_levels(log.lines)]
    return Recording(
        format=format_name,
        tool="printk",
        timeline=Timeline.of(PRINTK, events[:MOST_SPANS], spans[:MOST_SPANS]),
        about_clock=ABOUT_CLOCK,
        phases=tuple(_phases(log)),
        lengths=tuple(lengths),
        facts=_facts(log),
        notes=tuple(_notes(log, len(events))),
    )


def startup_lengths(log: KernelLog) -> list[Length]:
    """Return what systemd said of the start-up in its own line, if the log has it."""
    line = next((line.text for line in log.lines if _STARTUP in line.text), None)
    try:
        found = parse_startup(line) if line is not None else None
    except ValueError:
        return []
    return [Length(took_ns, "startup", name) for name, took_ns in found[0].items()] if found is not None else []


def _reported(log: KernelLog) -> list[Length]:
    return [
        Length(call.reported_us * 1000, "initcall", call.function, about_initcall(call))
        for call in log.initcalls
        if call.reported_us is not None
    ]


def _received(log: KernelLog) -> Recording:
    # Nothing but the kernel's own durations is worth anything here.
    events = [Event(line.t_ns, "journal", line.text[:_LONGEST_TEXT]) for line in log.lines if line.t_ns is not None]
    lengths = _reported(log)
    first_ns = next((line.t_ns for line in log.lines if line.t_ns is not None), 0)
    return Recording(
        format=IMPORTER.name,
        tool="journalctl -o short-monotonic",
        timeline=Timeline.of(MONOTONIC, events[:MOST_SPANS]),
        about_clock="when journald received a line; zero is that of CLOCK_MONOTONIC",
        lengths=(*lengths[:MOST_SPANS], *startup_lengths(log)),
        facts=_facts(log),
        notes=(
            f"The stamps are journald's: it received the kernel's first line at {(first_ns or 0) / 1e9:.3f} s. "
            "Lengths are the kernel's own figures; dmesg has its stamps.",
        ),
    )


def unquoted(text: str) -> str:
    """Undo quoted-printable, in which a mail may carry a log: `=` at a line's end, and `=3D`."""
    rows = text.split("\n", 400)[:400]
    broken = sum(row.rstrip("\r").endswith("=") for row in rows)
    if broken * 20 < len(rows) or "=3D" not in text:
        return text
    return quopri.decodestring(text.encode()).decode(errors="replace")


def _initcall_spans(calls: tuple[LoggedInitcall, ...]) -> Iterator[Span]:
    for call in calls:
        # A processor's clock that is behind another's may make a call seem to end before it began.
        if call.start_ns is not None and call.end_ns is not None and call.end_ns >= call.start_ns:
            yield Span(call.start_ns, call.end_ns, "initcall", call.function, about=about_initcall(call))


def about_initcall(call: LoggedInitcall) -> str:
    """Return in words what the kernel said of an initcall besides its stamps."""
    words = []
    if call.reported_us is not None:
        words.append(f"kernel: {call.reported_us} us" + (" in jiffies" if call.reported_in_jiffies else ""))
    if call.result:
        words.append(f"returned {call.result}")
    if call.module is not None:
        words.append(f"module {call.module}")
    return "; ".join(words)


def _probes(lines: tuple[KernelLine, ...]) -> tuple[list[Span], list[Length]]:
    # The line comes when a probe has ended. What was counted in jiffies has no beginning that could be trusted.
    spans, lengths, in_jiffies = [], [], True
    for line in lines:
        if dmesg.SWITCHED in line.text:
            in_jiffies = False
        elif (found := _PROBE.search(line.text)) is not None:
            took_ns, result = int(found["usecs"][:15]) * 1000, int(found["result"][:12])
            about = "deferred, to be tried again" if result == _DEFERRED else f"returned {result}"
            if in_jiffies or line.t_ns is None:
                jiffies = "; counted in jiffies" if in_jiffies else ""
                lengths.append(Length(took_ns, "probe", found["device"], about + jiffies))
            else:
                spans.append(Span(line.t_ns - took_ns, line.t_ns, "probe", found["device"], about=about))
    return spans, lengths


def _levels(lines: tuple[KernelLine, ...]) -> Iterator[Span]:
    # Linux 6.18 and later name each level as they enter it; a level ends where the next one begins.
    begun: tuple[int, str] | None = None
    for line in lines:
        found = _LEVEL.search(line.text)
        if line.t_ns is None or (found is None and _INIT.search(line.text) is None):
            continue
        if begun is not None:
            yield Span(begun[0], line.t_ns, "initcall level", begun[1])
        begun = (line.t_ns, found["level"]) if found is not None else None


def _phases(log: KernelLog) -> Iterator[Span]:
    stamped = [line for line in log.lines if line.t_ns is not None]
    if not stamped:
        return
    first, last = stamped[0].t_ns or 0, max(line.t_ns or 0 for line in stamped)
    init = next((line.t_ns for line in stamped if _INIT.search(line.text)), None)
    starts = [call.start_ns for call in log.initcalls if call.start_ns is not None and call.pid == 1]
    cuts: list[tuple[str, int]] = [("kernel", first)]
    if starts and init is not None and first < starts[0] < init:
        ends = [call.end_ns for call in log.initcalls if call.end_ns is not None and call.end_ns <= init]
        cuts = [
            ("kernel, to its initcalls", first),
            ("initcalls", starts[0]),
            ("kernel, to init", max(ends, default=init)),
        ]
    if init is not None:
        cuts.append(("user space, as far as logged", init))
    for (name, start), (_, end) in zip(cuts, [*cuts[1:], ("", last)], strict=True):
        yield Span(start, max(start, end), "phase", name)


def _facts(log: KernelLog) -> dict[str, str]:
    facts = {}
    for line in log.lines:
        if "kernel" not in facts and (found := _BANNER.match(line.text)):
            facts["kernel"] = found[1]
        if "command line" not in facts and (found := _COMMAND_LINE.match(line.text)):
            facts["command line"] = found[1][:_LONGEST_TEXT]
        if "init" not in facts and (found := _INIT.search(line.text)):
            facts["init"] = found[1]
    return facts


def _notes(log: KernelLog, events: int) -> Iterator[str]:
    if log.wrapped:
        yield (
            "The log's beginning is missing (no `Linux version`): the ring buffer overflowed, or the log was cut. "
            "What came before its first line is in no figure; log_buf_len=32M on the command line keeps it."
        )
    if any(bootstage.has_report(line.text) for line in log.lines if line.t_ns is None):
        yield "U-Boot's bootstage report is in it, too, on a clock of its own: --format bootstage reads that."
    if log.later_boots:
        yield f"The text holds {log.later_boots} further boots, which were left out."
    if not log.stamped:
        yield "No line has a stamp of the kernel's (printk.time=0, or a journal without them), so nothing has a time."
    open_calls = sum(call.start_ns is not None and call.end_ns is None for call in log.initcalls)
    lost = sum(call.start_ns is None and call.end_ns is not None for call in log.initcalls)
    if open_calls or lost:
        yield f"Of the initcalls {open_calls} never returned and {lost} have no beginning in this log."
    jiffies = sum(call.reported_in_jiffies and call.reported_us is not None for call in log.initcalls)
    if jiffies and (not log.wrapped or jiffies < len(log.initcalls)):
        yield (
            f"{jiffies} of {len(log.initcalls)} initcalls ended before the clocksource switch: what the kernel says "
            "they took is in jiffies (multiples of 1, 4 or 10 ms)"
            + (", so durations are by the stamps." if log.stamped else ".")
        )
    if events > MOST_SPANS:
        yield f"Only the first {MOST_SPANS} of {events} lines were kept."


IMPORTER: Final = Importer(
    "dmesg", "kernel log, with initcall_debug or without (dmesg, journalctl -k, a serial console)", recognise, read
)
