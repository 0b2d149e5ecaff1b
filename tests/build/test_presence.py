"""Which processes use a cache, and since when: known while they live, forgotten however they end."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bootlab.build.presence import announce, remove_ended, working_since_ns

_TELLS = (
    "import sys; from pathlib import Path; from bootlab.build.presence import announce; "
    "announce(Path(sys.argv[1])); announce(Path(sys.argv[1])); print('here', flush=True); sys.stdin.read()"
)


@contextmanager
def process_with(locks: Path) -> Iterator["subprocess.Popen[str]"]:
    """Run a process that has announced itself, until it is ended here."""
    argv = [sys.executable, "-c", _TELLS, str(locks)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "here\n"
        try:
            yield process
        finally:
            process.kill()


def test_the_oldest_that_lives_says_since_when(tmp_path: Path) -> None:
    began_ns = time.time_ns()
    assert working_since_ns(tmp_path) is None
    with process_with(tmp_path) as first:
        since_ns = working_since_ns(tmp_path)
        assert since_ns is not None and began_ns <= since_ns <= time.time_ns()
        with process_with(tmp_path):
            assert working_since_ns(tmp_path) == since_ns
            assert len(list(tmp_path.iterdir())) == 2
            first.communicate()
            later_ns = working_since_ns(tmp_path)
            assert later_ns is not None and later_ns > since_ns
    assert working_since_ns(tmp_path) is None


def test_one_that_ends_takes_its_file_away_and_what_a_killed_one_left_goes(tmp_path: Path) -> None:
    with process_with(tmp_path) as process:
        process.communicate()
    assert list(tmp_path.iterdir()) == []
    with process_with(tmp_path) as lives, process_with(tmp_path) as killed:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        remove_ended(tmp_path)
        assert [path.name.split("-")[1] for path in tmp_path.iterdir()] == [str(lives.pid)]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    announce(tmp_path / "none")
    (tmp_path / "file").touch()
    announce(tmp_path / "file")
    assert working_since_ns(tmp_path / "none") is None
    assert working_since_ns(tmp_path / "file") is None
    remove_ended(tmp_path / "none")


def test_a_link_in_the_place_of_an_announcement_is_none(tmp_path: Path) -> None:
    (tmp_path / "running-1-ab").symlink_to("/nonexistent")
    assert working_since_ns(tmp_path) is None
    remove_ended(tmp_path)
    assert (tmp_path / "running-1-ab").is_symlink()


def test_a_process_holds_few_caches_at_once(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(12)]
    for folder in folders:
        folder.mkdir()
        announce(folder)
    held = [folder for folder in folders if working_since_ns(folder) is not None]
    assert held == folders[-len(held) :] and 1 <= len(held) <= 8
    assert [folder for folder in folders if list(folder.iterdir())] == held
