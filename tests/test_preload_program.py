"""bootlab-preload itself, on this host: what it knows is shown, what is damaged is said, a login never fails."""

import platform
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.programs import guest
from tests.build.root.test_preload import KNOWN

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def program() -> Path:
    path = guest.compile_preload(platform.machine(), Cache.default())[guest.PRELOAD]
    path.chmod(0o755)
    return path


@pytest.fixture
def run(program: Path) -> Run:
    def ran(*words: str | Path, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
        done = subprocess.run(
            [program, *words], capture_output=True, text=True, timeout=60, check=False, env=env and dict(env)
        )
        return done.returncode, done.stdout, done.stderr

    return ran


def test_what_is_known_is_shown_and_forgotten(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "habits"
    path.write_text(KNOWN)
    shown = "expected by sessions of ann, of a thousand:\n1000  /usr/bin/wm\n"
    assert run("show", path) == (0, shown, "")
    assert run("forget", path)[0] == 0 and not path.exists()
    assert run("forget", path)[0] == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is none that this program wrote"),
        (KNOWN[:-4], "is cut short"),
        (KNOWN.replace("ann", "bob"), "is damaged"),
    ],
)
def test_what_is_no_file_of_its_own_is_said(text: str, why: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "habits"
    path.write_text(text)
    assert run("show", path) == (1, "", f"bootlab-preload: {path}: it {why}\n")
    assert run("show", tmp_path / "nope")[2].endswith("nope: No such file or directory\n")
    assert run("show", tmp_path)[0] == 1


def test_what_came_with_an_image_is_not_removed(run: Run) -> None:
    said = "bootlab-preload: /etc/bootlab/preload: not removed: it came with the image\n"
    assert run("forget", "/etc/bootlab/preload") == (1, "", said)


@pytest.mark.parametrize("user", ["ann", "", "a b", "x" * 200, "a\nb"])
def test_a_login_goes_on_where_nobody_watches(user: str, run: Run) -> None:
    assert run("session", env={"PAM_TYPE": "open_session", "PAM_USER": user}) == (0, "", "")
    assert run("session", env={}) == (0, "", "")


@pytest.mark.parametrize("words", [(), ("dance",), ("show", "a", "b"), ("session", "x")])
def test_wrong_use_is_said(words: tuple[str, ...], run: Run) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "") and err.startswith("usage: ")
    assert run("--help")[0] == 0
