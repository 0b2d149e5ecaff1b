"""Recordings that are not whole: each is refused by file and key, and none is replayed as another boot than it was."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import InputError
from bootlab.targets.replay.playing import as_recorded
from bootlab.targets.replay.recordings import RecordedBoot, find_recordings
from bootlab.targets.target import UNFINISHED, WARM_UP
from tests.targets.replay.record_boots import DATA, systems

NAME = "ready-s1"


def recorded(folder: Path, clock: str = "virtual") -> Path:
    """Return the directory of a copy of a recorded boot, the only one in `folder`."""
    return Path(shutil.copytree(DATA / clock / NAME, folder / NAME, symlinks=True))


def say(directory: Path, **said: Any) -> None:
    """Change what the record of a boot says."""
    path = directory / "record.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **said}))


def instead(name: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    def change(directory: Path) -> None:
        path = directory / name
        path.unlink()
        make(path)

    return change


def refused(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        find_recordings(folder)
    assert caught.value.hint
    return caught.value.message


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"outcome": "banana"}, "outcome: 'banana' is none of ready, panicked"),
        ({"outcome": "interrupted"}, "outcome: 'interrupted' is none of"),
        ({"schema": "bootlab.boot/2"}, "schema: Input should be 'bootlab.boot/1'"),
        ({"seed": "1"}, "seed: Input should be a valid integer"),
        ({"marks": {}}, "marks.ready: missing, of a boot that was ready"),
        ({"marks": {"ready": -5}}, "marks: ready: -5 ns is before power-on"),
        ({"marks": {"ready": 1.5}}, "marks.ready: Input should be a valid integer"),
        ({"hashes": None}, "hashes: Input should be"),
    ],
)
def test_a_record_that_cannot_be(said: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    say(recorded(tmp_path), **said)
    message = refused(tmp_path)
    assert f"{NAME}/record.json: " in message and complaint in message


@pytest.mark.parametrize("name", ["record.json", "console.log", "trace.txt", "plugin.conf"])
@pytest.mark.parametrize(
    ("make", "why"),
    [
        (Path.mkdir, "Is a directory"),
        (os.mkfifo, "a FIFO, not a regular file"),
        (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
        (lambda path: None, ""),
    ],
    ids=["folder", "pipe", "circle", "gone"],
)
def test_something_else_in_the_place_of_a_file(
    name: str, make: Callable[[Path], object], why: str, tmp_path: Path
) -> None:
    """A pipe there would be read for ever."""
    instead(name, make)(recorded(tmp_path))
    message = refused(tmp_path)
    # A boot without a record is one that did not end.
    assert (f"{NAME}/{name}: cannot be replayed: {why}" in message) or (name == "record.json" and not why)


@pytest.mark.parametrize("name", ["record.json", "trace.txt", "plugin.conf"])
def test_bytes_that_are_no_text(name: str, tmp_path: Path) -> None:
    (recorded(tmp_path) / name).write_bytes(b"\xff\xfe")
    assert f"{NAME}/{name}: cannot be replayed: " in refused(tmp_path)


@pytest.mark.parametrize("clock", ["virtual", "wall"])
def test_a_file_that_is_cut_is_never_another_boot(clock: str, tmp_path: Path) -> None:
    """Wherever a file is cut, it is refused, or only something is gone that no replay shows."""
    directory, system = recorded(tmp_path, clock), systems()[f"{clock}/{NAME}"]
    whole = as_recorded(only(tmp_path), system)
    for name in ("record.json", "console.log", "trace.txt"):
        path = directory / name
        data = path.read_bytes() if path.is_file() else b""
        for size in range(0, len(data), max(1, len(data) // 23)):
            path.write_bytes(data[:size])
            try:
                play = as_recorded(only(tmp_path), system)
            except InputError as error:
                assert f"{NAME}/{name}:" in error.message
                continue
            assert name != "record.json"
            assert (play.end, play.hangs, play.refuses) == (whole.end, whole.hangs, whole.refuses)
        if data:
            path.write_bytes(data)


def only(folder: Path) -> RecordedBoot:
    (found,) = find_recordings(folder).values()
    return found


def test_a_trace_of_another_boot(tmp_path: Path) -> None:
    directory = recorded(tmp_path)
    marks = json.loads((directory / "record.json").read_text())["marks"]
    say(directory, marks={**marks, "init_exec": marks["init_exec"] + 1})
    assert f"it lacks the mark init_exec at {marks['init_exec'] + 1} ns" in refused(tmp_path)


def test_half_a_last_line_is_no_record(tmp_path: Path) -> None:
    directory = recorded(tmp_path)
    with (directory / "trace.txt").open("a") as trace:
        trace.write("mark kern")
    assert (only(tmp_path).trace or "").endswith("\n")


def test_a_warm_up_and_what_was_moved_aside_do_not_answer(tmp_path: Path) -> None:
    """They have the key and the seed of a boot that counts, and names that come after its own."""
    directory = recorded(tmp_path, "wall")
    for name in (WARM_UP, f"{NAME}{UNFINISHED}1"):
        shutil.copytree(directory, tmp_path / name)
    assert list(find_recordings(tmp_path)) == [NAME]


def test_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    assert "circle: Too many levels of symbolic links" in refused(tmp_path / "circle")
