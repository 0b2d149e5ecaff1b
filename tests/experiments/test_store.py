"""The store: numbered runs, an index that survives damage, nothing ever overwritten."""

import json
import threading
from pathlib import Path

import pytest

from bootlab.errors import InputError, StoreError
from bootlab.experiments.store import RunKind, Store, read_run
from bootlab.measure.record_files import write_json


def test_runs_are_numbered_and_found(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    one = store.start(RunKind.BOOT, "alpha", {"x": 1})
    two = store.start(RunKind.TRY, "beta", {})
    assert one.path.name == "0001-alpha-boot"
    assert two.path.name == "0002-beta-try"
    assert [run.path for run in store.runs()] == [one.path, two.path]
    for name in ("last", "2", "0002-beta-try", str(two.path)):
        assert store.find(name).path == two.path
    assert read_run(one.path).kind == "boot"
    assert read_run(one.path) == one
    given = store.start(RunKind.TRY, "gamma", {}, file="examples/gamma.toml")
    assert read_run(given.path) == given


def test_unknown_run_is_an_input_error(tmp_path: Path) -> None:
    store = Store(tmp_path / "nothing")
    for name in ("last", "7", "no-such"):
        with pytest.raises(InputError, match="no such run"):
            store.find(name)


def test_a_cut_index_line_loses_only_itself(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.start(RunKind.BOOT, "alpha", {})
    with (tmp_path / "index.jsonl").open("a") as index:
        index.write('{"run": "0002-')
    assert [found.path for found in store.runs()] == [run.path]


def test_two_at_once_get_two_directories(tmp_path: Path) -> None:
    store = Store(tmp_path)
    threads = [threading.Thread(target=store.start, args=(RunKind.BOOT, "same", {})) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({run.path for run in store.runs()}) == 8


def test_a_moved_run_knows_where_its_boots_are(tmp_path: Path) -> None:
    run = Store(tmp_path).start(RunKind.TRY, "alpha", {})
    write_json(run.result, {"run": str(run.path), "boot": "runs/0001-alpha-try/boots/b", "other": "0001-alpha-try-2/x"})
    here = (tmp_path / 'a "new" place').absolute()
    here.mkdir()
    moved = read_run(run.path.rename(here / run.path.name))
    assert json.loads(moved.result_text()) == {
        "run": str(moved.path),
        "boot": f"{moved.path}/boots/b",
        "other": "0001-alpha-try-2/x",
    }


def test_an_unfinished_boot_is_moved_aside(tmp_path: Path) -> None:
    run = Store(tmp_path).start(RunKind.TRY, "alpha", {})
    first = run.boot_directory("baseline-s1")
    (first / "console.log").write_text("half a boot")
    second = run.boot_directory("baseline-s1")
    assert list(second.iterdir()) == []
    assert (run.path / "boots" / "baseline-s1.unfinished-1" / "console.log").read_text() == "half a boot"


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreError, match="cannot write the run"):
        Store(blocked / "runs").start(RunKind.BOOT, "alpha", {})
