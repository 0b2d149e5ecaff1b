"""grabserial's logs as recordings: the kernel's clock placed on the host's by the lower envelope, late lines named."""

import pytest

from bootlab.importers.reading.source import FormatError
from bootlab.importers.serial import grabserial
from tests.importers.samples import DATA, phases_ms, read_text, recording_of, sample

OFFSET_NS = 1_471_594_300
SINCE_NS = 3_211_212_000


def test_what_the_kernels_clock_can_place_is_placed() -> None:
    one, kernel = sample("debian-13/grabserial.log.xz"), sample("debian-13/dmesg.txt.xz")
    told = [span for span in kernel.timeline.spans if span.start_ns >= SINCE_NS]
    assert [(span.name, span.start_ns - OFFSET_NS, span.duration_ns) for span in one.timeline.spans] == [
        (span.name, span.start_ns, span.duration_ns) for span in told
    ]
    assert any("1471.594 ms behind" in note and "+- 3.436 ms" in note for note in one.notes)


def test_what_it_cannot_place_keeps_its_length() -> None:
    # In this machine printk's clock stands at 0 for half a second and loses another one until the TSC takes over.
    one, kernel = sample("debian-13/grabserial.log.xz"), sample("debian-13/dmesg.txt.xz")
    told = [span for span in kernel.timeline.spans if span.start_ns < SINCE_NS]
    lengths = {(length.source, length.name, length.took_ns) for length in one.lengths}
    assert lengths >= {(span.source, span.name, span.duration_ns) for span in told}
    assert any("from the kernel's 3.211 s on" in note and f"({len(told)} spans)" in note for note in one.notes)


def test_phases_go_from_line_to_line() -> None:
    one = sample("debian-13/grabserial.log.xz")
    assert [phase.name for phase in one.phases] == ["kernel", "user space, as far as logged"]
    one = sample("grabserial-match.log")
    assert one.phases[0].name == "before the kernel's first line" and one.phases[0].duration_ns == 61_486_000


def test_early_lines_that_came_late_are_named() -> None:
    # The console was registered 79 ms after the kernel's first stamps; its first lines came at once, and late.
    one = sample("grabserial-systime.log")
    (note,) = [note for note in one.notes if "came late" in note]
    assert note.startswith("21 kernel lines came late, the latest by 18.5 ms")


def test_a_restarted_clock_is_said() -> None:
    assert any("started its clock anew 1 times" in note for note in sample("grabserial-match.log").notes)


def test_few_stamped_lines_are_said_to_be_too_few() -> None:
    one = read_text(
        grabserial.IMPORTER, "[0.000000 0.000000] boot\n[0.500000 0.500000] [    0.000001] Linux version 6\n"
    )
    assert len(one.timeline.events) == 2 and any("too few" in note for note in one.notes)


def test_what_has_no_stamps_is_refused() -> None:
    with pytest.raises(FormatError, match="^x: no line starts with"):
        read_text(grabserial.IMPORTER, "hello\n")


def test_what_its_own_patterns_matched_is_kept() -> None:
    text = (DATA / "grabserial-match.log").read_text()
    said = [row for row in text.splitlines() if row.startswith("The inlinepat")]
    assert sample("grabserial-match.log").facts["grabserial"] == "; ".join(said) and said


def test_a_kernel_that_does_not_name_its_init_ends_all_the_same() -> None:
    one = recording_of(
        b"[0.000001 0.000000] Linux version 3.2\n[1.000001 1.000000] Freeing init memory: 184K\n"
        b"[9.000001 8.000000] login:\n"
    )
    assert phases_ms(one) == {"kernel": 1000.0, "user space, as far as logged": 8000.0}
    assert not any("nothing has a time" in note or "Linux version" in note for note in one.notes)


def test_a_quiet_kernel_is_not_the_time_of_the_program_before_it() -> None:
    rows = [
        "[0.000000 0.000000] U-Boot 2014.04-test (Apr 22 2014)",
        "[1.000000 1.000000] Starting kernel ...",
        "[1.250000 0.250000] Uncompressing Linux... done, booting the kernel.",
        "[3.000000 1.750000] [    0.378676] omap2_mbox_probe: platform not supported",
        "[4.000000 1.000000] systemd-fsck[209]: rootfs: clean",
        "[5.000000 1.000000] login:",
    ]
    assert phases_ms(recording_of("\n".join(rows).encode())) == {
        "U-Boot": 1250,
        "the kernel's decompressor and what follows: no line tells where it ends": 2750,
        "user space, as far as logged": 1000,
    }
    alone = recording_of("\n".join([rows[0], "[1.000000 1.000000] Net: none", "[2.000000 1.000000] => "]).encode())
    assert phases_ms(alone) == {"U-Boot": 2000}
