"""Figures of several boots in the shapes that labs write them in, through the statistics of our own boots."""

import json

import pytest

from bootlab.importers import boot_series
from bootlab.importers.boot_series import MOST_BOOTS
from bootlab.importers.reading.source import FormatError, Head
from bootlab.report.recording.words import series_figures
from bootlab.timeline.recording import Recording
from tests.importers.samples import recording_of, sample


def values(recording: Recording) -> dict[str, tuple[str, tuple[float, ...]]]:
    return {one.name: (one.unit, one.values) for one in recording.series}


def test_two_humps_are_told() -> None:
    kernel, user = sample("series/two-humps.csv").series
    assert (kernel.name, kernel.unit, len(kernel.values)) == ("kernel_s", "ns", 16)
    found = series_figures(kernel)
    assert found.caution == (
        "two humps, 7 boots around 1,868.000 ms and 9 boots around 2,081.000 ms: its median describes neither"
    )
    assert series_figures(user).caution == ""


def test_red_hats_json() -> None:
    found = values(sample("series/red-hat.json"))
    assert found["satime/kernel"] == ("ns", (1.461e9, 1.467e9))
    assert found["sablame/firewalld.service"] == ("ns", (3.717e9, 3.701e9))
    assert not any("sample" in name or "numcores" in name for name in found)


def test_two_machines_in_one_file_are_kept_apart() -> None:
    boots = [
        {"cluster_name": name, "test_results": {"satime": {"kernel": kernel}}}
        for name, kernel in (("a", 1.4), ("b", 2.0), ("a", 1.5))
    ]
    boot = recording_of(json.dumps(boots).encode())
    assert values(boot) == {"a/satime/kernel": ("ns", (1.4e9, 1.5e9)), "b/satime/kernel": ("ns", (2.0e9,))}
    assert "The file holds boots of 2 machines, which are kept apart." in boot.notes


def test_firecrackers_test_metrics() -> None:
    unit, boots = values(sample("firecracker/test-metrics.json"))["boot_time"]
    assert unit == "ns" and boots[0] == pytest.approx(118.4e6) and len(boots) == 10


def test_named_rows_without_a_unit() -> None:
    boot = sample("series/names.csv")
    assert values(boot)["Kernel"] == ("", (6125.0,))
    assert any("without a unit" in note for note in boot.notes)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"boot_ms": [1, 2.5]}', {"boot_ms": ("ns", (1e6, 2.5e6))}),
        ('[{"boot": 1, "kernel (s)": 1.5}, {"boot": 2, "kernel (s)": 1.25}]', {"kernel (s)": ("ns", (1.5e9, 1.25e9))}),
        ("boot;total_ms\n1;10\n2;12\n", {"total_ms": ("ns", (10e6, 12e6))}),
        ("kernel\tuser\n1.5\t2\n1.6\t\n", {"kernel": ("", (1.5, 1.6)), "user": ("", (2.0,))}),
        ('"a, b",c\n1,2\n3,4\n', {"a, b": ("", (1.0, 3.0)), "c": ("", (2.0, 4.0))}),
    ],
)
def test_shapes(text: str, found: dict[str, tuple[str, tuple[float, ...]]]) -> None:
    assert values(recording_of(text.encode(), format_name="series")) == found


@pytest.mark.parametrize(
    "text",
    [
        "[1, 2, 3]", '{"a": {"b": {"time_us": 7}}}', '{"b": [{"temp": 20}]}', '{"boot": [1, 2]}',
        "{", "[[[" * 40_000, '{"a": ' * 5_000 + "1" + "}" * 5_000, '{"a": "b"}', '{"a": NaN}', '{"a": 1e999}',
        '{"a": ' + "9" * 5_000 + "}", "a,b\nc,d\n", '"unclosed,1\n2,3\n', "", "1" * 100_000,
    ],
)  # fmt: skip
def test_what_holds_no_figure_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        recording_of(text.encode(), format_name="series")


def test_long_series_and_large_files_are_cut() -> None:
    boot = recording_of(json.dumps({"x_ms": [1] * (MOST_BOOTS + 5)}).encode())
    assert len(boot.series[0].values) == MOST_BOOTS and any("first 1000 values" in note for note in boot.notes)
    with pytest.raises(FormatError, match="larger than 4 MiB"):
        recording_of(b'{"x": [' + b"1, " * 2_000_000 + b"1]}")
    many = recording_of(json.dumps({f"x{n}_ms": [n] for n in range(2_000)}).encode())
    assert len(many.series) == 500 and any("first 500 figures" in note for note in many.notes)


@pytest.mark.parametrize(
    "first", ['[    0.000000] Linux version 6.1 "x"', '[0.000000 0.000000] U-Boot "x"', '[INFO ] "x"']
)
def test_a_log_that_begins_with_a_bracket_is_no_json(first: str) -> None:
    assert boot_series.recognise(Head("x", f"{first}\n[    1.000000] y\n".encode())) == ""


@pytest.mark.parametrize("text", ['[{"a": 1}]', '[ "a" ]', '[["a", 2]]', "[1.5, 2]", "[1]", '[1, "x"]', '{"a": 1}'])
def test_json_is_json(text: str) -> None:
    assert boot_series.recognise(Head("x", text.encode())) == "JSON"
