"""ftrace's text: real traces of a Debian boot, and the lines that break other readers."""

import os
import re
import time
from pathlib import Path

import pytest

from bootlab.importers.importer import Options
from bootlab.importers.kernel import ftrace
from bootlab.importers.kernel.ftrace_graph import is_graph_row
from bootlab.importers.reading.source import FormatError, open_source
from tests.importers.kernel.traces import text_of
from tests.importers.samples import DATA, read_text, recording_of, sample

MB = 1_000_000


def test_every_initcall_and_level_of_a_boot() -> None:
    one = sample("debian-13/ftrace-events.txt.xz")
    calls = [span for span in one.timeline.spans if span.source == "initcall"]
    assert len(calls) == 654
    longest = max(calls, key=lambda span: span.duration_ns)
    assert (longest.name, longest.duration_ns) == ("crypto_algapi_init", 930_094_000)
    levels = [span.name for span in one.timeline.spans if span.source == "initcall level"]
    assert levels == "console early pure core postcore arch subsys fs device late".split()
    # Before the trace clock runs, every stamp is zero: that is said, and not taken for a length.
    assert any("9 events have the time 0" in note for note in one.notes)


def test_the_same_initcalls_as_the_kernel_log_has() -> None:
    traced = {
        span.name for span in sample("debian-13/ftrace-events.txt.xz").timeline.spans if span.source == "initcall"
    }
    logged = {span.name for span in sample("debian-13/dmesg.txt.xz").timeline.spans if span.source == "initcall"}
    # ftrace looks names up when it is read: a module's init code is gone by then, and only its address is left.
    assert traced - logged == {"0xffffffffc039d010"} and logged - traced == {"virtio_blk_init"}


def test_who_ran_adds_up_on_each_cpu() -> None:
    one = sample("debian-13/ftrace-events.txt.xz")
    for cpu in ("CPU 0", "CPU 1"):
        runs = [span for span in one.timeline.spans if span.track == cpu]
        in_all = sum(stack.own_ns for stack in one.stacks if stack.frames[0] == cpu)
        # From the first switch to the last there is no gap: somebody runs, if only the idle task.
        assert in_all == sum(span.duration_ns for span in runs) == runs[-1].end_ns - runs[0].start_ns
    assert any(event.name == "exec /init" for event in one.timeline.events)


@pytest.mark.parametrize(
    "row",
    [
        "kworker/R-ext4--147     [001] d..2.     5.933871: initcall_start: func=f+0x0/0x1",
        "a b [x] 1-2-147     [001] d..2.     5.933871: initcall_start: func=f+0x0/0x1",
        "          <idle>-0       [000] ...1.     5.933871: initcall_start: func=f+0x0/0x1",
        " systemd-1   (      1) [000] .....     5.933871: initcall_start: func=f+0x0/0x1",
        "       trace-cmd-9     [003]     5.933871: initcall_start:       func=f+0x0/0x1",
        "  swapper/0-1     [0001] d.h1 5.933871: initcall_start: func=f+0x0/0x1",
    ],
)
def test_names_with_blanks_and_every_column(row: str) -> None:
    pid = re.search(r"-(\d+) ", row)
    assert pid is not None
    ends = row.replace("5.933871", "5.934871").replace("start: ", "finish: ").replace("0x0/0x1", "0x0/0x1 ret=-19")
    one = read_text(ftrace.IMPORTER, f"{row}\n{ends}\n")
    (span,) = one.timeline.spans
    assert (span.name, span.start_ns, span.duration_ns, span.about) == ("f", 5_933_871_000, 1_000_000, "returned -19")


def test_lost_and_overwritten_events_are_said() -> None:
    one = recording_of(
        b"# tracer: nop\n# entries-in-buffer/entries-written: 100/5100   #P:2\nCPU:1 [LOST 77 EVENTS]\n"
        b"  a-1     [000] .....     1.000000: x: y\nnonsense\n"
    )
    assert any("overwrote 5000 events" in note for note in one.notes)
    assert any("77 events were lost" in note for note in one.notes)
    assert any(note == "1 of 5 lines left out: no line of this format; the first: nonsense." for note in one.notes)


def test_cycles_stay_cycles_until_somebody_knows_their_rate() -> None:
    rows = "a-1 [000] ..... 3000000: initcall_start: func=f\na-1 [000] ..... 9000000: initcall_finish: func=f ret=0\n"
    one = read_text(ftrace.IMPORTER, rows)
    assert one.timeline.clock.unit == "cycles" and one.timeline.spans[0].duration_ns == 6_000_000
    assert "--tsc-frequency" in one.notes[0]
    one = read_text(ftrace.IMPORTER, rows, Options(tsc_hz=3_000_000_000))
    assert one.timeline.clock.unit == "ns" and one.timeline.spans[0].duration_ns == 2_000_000


def test_what_is_no_trace_is_refused() -> None:
    with pytest.raises(FormatError, match="expected lines such as"):
        read_text(ftrace.IMPORTER, "# tracer: nop\nhello\n")


@pytest.mark.bench
@pytest.mark.parametrize(("name", "head"), [("ftrace-events.txt.xz", 12), ("ftrace-graph.txt.xz", 4)])
def test_200_mb_are_read_at_10_mb_a_second_in_little_memory(name: str, head: int, tmp_path: Path) -> None:
    # CPU seconds of this process, so that others on the machine do not count.
    rows = text_of(name).splitlines(keepends=True)
    path, body = tmp_path / "long.txt", "".join(rows[head:]).encode()
    with path.open("wb") as out:
        out.write("".join(rows[:head]).encode())
        for _ in range(200 * MB // len(body) + 1):
            out.write(body)
    before, began = resident_bytes(), time.process_time()
    with open_source(str(path)) as source:
        ftrace.read(source, Options())
        source.drain()
        took_s = time.process_time() - began
        print(f"\n{name}: {source.size / MB:.0f} MB in {took_s:.1f} CPU s, {source.size / MB / took_s:.1f} MB/s")
        assert source.size / took_s >= 10 * MB
    assert resident_bytes() - before < 200 * MB


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_row_of_blanks_is_looked_at_once() -> None:
    # Found by `make fuzz`: it took more than a second to see that such a row is none of a call graph.
    began = time.process_time()
    assert not is_graph_row(" 0)" + " " * 60_000)
    assert not is_graph_row(" " * 60_000 + "|")
    assert time.process_time() - began < 0.2


@pytest.mark.parametrize("name", ["trace-cmd-report.txt", "perf-script.txt"])
def test_other_tools_texts_of_the_same_events(name: str) -> None:
    # By the file itself: the stamps of the initcall's two events, and of the two switches.
    rows = (DATA / "traces" / name).read_text().splitlines()
    at = {}
    for row in rows:
        for event in ("initcall_start", "initcall_finish"):
            if f"{event}:" in row:
                at[event] = float(row.split("]")[1].split(":")[0])
    switches = [float(row.split("]")[1].split(":")[0]) for row in rows if "sched_switch:" in row]
    one = sample(f"traces/{name}")
    spans = {span.source: span for span in one.timeline.spans}
    assert spans["initcall"].duration_ns == round((at["initcall_finish"] - at["initcall_start"]) * 1e9)
    assert (spans["running"].name, spans["running"].duration_ns) == (
        "kworker/0:1-31", round((switches[1] - switches[0]) * 1e9),
    )  # fmt: skip
    assert any(event.name == "exec /sbin/init" for event in one.timeline.events)


def test_a_call_graph_in_trace_cmds_events() -> None:
    stacks = {stack.frames[1:]: stack.own_ns for stack in sample("traces/trace-cmd-report.txt").stacks}
    assert stacks[("do_one_initcall", "mutex_lock")] == 537
    assert stacks[("do_one_initcall",)] == 700_000 - 537
