"""What of a store may go: nothing young, nothing new, nothing at work; and what was found is what goes."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bootlab.experiments.retention import Keeping, find_removable, remove
from bootlab.experiments.store import Run, RunKind, Store

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def made(store: Store, kind: RunKind, system: str, days: int | None, size: int = 1000) -> Run:
    run = store.start(kind, system, {})
    (run.path / "boots/one").mkdir(parents=True)
    (run.path / "boots/one/console.log").write_bytes(bytes(size))
    said = json.loads((run.path / "run.json").read_text())
    started = "" if days is None else (NOW - timedelta(days=days)).isoformat()
    (run.path / "run.json").write_text(json.dumps({**said, "started": started}))
    # What is found without its index is found by its own word.
    (store.root / "index.jsonl").unlink()
    return run


def names(paths: list[str]) -> list[str]:
    return [Path(path).name for path in paths]


def test_old_runs_go_that_newer_ones_of_their_kind_and_system_stand_in_for(tmp_path: Path) -> None:
    store = Store(tmp_path)
    old = [made(store, RunKind.TRY, "one", days) for days in (400, 300, 200)]
    made(store, RunKind.TRY, "one", 1)
    made(store, RunKind.MEASURE, "one", 400)
    made(store, RunKind.TRY, "two", 400)
    found = find_removable(store, Keeping(days=90, newest=2), NOW)
    assert [one.path for one in found.removable] == [str(run.path) for run in old[:2]]
    assert all(one.bytes > 1000 for one in found.removable)
    assert found.kept_runs == 4 and not found.removed
    assert all(run.path.is_dir() for run in old), "it was only looked at"
    gone = remove(found)
    assert gone.removed and gone.removable == found.removable
    assert [run.path.exists() for run in old] == [False, False, True]
    assert len(store.runs()) == 4
    assert find_removable(store, Keeping(days=90, newest=2), NOW).removable == []


def test_a_young_run_stays_however_many_there_are(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for days in (89, 88, 91):
        made(store, RunKind.BOOT, "one", days)
    found = find_removable(store, Keeping(days=90, newest=0), NOW)
    assert names([one.path for one in found.removable]) == ["0003-one-boot"]


def test_a_run_at_work_stays_also_when_work_begins_meanwhile(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = made(store, RunKind.TRY, "one", 400)
    other = made(store, RunKind.TRY, "one", 400)
    with run.locked():
        found = find_removable(store, Keeping(days=1, newest=0), NOW)
        assert names(found.at_work) == [run.path.name]
        assert names([one.path for one in found.removable]) == [other.path.name]
        with other.locked():
            assert remove(found).removable == []
    assert run.path.is_dir() and other.path.is_dir()


def test_boots_moved_aside_go_from_runs_that_stay(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = made(store, RunKind.TRY, "one", 1)
    run.boot_directory("one")
    assert len(list((run.path / "boots").iterdir())) == 2
    found = find_removable(store, Keeping(days=90, newest=10), NOW)
    assert [(Path(one.path).name, one.bytes, one.why) for one in found.removable] == [
        ("one.unfinished-1", 1000, "moved aside")
    ]
    remove(found)
    assert [path.name for path in (run.path / "boots").iterdir()] == ["one"]


def test_what_cannot_be_dated_and_what_is_a_link_stays_and_what_was_half_removed_goes(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    undated = made(store, RunKind.TRY, "one", None)
    elsewhere = made(Store(tmp_path / "other"), RunKind.TRY, "one", 400)
    (store.root / "0009-linked-try").symlink_to(elsewhere.path)
    half = made(store, RunKind.TRY, "one", 400)
    half.path.rename(half.path.with_name(f".removing-{half.path.name}"))
    found = find_removable(store, Keeping(days=0, newest=0), NOW)
    assert names(found.undated) == [undated.path.name]
    assert names([one.path for one in found.removable]) == [f".removing-{half.path.name}"]
    remove(found)
    assert undated.path.is_dir() and elsewhere.path.is_dir()
    assert not list(store.root.glob(".removing-*"))


def test_a_store_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    assert find_removable(Store(tmp_path / "none"), Keeping(1, 1), NOW).kept_runs == 0
