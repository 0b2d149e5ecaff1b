"""A working tree of bootlab's own for a user's repository, moved from commit to commit; the user's stays as it is.

It is a git worktree in the cache, at one place for each repository: a build that knows its tree by its path finds the
objects of the last commit again. It goes when the bisection ends, however that happens; after a kill, at the next one
of any repository.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.errors import StoreError
from bootlab.ledger.git import last_line, run_git
from bootlab.process import ProgramFailed

_WHOLE = ("-c", "core.sparseCheckout=false")
"""A user who keeps some folders only still builds from all of them."""
_ELSEWHERE = "BOOTLAB_CACHE=/path/with/space names another folder for the cache"


class Checkout:
    """The worktree of one repository. `path`: where it is; `at`: the commit that it has, None before the first."""

    def __init__(self, repository: Path, common: Path, cache: Cache) -> None:
        name = hashlib.sha256(os.fsencode(common)).hexdigest()[:16]
        self._repository = repository
        self._cache = cache
        self._lock = f"bisect-{name}"
        self.path = cache.root / "bisect" / name / "checkout"
        self.at: str | None = None

    @contextmanager
    def opened(self, on_wait: Callable[[], None]) -> Iterator[None]:
        """Keep the worktree for a while, and every other bisection of this repository out; `on_wait` before a wait.

        Raises StoreError where it cannot be made.
        """
        with self._cache.lock(self._lock, on_wait=on_wait):
            self._remove()
            self._remove_abandoned()
            try:
                yield
            finally:
                self._remove()

    def move(self, commit: str, *, clean: bool) -> None:
        """Check a commit out. With `clean`, what no commit has goes: every file that an earlier build has left.

        Raises StoreError.
        """
        if self.at == commit:
            return
        self.at = None
        try:
            if not self.path.exists():
                self.path.parent.mkdir(parents=True, exist_ok=True)
                run_git(
                    self._repository,
                    *_WHOLE,
                    "worktree",
                    "add",
                    "--quiet",
                    "--force",
                    "--detach",
                    str(self.path),
                    commit,
                )
            else:
                run_git(self.path, *_WHOLE, "checkout", "--quiet", "--force", "--detach", commit)
                if clean:
                    # Twice -f: a repository that a build has cloned there goes, too.
                    run_git(self.path, "clean", "-ffdxq")
        except ProgramFailed as error:
            hint = _ELSEWHERE if "No space left" in error.stderr else "is the repository yours to write to?"
            raise StoreError(
                f"{self.path}: cannot check out {commit[:12]}: {last_line(error.stderr) or error.message}", hint=hint
            ) from error
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror or error}", hint=_ELSEWHERE) from error
        self.at = commit

    def forget(self) -> None:
        """Let the next move check out and clean whatever is there: a build was cut short."""
        self.at = None

    def _remove(self) -> None:
        self.at = None
        if self.path.exists():
            with suppress(ProgramFailed):
                run_git(self._repository, "worktree", "remove", "--force", "--force", str(self.path))
            # What git does not know, as after a kill, or what a build made unwritable.
            shutil.rmtree(self.path, ignore_errors=True)
        with suppress(ProgramFailed):
            run_git(self._repository, "worktree", "prune")

    def _remove_abandoned(self) -> None:
        """Remove what killed bisections of other repositories have left; their git forgets it by itself."""
        for left in self.path.parent.parent.glob("*/checkout"):
            if left == self.path:
                continue
            with suppress(_Busy), self._cache.lock(f"bisect-{left.parent.name}", on_wait=_is_busy):
                shutil.rmtree(left, ignore_errors=True)


class _Busy(Exception):
    """Another bisection holds the lock."""


def _is_busy() -> None:
    raise _Busy
