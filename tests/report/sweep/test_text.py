"""Sweeps and studies on a terminal."""

from bootlab.report.compression import text as compression_text
from bootlab.report.sweep import text as sweep_text
from tests.report.sweep.results import MODELS, NOWHERE, STUDY, SWEEP, printed


def test_terminal() -> None:
    text = printed(sweep_text.sweep(SWEEP))
    assert "1 vCPU  1716.82 1718.39 1737.24  +23.97 yes" in text
    assert "kernel core         250.17  335.33  511.45   +87.23   0.68 off by 0.5 %" in text
    assert "decompressor        100.76  100.76  100.76     0.00   0.00 flat" in text
    text = printed(compression_text.compression(STUDY))
    assert "zstd: from 0.54 MB/s to 10.3 MB/s (by seed 10.2 MB/s to 10.4 MB/s)" in text
    assert "none: above 107 MB/s" in text


def test_values_without_a_distance_stand_side_by_side() -> None:
    text = printed(sweep_text.sweep(MODELS), width=120)
    assert "by rootfs.model" in text
    assert "user space   3444.99 2554.99 2605.00" in text
    assert "read MiB" in text and "1772.77" in text


def test_a_sweep_without_a_place_that_was_ready_has_its_outcomes() -> None:
    assert printed(sweep_text.sweep(NOWHERE), width=120).count("hung") == 3
