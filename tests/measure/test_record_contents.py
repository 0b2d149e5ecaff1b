"""What a record says: marks of the trace before those of the console, initcalls up to ready, and the guest's clock."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.measure.causes.ending import Ending
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_contents import HostRun, cut_initcalls, fill_record
from bootlab.profile.recorded.trace import PluginTrace, TracedCall
from bootlab.system import PowerOn, PowerOnKind
from bootlab.targets.target import LineStamps
from tests.measure.observing import observed, write_trace

READY = Ending(Outcome.READY)
RUN = HostRun(["qemu"], "2026-01-01T00:00:00+00:00", 1.23456)


class FixedNames:
    """Names of the addresses 1, 2, ...; none of others."""

    def name_at(self, address: int) -> str | None:
        return {1: "first", 2: "second"}.get(address)


def traced(*times_ns: int) -> PluginTrace:
    """Return a trace in which initcalls began at these times; the first at address 1, and so on."""
    calls = [TracedCall("initcall", t_ns, t_ns, number) for number, t_ns in enumerate(times_ns, 1)]
    return PluginTrace(shift=0, calls=calls)


def filled(folder: Path, *records: str, console: bytes = b"", ending: Ending = READY) -> BootRecord:
    """Return the record of a boot on the virtual clock with this trace and console."""
    seen = observed(folder)
    write_trace(seen, *records)
    seen.heard.feed(console, 5)
    return fill_record(seen, ending, RUN)


def test_the_trace_says_when_each_mark_was(tmp_path: Path) -> None:
    """The host read both lines at its 5 ns; the machine had made the marks at 40 and 90."""
    record = filled(
        tmp_path, "mark kernel_entry 20 20", "guest early 40 30", "guest ready 90 70", console=b"bootlab: mark ready\n"
    )
    assert record.marks == {"power_on": 0, "kernel_entry": 20, "early": 40, "ready": 90}
    assert (record.instructions, record.idle_ns, record.ready_ns) == (70, 20, 90)
    assert (record.wall_s, record.argv, record.outcome) == (1.235, ["qemu"], Outcome.READY)


def test_a_mark_from_before_its_wake_is_not_when_a_machine_that_woke_was_ready(tmp_path: Path) -> None:
    """The plugin has the first mark of a name: what comes behind the wake again is not seen."""
    seen = observed(tmp_path)
    asleep = seen.system.model_copy(update={"power_on": PowerOn(kind=PowerOnKind.SUSPENDED)})
    seen = replace(seen, prepared=replace(seen.prepared, system=asleep))
    said = b"bootlab: mark ready\n"
    write_trace(seen, f"console 35 30 {len(said)}", "guest ready 40 35", "guest suspending 50 40", "mark wake 90 60")
    seen.heard.feed(said, 5)
    record = fill_record(seen, READY, RUN)
    assert record.outcome is Outcome.NOT_READY and "behind /sbin/bootlab-sleep alone" in record.detail
    assert record.ready_ns is None and "ready" not in record.marks and record.instructions is None


def test_phases_say_what_was_read_from_disks_up_to_ready(tmp_path: Path) -> None:
    record = filled(
        tmp_path, "exact disks", "reads image 512 1", "mark kernel_entry 20 20", "reads image 1536 2",
        "mark start_kernel 30 30", "reads image 2048 3", "answered ssh 40 40",
        "reads image 9216 8", "guest ready 80 60", "reads image 99999 9", "end 99 99",
    )  # fmt: skip
    assert [(one.end, one.read_bytes) for one in record.phases] == [
        ("kernel_entry", 512), ("start_kernel", 1024), ("ready", 7680),
    ]  # fmt: skip
    assert record.read_up_to == {"ssh": 2048}


def test_timings_are_told_of_the_marks_that_came(tmp_path: Path) -> None:
    asked = {"felt": {"mark": "early", "after": "kernel_entry"}, "all": {"mark": "ready"}, "never": {"mark": "gone"}}
    asked["turned"] = {"mark": "kernel_entry", "after": "early"}
    seen = observed(tmp_path, timings=asked)
    write_trace(seen, "mark kernel_entry 20 20", "guest early 45 30", "guest ready 90 70")
    seen.heard.feed(b"bootlab: mark ready\n", 5)
    record = fill_record(seen, READY, RUN)
    assert record.timings_ns == {"felt": 25, "all": 90, "never": None, "turned": None}
    assert record.remarks == ["timings.turned: kernel_entry came before early, so nothing lies between them"]


def test_a_guest_cannot_move_one_of_our_marks(tmp_path: Path) -> None:
    record = filled(
        tmp_path, "guest kernel_entry 10 10", "guest init_exec 15 15", "mark kernel_entry 20 20", "guest ready 90 90"
    )
    assert record.marks == {"power_on": 0, "kernel_entry": 20, "ready": 90}


def test_ready_that_only_the_console_said_is_where_its_line_was_sent(tmp_path: Path) -> None:
    """22 bytes came first, then the 20 of the mark's line: its end is in the second piece."""
    said = b"x" * 21 + b"\n" + b"bootlab: mark ready\n"
    record = filled(tmp_path, "console 50 40 22", "console 80 60 20", console=said)
    assert (record.marks["ready"], record.instructions, record.idle_ns) == (80, 60, 20)


def test_ready_that_the_plugin_never_saw_is_not_ready(tmp_path: Path) -> None:
    record = filled(tmp_path, console=b"bootlab: mark ready\n")
    assert record.outcome is Outcome.NOT_READY
    assert record.detail == "the console said ready, but the plugin saw neither mark nor line"
    assert record.instructions is None and record.idle_ns is None


def test_a_panic_after_all_that_was_asked_for_is_no_mark(tmp_path: Path) -> None:
    trace = ("guest ready 90 90", "mark panic 95 95")
    assert "panic" not in filled(tmp_path, *trace).marks
    (tmp_path / "panicked").mkdir()
    assert filled(tmp_path / "panicked", *trace, ending=Ending(Outcome.PANICKED)).marks["panic"] == 95


def test_doubts_stand_behind_the_detail(tmp_path: Path) -> None:
    seen = observed(tmp_path, clock="wall")
    seen.heard.feed(b"bootlab: mark ready\n", 5)
    run = HostRun([], "", 0.0, ("the host was busy",), stamps=LineStamps(byte_ns=87, late_ns=None, power_ns=4))
    record = fill_record(seen, READY, run)
    assert record.detail == "the host was busy"
    assert record.stamps is not None and (record.stamps.byte_ns, record.stamps.power_ns) == (87, 4)
    assert fill_record(seen, Ending(Outcome.HUNG, "not ready"), run).detail == "not ready; the host was busy"
    assert fill_record(seen, READY, HostRun([], "", 0.0, remarks=("network: x",))).remarks == ["network: x"]


def test_disks_that_answer_at_once_are_told_and_those_that_could_not_are_a_remark(tmp_path: Path) -> None:
    for name in ("plain", "exact", "device", "refused"):
        (tmp_path / name).mkdir()
    assert filled(tmp_path / "plain", "guest ready 90 90").exact_disks is None
    exact = filled(tmp_path / "exact", "exact disks", "guest ready 90 90", "settled 7 0")
    assert exact.exact_disks is True and exact.remarks == []
    device = filled(tmp_path / "device", "exact disks", "refused device ide-hd is slow", "settled 7 2")
    assert device.exact_disks is True
    assert device.remarks == [
        "exact device: refused: ide-hd is slow: this boot may not repeat exactly",
        "exact disks: of 7 waits for a disk 2 were given up: this boot may not repeat exactly",
    ]
    refused = filled(tmp_path / "refused", "refused disks no aio_poll here", "guest ready 90 90")
    assert refused.exact_disks is False and len(refused.remarks) == 1


def test_what_modelled_disks_did_up_to_ready_is_told(tmp_path: Path) -> None:
    seen = observed(tmp_path, disks=[{"size_mib": 16, "model": "sd"}, {"size_mib": 16}])
    write_trace(seen, "exact disks", "exact model:disk0", "guest ready 90 90", "modelled disk0 3 1")
    (seen.directory / "requests.txt").write_text(
        "bootlab-requests 1\ndisk0 read 0 8 10 10 30\ndisk0 write 8 8 80 80 100\ndisk0 flush 0 0 95 95 96\n"
    )
    record = fill_record(seen, READY, RUN)
    assert [disk.model_dump() for disk in record.disks] == [
        {"drive": "disk0", "model": "sd", "reads": 1, "read_bytes": 4096, "writes": 1, "written_bytes": 4096,
         "flushes": 0, "busy_ns": 30, "waited_ns": 30, "longest_ns": 20, "passed_bytes": 0}
    ]  # fmt: skip
    assert record.remarks == [
        "disk disk0: 1 of 3 requests were not answered at the model's time: this boot may not repeat exactly"
    ]
    (tmp_path / "plain").mkdir()
    assert "disks" not in filled(tmp_path / "plain", "guest ready 90 90").model_dump()


def test_what_was_charged_is_apart_from_idle_time(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    (seen.directory / "trace.txt").write_text("bootlab-trace 1\nclock virtual 0 charged\nguest ready 5260 200 5000\n")
    record = fill_record(seen, READY, RUN)
    assert (record.ready_ns, record.instructions, record.idle_ns, record.charged_ns) == (5260, 200, 60, 5000)
    assert "charged_ns" not in BootRecord.model_validate(record.model_copy(update={"charged_ns": 0})).model_dump()


def test_on_the_wall_clock_the_console_says_when_each_mark_was(tmp_path: Path) -> None:
    seen = observed(tmp_path, clock="wall")
    write_trace(seen, "guest ready 90 90", "slide 1000")
    seen.heard.begin(power_on_ns=100, byte_ns=0)
    seen.heard.feed(b"bootlab: mark early\n", 130)
    seen.heard.feed(b"bootlab: mark ready\n", 170)
    record = fill_record(seen, READY, RUN)
    assert record.marks == {"power_on": 0, "early": 30, "ready": 70}
    assert record.instructions is None and record.kaslr_slide is None and record.ns_per_instruction is None


@pytest.mark.parametrize(("clock", "since_ns"), [("virtual", 10_000_000), ("wall", 1_000_000)])
def test_the_guests_clock_is_where_the_lines_before_ready_say(clock: str, since_ns: int, tmp_path: Path) -> None:
    """5 lines sent 9 ms after their stamps, then 36 sent 7 ms after; one after ready, 2 ms, would move the clock.

    With exact times a fall of the offset says that the guest's clock jumped; a host may just have read five lines late.
    """
    sent = [(stamp_ms, stamp_ms + 9) for stamp_ms in range(1, 6)]
    sent += [(stamp_ms, stamp_ms + 7) for stamp_ms in range(10, 46)]
    pieces = [(t_ms * 1_000_000, f"[    0.{stamp_ms:03d}000] line\n".encode()) for stamp_ms, t_ms in sent]
    pieces += [(55_000_000, b"bootlab: mark ready\n"), (56_000_000, b"[    0.054000] line\n")]
    seen = observed(tmp_path, clock=clock)
    write_trace(seen, *(f"console {t_ns} {t_ns} {len(line)}" for t_ns, line in pieces))
    for t_ns, line in pieces:
        # The host reads what was sent whenever it comes to it; only on the wall clock that is all there is.
        seen.heard.feed(line, t_ns if clock == "wall" else 99)
    placed = fill_record(seen, READY, RUN).guest_clock
    assert placed is not None and placed.since_ns == since_ns
    assert abs(placed.offset_ns - 7_000_000) <= placed.uncertainty_ns < 100_000


def test_initcalls_end_where_the_next_begins_and_at_the_end_of_all(tmp_path: Path) -> None:
    """The last of the kernel's own ends with them all, at 200; a module's, at 300, at ready."""
    calls = cut_initcalls(traced(100, 130, 300, 900), FixedNames(), {"initcalls_end": 200, "ready": 800})
    assert [(call.name, call.start_ns, call.duration_ns) for call in calls] == [
        ("first", 100, 30), ("second", 130, 70), ("0x3", 300, 500),
    ]  # fmt: skip


def test_initcalls_of_a_boot_that_was_never_ready(tmp_path: Path) -> None:
    """Without an end of them all, the one that it hung in has no length that anybody saw."""
    calls = cut_initcalls(traced(100, 130), FixedNames(), {})
    assert [(call.name, call.duration_ns) for call in calls] == [("first", 30), ("second", 0)]


def test_without_names_no_initcall_is_told() -> None:
    assert not cut_initcalls(traced(100), None, {})


def test_what_was_charged_for_is_that_up_to_ready(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    lines = ("charged cpuid 2 1400", "charged fault_4K 1 1460", "guest ready 3060 200 2860", "charged cpuid 9 6300")
    (seen.directory / "trace.txt").write_text("\n".join(["bootlab-trace 1", "clock virtual 0 charged", *lines, ""]))
    record = fill_record(seen, READY, RUN)
    assert {name: (one.count, one.ns) for name, one in record.charges.items()} == {
        "cpuid": (2, 1400),
        "fault_4K": (1, 1460),
    }
    assert sum(one.ns for one in record.charges.values()) == record.charged_ns
    (tmp_path / "plain").mkdir()
    assert "charges" not in filled(tmp_path / "plain", "guest ready 90 90").model_dump()


def test_exits_that_could_not_be_counted_are_a_remark(tmp_path: Path) -> None:
    record = filled(tmp_path, "refused traps no such symbol", "guest ready 90 90")
    assert record.remarks == ["exits of KVM are neither counted nor charged: no such symbol"]
