"""A git history as a line of states: from a good commit to a bad one, and what a merge on the way brought.

The line follows first parents, as a branch was when each commit was added to it; where only another parent of a merge
leads back to the good commit, it goes there.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.ledger.bisect.state import BisectState
from bootlab.ledger.git import last_line, run_git
from bootlab.process import ProgramFailed

_FORMAT: Final = "%H%x00%P%x00%aN <%aE>%x00%aI%x00%s%x1e"


class GitHistory:
    """The repository that holds a folder. `top`: its topmost folder, as the user's files lie there."""

    def __init__(self, folder: Path) -> None:
        try:
            top = run_git(folder, "rev-parse", "--show-toplevel")
        except ProgramFailed as error:
            raise InputError(
                f"--repo {folder}: no repository with its files: {last_line(error.stderr)}",
                hint="--repo names a folder of a git repository that has files checked out",
            ) from error
        self.top = Path(top)
        self.common = Path(run_git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir"))

    def commit(self, revision: str, option: str) -> str:
        """Return the whole hash of a commit. Raises InputError that names the option that gave it."""
        try:
            return run_git(self.top, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        except ProgramFailed as error:
            shallow = (self.common / "shallow").exists()
            raise InputError(
                f"{option} {revision}: no such commit in {self.top}",
                hint="it is a shallow clone: git fetch --unshallow" if shallow else "git log lists what there is",
            ) from error

    def is_dirty(self) -> bool:
        """Return whether tracked files differ from the commit that is checked out."""
        return bool(run_git(self.top, "status", "--porcelain", "--untracked-files=no"))

    def between(self, good: str, bad: str) -> list[BisectState]:
        """Return the states from one commit to another, both included, the good one first; both are whole hashes.

        Raises InputError when the first is no ancestor of the other.
        """
        if good == bad:
            raise InputError(
                f"--good and --bad are the same commit, {good[:12]}", hint="name two commits with others between"
            )
        known = self._read("--ancestry-path", f"{good}..{bad}")
        if bad not in known:
            self._expect_ancestor(good, bad)
        line, here = [], known[bad]
        while here.name != good:
            line.append(here)
            before = next(one for one in here.parents if one == good or one in known)
            here = self.state(good) if before == good else known[before]
        return [here, *reversed(line)]

    def state(self, commit: str) -> BisectState:
        """Return what a commit says of itself."""
        return self._read("--no-walk", commit)[commit]

    def merged(self, before: BisectState, merge: BisectState, outside: Sequence[str] = ()) -> list[list[BisectState]]:
        """Return what a merge brought to `before`, the parent that it was merged into: a line for each other parent.

        Each line begins with the commit that it branched off at. `outside`: commits whose history does not count.
        """
        lines = []
        for tip in merge.parents:
            if tip == before.name:
                continue
            known = self._read(tip, f"^{before.name}", *(f"^{commit}" for commit in outside))
            line: list[BisectState] = []
            name: str | None = tip
            while name is not None and name in known:
                line.append(known[name])
                name = next(iter(known[name].parents), None)
            # A branch without a root in common has no state before it.
            if line and name is not None:
                lines.append([self.state(name), *reversed(line)])
        return lines

    def _read(self, *words: str) -> Mapping[str, BisectState]:
        said = run_git(self.top, "log", "--no-show-signature", f"--format={_FORMAT}", *words, "--")
        found = {}
        for record in filter(None, (one.strip("\n") for one in said.split("\x1e"))):
            name, parents, author, date, subject = record.split("\0")
            found[name] = BisectState(name=name, subject=subject, author=author, date=date, parents=parents.split())
        return found

    def _expect_ancestor(self, good: str, bad: str) -> None:
        try:
            base = run_git(self.top, "merge-base", good, bad)
        except ProgramFailed:
            base = ""
        if base == bad:
            raise InputError(
                f"--good {good[:12]}: is newer than --bad {bad[:12]}",
                hint="the older one is good: steps that save time are found as well as those that cost some",
            )
        hint = f"they branched off at {base}: give that as --good" if base else "they have no history in common"
        raise InputError(f"--good {good[:12]}: is no ancestor of --bad {bad[:12]}", hint=hint)
