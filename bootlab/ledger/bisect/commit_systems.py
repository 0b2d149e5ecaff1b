"""The system of each commit: the user's system file with the paths that lie in the repository moved to that commit.

What a commit's build makes of them is kept in the cache, by commit, command and paths, so the next bisection finds it
there. A kernel's or a bootloader's source is not: it stays in the checkout, where bootlab builds from it.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.build.cache import Cache
from bootlab.errors import InputError, StoreError
from bootlab.kept_file import why_damaged
from bootlab.ledger.bisect.checkout import Checkout
from bootlab.ledger.bisect.history import GitHistory
from bootlab.ledger.bisect.state import BisectState, Unusable
from bootlab.ledger.git import run_git
from bootlab.measure.record_files import store_error
from bootlab.process import ProgramFailed, stream
from bootlab.system import System
from bootlab.system.file import Moved, parse_system

_KIND: Final = "bisect-build"
_FORMAT: Final = 1
_BUILD_DEADLINE_S: Final = 6 * 3600.0
_SOURCE: Final = ".source"
"""How the keys end whose paths bootlab builds from."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a commit becomes a system.

    `file`: the caller's system file, absolute, and `text` its bytes; `from_commit`: each commit's own is read instead.
    `command`: what builds a commit, in the topmost folder of its checkout; `incremental`: on what the last one left.
    `salt`: other builds than those that the cache has.
    """

    file: Path
    text: bytes
    from_commit: bool = False
    command: str | None = None
    incremental: bool = False
    salt: str = ""

    def system(self, top: Path) -> System:
        """Return the caller's system as it stands; what lies below `top` need not be there. Raises InputError."""
        return parse_system(self.text, self.file, lambda key, path: path if _within(top, path) is None else None)


class CommitSystems:
    """Makes the systems of commits. `builds`: how many commits were built, in `build_s` host seconds."""

    def __init__(
        self, history: GitHistory, checkout: Checkout, recipe: Recipe, cache: Cache, logs: Path, *, first_parent: bool
    ) -> None:
        self.builds = 0
        self.build_s = 0.0
        self.tell: Callable[[str], None] = lambda line: None
        self._history = history
        self._checkout = checkout
        self._recipe = recipe
        self._cache = cache
        self._logs = logs
        self._first_parent = first_parent
        self._inside: dict[str, tuple[str, ...]] = {}

    def expect_moved(self) -> None:
        """Raise InputError when nothing that the system file names can differ from commit to commit."""
        recipe, top = self._recipe, self._history.top
        if recipe.from_commit:
            self._file_in_repository()
        elif not self._named(recipe.text, recipe.file, top):
            raise InputError(
                f"{recipe.file}: names no file in the repository {top}, so every commit would boot the same",
                hint="--repo names another repository; --system-from-commit reads the system file of each commit",
            )

    def system(self, state: BisectState) -> System:
        text, file, top = self._text(state)
        named = self._named(text, file, top)
        self.bring_back(state)
        made = self._cache.find(_KIND, self._key(state, named)) or self._make(state, named)
        try:
            return parse_system(text, file, self._moved(top, made))
        except InputError as error:
            raise Unusable(state, error.message) from error

    def bring_back(self, state: BisectState) -> None:
        text, file, top = self._text(state)
        if any(key.endswith(_SOURCE) for key in self._named(text, file, top)):
            self._build(state)

    def inside(self, before: BisectState, after: BisectState) -> Sequence[Sequence[BisectState]]:
        if self._first_parent or len(after.parents) < 2 or before.name not in after.parents:
            return ()
        # What came from the line that a branch itself was merged into is no part of the branch.
        outside = self._inside.get(after.name, ())
        lines = self._history.merged(before, after, outside)
        for line in lines:
            for one in line:
                self._inside[one.name] = (*outside, before.name)
        return lines

    def _text(self, state: BisectState) -> tuple[bytes, Path, Path]:
        """Return a system file's bytes, its place, and the folder within which its paths are a commit's."""
        recipe = self._recipe
        if not recipe.from_commit:
            return recipe.text, recipe.file, self._history.top
        name = self._file_in_repository()
        try:
            text = run_git(self._history.top, "show", f"{state.name}:{name.as_posix()}")
        except ProgramFailed as error:
            raise Unusable(state, f"this commit has no {name}") from error
        return text.encode(), self._checkout.path / name, self._checkout.path

    def _file_in_repository(self) -> Path:
        file, top = self._recipe.file, self._history.top
        if not file.is_relative_to(top):
            raise InputError(
                f"--system-from-commit: {file} is not in the repository {top}",
                hint="without it the system file that you name is used for every commit",
            )
        return file.relative_to(top)

    def _named(self, text: bytes, file: Path, top: Path) -> dict[str, Path]:
        """Return key -> path of all that a system file names within `top`, relative to it."""
        named: dict[str, Path] = {}

        def look(key: str, path: Path) -> Path | None:
            place = _within(top, path)
            if place is None:
                return path
            named[key] = place
            return None

        try:
            parse_system(text, file, look)
        except InputError:
            # Told with the commit that it is of, once its paths are known.
            return named
        return named

    def _moved(self, top: Path, made: Path) -> Moved:
        def move(key: str, path: Path) -> Path:
            place = _within(top, path)
            if place is None:
                return path
            return (self._checkout.path if key.endswith(_SOURCE) else made) / place

        return move

    def _key(self, state: BisectState, named: dict[str, Path]) -> str:
        paths = sorted({str(path) for key, path in named.items() if not key.endswith(_SOURCE)})
        recipe = self._recipe
        return json.dumps([_FORMAT, state.name, recipe.command, recipe.incremental, recipe.salt, paths])

    def _make(self, state: BisectState, named: dict[str, Path]) -> Path:
        self._build(state)
        kept = {path: key for key, path in named.items() if not key.endswith(_SOURCE)}
        for path, key in kept.items():
            if not (self._checkout.path / path).exists():
                # Its build may have left anything there.
                self._checkout.forget()
                why = "its build did not make it" if self._recipe.command else "this commit has no such file"
                raise Unusable(state, f"{key}: {path}: {why}", str(self._log(state)) if self._recipe.command else "")

        def keep(into: Path) -> None:
            into.mkdir()
            for path in sorted(kept):
                _copy(self._checkout.path / path, into / path)

        try:
            return self._cache.make(_KIND, self._key(state, named), keep)
        except OSError as error:
            if "No space left" in str(error):
                raise StoreError(
                    f"{self._cache.root}: no space left for what {state.name[:12]} was built to",
                    hint="BOOTLAB_CACHE=/path/with/space names another folder for the cache",
                ) from error
            raise Unusable(state, f"what its build made cannot be kept: {why_damaged(error)}") from error

    def _build(self, state: BisectState) -> None:
        """Check a commit out and run its build, unless that is what the checkout holds."""
        if self._checkout.at == state.name:
            return
        recipe = self._recipe
        self._checkout.move(state.name, clean=not recipe.incremental)
        if recipe.command is None:
            return
        self.tell(f"building {state.name[:12]} {state.subject}")
        began, log = time.monotonic(), self._log(state)
        self.builds += 1
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            stream(
                ["env", "-C", self._checkout.path, "sh", "-c", recipe.command],
                lambda line: None,
                log=log,
                deadline_s=_BUILD_DEADLINE_S,
                env={"BOOTLAB_COMMIT": state.name},
            )
        except ProgramFailed as error:
            # Its last words are in the message, all of them in the log.
            self._checkout.forget()
            raise Unusable(state, f"does not build: {error.message.removeprefix('env: ')}", str(log)) from error
        except OSError as error:
            self._checkout.forget()
            raise store_error(log, error) from error
        except BaseException:
            self._checkout.forget()
            raise
        finally:
            self.build_s += time.monotonic() - began

    def _log(self, state: BisectState) -> Path:
        return self._logs / f"{state.name[:12]}.log"


def _within(top: Path, path: Path) -> Path | None:
    """Return an absolute path relative to `top`; None where it lies elsewhere, links of its folders followed."""
    for one in (path, path.parent.resolve() / path.name):
        if one.is_relative_to(top):
            return one.relative_to(top)
    return None


def _copy(source: Path, target: Path) -> None:
    if target.exists():
        # Below a folder that was copied whole.
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    else:
        shutil.copyfile(source, target)
        os.chmod(target, source.stat().st_mode & 0o777)
