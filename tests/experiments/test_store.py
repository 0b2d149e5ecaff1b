"""The store: numbered runs, an index that survives damage, nothing ever overwritten."""

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import InputError, StoreError
from bootlab.experiments.store import UNKNOWN, RunKind, Store, read_run
from bootlab.measure.record_files import read_record, write_json


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


def test_a_run_keeps_what_it_is_asked_when_it_goes_on(tmp_path: Path) -> None:
    """Interrupted once more, it goes on with that: the call that is shown then has no options."""
    store = Store(tmp_path)
    run = store.start(RunKind.TAILOR, "small", {"builds": 6}, file="small.toml")
    run.keep_asked({"builds": 9})
    again = store.find("last")
    assert (again.asked, again.file, again.started, again.kind) == (
        {"builds": 9}, "small.toml", run.started, RunKind.TAILOR,
    )  # fmt: skip
    before = (run.path / "run.json").stat().st_mtime_ns
    again.keep_asked({"builds": 9})
    assert (run.path / "run.json").stat().st_mtime_ns == before


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


def test_a_run_that_the_index_lacks_is_listed_all_the_same(tmp_path: Path) -> None:
    store = Store(tmp_path)
    runs = [store.start(RunKind.BOOT, name, {}) for name in ("alpha", "beta", "gamma")]
    lines = (tmp_path / "index.jsonl").read_text().splitlines()
    damage = [lines[0], lines[1][:20], lines[2], "[" * 5000, '{"run": "../0001-alpha-boot"}', "null", "\x00"]
    (tmp_path / "index.jsonl").write_text("\n".join(damage))
    assert [(run.path, run.system) for run in store.runs()] == [(run.path, run.system) for run in runs]
    (tmp_path / "index.jsonl").unlink()
    assert store.find("last").path == runs[-1].path
    (runs[1].path / "run.json").write_text("[" * 100_000)
    assert [run.kind for run in store.runs()] == ["boot", UNKNOWN, "boot"]
    with pytest.raises(StoreError, match=r"run\.json: damaged: nested too deeply") as caught:
        store.find("2")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("line", "listed"),
    [
        ({"kind": ["boot"]}, "boot"),
        ({"system": None}, "boot"),
        ({"run": "/etc"}, "boot"),
        ({"run": "x" * 5000}, "boot"),
        ({"run": "a\0b"}, "boot"),
    ],
)
def test_an_index_line_of_wrong_types_loses_nothing(line: dict[str, Any], listed: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.start(RunKind.BOOT, "alpha", {})
    index = tmp_path / "index.jsonl"
    index.write_text(json.dumps({**json.loads(index.read_text()), **line}) + "\n")
    assert [(found.path, found.kind) for found in store.runs()] == [(run.path, listed)]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"asked": "x"}, "asked: Input should be a valid dictionary"),
        ({"asked": None}, "asked: "),
        ({"system": 5}, "system: Input should be a valid string"),
        ({"kind": ["try"]}, "kind: Input should be a valid string"),
        ({"file": 5}, "file: "),
    ],
)
def test_run_json_of_wrong_types_is_named_by_its_key(said: dict[str, Any], why: str, tmp_path: Path) -> None:
    run = Store(tmp_path).start(RunKind.COMPARE, "alpha", {})
    path = run.path / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **said}))
    with pytest.raises(StoreError) as caught:
        read_run(run.path)
    assert caught.value.message.startswith(f"{path}: damaged: {why}")


def test_two_runs_of_one_number_are_not_taken_for_each_other(tmp_path: Path) -> None:
    """Two that start at once with different names can get the same."""
    store = Store(tmp_path)
    run = store.start(RunKind.BOOT, "alpha", {})
    other = tmp_path / "0001-beta-boot"
    shutil.copytree(run.path, other)
    with pytest.raises(InputError, match=r"2 runs have this number: 0001-alpha-boot, 0001-beta-boot"):
        store.find("1")
    assert store.find(other.name).path == other


def test_a_boot_whose_record_leads_nowhere_is_not_left_out(tmp_path: Path) -> None:
    run = Store(tmp_path).start(RunKind.MEASURE, "alpha", {})
    for label in ("1", "2", "3"):
        directory = run.boot_directory(label)
        if label != "3":
            (directory / "record.json").symlink_to("record.json" if label == "1" else "gone")
    assert [path.name for path in run.records()] == ["1", "2"]
    with pytest.raises(StoreError, match="Too many levels"):
        read_record(run.records()[0])


def test_boots_that_cannot_be_listed_are_not_none(tmp_path: Path) -> None:
    run = Store(tmp_path).start(RunKind.MEASURE, "alpha", {})
    (run.path / "boots").write_text("")
    with pytest.raises(StoreError, match="boots: damaged: Not a directory"):
        run.records()


def test_a_place_that_no_record_can_name_is_refused_before_a_boot(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"udcff: the name of a folder there is not UTF-8"):
        Store(tmp_path / "\udcff").start(RunKind.BOOT, "alpha", {})
    run = Store(tmp_path).start(RunKind.BOOT, "alpha", {})
    moved = read_run(run.path.rename(tmp_path / "\udcff"))
    with pytest.raises(InputError, match="is not UTF-8"):
        moved.boot_directory("1")
