"""TI's boot time report: the parts of its summary, its records, those of the microcontroller beside them."""

import re

import pytest

from bootlab.importers.firmware import boot_time_report
from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, phases_ms, read_text, recording_of, sample

NEW, OLD = "firmware-times/ti-boot-report.txt", "firmware-times/ti-boot-report-older.txt"


@pytest.mark.parametrize("name", [NEW, OLD])
def test_parts_and_records_are_those_that_it_prints(name: str) -> None:
    one, text = sample(name), (DATA / name).read_text()
    parts = [int(ms) for ms in re.findall(r"(?m)^(?:SPL|U-B\w+|Kernel[ \w]*) [Tt]ime\s*: (\d+) ms", text)]
    assert list(phases_ms(one).values()) == parts and len(parts) == 4
    (total,) = re.findall(r"Total Boot Time\s*: (\d+) ms", text)
    assert one.phases[-1].end_ns == int(total) * 1_000_000
    records = re.findall(r"(?m)^(\w+) += +(\d+) ms \(\+ *(\d+) ms\)", text)
    assert sorted((event.name, event.t_ns) for event in one.timeline.events) == sorted(
        (record, int(ms) * 1_000_000) for record, ms, _ in records
    )
    assert (
        sum(span.duration_ns for span in one.timeline.spans) == sum(int(since) for _, _, since in records) * 1_000_000
    )
    assert one.notes == ()


def test_the_microcontrollers_records_stand_beside_the_boot() -> None:
    beside = [span for span in sample(NEW).timeline.spans if span.source == "until, MCU"]
    assert (beside[-1].name, beside[-1].end_ns) == ("IPC_SYNC_ALL", 5_544_000_000)
    assert sample(NEW).facts == {"host": "am62xx-evm"}


def test_what_was_never_recorded_is_said_and_no_length() -> None:
    # The tool subtracts without a sign: a kernel that logged nothing gives 4 billion milliseconds.
    text = (DATA / NEW).read_text().replace(": 2297 ms", ": 4294964593 ms")
    one = recording_of(text.encode())
    assert "kernel" not in phases_ms(one)
    assert any("below zero" in note for note in one.notes) and any("add up to 2703 ms" in note for note in one.notes)


def test_a_report_without_figures_is_refused() -> None:
    with pytest.raises(FormatError, match="U-Boot Time"):
        read_text(boot_time_report.IMPORTER, "                 am62xx-evm Boot Time Report \n")
