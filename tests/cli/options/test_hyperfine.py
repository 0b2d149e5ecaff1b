"""`--hyperfine FILE`: the times of series in hyperfine's form, and a file that cannot be written is told first."""

import json
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.experiments.store import Store
from tests.cli.recorded_runs import measure_run


def test_two_series_on_record_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, output = Store(tmp_path / "runs"), tmp_path / "boots.json"
    first, second = measure_run(store), measure_run(store)
    words = ["compare", str(first.path), str(second.path), "--runs", str(store.root), "--hyperfine", str(output)]
    assert run(words) == 0
    results = json.loads(output.read_text())["results"]
    assert [one["command"].partition(" ")[0] for one in results] == ["bootlab", "bootlab"] and len(results) == 2
    assert results[0]["times"] == results[1]["times"] and len(results[0]["times"]) > 1
    assert capsys.readouterr().err == ""


def test_a_folder_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    # What was looked at before a series of an hour must hold behind it.
    store, output = Store(tmp_path / "runs"), tmp_path / "results" / "today" / "boots.json"
    first = measure_run(store)
    words = ["compare", str(first.path), str(first.path), "--runs", str(store.root), "--hyperfine", str(output)]
    assert run(words) == 0 and json.loads(output.read_text())["results"]


def test_a_folder_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    first = measure_run(store)
    words = ["compare", str(first.path), str(first.path), "--runs", str(store.root), "--hyperfine", str(tmp_path)]
    with pytest.raises(InputError, match="--hyperfine"):
        run(words)


def test_lives_are_no_series_of_one_system(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--hyperfine"):
        run(["measure", "examples/debian-cloud.toml", "--lives", "2", "--hyperfine", str(tmp_path / "file")])
