"""ec2-boot-bench: runs, their series, and the 120 s that it makes up."""

import pytest

from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, phases_ms, recording_of, sample

TEXT = (DATA / "ec2" / "three-runs.txt").read_text()


def test_the_first_run_is_the_timeline_and_all_are_series() -> None:
    boot = sample("ec2/three-runs.txt")
    assert phases_ms(boot) == {
        "RunInstances API call": 1607.381, "pending to running": 4848.713, "running to port closed": 1163.307,
        "port closed to port open": 5130.204,
    }  # fmt: skip
    assert {one.name: len(one.values) for one in boot.series} == {
        "RunInstances API call": 3, "pending to running": 3, "running to port closed": 2, "port closed to port open": 2,
        "RunInstances to port open": 2,
    }  # fmt: skip
    assert boot.series[-1].values == (12_749_605_000, 12_694_214_000)


def test_made_up_times_are_in_no_figure() -> None:
    boot = sample("ec2/three-runs.txt")
    assert boot.notes[0].startswith("2 steps were never seen to end")
    assert max(max(one.values) for one in boot.series) < 20e9


def test_one_run_has_no_series() -> None:
    assert recording_of("".join(TEXT.splitlines(True)[:4]).encode()).series == ()


def test_a_run_that_was_cut_off() -> None:
    with pytest.raises(FormatError, match="the four lines of ec2-boot-bench"):
        recording_of("".join(TEXT.splitlines(True)[:3]).encode())
    assert (
        recording_of("".join(TEXT.splitlines(True)[2:8]).encode()).phases
        == recording_of("".join(TEXT.splitlines(True)[4:8]).encode()).phases
    )
