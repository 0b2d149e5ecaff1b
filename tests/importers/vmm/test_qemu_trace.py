"""QEMU's trace events: states of the machine, requests, gaps, in both of the texts that there are."""

import re

import pytest

from bootlab.importers.reading.source import FormatError
from bootlab.importers.vmm import qemu_trace
from bootlab.timeline.recording import MOST_SPANS
from tests.importers.samples import DATA, phases_ms, read_text, recording_of, sample

LOG, SIMPLE = "vmm/qemu-trace.log", "vmm/qemu-trace-simple.txt"
ROWS = re.findall(r"(?m)^\d+@(\d+)\.(\d+):(\w+) ?(.*)$", (DATA / LOG).read_text())
TIMES = [int(seconds) * 1_000_000_000 + int(micros) * 1_000 for seconds, micros, _, _ in ROWS]


def test_a_real_trace_has_the_machines_states_and_its_request() -> None:
    one = sample(LOG)
    assert [event.t_ns for event in one.timeline.events] == [t_ns - TIMES[0] for t_ns in TIMES]
    states = [t_ns for t_ns, row in zip(TIMES, ROWS, strict=True) if row[2] == "runstate_set"]
    assert phases_ms(one) == {
        "prelaunch": (states[0] - TIMES[0]) / 1e6,
        "running": (states[1] - states[0]) / 1e6,
        "shutdown": (TIMES[-1] - states[1]) / 1e6,
    }
    begin, end = (next(t for t, row in zip(TIMES, ROWS, strict=True) if row[2] == name)
                  for name in ("virtio_blk_handle_read", "virtio_blk_req_complete"))  # fmt: skip
    (request,) = [span for span in one.timeline.spans if span.source == "request"]
    assert (request.name, request.duration_ns) == ("virtio-blk read", end - begin)


def test_the_longest_gap_is_the_longest_difference() -> None:
    gaps = [span.duration_ns for span in sample(LOG).timeline.spans if span.source == "until"]
    assert max(gaps) == max(after - before for before, after in zip(TIMES, TIMES[1:], strict=False))
    assert sum(gaps) == TIMES[-1] - TIMES[0]


def test_what_simpletrace_prints_adds_up() -> None:
    one, text = sample(SIMPLE), (DATA / SIMPLE).read_text()
    deltas = [round(float(delta) * 1_000) for delta in re.findall(r"(?m)^\w+ (-?[\d.]+) pid", text)]
    assert max(event.t_ns for event in one.timeline.events) == sum(deltas)
    requests = {(span.name, span.duration_ns) for span in one.timeline.spans if span.source == "request"}
    assert requests == {
        ("virtio-blk read", 8_250 + 90_500 + 2_125), ("virtio-blk read", 90_500 + 2_125 + 40_750), ("DMA", 410_001),
    }  # fmt: skip
    assert "prelaunch" in phases_ms(one) and "running" in phases_ms(one)
    assert any("1 requests have no end" in note for note in one.notes)
    assert any("1 events are stamped earlier" in note for note in one.notes)


def test_an_event_that_was_written_late_ends_the_time_without_one() -> None:
    rows = [(0, "a"), (40, "b"), (39, "late"), (60, "c")]
    one = recording_of("".join(f"7@1600000000.{us:06}:fw_cfg_{name} x\n" for us, name in rows).encode())
    gaps = [(span.name, span.start_ns, span.end_ns) for span in one.timeline.spans if span.source == "until"]
    assert gaps == [("fw_cfg_late", 0, 39_000), ("fw_cfg_b", 39_000, 40_000), ("fw_cfg_c", 40_000, 60_000)]


def test_facts_count_kinds_and_threads() -> None:
    names = [row[2] for row in ROWS]
    assert sample(LOG).facts["events"].startswith(f"{len(names)} of {len(set(names))} kinds")
    assert sample(LOG).facts["most frequent"].startswith(f"fw_cfg_select ({names.count('fw_cfg_select')})")


def test_more_events_than_are_kept_are_counted() -> None:
    many = "".join(f"7@1600000000.{n % 1_000_000:06}:kvm_run_exit cpu {n % 4}\n" for n in range(MOST_SPANS + 5))
    one = recording_of(many.encode())
    assert len(one.timeline.events) == MOST_SPANS
    assert any(f"first {MOST_SPANS} of {MOST_SPANS + 5} events" in note for note in one.notes)
    assert any("1000 longest times" in note for note in one.notes)


def test_events_without_times_say_how_to_get_them() -> None:
    with pytest.raises(FormatError, match="-msg timestamp=on"):
        read_text(qemu_trace.IMPORTER, "fw_cfg_select 0x55d0 key 0x19 'file_dir', ret: 1\n")


def test_a_binary_trace_says_what_makes_text_of_it() -> None:
    data = b"\xff" * 8 + bytes.fromhex("b429a40acb77b1f2") + bytes(8)
    with pytest.raises(FormatError, match="backend `simple`") as caught:
        recording_of(data)
    assert caught.value.hint is not None and "trace-events-all x | bootlab import -" in caught.value.hint
