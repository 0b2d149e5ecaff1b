"""Qualcomm's first loaders: moments since power-on, lengths, facts, and the console around them."""

import re

import pytest

from bootlab.importers.firmware import xbl
from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, phases_ms, read_text, recording_of, sample

TEXT = (DATA / "firmware-times" / "xbl-console.log").read_text()


def test_an_image_that_began_before_the_one_before_it_ended_is_told() -> None:
    one = sample("other-origins/xbl-mdm9607.log")
    assert one.notes[0].startswith("SBL1 says that it began 12.945 ms before PBL had ended")
    assert phases_ms(one) == {"before PBL": 1.216, "PBL": 121.376, "SBL1": 860.911}
    assert not sample("other-origins/xbl-sa8295p.log").notes


def test_a_step_with_an_end_of_its_own_has_a_length() -> None:
    spans = sample("other-origins/xbl-sa8295p.log").timeline.spans
    assert [(span.name, span.start_ns, span.end_ns) for span in spans] == [
        ("External heap init", 634_278_000, 634_308_000)
    ]


def test_moments_and_lengths_are_those_that_it_prints() -> None:
    one = sample("firmware-times/xbl-console.log")
    # The battery's line counts volts.
    moments = [int(us) * 1000 for us, name in re.findall(r"(?m)^B -\s+(\d+) - (.*)", TEXT) if "battery" not in name]
    assert [event.t_ns for event in one.timeline.events] == sorted(moments) and len(moments) == 6
    took = [*(length.took_ns for length in one.lengths), *(span.duration_ns for span in one.timeline.spans)]
    assert sorted(took) == sorted(int(us) * 1000 for us in re.findall(r"(?m)^D -\s+(\d+)", TEXT))
    (ddr,) = [span for span in one.timeline.spans if span.name == "sbl1_ddr_init"]
    assert (ddr.start_ns, ddr.about) == (70_100_000, "(420 Bytes)")
    assert [line.text for line in one.text] == [
        "B -      4122 - battery voltage", "Android Bootloader - UART_DM Initialized!!!",
    ]  # fmt: skip


def test_phases_are_images_and_no_steps() -> None:
    # SBL1 counts with a timer of its own, and seems to begin before PBL ends.
    assert phases_ms(sample("firmware-times/xbl-console.log")) == {
        "before PBL": 1.21, "PBL": 64.1, "SBL1": 201.0 - 65.31,
    }  # fmt: skip
    assert phases_ms(recording_of(b"B -     65310 - PBL, End\nB -     70000 - SBL1, Start\nB -     90000 - x\n")) == {
        "PBL": 65.31, "before SBL1": 4.69, "SBL1": 20.0,
    }  # fmt: skip


def test_a_whole_console_is_the_kernels_log() -> None:
    assert recording_of((TEXT + "[    0.000000] Linux version 6.1\n").encode()).format == "dmesg"


def test_a_log_without_moments_is_refused() -> None:
    with pytest.raises(FormatError, match="B -     65310"):
        read_text(xbl.IMPORTER, "S - Core 0 Frequency, 1516 MHz\n")


def test_a_pbl_that_prints_lengths_ends_by_its_statistic() -> None:
    one = sample("firmware-times/xbl-steps-of-pbl.log")
    assert phases_ms(one) == {"PBL": 76.385, "before SBL1": 11.635, "SBL1": 211.98}
    steps = [length.took_ns // 1000 for length in one.lengths if length.name.endswith("_timestamp")]
    assert sum(steps) == 76385
    assert {span.name: span.start_ns // 1000 for span in one.timeline.spans} == {
        "SMSS -  Image Loaded": 229420,
        "SHRM -  Image Loaded": 269925,
    }
    assert one.facts["loader"].startswith("QC_IMAGE_VERSION_STRING=")
    assert not one.text


def test_a_log_that_is_indented_is_one() -> None:
    rows = (DATA / "firmware-times" / "xbl-steps-of-pbl.log").read_text().splitlines()
    one = recording_of("\n".join(f"  {row}" for row in rows).encode())
    assert one.format == "xbl" and one.phases == sample("firmware-times/xbl-steps-of-pbl.log").phases
