"""coreboot's timestamps: the same boot by cbmem -t, by cbmem -T, and as the table itself."""

import struct
import time

import pytest

from bootlab.importers.firmware import cbmem
from bootlab.importers.firmware.cbmem import parse_table
from bootlab.importers.reading.source import FormatError, Head
from tests.importers.samples import DATA, recording_of, sample, span_of

TABLE = (DATA / "coreboot" / "timestamps.bin").read_bytes()


def test_numbers_of_four_digits_move_the_others_and_what_was_before_the_reset_is_a_phase() -> None:
    boot = sample("other-origins/cbmem-before-reset.txt")
    assert span_of(boot, "1st timestamp").duration_ns == 35_794_000
    assert boot.phases[0].name == "before the first stage" and boot.phases[0].end_ns == 1_142_626_000
    assert boot.notes == ()


def test_the_figures_that_cbmem_prints() -> None:
    boot = sample("coreboot/cbmem-t.txt")
    assert len(boot.timeline.events) == 20
    assert boot.timeline.events[0].name == "1st timestamp" and boot.timeline.events[0].t_ns == 155_183_000
    memory = span_of(boot, "after RAM initialization")
    # cbmem prints 241,343: it cuts ticks off, of the difference; here it is the difference of what was cut.
    assert memory.duration_ns == 241_344_000 and memory.about == "timestamp 3"
    assert span_of(boot, "finished LZMA decompress (ignore for x86)").duration_ns == 17_627_000


def test_total_time_is_the_sum_of_steps_that_were_cut() -> None:
    boot = sample("coreboot/cbmem-t.txt")
    # "Total Time: 845,220" is 9 us less than the last stamp minus the first: 20 steps, each cut to whole us.
    assert boot.timeline.events[-1].t_ns - boot.timeline.events[0].t_ns == 845_229_000
    assert sum(one.duration_ns for one in boot.phases) == 845_229_000


@pytest.mark.parametrize("name", ["coreboot/cbmem-T.txt", "coreboot/timestamps.bin"])
def test_every_form_says_the_same(name: str) -> None:
    one, other = sample("coreboot/cbmem-t.txt"), sample(name)
    assert [event.name for event in other.timeline.events] == [event.name for event in one.timeline.events]
    assert [event.t_ns // 1000 for event in other.timeline.events] == [
        event.t_ns // 1000 for event in one.timeline.events
    ]
    assert [phase.name for phase in other.phases] == [phase.name for phase in one.phases]


def test_a_table_without_a_rate_is_in_cycles() -> None:
    table = TABLE[:10] + b"\0\0" + TABLE[12:]
    boot = recording_of(table)
    assert boot.timeline.clock.unit == "cycles" and "--tsc-frequency" in boot.notes[0]
    assert recording_of(table, tsc_hz=1_900_000_000).phases == sample("coreboot/timestamps.bin").phases


def test_stamps_from_before_the_base_move_zero() -> None:
    table = struct.pack("<QHHI", 10**9, 10, 1, 2) + struct.pack("<IqIq", 990, -500, 1, 100)
    stamps, _ = parse_table(table)
    assert [(one.number, one.t_ns) for one in stamps] == [(990, 0), (0, 500_000), (1, 600_000)]


def test_a_table_that_lies_is_no_table() -> None:
    for table in (
        TABLE[:12] + b"\xff\xff\xff\xff" + TABLE[16:],
        TABLE[:8] + b"\1\0" + TABLE[10:],
        TABLE[:60],
    ):
        with pytest.raises(FormatError):
            recording_of(table)
    with pytest.raises(FormatError, match="expected the timestamps of cbmem"):
        recording_of(b"3 entries total:\n\n" + b"9" * 5000 + b":x 1\n")


def test_a_prompt_before_it_and_rows_that_are_missing() -> None:
    text = (DATA / "coreboot" / "cbmem-t.txt").read_text()
    whole = recording_of(f"root@box:~# cbmem -t\n{text}".encode())
    assert whole.format == "cbmem" and whole.timeline == sample("coreboot/cbmem-t.txt").timeline
    rows = text.split("\n")
    assert not any("missing" in note for note in sample("coreboot/cbmem-t.txt").notes)
    cut = recording_of("\n".join(rows[:10]).encode())
    # Of the rows that are left, one is the head, one is empty, and one is the base, which is no entry.
    assert any("The head states 19 entries, and 12 of them are missing." in note for note in cut.notes)


def test_rows_without_their_head() -> None:
    rows = (DATA / "coreboot" / "cbmem-t.txt").read_text().split("\n")[4:]
    one = recording_of("\n".join(rows).encode())
    assert one.format == "cbmem" and len(one.timeline.events) == 19 - (rows[0].startswith("  12"))


def test_a_row_of_blanks_is_looked_at_in_no_time() -> None:
    row = " 101:end of entries " + " " * 60_000 + "428,304 (114) " + " " * 4_000
    began = time.process_time()
    assert cbmem.recognise(Head("x", f"{row}\n".encode())) == ""
    assert time.process_time() - began < 0.2
