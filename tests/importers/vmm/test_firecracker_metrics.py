"""Firecracker's metrics: the last length of each kind."""

import pytest

from bootlab.importers.reading.source import FormatError
from tests.importers.samples import recording_of, sample


def test_metrics_keep_the_last_length_of_each_kind() -> None:
    boot = sample("firecracker/metrics.json")
    assert {one.name: one.took_ns for one in boot.lengths} == {
        "process_startup_time": 11_843_000, "process_startup_time_cpu": 4_127_000, "full_create_snapshot": 93_217_000,
        "pause_vm": 414_000,
    }  # fmt: skip


def test_metrics_without_lengths() -> None:
    with pytest.raises(FormatError, match="above zero in api_server or latencies_us"):
        recording_of(b'{"utc_timestamp_ms": 1, "api_server": 3, "latencies_us": {"x": true, "y": -1, "z": 1e999}}\n')
