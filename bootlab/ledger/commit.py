"""The commit that a measurement is of: which one a repository has checked out, and whether files differ from it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.ledger.git import last_line, run_git
from bootlab.process import ProgramFailed

_FORMAT: Final = "%H %ct"
_NO_COMMIT: Final = ("not a git repository", "Needed a single revision", "unknown revision")
"""What git says of HEAD where there is no repository, or no commit in it yet."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A state of a system. `name`: the whole hash, or a user's own words; `time`: ISO 8601 in UTC, or empty."""

    name: str = ""
    time: str = ""
    dirty: bool = False


def find_commit(repository: Path, revision: str | None, ledger: Path | None = None) -> Commit:
    """Return a commit of the repository that holds a folder: the one checked out, or that of `revision`.

    `ledger`: files there are no difference. A folder that is in no repository, and a repository that has no commit yet,
    give the commit without a name. Raises InputError for a revision that is not there and for a repository that git
    does not read, MissingTool without git.
    """
    try:
        # Whatever a user types is a revision here, and no option of git's.
        asked = "HEAD" if revision is None else revision
        commit = run_git(repository, "rev-parse", "--verify", "--end-of-options", f"{asked}^{{commit}}")
        said = run_git(repository, "log", "-1", f"--format={_FORMAT}", commit)
    except ProgramFailed as error:
        if revision is None and any(words in error.stderr for words in _NO_COMMIT):
            return Commit()
        what = f"--commit {revision}: no commit" if revision is not None else "--repo: no commit to be read"
        raise InputError(
            f"{what} of a repository at {repository.absolute()}: {last_line(error.stderr)}",
            hint="--repo names the repository; --label names a state that is no commit",
        ) from error
    name, _, seconds = said.partition(" ")
    # What is checked out is what was measured only where it is what the commit has.
    return Commit(name, _utc(seconds), revision is None and _differs(repository, ledger))


def _differs(repository: Path, ledger: Path | None) -> bool:
    try:
        top = Path(run_git(repository, "rev-parse", "--show-toplevel"))
        but = []
        if ledger is not None and ledger.resolve().is_relative_to(top):
            but = [":(top)", f":(top,exclude,literal){ledger.resolve().relative_to(top)}"]
        return bool(run_git(repository, "status", "--porcelain", "--untracked-files=no", "--", *but))
    except ProgramFailed:
        # A repository without files: nothing can differ.
        return False


def _utc(seconds: str) -> str:
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        # Git takes any number for a date.
        return ""
