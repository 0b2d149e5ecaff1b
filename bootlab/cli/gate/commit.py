"""The system as a commit has it, which a gate holds the one of the working tree against."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bootlab.cli.options.arguments import open_cache
from bootlab.cli.terminal.speech import err
from bootlab.errors import BootlabError, InputError
from bootlab.ledger.bisect.checkout import Checkout
from bootlab.ledger.bisect.commit_systems import CommitSystems, Recipe
from bootlab.ledger.bisect.history import GitHistory
from bootlab.ledger.bisect.state import BisectState, Unusable
from bootlab.ledger.git import run_git
from bootlab.process import ProgramFailed
from bootlab.system import System
from bootlab.system.file import read_text

_OPTION = "--against"
_LOGS = "builds"


@dataclass(frozen=True, slots=True)
class AskedCommit:
    """A commit as it was named, in which repository, and what builds it. `repo` None: the repository here."""

    revision: str
    repo: Path | None
    build: str | None

    @property
    def is_one(self) -> bool:
        """Return whether such a commit is there."""
        try:
            self.whole()
        except BootlabError:
            return False
        return True

    def whole(self) -> str:
        """Return its whole hash. Raises InputError where there is none."""
        return self._history().commit(self.revision, _OPTION)

    @contextmanager
    def opened(self, file: Path, *, silent: bool) -> Iterator[System]:
        """Give the system of the commit; those of its files that are built from lie there for as long.

        The system file is the commit's own; one that the commit has not is read as it is now. Raises InputError where
        nothing can differ, and for a commit that does not build.
        """
        history, cache = self._history(), open_cache()
        state = history.state(history.commit(self.revision, _OPTION))
        checkout = Checkout(history.top, history.common, cache)
        place = file.parent.resolve() / file.name
        recipe = Recipe(place, read_text(file), from_commit=_has(history, state, place), command=self.build)
        source = CommitSystems(history, checkout, recipe, cache, checkout.path.parent / _LOGS, first_parent=False)
        try:
            source.expect_moved()
        except InputError as error:
            raise InputError(error.message, hint="--repo names another repository") from error

        def tell(line: str) -> None:
            if not silent:
                err.print(f"  {line}", soft_wrap=True)

        source.tell = tell
        with checkout.opened(lambda: tell("waiting: a bisection or a gate of this repository is at work")):
            try:
                system = source.system(state)
            except Unusable as error:
                log = f"all that its build said: {error.log}" if error.log else None
                raise InputError(f"{_OPTION} {self.revision}: {state.short}: {error.reason}", hint=log) from error
            yield system

    def _history(self) -> GitHistory:
        return GitHistory(self.repo or Path())


def _has(history: GitHistory, state: BisectState, file: Path) -> bool:
    """Return whether a commit has a file, by its place in the working tree."""
    if not file.is_relative_to(history.top):
        return False
    try:
        run_git(history.top, "cat-file", "-e", f"{state.name}:{file.relative_to(history.top).as_posix()}")
    except ProgramFailed:
        return False
    return True
