"""Early kernel marks: what no stamp of the kernel shows, and the kernel's lines on the same counter."""

import pytest

from tests.importers.samples import DATA, phases_ms, recording_of, sample, span_of

TEXT = (DATA / "marks" / "early-marks.log").read_text()


def test_the_time_before_the_kernels_clock() -> None:
    boot = sample("marks/early-marks.log")
    assert boot.facts["counter"] == "19200000 Hz" and boot.facts["kernel"] == "5.14.0-366.el9.aarch64"
    assert phases_ms(boot) == {
        "before the kernel": pytest.approx(83_868_579 / 19_200, abs=1e-3),
        # primary_entry to time_init, less the 0.04 ms that the kernel's clock had been running when that was printed.
        "kernel, before its clock": pytest.approx((97_753_999 - 83_868_579) / 19_200 - 0.040, abs=1e-3),
        "kernel": pytest.approx(552.570),
        "user space, as far as logged": pytest.approx(75.757),
    }
    # The figure in brackets is ticks since the mark before.
    assert span_of(boot, "setup_arch").duration_ns == pytest.approx((94_882_358 - 83_902_901) / 19_200 * 1e6, abs=100)


def test_a_rate_from_the_counters_driver() -> None:
    text = TEXT.replace("Timer rate: 19200000 Hz", "Timer")
    assert recording_of(text.encode()).phases == sample("marks/early-marks.log").phases


def test_without_a_rate_times_are_cycles() -> None:
    rows = [row for row in TEXT.split("\n") if "timer" not in row.lower()]
    boot = recording_of("\n".join(rows).encode())
    assert boot.timeline.clock.unit == "cycles" and boot.timeline.events[0].t_ns == 83_868_579
    assert "--tsc-frequency" in boot.notes[0]
    assert recording_of("\n".join(rows).encode(), tsc_hz=19_200_000).phases == sample("marks/early-marks.log").phases


def test_marks_without_the_kernels_stamps() -> None:
    boot = recording_of(b"mark: start_kernel(): 100\nmark: setup_arch(): 300 (200)\nTimer rate: 1000000 Hz\n")
    assert phases_ms(boot) == {"before the kernel": 0.1}
    assert span_of(boot, "setup_arch").duration_ns == 200_000
