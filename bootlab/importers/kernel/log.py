"""Kernel logs -> Recording: `dmesg`, `journalctl -k`, syslog, or a serial console's raw text.

What the lines mean is in dmesg.py. Durations are by the stamps; the kernel's own "after N usecs" stands beside them,
because before the clocksource switch it counts jiffies.
"""

import quopri
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from bootlab.importers.firmware import bootstage, slim_bootloader, ti_sbl, xbl
from bootlab.importers.importer import Importer, Options
from bootlab.importers.kernel import dmesg, suspend
from bootlab.importers.kernel.boot_phases import RUN_INIT, end_notes, kernel_phases
from bootlab.importers.kernel.dmesg import PRINTK, PROBE, KernelLog, LoggedInitcall
from bootlab.importers.kernel.dmesg_forms import as_printk, is_dressed
from bootlab.importers.kernel.line import BANNER, KernelLine, is_kernel_line, stamped_by_loader
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.importers.reading.text_in_place import LONGEST_TEXT, in_place
from bootlab.importers.serial.boot_programs import coreboot_lengths, own_stamp_lengths, programs_before_linux
from bootlab.importers.systemd.analyze_text import parse_startup
from bootlab.importers.systemd.units import MONOTONIC
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.line_account import Fate
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

ABOUT_CLOCK: Final = "the kernel's own stamps; zero is somewhere in its first instructions, after firmware and loader"

_LEVEL = re.compile(r"entering initcall level: (?P<level>\w+)")
_BANNER = re.compile(r"Linux version (\S+)")
_COMMAND_LINE = re.compile(r"(?:Kernel command|Command) line: (.*)")
_STARTUP: Final = "Startup finished in "
_LOADERS_OWN: Final = (
    (bootstage.has_report, "U-Boot's bootstage report", bootstage.FORMAT),
    (slim_bootloader.is_head, "Slim Bootloader's table of times", slim_bootloader.FORMAT),
    (ti_sbl.is_step, "the profile of TI's SBL", ti_sbl.FORMAT),
    (xbl.is_moment, "what Qualcomm's loaders say of their times", xbl.FORMAT),
)
"""How a line of a loader's own figures is told, what they are, and the format that reads them."""
_DEFERRED: Final = (-517, 517)
"""EPROBE_DEFER, which some kernels print without its sign."""


def recognise(head: Head) -> str:
    """Return the first line with printk's stamp, one that dmesg made of it, the banner, or an initcall's return.

    Firmware and loaders may write long before: a line of the kernel's own tells behind the first lines, too.
    """
    if stamped_by_loader(head):
        return ""
    told = next((row for row in head.rows if is_kernel_line(row) or is_dressed(row) or dmesg.is_call(row)), "")
    return told or next(filter(is_kernel_line, head.further_rows), "")


def read(source: Source, options: Options) -> Recording:
    """Return the first boot of a kernel log. Raises FormatError for a file without a line of the kernel's."""
    told = as_printk(plain_text(source))
    log = dmesg.parse(told.text) if told.messages is None else dmesg.log_of(list(told.messages))
    if not log.stamped and log.wrapped and not log.initcalls and not any(PROBE.search(line.text) for line in log.lines):
        raise source.expected("lines of a kernel log, such as `[    0.000000] Linux version ...`")
    if told.messages is not None:
        source.tally.of_records("records", told.records)
        source.tally.add(Fate.LEFT_OUT, "damaged records", told.records - len(told.messages))
    count_lines(log, source.tally)
    if log.received:
        return _received(log)
    recording = recording_of(log, IMPORTER.name)
    clock = Clock(PRINTK.name, told.resolution_ns)
    timeline = replace(recording.timeline, clock=clock)
    return replace(recording, timeline=timeline, notes=(*told.notes, *recording.notes))


def recording_of(log: KernelLog, format_name: str, *, host_stamped: bool = False) -> Recording:
    """Return a parsed kernel log as a recording on the PRINTK clock.

    `host_stamped`: somebody else stamped every line too, so what has no stamp of the kernel's is not without a time.
    """
    events = [Event(line.t_ns, "kernel", line.text[:LONGEST_TEXT]) for line in log.lines if line.t_ns is not None]
    probes, lengths = _probes(log.lines)
    lengths += startup_lengths(log)
    lengths += list(_reported(log))[:MOST_SPANS]
    spans = [*_initcall_spans(log.initcalls), *probes, *_levels(log.lines), *suspend.device_callbacks(log.lines)]
    before = _before_linux(log)
    return Recording(
        format=format_name,
        tool="printk",
        timeline=Timeline.of(PRINTK, events[:MOST_SPANS], spans[:MOST_SPANS]),
        about_clock=ABOUT_CLOCK,
        phases=tuple(kernel_phases(log)),
        lengths=(*lengths, *own_stamp_lengths(before), *coreboot_lengths(before)),
        text=in_place([(line.t_ns, line.text) for line in log.lines]),
        facts={**_facts(log), **({} if host_stamped else _programs(before))},
        notes=(*(() if host_stamped else _stamp_notes(log)), *_notes(log, len(spans))),
    )


def count_lines(log: KernelLog, tally: Tally) -> None:
    """Account for every line of a log: what it became, or why it was left out."""
    events = texts = 0
    for line in log.lines:
        events += line.t_ns is not None
        texts += line.t_ns is None
        if (events if line.t_ns is not None else texts) > MOST_SPANS and line.rows:
            tally.add(Fate.LEFT_OUT, f"more than {MOST_SPANS} of its kind", line.rows, first=line.text)
        else:
            fate, what = _became(line)
            tally.add(fate, what, line.rows, first=line.text)
    tally.add(Fate.ASIDE, "empty lines", log.empty_rows)
    first = log.earlier[0].text if log.earlier else ""
    tally.add(Fate.LEFT_OUT, "of the end of an earlier boot", log.earlier_rows, first=first)
    first = log.later[0].text if log.later else ""
    tally.add(Fate.LEFT_OUT, "of a later boot in the same text", log.later_rows, first=first)


def _became(line: KernelLine) -> tuple[Fate, str]:
    if dmesg.is_call(line.text):
        return Fate.USED, "beginnings and ends of initcalls and probes"
    if suspend.is_callback(line.text):
        return Fate.USED, "beginnings and ends of devices' callbacks"
    return (Fate.USED, "lines with a time") if line.t_ns is not None else (Fate.TEXT, "lines without a time")


def _rows(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))


def _before_linux(log: KernelLog) -> list[str]:
    # What firmware and loaders wrote on the same console.
    found = []
    for line in log.lines:
        if line.t_ns is not None or BANNER.match(line.text):
            break
        found.append(line.text)
    return found


def _programs(before: list[str]) -> dict[str, str]:
    names = [f"{program.name} ({program.lines} lines)" for program in programs_before_linux(before)]
    return {"before the kernel, without times": ", ".join(names)} if names else {}


def startup_lengths(log: KernelLog) -> list[Length]:
    """Return what systemd said of the start-up in its own line, if the log has it."""
    line = next((line.text for line in log.lines if _STARTUP in line.text), None)
    try:
        found = parse_startup(line) if line is not None else None
    except ValueError:
        return []
    return [Length(took_ns, "startup", name) for name, took_ns in found[0].items()] if found is not None else []


def _reported(log: KernelLog) -> Iterator[Length]:
    # What the kernel says itself, of initcalls that have no beginning or no stamps to measure by.
    for call in log.initcalls:
        if call.reported_us is not None and (call.start_ns is None or call.end_ns is None or log.received):
            yield Length(call.reported_us * 1000, "initcall", call.function, about_initcall(call))


def _received(log: KernelLog) -> Recording:
    # Nothing but the kernel's own durations is worth anything here.
    events = [Event(line.t_ns, "journal", line.text[:LONGEST_TEXT]) for line in log.lines if line.t_ns is not None]
    lengths = list(_reported(log))
    first_ns = next((line.t_ns for line in log.lines if line.t_ns is not None), 0)
    return Recording(
        format=IMPORTER.name,
        tool="journalctl -o short-monotonic",
        timeline=Timeline.of(MONOTONIC, events[:MOST_SPANS]),
        about_clock="when journald received a line; zero is that of CLOCK_MONOTONIC",
        lengths=(*lengths[:MOST_SPANS], *startup_lengths(log)),
        text=in_place([(line.t_ns, line.text) for line in log.lines]),
        facts=_facts(log),
        notes=(
            f"The stamps are journald's: it received the kernel's first line at {(first_ns or 0) / 1e9:.3f} s. "
            "Lengths are the kernel's own figures; dmesg has its stamps.",
        ),
    )


def plain_text(source: Source) -> str:
    """Return a file's text without a mail's quoted-printable; lines that go with that are accounted for."""
    text = source.text()
    plain = unquoted(text)
    source.tally.add(Fate.ASIDE, "ends of lines that a mail broke", _rows(text) - _rows(plain))
    return plain


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
    spans, lengths, until = [], [], dmesg.lines_in_jiffies(lines)
    for number, line in enumerate(lines):
        if (found := PROBE.search(line.text)) is not None:
            in_jiffies = number < until
            took_ns, result = int(found["usecs"][:15]) * 1000, int(found["result"][:12])
            about = "deferred, to be tried again" if result in _DEFERRED else f"returned {result}"
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
        if line.t_ns is None or (found is None and RUN_INIT.search(line.text) is None):
            continue
        if begun is not None:
            yield Span(begun[0], line.t_ns, "initcall level", begun[1])
        begun = (line.t_ns, found["level"]) if found is not None else None


def _facts(log: KernelLog) -> dict[str, str]:
    facts = {}
    for line in log.lines:
        if "kernel" not in facts and (found := _BANNER.match(line.text)):
            facts["kernel"] = found[1]
        if "command line" not in facts and (found := _COMMAND_LINE.match(line.text)):
            facts["command line"] = found[1][:LONGEST_TEXT]
        if "init" not in facts and (found := RUN_INIT.search(line.text)):
            facts["init"] = found[1]
    return facts


def _stamp_notes(log: KernelLog) -> Iterator[str]:
    if log.wrapped and log.stamped and suspend.find_cycle(log.lines) is None:
        yield _beginning_words(log)
    yield from end_notes(log)
    if not log.stamped:
        yield "No line has a stamp of the kernel's (printk.time=0, or a journal without them), so nothing has a time."


def _notes(log: KernelLog, spans: int) -> Iterator[str]:
    without_time = [line.text for line in log.lines if line.t_ns is None]
    for is_one, what, form in _LOADERS_OWN:
        if any(map(is_one, without_time)):
            yield f"{what[0].upper()}{what[1:]} is in it, too, on a clock of its own: --format {form} reads that."
    open_calls = sum(call.start_ns is not None and call.end_ns is None for call in log.initcalls)
    lost = sum(call.pid is None for call in log.initcalls)
    if open_calls or lost:
        told = [f"{open_calls} without an end"] * bool(open_calls)
        told += [f"{lost} without a beginning in this log, as long as the kernel says"] * bool(lost)
        yield f"Initcalls: {' and '.join(told)}."
    jiffies = sum(call.reported_in_jiffies and call.reported_us is not None for call in log.initcalls)
    if jiffies and (not log.wrapped or jiffies < len(log.initcalls)):
        yield (
            f"{jiffies} of {len(log.initcalls)} initcalls ended before the clocksource switch: what the kernel says "
            "they took is in jiffies (multiples of 1, 4 or 10 ms)"
            if dmesg.tells_of_a_switch(log.lines)
            else f"What the kernel says that {jiffies} of {len(log.initcalls)} initcalls took are whole milliseconds, "
            "as before a clocksource switch, where it counts jiffies; the log does not tell of one"
        ) + (", so durations are by the stamps." if log.stamped else ".")
    if spans > MOST_SPANS:
        yield f"Only the first {MOST_SPANS} of {spans} initcalls, probes and callbacks were kept."


def _beginning_words(log: KernelLog) -> str:
    # A ring buffer overflows where nothing but the kernel writes, and from its first line on.
    first = log.lines[0]
    if any(line.t_ns == 0 and line.text.startswith("Booting Linux") for line in log.lines):
        return "The log ends at the kernel's first line: what follows is missing, and in no figure."
    calls = sum(dmesg.is_call(line.text) for line in log.lines)
    if first.t_ns is not None and first.t_ns > 0 and calls < len(log.lines):
        return (
            "The log's beginning is missing (no `Linux version`): the ring buffer overflowed, or the log was cut. "
            "What came before its first line is in no figure; log_buf_len=32M on the command line keeps it."
        )
    return "The log has no `Linux version` line: it begins later, or was filtered, and what is missing is in no figure."


IMPORTER: Final = Importer(
    "dmesg", "kernel log, with initcall_debug or without (dmesg, journalctl -k, a serial console)", recognise, read
)
