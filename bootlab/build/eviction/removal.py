"""Takes items out of the cache: each is whole or not there, and nobody has it when it goes.

An item is renamed and then deleted. An entry's note goes first: `Cache.find` notes a use before it looks, so either the
use is seen here and the entry stays, or whoever asks finds no entry and makes it again. A removal that is killed before
the entry is renamed leaves the note aside, with its time: it goes with the entry, or comes back to it.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from bootlab.build.cache import LOCKS, NOTES, Cache
from bootlab.build.eviction.items import CacheItem
from bootlab.build.eviction.mounts import mount_point_in
from bootlab.build.eviction.survey import ASIDE, aside_of, entry_of, last_use_ns
from bootlab.build.presence import remove_ended
from bootlab.errors import Interrupted, StoreError


@dataclass(frozen=True, slots=True)
class NotRemoved:
    """An item that could not be removed, and why."""

    item: CacheItem
    why: str


@dataclass(frozen=True, slots=True)
class RemovedItems:
    """What came of a removal."""

    gone: tuple[CacheItem, ...] = ()
    taken: tuple[CacheItem, ...] = ()
    """What somebody began to use, or to remove, meanwhile."""
    vanished: tuple[CacheItem, ...] = ()
    """What somebody else had removed before."""
    failed: tuple[NotRemoved, ...] = ()


def remove(
    cache: Cache, items: Sequence[CacheItem], looked: Callable[[int, CacheItem], None] = lambda number, item: None
) -> RemovedItems:
    """Remove what `choice` found; `looked(number, item)` is called before each.

    What cannot be removed does not stop the others. Interrupted, it leaves one item at most half removed, under a name
    that no bootlab takes for an entry; that goes at the next call. Raises Interrupted.
    """
    gone, taken, vanished, failed = list[CacheItem](), list[CacheItem](), list[CacheItem](), list[NotRemoved]()
    remove_ended(cache.root / LOCKS)
    try:
        for number, item in enumerate(items, 1):
            looked(number, item)
            match _remove_one(cache, item):
                case NotRemoved() as failure:
                    failed.append(failure)
                case _Outcome.GONE:
                    gone.append(item)
                case _Outcome.TAKEN:
                    taken.append(item)
                case _Outcome.VANISHED:
                    vanished.append(item)
    except KeyboardInterrupt as stop:
        raise Interrupted(
            f"interrupted: {len(gone)} of {len(items)} entries were removed, and one more may be half removed",
            hint="the next bootlab cache gc --remove goes on, and takes what is half removed",
        ) from stop
    return RemovedItems(tuple(gone), tuple(taken), tuple(vanished), tuple(failed))


class _Outcome(Enum):
    GONE = auto()
    TAKEN = auto()
    VANISHED = auto()


def _remove_one(cache: Cache, item: CacheItem) -> _Outcome | NotRemoved:
    aside: Path | None = None
    try:
        aside = _take_away(cache, item)
        if aside is None:
            return _Outcome.TAKEN
        _delete(aside)
    except FileNotFoundError:
        # Somebody else was faster, or removes it now.
        return _Outcome.TAKEN if aside is not None and os.path.lexists(aside) else _Outcome.VANISHED
    except StoreError as error:
        return NotRemoved(item, error.message)
    except OSError as error:
        left = f"; what is left of it: {aside}" if aside is not None and aside != item.path else ""
        return NotRemoved(item, f"{error.strerror or error}{left}")
    return _Outcome.GONE


def _take_away(cache: Cache, item: CacheItem) -> Path | None:
    """Rename an item out of the way and return where it is; None where it is used. Raises OSError, StoreError."""
    with _free(cache, item.lock) as free:
        if not free:
            return None
        if item.path.parent == cache.root / NOTES:
            entry = entry_of(cache, item.path)
            return None if entry is not None and os.path.lexists(entry) else item.path
        _expect_no_mount(item.path)
        note = cache.note(item.path)
        note_aside = aside_of(note)
        try:
            with suppress(FileNotFoundError):
                note.rename(note_aside)
            if last_use_ns(item.path, note, item.kind) > item.used_ns:
                _put_back(note_aside, note)
                return None
            aside = _renamed(item.path)
        except BaseException:
            # Ctrl-C, too: without its note an entry that somebody uses would count from when it was made.
            _put_back(note_aside, note)
            raise
        for path in (note_aside, cache.sizes(item.path)):
            path.unlink(missing_ok=True)
        return aside


def _expect_no_mount(path: Path) -> None:
    try:
        point = mount_point_in(path)
    except OSError as error:
        raise StoreError(f"the kernel's list of mounts cannot be read: {error.strerror or error}") from error
    if point is not None:
        raise StoreError(f"something is mounted at {point}: umount it first")


def _put_back(note_aside: Path, note: Path) -> None:
    with suppress(FileNotFoundError):
        note_aside.rename(note)


def _renamed(path: Path) -> Path:
    if path.name.startswith(ASIDE):
        return path
    aside = aside_of(path)
    if os.path.lexists(aside):
        # Half removed before, of an entry that was made again since.
        _expect_no_mount(aside)
        _delete(aside)
    path.rename(aside)
    return aside


def _delete(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    try:
        shutil.rmtree(path)
    except PermissionError:
        _allow_writing(path)
        shutil.rmtree(path)


def _allow_writing(path: Path) -> None:
    # Packages and sources have folders that nobody may write to, their owner neither.
    with suppress(PermissionError):
        path.chmod(stat.S_IRWXU)
    for folder, names, _ in os.walk(path):
        for name in names:
            one = os.path.join(folder, name)
            with suppress(PermissionError, FileNotFoundError):
                if not os.path.islink(one):
                    os.chmod(one, stat.S_IRWXU)


class _Held(Exception):
    """Somebody holds the lock."""


@contextmanager
def _free(cache: Cache, lock: str | None) -> Iterator[bool]:
    """Hold a lock and give True; give False, without waiting, where somebody else has it."""

    def give_up() -> None:
        raise _Held

    with ExitStack() as stack:
        try:
            if lock is not None:
                stack.enter_context(cache.lock(lock, on_wait=give_up))
        except _Held:
            yield False
        else:
            yield True
