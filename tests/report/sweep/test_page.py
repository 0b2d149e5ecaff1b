"""Sweeps and studies as page, terminal text and CSV. The results under data/report are real ones."""

import csv
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from bootlab.experiments.compression.result import CompressionResult, make_table
from bootlab.experiments.sweep.boots import trends
from bootlab.experiments.sweep.profiles import Point, Slope, Sweep
from bootlab.experiments.sweep.result import SweepResult
from bootlab.report.compression import text as compression_text
from bootlab.report.compression.csv import compression_csv
from bootlab.report.compression.page import compression_page
from bootlab.report.parts.line_chart import Across, ChartLine, Dot, line_chart, round_factors, round_ticks
from bootlab.report.profile.sweep_page import profile_sweep_page
from bootlab.report.sweep import text as sweep_text
from bootlab.report.sweep.csv import sweep_csv
from bootlab.report.sweep.page import sweep_page
from tests.report.boots.test_page import Reader

DATA = Path(__file__).parents[2] / "data" / "report"
SWEEP = SweepResult.model_validate_json((DATA / "sweep.json").read_text())
STUDY = CompressionResult.model_validate_json((DATA / "compression.json").read_text())
HOSTILE = "</script><script>window.stolen=1</script>"


def profile_sweep() -> Sweep:
    """Return a sweep of profiles with made-up figures; one boot was not ready."""
    points = [
        Point(value=value, outcome="ready", ready_ns=ready, instructions=ready, idle_ns=0, run=f"runs/1/boots/{value}")
        for value, ready in ((1, 10_000_000), (2, 14_000_000), (4, 22_000_000))
    ]
    points.append(Point(value=8, outcome="hung", ready_ns=None, instructions=None, idle_ns=None, run="runs/1/boots/8"))
    rows = [Slope(name=name, values_ns=[1_000_000, 3_000_000, 7_000_000], slope_ns=2e6) for name in ("head", "core")]
    ready = Slope(name="ready", values_ns=[10_000_000, 14_000_000, 22_000_000], slope_ns=4e6)
    return Sweep(
        system="made-up", axis="vcpus", asked=4, points=points, ready=ready, phases=rows, functions=rows,
        totals=rows, run="1",
    )  # fmt: skip


PAGES = {
    "sweep": sweep_page(SWEEP),
    "hostile": sweep_page(SWEEP.model_copy(update={"system": HOSTILE, "cautions": [HOSTILE], "run": HOSTILE})),
    "study": compression_page(STUDY),
    "profile-sweep": profile_sweep_page(profile_sweep()),
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_is_complete_in_itself_and_well_formed(page: str) -> None:
    reader = Reader(page)
    assert reader.open == []
    names = [name for name, _ in reader.tags]
    assert names.count("script") == names.count("style") == names.count("main") == names.count("h1") == 1
    for _, attributes in reader.tags:
        assert "src" not in attributes and "style" not in attributes
        assert attributes.get("href") in (None, "#main", "data:,")
    identifiers = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))


def test_a_sweep_has_a_chart_an_axis_and_a_line_a_value_of_the_other() -> None:
    reader = Reader(PAGES["sweep"])
    charts = [attributes for name, attributes in reader.tags if name == "svg" and attributes.get("class") == "plot"]
    spots = [attributes for name, attributes in reader.tags if (attributes.get("class") or "").startswith("spot")]
    assert (len(charts), len(spots)) == (2, 2 * 9)
    said = " ".join(reader.said)
    for figure in ("1716.82", "1811.86", "+94.36", "By vCPUs", "By memory", "page fault"):
        assert figure in said


def printed(value: object, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    console.print(value)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(len(line) <= width for line in text.splitlines())
    return str(text)


def test_terminal() -> None:
    text = printed(sweep_text.sweep(SWEEP))
    assert "1 vCPU  1716.82 1718.39 1737.24  +23.97 yes" in text
    assert "kernel core         250.17  335.33  511.45   +87.23   0.68 off by 0.5 %" in text
    assert "decompressor        100.76  100.76  100.76     0.00   0.00 flat" in text
    text = printed(compression_text.compression(STUDY))
    assert "zstd: from 0.54 MB/s to 10.3 MB/s (by seed 10.2 MB/s to 10.4 MB/s)" in text
    assert "none: above 107 MB/s" in text


def test_csv_has_every_boot_and_every_total() -> None:
    rows = list(csv.DictReader(io.StringIO(sweep_csv(SWEEP))))
    assert len(rows) == 27
    assert {row["vcpus"] for row in rows} == {"1", "2", "4"}
    for row in rows:
        phases = [int(row[name]) for name in row if name.endswith("_ns") and name not in ("ready_ns", "idle_ns")]
        assert len(phases) == 8
        assert sum(phases) == int(row["ready_ns"]) == int(row["instructions"]) + int(row["idle_ns"])
    rows = list(csv.DictReader(io.StringIO(compression_csv(STUDY))))
    measured = [row for row in rows if row["outcome"] == "ready"]
    assert len(measured) == 5 * 10 and len(rows) == 5 * 10 + 1
    for row in measured:
        load_ns = int(row["loaded_bytes"]) * 1000 / float(row["mb_s"]) + 2 * float(row["latency_us"]) * 1000
        assert int(row["load_ns"]) == round(load_ns)
        assert int(row["total_ns"]) == int(row["boot_ns"]) + int(row["load_ns"])


def test_a_place_that_failed_has_no_line_and_no_figures() -> None:
    failed = SWEEP.cells[0].model_copy(
        update={
            "outcome": "hung",
            "detail": "not ready",
            "ready": None,
            "instructions": None,
            "idle": None,
            "phases": [],
        }
    )
    cells = [failed, *SWEEP.cells[1:]]
    lines = trends("memory_mib", cells)
    assert [line.values for line in lines] == [[0.25, 1], [0.125, 0.25, 1], [0.125, 0.25, 1]]
    assert lines[0].row("ready").straight is None
    broken = SWEEP.model_copy(update={"cells": cells, "trends": [*trends("vcpus", cells), *lines]})
    assert "hung: not ready" in printed(sweep_text.sweep(broken), 120)
    assert "hung: not ready" in sweep_page(broken)


def test_totals_and_ranges_follow_from_sizes_and_times() -> None:
    (table,) = STUDY.tables
    again = make_table(table.what, table.options, STUDY.speeds_mb_s, STUDY.latency_us)
    assert json.loads(again.model_dump_json()) == json.loads(table.model_dump_json())
    for index, speed in enumerate(STUDY.speeds_mb_s):
        best = min(table.totals_ns, key=lambda name: table.totals_ns[name][index])
        (now,) = [one for one in table.best if one.from_mb_s < speed and (one.to_mb_s is None or speed <= one.to_mb_s)]
        assert now.name == best


def test_ticks_are_round_and_cover() -> None:
    assert round_ticks(0, 2_000_000_000) == [0, 500_000_000, 1_000_000_000, 1_500_000_000, 2_000_000_000]
    assert round_ticks(1_716_000_000, 2_020_000_000)[0] <= 1_716_000_000
    assert round_factors(3e6, 4e9) == [
        2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000, 200_000_000, 500_000_000,
        1_000_000_000, 2_000_000_000,
    ]  # fmt: skip


@pytest.mark.parametrize("log", [False, True])
def test_one_point_and_equal_points_can_be_drawn(log: bool) -> None:
    across = Across("vCPUs", [(1, "1")])
    assert "circle" in line_chart([ChartLine("a", [Dot(1, 5e6, "one")])], across, "One.", log=log)
    flat = [Dot(x, 5e6, "same") for x in (1, 2)]
    assert line_chart([ChartLine("a", flat)], across, "Flat.", log=log).count("circle") == 2
