"""`bootlab report` of runs that cannot be written to: the figures are shown, the page goes where --to says."""

import json
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import StoreError
from bootlab.experiments.store import Run, RunKind, Store

SERIES = Path(__file__).parents[1] / "data" / "report" / "series-before.json"


@pytest.fixture
def series(tmp_path: Path) -> Run:
    """Three boots on record, in a run whose report cannot be written, because a folder has its name."""
    run = Store(tmp_path / "runs").start(RunKind.MEASURE, "debian-cloud", {})
    for number, record in enumerate(json.loads(SERIES.read_text()), 1):
        directory = run.boot_directory(f"{number:03d}-s{number}")
        (directory / "record.json").write_text(json.dumps({**record, "run": str(directory)}))
    (run.path / "report.html").mkdir()
    return run


def test_figures_are_shown_without_their_page(series: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(series.path)]) == 0
    shown = capsys.readouterr()
    assert "3 of 3 boots ready" in shown.out
    assert "report:" not in shown.out
    warning, hint = shown.err.splitlines()
    assert warning == f"bootlab: warning: {series.path}/report.html: cannot write the page: Is a directory"
    assert hint == f"  hint: bootlab report {series.path} --to FILE writes it elsewhere"


def test_a_moved_run_is_shown_from_where_it_is(series: Run, capsys: pytest.CaptureFixture[str]) -> None:
    moved = series.path.rename(series.path.with_name("elsewhere"))
    assert run(["report", str(moved), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {Path(one["run"]).parents[1] for one in shown["boots"]} == {moved}


def test_json_is_whole_without_its_page(series: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(series.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "bootlab.series/1"


def test_the_page_goes_where_it_is_sent(series: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert run(["report", str(series.path), "--to", str(page)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert f"report: {page}" in shown.out.replace("\n", "")
    assert page.read_text().startswith("<!doctype html>")


def test_a_place_that_cannot_be_written_is_an_error(series: Run, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="gone/page.html: cannot write the page: No such file or directory"):
        run(["report", str(series.path), "--to", str(tmp_path / "gone" / "page.html")])
