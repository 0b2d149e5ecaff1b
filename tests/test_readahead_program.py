"""bootlab-readahead itself, on this host: what is wrong with a pack is said in a line; what is learned is whole."""

import platform
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.programs import guest

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def program() -> Path:
    path = guest.compile_readahead(platform.machine(), Cache.default())[guest.READAHEAD]
    path.chmod(0o755)
    return path


@pytest.fixture
def run(program: Path) -> Run:
    def ran(*words: str | Path) -> tuple[int, str, str]:
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    return ran


def _pack(kernel: str = "6.1", **values: object) -> str:
    keys = {"root": 1, "kernel": kernel, "goal": "goal", "packages": 0, "learned": 1, "order": "need", **values}
    rest = "".join(f"{key} {value}\n" for key, value in keys.items()) + "f a\nd 0 0 4096 -1\n"
    return f"bootlab-readahead 1 {len(rest)} {zlib.crc32(rest.encode())}\n{rest}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is none that this program wrote"),
        ("hello", "it is none that this program wrote"),
        (_pack()[:-4], "it is cut short"),
        (_pack().replace("4096", "4097"), "it is damaged"),
        (_pack(order="sideways"), "it has a line that no pack has"),
        (_pack(), "it is of another file system"),
    ],
)
def test_what_is_no_pack_of_this_system_is_ignored_with_one_line(text: str, why: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "pack"
    path.write_text(text)
    _, out, err = run("start", "--root", tmp_path, path)
    assert out == "" and err.splitlines()[0] == f"bootlab-readahead: {path}: ignored: {why}"
    assert path.read_text() == text


def test_a_folder_and_a_pipe_are_no_packs(run: Run, tmp_path: Path) -> None:
    assert "ignored" in run("start", "--order", "need", "--root", tmp_path, tmp_path)[2]
    assert run("show", tmp_path)[0] == 1
    assert run("show", tmp_path / "nope")[2].endswith("nope: No such file or directory\n")


def test_a_pack_is_shown_and_forgotten(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "pack"
    path.write_text(_pack())
    assert run("show", path) == (0, _pack(), "")
    assert run("forget", path)[0] == 0 and not path.exists()
    assert run("forget", path)[0] == 0


@pytest.mark.parametrize(
    "words",
    [(), ("dance",), ("start", "a", "b"), ("start", "--order", "up"), ("start", "--in-flight", "65")]
    + [("goal", "--name", "a b"), ("start", "--root", "/nope"), ("show", "--what")],
)
def test_wrong_use_is_said(words: tuple[str, ...], run: Run) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "") and err


def test_none_reads_nothing(run: Run, tmp_path: Path) -> None:
    assert run("start", "--order", "none", "--root", tmp_path, tmp_path / "nope") == (0, "", "")
