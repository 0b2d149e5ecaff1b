"""TI's SBL on the console: steps that fill its time, loaders that count anew, and time that has no name."""

import re

import pytest

from bootlab.importers.firmware import ti_sbl
from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, read_text, recording_of, sample

TWO, UNNAMED = "firmware-times/ti-sbl.txt", "firmware-times/ti-sbl-unnamed-time.txt"


def printed(name: str) -> list[tuple[str, int]]:
    """Return every line of a step, or of a total."""
    rows = re.findall(r"(?m)\[BOOTLOADER.PROFILE\] (.*?) +: +(\d+)us", (DATA / name).read_text())
    return [(step, int(us) * 1_000) for step, us in rows]


def test_steps_that_are_more_than_the_total_are_told_as_that() -> None:
    one = sample("other-origins/ti-sbl-steps-over-total.log")
    assert any("2373714 us and its steps add up to 7742421 us, which is more" in note for note in one.notes)
    assert not any("has no name" in note for note in one.notes) and not one.timeline.spans


def test_the_first_loaders_steps_follow_each_other_and_the_seconds_have_no_place() -> None:
    one, rows = sample(TWO), printed(TWO)
    place = [step for step, _ in rows].index("SBL Total Time Taken")
    assert [(span.name, span.duration_ns) for span in one.timeline.spans] == rows[:place]
    assert one.phases[0].duration_ns == rows[place][1] and one.timeline.spans[-1].end_ns == 62_203_000
    assert [(length.name, length.took_ns) for length in one.lengths if length.source == "step"] == rows[place + 1 : -1]
    assert [length.took_ns for length in one.lengths if length.source == "whole loader"] == [52_895_000]
    assert any("There are 2 loaders" in note for note in one.notes)
    assert "Boot Media FLASH" in one.facts["loader"] and "a530-0" in one.facts["loader"]


def test_steps_that_do_not_fill_the_total_have_no_place() -> None:
    one = sample(UNNAMED)
    assert one.timeline.spans == () and [(step.name, step.took_ns) for step in one.lengths] == printed(UNNAMED)[:-1]
    assert one.phases[0].duration_ns == 899_120_000
    assert any("899120 us and its steps add up to 381805 us" in note for note in one.notes)


def test_the_console_around_it_is_kept_in_its_place() -> None:
    texts = [(line.after, line.text) for line in sample(TWO).text]
    assert texts[0] == (0, "SYSFW Firmware Version 9.2.7--v09.02.07 (Kool Koala)")
    assert texts[-1] == (7, "NOTICE:  BL31: v2.10(release)")


def test_a_total_that_never_came_is_said() -> None:
    one = recording_of(b"[BOOTLOADER PROFILE] System_init                      :        445us\n")
    assert one.phases[0].duration_ns == 445_000 and one.notes == (
        "The total is missing: the console ends before it, or its line was lost.",
    )


def test_a_console_with_a_kernel_is_the_kernels_log() -> None:
    text = (DATA / TWO).read_text() + "[    0.000000] Linux version 6.1\n"
    assert recording_of(text.encode()).format == "dmesg"


def test_facts_alone_are_refused() -> None:
    with pytest.raises(FormatError, match="System_init"):
        read_text(ti_sbl.IMPORTER, "[BOOTLOADER_PROFILE] Boot Media       : eMMC\n")
