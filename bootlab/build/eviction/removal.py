"""Takes items out of the cache: each is whole or not there, and nobody has it when it goes.

An item is renamed and then deleted. An entry's note goes first: `Cache.find` notes a use before it looks, so either the
use is seen here and the entry stays, or whoever asks finds no entry and makes it again.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.cache import LOCKS, NOTES, Cache
from bootlab.build.eviction.items import CacheItem
from bootlab.build.eviction.survey import ASIDE, entry_of, last_use_ns
from bootlab.build.presence import remove_ended
from bootlab.errors import StoreError


@dataclass(frozen=True, slots=True)
class NotRemoved:
    """An item that could not be removed, and why."""

    item: CacheItem
    why: str


@dataclass(frozen=True, slots=True)
class RemovedItems:
    """What has gone, what somebody began to use meanwhile, and what could not be removed."""

    gone: tuple[CacheItem, ...]
    taken: tuple[CacheItem, ...]
    failed: tuple[NotRemoved, ...]


def remove(
    cache: Cache, items: Iterable[CacheItem], looked: Callable[[int, CacheItem], None] = lambda number, item: None
) -> RemovedItems:
    """Remove what `choice` found; `looked(number, item)` is called before each.

    What cannot be removed does not stop the others. Interrupted, it leaves one item at most half removed, under a name
    that no bootlab takes for an entry; that goes at the next call.
    """
    gone, taken, failed = list[CacheItem](), list[CacheItem](), list[NotRemoved]()
    remove_ended(cache.root / LOCKS)
    for number, item in enumerate(items, 1):
        looked(number, item)
        aside: Path | None = None
        try:
            aside = _take_away(cache, item)
            if aside is None:
                taken.append(item)
                continue
            _delete(aside)
        except FileNotFoundError:
            continue  # Somebody else was faster.
        except StoreError as error:
            failed.append(NotRemoved(item, error.message))
        except OSError as error:
            left = f"; what is left of it: {aside}" if aside is not None and aside != item.path else ""
            failed.append(NotRemoved(item, f"{error.strerror or error}{left}"))
        else:
            gone.append(item)
    return RemovedItems(tuple(gone), tuple(taken), tuple(failed))


def _take_away(cache: Cache, item: CacheItem) -> Path | None:
    """Rename an item out of the way and return where it is; None where it is used. Raises OSError, StoreError."""
    with _free(cache, item.lock) as free:
        if not free:
            return None
        if item.path.parent == cache.root / NOTES:
            entry = entry_of(cache, item.path)
            return None if entry is not None and os.path.lexists(entry) else item.path
        note = cache.note(item.path)
        note_aside = note.with_name(f"{ASIDE}{note.name}")
        with suppress(FileNotFoundError):
            note.rename(note_aside)
        try:
            if last_use_ns(item.path, note_aside, item.kind) > item.used_ns:
                _put_back(note_aside, note)
                return None
            aside = _renamed(item.path)
        except OSError:
            _put_back(note_aside, note)
            raise
        for path in (note_aside, cache.sizes(item.path)):
            path.unlink(missing_ok=True)
        return aside


def _put_back(note_aside: Path, note: Path) -> None:
    with suppress(FileNotFoundError):
        note_aside.rename(note)


def _renamed(path: Path) -> Path:
    if path.name.startswith(ASIDE):
        return path
    aside = path.with_name(f"{ASIDE}{path.name.removeprefix('.')}")
    if os.path.lexists(aside):
        # Half removed before, of an entry that was made again since.
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
