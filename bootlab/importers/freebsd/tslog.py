"""FreeBSD's TSLOG -> Recording: `sysctl -b debug.tslog`, `sysctl -b debug.tslog_user`, or both in one file.

The rows are in tslog_records.py, threads and their calls in tslog_threads.py, what a wait waited for in
tslog_stacks.py, programs in tslog_processes.py.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from bootlab.importers.freebsd.tslog_processes import Life, add_lives, log_reader, read_lives
from bootlab.importers.freebsd.tslog_records import LOADER, Dump, RecordKind, is_process, is_record, parse_rows
from bootlab.importers.freebsd.tslog_stacks import BOOT, LAST, MAIN, Stacks, Stretch, boot_line
from bootlab.importers.freebsd.tslog_threads import Threads, named, read_threads
from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.stack_tree import StackTree
from bootlab.timeline.timeline import Timeline

_NS_PER_S: Final = 1_000_000_000
# The counter runs from power-on or the machine's reset; nobody's firmware takes ten minutes.
_LONGEST_FIRMWARE_NS: Final = 600 * _NS_PER_S
_BUFFER: Final = 262_144
"""TSLOGSIZE of kern_tslog.c: the kernel records no more than this."""
_AMD64: Final = 0xFFFF_F800_0000_0000
"""From here on lies the kernel of amd64 (sys/amd64/include/vmparam.h); arm64's ends at 0xffff_a000_... at most."""
_SAID: Final = ("WAIT", "UNWAIT", "HOLD", "RELEASE")


def recognise(head: Head) -> str:
    """Return the first row that is one of either table."""
    return next((row for row in head.rows[:400] if is_record(row) or is_process(row)), "")


def read(source: Source, options: Options) -> Recording:
    """Return what the dump says. Raises FormatError where there is not one row of it."""
    dump = parse_rows(source.rows(), source.tally)
    if not dump.records and not dump.processes:
        raise source.expected('rows such as "0xffffffff8251db00 14119002 ENTER hammer_time"', row=dump.first_foreign)
    return recording_of(dump, options.tsc_hz or dump.tsc_hz)


def recording_of(dump: Dump, tsc_hz: int | None) -> Recording:
    """Return a dump as a recording. Without the counter's rate its times are cycles."""
    hertz = tsc_hz

    def ns(cycles: int) -> int:
        return cycles * _NS_PER_S // hertz if hertz else cycles

    threads = read_threads(dump.records) if dump.records else None
    tree = StackTree()
    notes = list(_rate_notes(dump, hertz))
    spans: list[Span] = []
    phases: list[Span] = []
    user_start = None
    if threads is not None:
        stacks = Stacks(threads, tree)
        line = boot_line(threads)
        user_start = line[-1][2] if line and named([line[-1][0]], LAST) is not None else None
        if line:
            stacks.add_line(line, threads.first if _from_power_on(threads, ns, hertz) else 0)
        for thread in threads.threads:
            if all(thread is not one for one, _, _ in line):
                stacks.add_thread(thread)
        spans += _call_spans(threads, line, ns)
        phases += _kernel_phases(threads, ns, hertz)
        notes += _thread_notes(threads, dump, stacks, ns, hertz)
    lives = read_lives(dump.processes, user_start=user_start, end=_end(dump, threads))
    if lives:
        reader = log_reader(lives, _end(dump, threads))
        until = reader.start if reader is not None else _end(dump, threads)
        add_lives(lives, tree, BOOT if phases else "processes", until)
        spans += [
            Span(ns(one.start), ns(one.end), "process", one.name, about=f"pid {one.process.pid}") for one in lives
        ]
        phases += _user_phase(lives, user_start, until, ns)
        notes += _process_notes(lives, reader, ns, hertz)
    if tree.full:
        notes.append("The deepest stacks were left out for want of room; their time counts as their callers' own.")
    longest = sorted(spans, key=lambda span: span.start_ns - span.end_ns)[:MOST_SPANS]
    return Recording(
        format=IMPORTER.name,
        tool="FreeBSD TSLOG",
        timeline=Timeline.of(_clock(hertz), list(_events(dump, ns))[:MOST_SPANS], longest),
        about_clock="the processor's counter since its last reset: power-on, or when a virtual machine was made",
        phases=tuple(phases),
        stacks=tree.stacks(ns),
        facts=_facts(dump, hertz),
        notes=tuple(notes),
    )


def _clock(hertz: int | None) -> Clock:
    if not hertz:
        return Clock("freebsd counter", 1, unit="cycles")
    return Clock("freebsd counter", max(1, -(-_NS_PER_S // hertz)))


def _end(dump: Dump, threads: Threads | None) -> int:
    return max([max(one.forked, one.exited) for one in dump.processes] + [threads.end if threads is not None else 0])


def _call_spans(threads: Threads, line: Sequence[Stretch], ns: Callable[[int], int]) -> Iterator[Span]:
    stretches = {thread.number: (start, end) for thread, start, end in line}
    for thread in threads.threads:
        start, end = stretches.get(thread.number, (0, -1))
        for call in thread.calls:
            on_line = start <= call.start < end
            stop = min(call.end, end) if on_line else call.end
            about = "" if call.ended else "its end is not in the log"
            track = BOOT if on_line else thread.name
            yield Span(ns(call.start), ns(stop), "call", call.name, track=track, about=about)


def _kernel_phases(threads: Threads, ns: Callable[[int], int], hertz: int | None) -> Iterator[Span]:
    main, init = named(threads.threads, MAIN), named(threads.threads, LAST)
    if main is None:
        return
    cuts = [("loader", threads.first)] if threads.threads[0].number == LOADER else []
    cuts.append(("kernel until mi_startup", min(call.start for call in main.calls)))
    cuts.append(("SYSINITs", min(call.start for call in main.calls if call.name == MAIN)))
    end = threads.end
    if init is not None:
        starts = [call for call in init.calls if call.name == LAST]
        cuts.append(("start_init", min(call.start for call in starts)))
        end = max(call.end for call in starts)
    if _from_power_on(threads, ns, hertz):
        cuts.insert(0, ("firmware, before the first record", 0))
    for (name, start), (_, stop) in zip(cuts, [*cuts[1:], ("", end)], strict=True):
        if stop >= start:
            yield Span(ns(start), ns(stop), "phase", name)


def _from_power_on(threads: Threads, ns: Callable[[int], int], hertz: int | None) -> bool:
    return not hertz or ns(threads.first) <= _LONGEST_FIRMWARE_NS


def _user_phase(lives: Sequence[Life], user_start: int | None, until: int, ns: Callable[[int], int]) -> Iterator[Span]:
    start = user_start if user_start is not None else lives[0].start
    if until > start:
        yield Span(ns(start), ns(until), "phase", "programs")


def _events(dump: Dump, ns: Callable[[int], int]) -> Iterator[Event]:
    for record in dump.records:
        if record.kind is RecordKind.EVENT and record.name.partition(" ")[0] not in _SAID:
            yield Event(ns(record.tsc), "tslog", record.name)


def _facts(dump: Dump, hertz: int | None) -> dict[str, str]:
    facts = {"records": str(len(dump.records))} if dump.records else {}
    if dump.processes:
        facts["processes"] = str(len(dump.processes))
    if hertz:
        facts["counter"] = f"{hertz} Hz"
    return facts


def _rate_notes(dump: Dump, hertz: int | None) -> Iterator[str]:
    if hertz:
        return
    # The kernel's threads lie at the top of amd64's address space, and lower than that on arm64.
    thread = next((record.thread for record in dump.records if record.thread != LOADER), None)
    name = "machdep.tsc_freq" if thread is not None and thread >= _AMD64 else "kern.timecounter.tc"
    yield (
        "The log does not say how fast its counter ran, so all times are cycles: --tsc-frequency gives the rate, "
        f"which sysctl {name} prints on the machine."
    )


def _thread_notes(
    threads: Threads, dump: Dump, stacks: Stacks, ns: Callable[[int], int], hertz: int | None
) -> Iterator[str]:
    open_calls = sum(not call.ended for thread in threads.threads for call in thread.calls) - threads.lost_ends
    if open_calls:
        yield f"{_calls(open_calls)} had not ended when the log was read: they end with it."
    if threads.lost_ends:
        yield f"{_calls(threads.lost_ends)} ended unrecorded: they end with their callers."
    if threads.lost_starts:
        yield f"{_calls(threads.lost_starts)} began before the log does, and were left out."
    if threads.backwards:
        yield (
            f"{threads.backwards} records lie up to {_length(threads.most_backwards, ns, hertz)} before an earlier one "
            "of their thread: the processors' counters differ."
        )
    if threads.set_back:
        yield f"The counter was set back {threads.set_back} times: what follows is put behind what was before."
    if not _from_power_on(threads, ns, hertz):
        yield "The counter began long before this boot, so what was before the first record is not shown."
    if stacks.waited:
        shares = f"{_length(stacks.spliced, ns, hertz)} of {_length(stacks.waited, ns, hertz)}"
        yield f"Under the boot's waits stands what the thread waited for did: {shares} are explained so."
    if stacks.given_up:
        yield "There were too many waits to find out what each waited for."
    if len(dump.records) >= _BUFFER:
        yield f"The kernel's buffer of {_BUFFER} records was full: what came later is not in the log."
    if dump.foreign:
        yield f"{dump.foreign} rows are no TSLOG, the first of them row {dump.first_foreign}, and were passed over."


def _process_notes(
    lives: Sequence[Life], reader: Life | None, ns: Callable[[int], int], hertz: int | None
) -> Iterator[str]:
    if any(life.process.exited == 0 for life in lives):
        yield "Processes that still ran when the table was read end with it."
    if reader is not None:
        took = _length(reader.end - reader.start, ns, hertz)
        yield f"{reader.name} (pid {reader.process.pid}) took {took}: it wrote this log, and is no part of the boot."


def _calls(number: int) -> str:
    return f"{number} call{'s' if number != 1 else ''}"


def _length(cycles: int, ns: Callable[[int], int], hertz: int | None) -> str:
    return f"{ns(cycles) / 1e6:.3f} ms" if hertz else f"{cycles} cycles"


IMPORTER: Final = Importer(
    name="tslog",
    title="FreeBSD TSLOG: sysctl -b debug.tslog, sysctl -b debug.tslog_user",
    recognise=recognise,
    read=read,
)
