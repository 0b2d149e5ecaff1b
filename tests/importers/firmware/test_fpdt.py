"""The firmware's own times: phases by the table's figures, in either way that sysfs files are printed."""

import pytest

from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, phases_ms, recording_of, sample

ROWS = (DATA / "firmware-times" / "fpdt.txt").read_text().splitlines()


def test_phases_are_the_differences_of_the_figures() -> None:
    figures = sorted(int(row.rpartition(":")[2]) for row in ROWS if "/boot/" in row)
    one = sample("firmware-times/fpdt.txt")
    assert list(phases_ms(one).values()) == [
        (end - start) / 1e6 for start, end in zip([0, *figures], figures, strict=False)
    ]
    assert [event.t_ns for event in one.timeline.events] == figures
    assert {length.name: length.took_ns for length in one.lengths} == {
        "resume_prev": 399_000_000,
        "resume_avg": 401_000_000,
    }


def test_a_figure_behind_its_successors_bounds_no_phase() -> None:
    one = sample("other-origins/fpdt-wrong-scale.txt")
    assert phases_ms(one) == {"firmware": 489.008239, "loading the boot loader": 75.963566, "boot loader": 534.191636}
    assert any(note.startswith("firmware_start_ns lies behind") for note in one.notes)
    assert [event.name for event in one.timeline.events] == [
        "bootloader_load_ns", "bootloader_launch_ns", "exitbootservice_start_ns",
    ]  # fmt: skip


def test_files_that_tail_printed_say_the_same() -> None:
    text = "".join(f"==> {row.rpartition(':')[0]} <==\n{row.rpartition(':')[2]}\n\n" for row in ROWS)
    one = recording_of(text.encode())
    assert one.format == "fpdt" and one.phases == sample("firmware-times/fpdt.txt").phases


def test_a_figure_that_was_never_written_is_said() -> None:
    text = "\n".join(ROWS).replace("2301000000", "0")
    one = recording_of(text.encode())
    assert phases_ms(one)["boot loader"] == (4_390_000_000 - 2_204_938_000) / 1e6
    assert any("wrote no bootloader_launch_ns" in note for note in one.notes)


def test_a_table_of_resumes_alone_is_refused() -> None:
    with pytest.raises(FormatError, match="expected figures such as"):
        recording_of(b"/sys/firmware/acpi/fpdt/resume/resume_count:2\n")
