"""Lines of commits out of real repositories: along first parents, around merges, and what a merge brought."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.ledger.bisect.history import GitHistory
from bootlab.ledger.bisect.state import BisectState
from bootlab.ledger.git import run_git


class Made:
    """A repository whose commits are named by their subjects."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        run_git(folder, "init", "--quiet", "--initial-branch=main")
        run_git(folder, "config", "user.name", "Zo\u00eb; Example")
        run_git(folder, "config", "user.email", "zoe@example.org")
        self.by_name: dict[str, str] = {}

    def commit(self, *names: str) -> None:
        for name in names:
            run_git(self.folder, "commit", "--quiet", "--allow-empty", "--message", f"{name}\n\nA body.\n")
            self.by_name[name] = run_git(self.folder, "rev-parse", "HEAD")

    def branch(self, name: str, at: str) -> None:
        run_git(self.folder, "checkout", "--quiet", "-b", name, self.by_name[at])

    def merge(self, name: str, *branches: str) -> None:
        run_git(self.folder, "checkout", "--quiet", "main")
        run_git(self.folder, "merge", "--quiet", "--no-ff", "--allow-unrelated-histories", "-m", name, *branches)
        self.by_name[name] = run_git(self.folder, "rev-parse", "HEAD")

    def between(self, good: str, bad: str) -> list[str]:
        return subjects(GitHistory(self.folder).between(self.by_name[good], self.by_name[bad]))

    def merged(self, before: str, merge: str, *outside: str) -> list[list[str]]:
        history = GitHistory(self.folder)
        sides = (history.state(self.by_name[name]) for name in (before, merge))
        lines = history.merged(*sides, [self.by_name[name] for name in outside])
        return [subjects(line) for line in lines]


def subjects(line: list[BisectState]) -> list[str]:
    return [state.subject for state in line]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Main is a b m c, and m merged x y z, which branched off at a."""
    found = Made(tmp_path / "repository")
    found.commit("a", "b")
    found.branch("topic", "a")
    found.commit("x", "y", "z")
    found.merge("m", "topic")
    found.commit("c")
    return found


def test_a_line_follows_first_parents(made: Made) -> None:
    assert made.between("a", "c") == ["a", "b", "m", "c"]
    assert made.between("b", "m") == ["b", "m"]


def test_a_line_goes_by_the_branch_that_leads_back(made: Made) -> None:
    assert made.between("y", "c") == ["y", "z", "m", "c"]


def test_a_commit_is_known_with_its_author_and_date(made: Made) -> None:
    state = GitHistory(made.folder).between(made.by_name["a"], made.by_name["c"])[2]
    assert (state.subject, state.author) == ("m", "Zo\u00eb; Example <zoe@example.org>")
    assert state.date.startswith("20") and state.parents == [made.by_name["b"], made.by_name["z"]]


def test_a_merge_brought_its_branch(made: Made) -> None:
    assert made.merged("b", "m") == [["a", "x", "y", "z"]]
    assert made.merged("z", "m") == [["a", "b"]]


def test_each_branch_of_an_octopus_is_a_line(made: Made) -> None:
    for name in ("one", "two"):
        made.branch(name, "c")
        made.commit(f"{name}-1")
    made.merge("octopus", "one", "two")
    assert made.merged("c", "octopus") == [["c", "one-1"], ["c", "two-1"]]


def test_what_a_branch_merged_of_main_is_no_part_of_it(made: Made) -> None:
    made.branch("side", "a")
    made.commit("s")
    run_git(made.folder, "merge", "--quiet", "--no-ff", "-m", "back", made.by_name["b"])
    made.by_name["back"] = run_git(made.folder, "rev-parse", "HEAD")
    made.commit("t")
    made.merge("n", "side")
    assert made.merged("c", "n") == [["a", "s", "back", "t"]]
    assert made.merged("s", "back") == [["a", "b"]]
    assert made.merged("s", "back", "c") == []


def test_a_branch_without_a_common_root_has_no_line(made: Made) -> None:
    run_git(made.folder, "checkout", "--quiet", "--orphan", "other")
    made.commit("r")
    made.merge("u", "other")
    assert made.merged("c", "u") == []


def test_a_revision_that_is_not_there_names_its_option(made: Made, tmp_path: Path) -> None:
    history = GitHistory(made.folder)
    for revision in ("nonsense", "--all", "", "main:", "HEAD^{tree}"):
        with pytest.raises(InputError, match="--bad .*: no such commit"):
            history.commit(revision, "--bad")
    run_git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{made.folder}", "shallow")
    with pytest.raises(InputError) as caught:
        GitHistory(tmp_path / "shallow").commit(made.by_name["a"], "--good")
    assert "git fetch --unshallow" in str(caught.value.hint)


def test_what_is_no_repository_is_told(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet", "--bare", "bare")
    for folder in (tmp_path, tmp_path / "bare", tmp_path / "nowhere"):
        with pytest.raises(InputError, match="--repo .*: no repository with its files"):
            GitHistory(folder)


def test_a_repository_is_dirty_by_tracked_files_alone(made: Made) -> None:
    history = GitHistory(made.folder)
    (made.folder / "new").write_text("1")
    assert not history.is_dirty()
    run_git(made.folder, "add", "new")
    assert history.is_dirty()


def test_two_histories_without_a_commit_in_common_are_no_line(made: Made) -> None:
    run_git(made.folder, "checkout", "--quiet", "--orphan", "other")
    made.commit("o")
    with pytest.raises(InputError, match="is no ancestor of --bad") as raised:
        made.between("a", "o")
    assert raised.value.hint == "they have no history in common"
