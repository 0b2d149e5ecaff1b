"""qemu-boot-time: marks of one machine as phases, of several as a series."""

import re

import pytest

from bootlab.importers.reading.source import FormatError
from bootlab.importers.vmm import qemu_boot_time
from tests.importers.samples import DATA, phases_ms, read_text, recording_of, sample

TEXT = (DATA / "vmm" / "qemu-boot-time.txt").read_text()


def test_phases_are_the_steps_that_it_prints() -> None:
    steps = [float(step) for step in re.findall(r"\(\+([\d.]+)\)", TEXT)]
    assert list(phases_ms(sample("vmm/qemu-boot-time.txt")).values())[1:] == pytest.approx(steps)


def test_several_machines_are_a_series() -> None:
    more = TEXT + TEXT.split("Trace qemu-system-x86\n")[1].replace("172.178335", "180.5")
    one = recording_of(more.encode())
    series = {figure.name: figure.values for figure in one.series}
    assert series["linux_start_user"] == (172_178_335.0, 180_500_000.0)


def test_the_summary_behind_the_machines_is_no_machine() -> None:
    one = sample("other-origins/qemu-boot-time-published.txt")
    assert one.facts["machines"] == "3" and {len(figure.values) for figure in one.series} == {3}
    assert not any("left out" in note for note in one.notes)


def test_a_mark_of_somebodys_own_is_a_moment_and_ends_no_phase() -> None:
    rows = TEXT.replace(" linux_start_user:", " Exit point 10: 85.25 (+20)\n linux_start_user:")
    one = recording_of(rows.encode())
    assert one.phases == sample("vmm/qemu-boot-time.txt").phases
    assert [event.t_ns for event in one.timeline.events if event.name == "Exit point 10"] == [85_250_000]


def test_a_text_without_marks_is_refused() -> None:
    with pytest.raises(FormatError, match="expected marks"):
        read_text(qemu_boot_time.IMPORTER, "in trace_begin\n")
