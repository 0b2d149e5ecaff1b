"""Entries find the runs that they were made from, by what was measured and never by a path."""

from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.experiments.store import Store
from bootlab.ledger.commit import Commit
from bootlab.ledger.kept_runs import content_key, find_kept_runs, hash_run
from bootlab.ledger.making import make_entry
from tests.cli.conftest import write_profile_run
from tests.cli.test_compare import Place, placed


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return placed(tmp_path)


def test_a_run_is_found_by_what_it_measured_wherever_it_lies_now(place: Place) -> None:
    place.on_record("measure", place.system("small"))
    place.on_record("try", place.system("small"), "cmdline_quiet", "--no-stack")
    store = Store(place.runs)
    measured, tried = (store.find(number) for number in "12")
    entries = [make_entry(one, Commit(name), []).entry for name, one in (("v1", measured), ("v2", tried))]
    place.runs.rename(place.folder / "moved")
    found = find_kept_runs(Store(place.folder / "moved"), entries)
    assert [found.runs[one.key].path.name for one in entries] == [measured.path.name, tried.path.name]
    assert found.profiles == {} and found.remarks == []
    another = entries[0].model_copy(update={"inputs": {"kernel": "0"}, "commit": "v2"})
    assert find_kept_runs(Store(place.folder / "moved"), [another]).runs == {}
    assert find_kept_runs(Store(place.folder / "nowhere"), entries).runs == {}


def test_a_profile_is_found_by_what_it_booted(tmp_path: Path) -> None:
    profiled = write_profile_run(tmp_path)
    entry = make_entry(profiled, Commit("1" * 40), []).entry
    found = find_kept_runs(Store(profiled.path.parent), [entry])
    assert found.runs[entry.key].path == found.profiles[entry.key].path == profiled.path
    rebuilt = entry.model_copy(update={"inputs": {**entry.inputs, "plugin": "0"}, "commit": "2" * 40})
    assert content_key(rebuilt) == content_key(entry), "the plugin cannot matter"
    other = entry.model_copy(update={"inputs": {**entry.inputs, "kernel": "0"}, "commit": "3" * 40})
    assert content_key(other) != content_key(entry)
    found = find_kept_runs(Store(profiled.path.parent), [rebuilt, other])
    assert list(found.profiles) == [rebuilt.key]


def test_a_damaged_run_takes_no_other_along(place: Place) -> None:
    place.on_record("measure", place.system("small"))
    place.on_record("measure", place.system("small"))
    store = Store(place.runs)
    entry = make_entry(store.find("2"), Commit("v1"), []).entry
    (store.find("1").records()[0] / "record.json").write_text("{")
    found = find_kept_runs(store, [entry])
    assert found.runs[entry.key].path == store.find("2").path
    assert len(found.remarks) == 1 and "damaged" in found.remarks[0]


def test_a_recording_is_found(tmp_path: Path) -> None:
    log = tmp_path / "dmesg.log"
    log.write_text("[    0.000000] Linux version 6.1.0 (x@y) (gcc) #1 SMP\n[    2.000000] Run /sbin/init\n")
    assert run(["import", str(log), "--json", "--runs", str(tmp_path / "runs")]) == 0
    store = Store(tmp_path / "runs")
    entry = make_entry(store.find("last"), Commit("v1"), [], system="board").entry
    assert find_kept_runs(store, [entry]).runs[entry.key].path == store.find("last").path


def test_a_run_that_changed_is_another(place: Place) -> None:
    place.on_record("measure", place.system("small"))
    found = Store(place.runs).find("last")
    before = hash_run(found, "form")
    assert hash_run(found, "form") == before != hash_run(found, "another form")
    found.result.write_text(found.result.read_text() + " ")
    assert hash_run(found, "form") != before
