"""How busy the host was: what others did on its CPUs, and what was stolen."""

from pathlib import Path

import pytest

from bootlab.measure.host_fit.load import CpuTimes, busy_words


@pytest.mark.parametrize(
    ("busy_s", "stolen_s", "ours_s", "words"),
    [
        (2.0, 0.0, 2.0, []),
        (2.4, 0.0, 2.0, []),
        (12.0, 0.0, 2.0, ["the host was busy: 50% of its CPUs worked for others meanwhile"]),
        (2.0, 1.0, 2.0, ["5.0% of the CPUs' time was stolen: this host is a guest of another that was busy"]),
    ],
)
def test_what_others_did_is_said(busy_s: float, stolen_s: float, ours_s: float, words: list[str]) -> None:
    before, after = CpuTimes(100.0, 50.0, 3.0, 7.0), CpuTimes(110.0, 50.0 + busy_s, 3.0 + stolen_s, 7.0 + ours_s)
    assert busy_words(before, after, 2) == words


def test_the_kernels_own_line_is_read(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 200 300 9999 50 400 500 600 1 1\ncpu0 1 2 3\n")
    found = CpuTimes.now(stat)
    assert (found.busy_s, found.stolen_s) == pytest.approx((15.0, 6.0))
    stat.write_text("cpu what\n")
    assert CpuTimes.now(stat).busy_s == CpuTimes.now(tmp_path / "gone").busy_s == 0.0
