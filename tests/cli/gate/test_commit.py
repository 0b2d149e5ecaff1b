"""`bootlab gate --against COMMIT`: the system as a commit has it, built and booted beside that of the working tree."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.cli.gate.verb import complete_against
from bootlab.errors import InputError
from bootlab.experiments.store import Store
from tests.ledger.bisect.repository import Repository
from tests.replayed import answer


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BOOTLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BOOTLAB_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "cache"


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    """Three commits: the second does not build, the last one is 5 ms longer, and its files are built."""
    made = Repository(tmp_path, later_us={2: 5000}, commits=3, fails=(1,))
    subprocess.run(["sh", "-ec", made.command], cwd=made.folder, check=True)
    return made


def gate(made: Repository, against: str, *words: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code of a gate and what it has on record."""
    command = ["gate", str(made.system), "--against", against, "--repo", str(made.folder), "--no-explain"]
    code = run([*command, *words, "--runs", str(made.runs)])
    found: dict[str, Any] = json.loads(Store(made.runs).find("last").result_text())
    return code, found


def test_a_working_tree_is_held_against_a_commit(made: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    before = made.git("status", "--porcelain")
    code, found = gate(made, "HEAD~2", "--build", made.command)
    assert (code, found["verdict"], found["figures"][0]["longer_ns"]) == (1, "longer", 5_000_000)
    assert (found["against"], found["against_commit"]) == ("HEAD~2", made.at(0))
    assert f"against HEAD~2 ({made.at(0)[:12]}): longer" in " ".join(capsys.readouterr().out.split())
    assert (made.git("status", "--porcelain"), len(made.worktrees())) == (before, 1)
    code, found = gate(made, "main", "--build", made.command)
    assert (code, found["verdict"]) == (0, "unchanged")


def test_a_branch_without_a_common_history_does(made: Repository) -> None:
    """Nothing between the two is looked at."""
    made.git("checkout", "--quiet", "--orphan", "größer")
    made.later_us = 0
    made.write_state()
    other = made.commit("change 0 of another history")
    made.git("checkout", "--quiet", "main")
    code, found = gate(made, "größer", "--build", made.command)
    assert (code, found["against"], found["against_commit"]) == (1, "größer", other)


def test_a_commit_that_does_not_build_is_no_answer(made: Repository) -> None:
    with pytest.raises(InputError, match="(?s)--against HEAD~1: .*does not build: .*no such thing") as raised:
        gate(made, "HEAD~1", "--build", made.command)
    log = Path((raised.value.hint or "").partition(": ")[2])
    assert "cannot compile" in log.read_text()
    with pytest.raises(InputError, match="target.boots: out/recorded: this commit has no such file"):
        gate(made, "HEAD~2")


def test_the_system_file_is_the_commits_own(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={}, commits=1, answers=(answer("heavier", later_ns=5_000_000),))
    subprocess.run(["sh", "-ec", made.command], cwd=made.folder, check=True)
    made.write_system(made.system, "heavier")
    made.commit("change 1")
    made.write_system(made.system)
    code, found = gate(made, "HEAD", "--build", made.command)
    assert (code, found["verdict"], found["figures"][0]["longer_ns"]) == (0, "shorter", -5_000_000)
    assert gate(made, "HEAD~1", "--build", made.command)[1]["verdict"] == "unchanged"


def test_a_system_file_that_the_commit_has_not_is_read_as_it_is(made: Repository) -> None:
    made.system = made.system.rename(made.folder / "new.toml")
    code, found = gate(made, "HEAD~2", "--build", made.command)
    assert (code, found["verdict"]) == (1, "longer")


def test_a_system_that_no_commit_changes_is_refused(made: Repository, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    subprocess.run(["git", "init", "--quiet", str(other)], check=True)
    subprocess.run(
        ["git", "-C", str(other), "-c", "user.name=x", "-c", "user.email=x@y.example", "commit", "-qm", "0",
         "--allow-empty"], check=True,
    )  # fmt: skip
    with pytest.raises(InputError, match="names no file in the repository"):
        run(["gate", str(made.system), "--against", "HEAD", "--repo", str(other), "--runs", str(made.runs)])


def test_of_one_name_a_run_is_meant_first_and_what_is_neither_is_told(
    made: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made.folder)
    words = ["gate", str(made.system), "--no-explain", "--runs", str(made.runs)]
    assert run(["try", str(made.system), "cmdline_quiet", "--no-stack", "--json", "--runs", str(made.runs)]) == 0
    name = Store(made.runs).find("last").path.name
    made.git("branch", name, "HEAD~2")
    assert run([*words, "--against", name]) == 0
    made.git("config", "core.hooksPath", "/nowhere")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "of-a-hook"))
    assert run([*words, "--against", name, "--build", made.command]) == 1, "--build goes with a commit"
    for wrong in ("nothing-such", "--upload-pack=x", "", "a\nb", "-", "größte", "HEAD~99", "x" * 5000):
        with pytest.raises(InputError, match="no such run in .*, and no such commit here"):
            run([*words, "--against", wrong])
    for against in ("ledger", str(made.system)):
        with pytest.raises(InputError, match="is no commit"):
            run([*words, "--against", against, "--build", "make"])
    with pytest.raises(InputError, match="--build: empty"):
        run([*words, "--against", "main", "--build", " "])


def test_an_entry_of_a_ledger_is_named_by_its_branch(made: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made.folder)
    assert run(["try", str(made.system), "cmdline_quiet", "--no-stack", "--json", "--runs", str(made.runs)]) == 0
    assert run(["ledger", "add", "--commit", "HEAD~2", "--runs", str(made.runs)]) == 0
    made.git("branch", "measured", "HEAD~2")
    words = ["gate", str(made.system), "--no-explain", "--runs", str(made.runs)]
    assert run([*words, "--against", "ledger:measured"]) == 0
    found = json.loads(Store(made.runs).find("last").result_text())
    assert (found["against"], found["against_commit"]) == ("ledger:measured", made.at(0))
    with pytest.raises(InputError, match=f"{made.at(2)}: no entry of mine has such a commit"):
        run([*words, "--against", "ledger:main"])
    with pytest.raises(InputError, match="größte: no entry of mine has such a commit"):
        run([*words, "--against", "ledger:größte"])


def test_branches_are_completed(made: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made.folder)
    assert complete_against("ma") == ["main"]
