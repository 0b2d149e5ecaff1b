"""The JSON of benchmarks, shape by shape; what has none of these shapes gives nothing."""

import json
import statistics
from typing import Any

import pytest

from bootlab.importers.json_series import SHAPES, parse_json
from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, recording_of, sample


@pytest.mark.parametrize(
    ("document", "found"),
    [
        (
            {"results": [{"command": "a", "times": [1.5, 2], "mean": 1.75}, {"command": "b", "times": [3]}]},
            {("a", "ns"): [1.5e9, 2e9], ("b", "ns"): [3e9]},
        ),
        (
            {"git_revision": "x", "results": [{"name": "boot_time_ms", "mean": 71.5, "max": 74, "min": 70},
                                              {"name": "boot_time_pmem_ms", "mean": 90, "max": 95, "min": 88}]},
            {("boot_time_ms, mean", "ns"): [71.5e6], ("boot_time_ms, min", "ns"): [70e6],
             ("boot_time_ms, max", "ns"): [74e6], ("boot_time_pmem_ms, mean", "ns"): [90e6],
             ("boot_time_pmem_ms, min", "ns"): [88e6], ("boot_time_pmem_ms, max", "ns"): [95e6]},
        ),
        (
            {"boot": {"latency": {"value": 88.5, "lower_value": 80}}, "size": {"bytes": {"value": 7}}},
            {("boot/latency", "ns"): [88.5], ("size/bytes", ""): [7]},
        ),
        ({"boot_ms": [1, 2]}, {("boot_ms", "ns"): [1e6, 2e6]}),
        ([{"boot": 1, "kernel_ms": 4, "pages": 9}], {("kernel_ms", "ns"): [4e6], ("pages", ""): [9]}),
        ({"b": [{"temp": 20}]}, {}),
        ({"boot": [1, 2]}, {}),
        ({"results": [{"name": "x"}]}, {}),
        ({"a": {"b": {"value": "1"}}}, {}),
        ([1, 2, 3], {}),
        ({}, {}),
        ("x", {}),
    ],
)  # fmt: skip
def test_shapes(document: Any, found: dict[tuple[str, str], list[float]]) -> None:
    assert parse_json(document, [])[0] == found


def test_two_commands_of_hyperfine_are_two_series() -> None:
    name = "series/hyperfine.json"
    assert sample(name).tool == "hyperfine"
    document = json.loads((DATA / name).read_text())
    series = sample(name).series
    assert [one.name for one in series] == [one["command"] for one in document["results"]] and len(series) == 2
    for one, said in zip(series, document["results"], strict=True):
        # hyperfine's own figures, of its own times.
        assert statistics.mean(one.values) / 1e9 == pytest.approx(said["mean"])
        assert statistics.median(one.values) / 1e9 == pytest.approx(said["median"])


def test_an_unknown_shape_is_refused_with_those_there_are() -> None:
    with pytest.raises(FormatError) as caught:
        recording_of(b'{"b": [{"temp": 20}]}')
    assert SHAPES in caught.value.message
