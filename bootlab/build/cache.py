"""Things that take long to fetch or build, kept outside the tree under the hash of what they were made from.

An entry is there whole or not at all: it is made beside its place, under a lock that other bootlab processes respect,
and renamed. Entries are never changed afterwards, so a path that was handed out stays what it was. What they hold at
their top is noted beside, with the files' lengths: an entry that somebody's cleaning, or an incomplete copy of the
cache, took something out of is made anew.

The time of that note says when the entry was last handed out, since file systems that are mounted noatime do not know:
`bootlab cache gc` goes by it.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bootlab.build.disk_usage import disk_usage
from bootlab.build.presence import announce
from bootlab.errors import StoreError
from bootlab.plain_file import open_plain
from bootlab.process import ProgramFailed

LOCKS, NOTES, SIZES = "locks", "contents", ".sizes"
"""Folders of every cache, and the ending of a note that says lengths."""
_FULL = (errno.ENOSPC, errno.EDQUOT)
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG)
USE_NOTED_EVERY_S = 3600
"""An entry's last use is noted as at most so much earlier than it was."""
_ELSEWHERE = "BOOTLAB_CACHE=/path/with/space names another folder for the cache"


class Cache:
    """A folder of immutable entries, each a file or a directory at `root/kind/<sha256 of key>`."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

    @classmethod
    def default(cls) -> "Cache":
        """Return this user's cache: $BOOTLAB_CACHE, else $XDG_CACHE_HOME/bootlab, else ~/.cache/bootlab.

        Raises StoreError when this user has no home.
        """
        if named := os.environ.get("BOOTLAB_CACHE"):
            return cls(Path(named))
        if base := os.environ.get("XDG_CACHE_HOME"):
            return cls(Path(base) / "bootlab")
        try:
            return cls(Path.home() / ".cache" / "bootlab")
        except RuntimeError as error:
            raise StoreError("no place for the cache: this user has no home folder", hint=_ELSEWHERE) from error

    def path(self, kind: str, key: str) -> Path:
        """Return where the entry for `key` is or would be."""
        return self.root / kind / hashlib.sha256(key.encode()).hexdigest()

    def find(self, kind: str, key: str) -> Path | None:
        """Return the entry for `key`, or None when it was never made or has lost some of what it held."""
        place = self.path(kind, key)
        return place if self._is_whole(place) else None

    def make(self, kind: str, key: str, build: Callable[[Path], object]) -> Path:
        """Return the entry for `key`; when it is not there, `build(path)` must create a file or directory at `path`.

        `path.parent` is scratch space of this build alone. Whatever `build` raises leaves no entry behind.
        Raises StoreError when the disk is full or the cache cannot be written.
        """
        place = self.path(kind, key)
        if self._is_whole(place):
            return place
        with self.lock(lock_of(place)):
            if self._is_whole(place):
                return place
            scratch = place.with_name(f".{place.name}.new")
            # A killed build may have left its scratch; the lock says that nobody is using it.
            shutil.rmtree(scratch, ignore_errors=True)
            try:
                with self.store_errors(f"making {kind}"):
                    scratch.mkdir(parents=True)
                    made = scratch / "made"
                    if place.exists():
                        place.rename(scratch / "damaged")
                    build(made)
                    _flush(made)
                    if made.is_dir():
                        self.write_text(self.sizes(place), json.dumps(_sizes(made)) + "\n")
                    self.write_text(self.note(place), "".join(f"{line}\n" for line in _contents(made)))
                    made.rename(place)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        announce(self.root / LOCKS)
        return place

    def note(self, place: Path) -> Path:
        """Return the file that says what the entry at `place` holds, and by its time when it was last handed out."""
        return self.root / NOTES / lock_of(place)

    def sizes(self, place: Path) -> Path:
        """Return the file that says how long the files of the entry at `place` are; old entries have none.

        A file of its own: an older bootlab that shares the cache takes a note that says more for a damaged entry.
        """
        return self.root / NOTES / f"{lock_of(place)}{SIZES}"

    def disk_bytes(self, place: Path) -> int | None:
        """Return how much room an entry took on its disk when it was made; None where that was not noted."""
        try:
            return int(json.loads(self.sizes(place).read_text(encoding="utf-8"))["disk_bytes"])
        except (OSError, ValueError, TypeError, KeyError, OverflowError):
            return None

    def note_use(self, place: Path) -> None:
        """Note that the entry at `place` is used now. Never an error, also where this user may only read the cache."""
        announce(self.root / LOCKS)
        with suppress(OSError):
            _note_use(self.note(place))

    def _is_whole(self, place: Path) -> bool:
        note = self.note(place)
        try:
            # Before the look: `bootlab cache gc` takes the note away first, so it sees this use, or is seen here.
            with suppress(PermissionError):
                _note_use(note)
            noted = note.read_text(encoding="utf-8")
            if not _contents(place).issuperset(noted.splitlines()) or not self._has_sizes(place):
                return False
        except (OSError, ValueError):
            return False
        announce(self.root / LOCKS)
        return True

    def _has_sizes(self, place: Path) -> bool:
        try:
            said: Any = json.loads(self.sizes(place).read_text(encoding="utf-8"))
            files = dict(said["files"])
        except FileNotFoundError:
            return True
        except (TypeError, KeyError):
            return False
        return all(os.lstat(place / name).st_size == size for name, size in files.items())

    def write_text(self, path: Path, text: str) -> None:
        """Replace `path`, a file under the root, whole. Raises StoreError."""
        with self.store_errors(f"writing {path.name}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_name(f".{path.name}.{os.getpid()}.new")
            try:
                new.write_text(text, encoding="utf-8")
                new.rename(path)
            finally:
                new.unlink(missing_ok=True)

    @contextmanager
    def lock(self, name: str, *, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Hold `name` against every other process and thread that asks for it; `on_wait()` before a wait for another.

        Raises StoreError.
        """
        try:
            handle = _opened(self.root / LOCKS / name)
        except OSError as error:
            raise self._store_error("locking", error) from error
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                on_wait()
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    @contextmanager
    def store_errors(self, what: str) -> Iterator[None]:
        """Make a StoreError of what a full disk, or a folder that may not be written, raises while `what` is done."""
        try:
            yield
        except OSError as error:
            ours = error.filename is not None and str(error.filename).startswith(str(self.root))
            if error.errno in _FULL or (ours and error.errno in _REFUSED):
                raise self._store_error(what, error) from error
            raise
        except ProgramFailed as error:
            if "No space left on device" in error.stderr or "Disk quota exceeded" in error.stderr:
                raise StoreError(f"{self.root}: no space left while {what}", hint=_ELSEWHERE) from error
            raise

    def _store_error(self, what: str, error: OSError) -> StoreError:
        if error.errno in _FULL:
            return StoreError(f"{self.root}: no space left while {what}", hint=_ELSEWHERE)
        return StoreError(f"{self.root}: {os.strerror(error.errno or 0)} while {what}", hint=_ELSEWHERE)


def lock_of(place: Path) -> str:
    """Return the name of the lock under which the entry at `place` is made, or taken away."""
    return f"{place.parent.name}-{place.name}"


def _opened(lock: Path) -> int:
    # For flock, reading is enough: in a shared cache the file may be another user's.
    with suppress(FileNotFoundError):
        return os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    lock.parent.mkdir(parents=True, exist_ok=True)
    return os.open(lock, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file's bytes, in hex. Raises OSError, for what is no file, too."""
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _contents(made: Path) -> set[str]:
    """Return what an entry holds, two levels deep, one line each; of a file its size. Raises OSError."""
    if not made.is_dir():
        return {f"{made.stat().st_size} bytes"}
    found = set[str]()
    with os.scandir(made) as top:
        for entry in top:
            found.add(repr(entry.name))
            if entry.is_dir(follow_symlinks=False):
                found.update(repr(f"{entry.name}/{name}") for name in os.listdir(entry))
    return found


def _sizes(made: Path) -> dict[str, Any]:
    with os.scandir(made) as top:
        files = {entry.name: entry.stat().st_size for entry in top if entry.is_file(follow_symlinks=False)}
    return {"disk_bytes": disk_usage(made).disk_bytes, "files": files}


def _note_use(note: Path) -> None:
    """Give a note the time of now, where it does not nearly have it. Raises OSError."""
    try:
        if abs(time.time() - os.stat(note).st_mtime) > USE_NOTED_EVERY_S:
            os.utime(note)
    except OSError as error:
        # A file system that may only be read, in the words of one who may not write.
        if error.errno == errno.EROFS:
            raise PermissionError(error.errno, error.strerror) from error
        raise


def _flush(made: Path) -> None:
    # Without this a power cut after the rename can leave an entry that is whole by name and empty by content.
    if made.is_file():
        handle = os.open(made, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
