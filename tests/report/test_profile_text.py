"""Profiles on a terminal: fit 80 columns, no codes when piped, nothing a guest named acts on the terminal."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from bootlab.cli.profiled_boots import read_profile_run
from bootlab.experiments.profile_sweep import Point, Sweep, make_point, make_sweep, slopes
from bootlab.experiments.profiling import Analysis
from bootlab.report import profile_sides_text, profile_text
from tests.cli.conftest import write_profile_run


def printed(renderable: RenderableType, *, width: int = 80, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    Console(file=stream, width=width, highlight=False, markup=False).print(renderable)
    stream.flush()
    return raw.getvalue().decode(encoding)


@pytest.fixture
def analysis(tmp_path: Path) -> Analysis:
    return read_profile_run(write_profile_run(tmp_path))


@pytest.fixture
def everything(analysis: Analysis) -> list[RenderableType]:
    many = [make_point("vcpus", analysis), make_point("vcpus", analysis)]
    many[1] = replace(many[1], point=many[1].point.model_copy(update={"value": 2.0}))
    return [
        profile_text.profile(analysis),
        profile_text.advice(analysis.advice),
        profile_sides_text.difference(analysis, analysis),
        profile_sides_text.sweep(make_sweep("made-up", "vcpus", many, run="runs/1")),
    ]


def test_fits_and_has_no_codes(everything: list[RenderableType]) -> None:
    for renderable in everything:
        for width in (80, 120):
            out = printed(renderable, width=width)
            assert max(len(line.rstrip()) for line in out.splitlines()) <= width
            assert "\x1b" not in out
        printed(renderable, encoding="ascii")


def test_sections_of_a_profile(analysis: Analysis) -> None:
    out = " ".join(printed(profile_text.profile(analysis), width=120).split())
    assert "made-up ready 4.00 ms virtual profiled" in out
    assert "3,300,000 instructions, 0.70 ms idle, up to ready" in out
    assert "account closed: every instruction and every ns is in it" in out
    for title in ("phases up to ready", "functions by their own", "slowest initcalls", "idle time", "longest waits"):
        assert title in out
    assert "tpm_init device 2.75 0.05" in out
    assert "1 0" in out and "/bin/sh" in out
    assert "cmdline_cryptomgr_notests 2.00 none" in out


def test_names_from_a_guest_cannot_steer_the_terminal(analysis: Analysis) -> None:
    evil = "\x1b[2Jboo"
    names = [evil if name == "alg_test" else name for name in analysis.tree.names]
    out = printed(profile_text.profile(replace(analysis, tree=replace(analysis.tree, names=names))))
    assert "\x1b" not in out
    assert "boo" in out


def test_slopes_are_of_the_best_line_and_steepest_first() -> None:
    found = slopes([1, 2, 4], [{"a": 10, "b": 5, "c": 1}, {"a": 20, "b": 5}, {"a": 40, "b": 5, "d": 9}])
    assert [(one.name, one.values_ns, one.slope_ns) for one in found] == [
        ("a", [10, 20, 40], 10.0),
        ("d", [0, 0, 9], 3.2),
        ("c", [1, 0, 0], -0.3),
    ], "what is the same everywhere has no slope"


def test_a_point_that_was_not_ready_is_named_and_left_out() -> None:
    sweep = Sweep.model_validate(
        {
            "system": "s", "axis": "memory_gib", "run": "r", "phases": [], "functions": [], "totals": [],
            "ready": {"name": "ready", "values_ns": [1_000_000, 3_000_000], "slope_ns": 2_000_000.0},
            "points": [
                Point(value=value, outcome=outcome, ready_ns=ready, instructions=1, idle_ns=0, run="x")
                for value, outcome, ready in ((0.5, "ready", 1_000_000), (1, "hung", None), (1.5, "ready", 3_000_000))
            ],
        }
    )  # fmt: skip
    out = printed(profile_sides_text.sweep(sweep))
    assert "1 GiB: hung" in out
    assert "+2.00" in out
