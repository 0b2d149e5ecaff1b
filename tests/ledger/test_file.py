"""The files of a ledger: any number of processes add lines, git merges them, and damage is told."""

import json
import multiprocessing
import subprocess
from pathlib import Path

import pytest

from bootlab.errors import InputError, StoreError
from bootlab.ledger.file import append_entry, choose, file_of, list_systems, read_history
from tests.ledger.entries import entry


def test_entries_come_back_sorted_by_commit(tmp_path: Path) -> None:
    for name in "cab":
        append_entry(tmp_path, entry(name, 10))
    history = read_history(tmp_path, "board")
    assert [one.commit[0] for one in history.entries] == ["a", "b", "c"]
    assert history.remarks == ()
    assert list_systems(tmp_path) == ["board"]


def test_entries_of_one_moment_stay_as_they_were_added(tmp_path: Path) -> None:
    names = ("v3", "v1", "v2", "v5", "v4")
    added = [entry(name, 10, commit_time="") for name in names]
    for one in added:
        append_entry(tmp_path, one)
    assert [one.commit for one in read_history(tmp_path, "board").entries] == [name * 20 for name in names]


def test_of_one_measurement_made_twice_the_later_counts(tmp_path: Path) -> None:
    append_entry(tmp_path, entry("a", 10, note="second", measured="2026-03-01T00:00:00+00:00"))
    append_entry(tmp_path, entry("a", 10, note="first"))
    (only,) = read_history(tmp_path, "board").entries
    assert only.note == "second"


def test_two_branches_that_measured_merge_without_a_conflict(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    def commit(name: str) -> None:
        append_entry(tmp_path, entry(name, 10))
        git("add", "-A")
        git("commit", "-qm", name)

    git("init", "-qb", "main")
    commit("a")
    git("checkout", "-qb", "side")
    commit("b")
    git("checkout", "-q", "main")
    commit("c")
    git("merge", "-q", "--no-edit", "side")
    history = read_history(tmp_path, "board")
    assert [one.commit[0] for one in history.entries] == ["a", "b", "c"]
    assert history.remarks == ()


def _append_many(folder: Path, name: str) -> None:
    for number in range(50):
        append_entry(folder, entry(name, 10, note=f"{number} " + "x" * 3000, inputs={"kernel": f"{number}"}))


def test_processes_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    workers = [multiprocessing.Process(target=_append_many, args=(tmp_path, name)) for name in "abcd"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    history = read_history(tmp_path, "board")
    assert (len(history.entries), history.remarks) == (200, ())


def test_a_damaged_line_is_said_and_the_others_are_read(tmp_path: Path) -> None:
    path = append_entry(tmp_path, entry("a", 10))
    newer = json.loads(path.read_text()) | {"schema": "bootlab.ledger/9"}
    with path.open("a") as file:
        file.write(f'{{"schema": "bootlab.led\n{json.dumps(newer)}\n\n[]\n')
    append_entry(tmp_path, entry("b", 10))
    history = read_history(tmp_path, "board")
    assert [one.commit[0] for one in history.entries] == ["a", "b"]
    assert len(history.remarks) == 3
    assert history.remarks[0].startswith(f"{path}:2: left out: ")
    assert "an entry of bootlab.ledger/9, this bootlab reads bootlab.ledger/1" in history.remarks[1]
    assert f"{path}:5: left out: " in history.remarks[2]


def test_a_line_that_was_cut_off_does_not_take_the_next_one_along(tmp_path: Path) -> None:
    path = append_entry(tmp_path, entry("a", 10))
    path.write_bytes(path.read_bytes()[:-20])
    assert "cut off" in read_history(tmp_path, "board").remarks[-1]
    append_entry(tmp_path, entry("b", 10))
    history = read_history(tmp_path, "board")
    assert [one.commit[0] for one in history.entries] == ["b"]
    assert history.remarks[0].startswith(f"{path}:1: left out: ")


def test_a_conflict_of_a_merge_is_named(tmp_path: Path) -> None:
    path = append_entry(tmp_path, entry("a", 10))
    path.write_text(f"<<<<<<< HEAD\n{path.read_text()}=======\n>>>>>>> side\n")
    with pytest.raises(StoreError, match=r"board.jsonl:1: a merge has left a conflict") as caught:
        read_history(tmp_path, "board")
    assert "merge=union" in (caught.value.hint or "")


def test_no_ledger_no_system_and_a_bad_name_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no ledger there"):
        read_history(tmp_path / "none", "board")
    append_entry(tmp_path, entry("a", 10))
    with pytest.raises(InputError, match="no entry of it; it has board"):
        read_history(tmp_path, "other")
    for name in ("../board", "", ".hidden", "a b"):
        with pytest.raises(InputError, match="a system's name has"):
            file_of(tmp_path, name)


def test_entries_are_chosen_by_place_or_commit(tmp_path: Path) -> None:
    for name in ("a", "b", "ba"):
        append_entry(tmp_path, entry(name, 10))
    append_entry(tmp_path, entry("b", 12, dirty=True, measured="2026-03-01T00:00:00+00:00"))
    history = read_history(tmp_path, "board")
    assert choose(history, "last").commit.startswith("b")
    assert choose(history, "last~3").commit.startswith("a")
    assert choose(history, "aaaa").commit.startswith("a")
    assert choose(history, "bbb").dirty, "of two measurements of one commit the last"
    with pytest.raises(InputError, match="several commits begin so"):
        choose(history, "b")
    with pytest.raises(InputError, match="has 4 entries"):
        choose(history, "last~4")
    for words in ("", "ffff", "last~x"):
        with pytest.raises(InputError, match="no entry of board has such a commit"):
            choose(history, words)


def test_a_folder_that_nobody_may_write_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        append_entry(tmp_path / "file", entry("a", 10))


def test_of_two_measurements_of_one_state_more_boots_say_more_whichever_line_comes_first(tmp_path: Path) -> None:
    whole = entry("a", 10, note="whole")
    one_boot = {"seeds": [1], "seeds_ns": [1], "null_ns": [], "measured": "2026-04-01T00:00:00+00:00"}
    alone = entry("a", 10.1, **one_boot, issues_ns={"x": 5})
    for folder, lines in ((tmp_path / "1", (whole, alone)), (tmp_path / "2", (alone, whole))):
        for one in lines:
            append_entry(folder, one)
        (only,) = read_history(folder, "board").entries
        assert (only.seeds_ns, only.note, only.issues_ns) == (whole.seeds_ns, "whole", {"x": 5})


def test_an_entry_that_cannot_be_is_left_out_by_name(tmp_path: Path) -> None:
    path = append_entry(tmp_path, entry("a", 10))
    good = json.loads(path.read_text())
    bad: list[dict[str, object]] = [
        {"seeds": []}, {"seeds": [], "seeds_ns": []}, {"seeds_ns": [-1, 1, 1]}, {"measured": ""},
        {"measured": "x" * 5000}, {"commit_time": "yesterday"}, {"commit": "x" * 201}, {"seeds": [10**30, 2, 3]},
        {"seeds": [-1, 2, 3]}, {"seeds": [1] * 10_001, "seeds_ns": [5] * 10_001}, {"null_ns": [5] * 10_001},
        {"system": "other"},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(good | one) + "\n" for one in bad))
    history = read_history(tmp_path, "board")
    assert history.entries == ()
    assert len(history.remarks) == len(bad)
    assert "in the file of board" in history.remarks[-1]


def test_hostile_lines_are_left_out_by_number_and_end_soon(tmp_path: Path) -> None:
    path = append_entry(tmp_path, entry("a", 10))
    good = path.read_bytes()
    deep = [b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 50_000 + b"1" + b"}" * 50_000]
    wrong = [b"\xff\xfe\x00", b"NaN", b"0", good.strip().replace(b"[1,", b"[1" + b"0" * 5000 + b","), b"\x00" * 10_000]
    path.write_bytes(b"\n".join([*deep, *wrong]) + b"\n" + good)
    history = read_history(tmp_path, "board")
    assert [one.commit[0] for one in history.entries] == ["a"]
    assert [line.split(":")[1] for line in history.remarks] == [str(number) for number in range(1, 8)]


def test_the_rule_for_merging_is_there_whatever_was_in_its_file(tmp_path: Path) -> None:
    for said in ("", "*.png binary", "*.jsonl merge=union\n"):
        attributes = tmp_path / ".gitattributes"
        attributes.write_text(said)
        append_entry(tmp_path, entry("a", 10))
        assert attributes.read_text().splitlines().count("*.jsonl merge=union") == 1
        assert said.strip() in attributes.read_text()


def test_a_commit_is_meant_by_its_whole_name_first(tmp_path: Path) -> None:
    for label in ("v1", "v10"):
        append_entry(tmp_path, entry("a", 10).model_copy(update={"commit": label}))
    assert choose(read_history(tmp_path, "board"), "v1").commit == "v1"
