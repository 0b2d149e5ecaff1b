"""Firecracker's log with the boot timer."""

import pytest

from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, recording_of, sample, span_of

GUEST = "InstanceStart to the guest's signal"
LOG = (DATA / "firecracker" / "boot-timer.log").read_text()


def test_the_boot_timer_and_the_steps_of_the_vmm() -> None:
    boot = sample("firecracker/boot-timer.log")
    assert boot.tool == "Firecracker v1.12.1"
    guest = span_of(boot, GUEST)
    # It has a place, so it is no length beside that: both together would be two boots.
    assert guest.about == "272.485 ms of them on a CPU" and boot.lengths == ()
    assert guest.end_ns == 382_154_343 and guest.duration_ns == 279_446_000
    assert span_of(boot, "build microvm for boot").duration_ns == 7_733_817
    assert span_of(boot, "boot microvm").duration_ns == 348_644
    # The guest's own console may stand between the rows.
    assert len(boot.timeline.events) == 9 and boot.series == ()


def test_a_boot_timer_without_a_stamp_is_a_length() -> None:
    boot = recording_of(b"Guest-boot-time = 279446 us 279 ms, 272485 CPU us 272 CPU ms\n")
    assert [(one.name, one.took_ns) for one in boot.lengths] == [(GUEST, 279_446_000)] and not boot.timeline.spans


@pytest.mark.parametrize(
    ("name", "version", "calls"),
    [
        ("1.2", "v1.2.0", {"PUT /boot-source": 1_055_000}),
        ("1.8", "v1.8.0-dev", {"PUT /machine-config": 265_000, "PUT /boot-source": 29_000}),
    ],
)
def test_a_call_of_the_api_is_as_long_as_its_last_row_says(name: str, version: str, calls: dict[str, int]) -> None:
    boot = sample(f"other-origins/firecracker-{name}.log")
    assert boot.tool == f"Firecracker {version}"
    assert {one.name: one.duration_ns for one in boot.timeline.spans} == calls


def test_the_end_of_an_event_that_never_began_is_passed_over() -> None:
    rows = LOG.replace("event_start: boot microvm", "event_begin: boot microvm")
    assert [one.name for one in recording_of(rows.encode()).timeline.spans] == ["build microvm for boot", GUEST]


def test_several_guests_are_a_series() -> None:
    rows = "".join(f"Guest-boot-time = {us:6} us 0 ms, {us - 900:6} CPU us 0 CPU ms\n" for us in (7123, 6998, 12007))
    boot = recording_of(rows.encode())
    assert boot.series[0].values == (7_123_000, 6_998_000, 12_007_000)
    assert boot.series[1].values == (6_223_000, 6_098_000, 11_107_000)


def test_a_clock_that_was_set_back_is_told() -> None:
    rows = [row for row in LOG.split("\n") if row.startswith("2025")]
    boot = recording_of("\n".join(rows[::-1]).encode())
    assert any(note.startswith("8 stamps lie before") for note in boot.notes)
    assert all(one.t_ns >= 0 for one in boot.timeline.events)


def test_impossible_dates_are_passed_over() -> None:
    with pytest.raises(FormatError, match="rows of Firecracker's log"):
        recording_of(b"2025-13-45T14:41:21.5 [anonymous-instance:main] x\n")
