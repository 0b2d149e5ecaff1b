"""The commit that a measurement is of."""

import subprocess
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.ledger.commit import Commit, find_commit


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "file").write_text("1")
    git(folder, "add", "file")
    git(folder, "commit", "-qm", "first", "--date", "2020-01-01T00:00:00Z")
    return folder


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_the_one_checked_out_and_whether_files_differ(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    found = find_commit(repository, None)
    assert (found.name, found.dirty) == (head, False)
    assert found.time.endswith("+00:00")
    (repository / "new").write_text("a file that git does not know is no difference")
    assert not find_commit(repository, None).dirty
    (repository / "file").write_text("2")
    assert find_commit(repository, None).dirty
    assert not find_commit(repository, "HEAD").dirty, "a commit that was named is what it is"


def test_the_ledger_itself_is_no_difference(repository: Path) -> None:
    ledger = repository / "boot-ledger"
    ledger.mkdir()
    (ledger / "x.jsonl").write_text("1")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    (ledger / "x.jsonl").write_text("2")
    assert find_commit(repository, None).dirty
    assert not find_commit(repository, None, ledger).dirty
    (repository / "file").write_text("2")
    assert find_commit(repository, None, ledger).dirty


def test_repositories_without_commits_or_files(tmp_path: Path, repository: Path) -> None:
    empty, bare = tmp_path / "empty", tmp_path / "bare.git"
    git(tmp_path, "init", "-q", str(empty))
    assert find_commit(empty, None) == Commit()
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    assert find_commit(bare, None).name == git(repository, "rev-parse", "HEAD")
    with pytest.raises(InputError, match="--repo: no commit to be read"):
        find_commit(tmp_path / "missing", None)


def test_a_folder_without_a_repository_has_a_commit_without_a_name(tmp_path: Path) -> None:
    assert find_commit(tmp_path, None) == Commit()


@pytest.mark.parametrize("revision", ["nothing-such", "", "--output=x", "HEAD..HEAD", "HEAD~9"])
def test_what_is_no_commit_is_refused_by_name(repository: Path, revision: str) -> None:
    with pytest.raises(InputError, match="--commit"):
        find_commit(repository, revision)
    assert [path.name for path in repository.iterdir() if path.name != ".git"] == ["file"]
