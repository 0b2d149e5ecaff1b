"""Looks at all that lies in a cache: what it is, how much room it takes, when it was last used. Nothing is touched."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from bootlab.build.cache import LOCKS, SIZES, Cache, lock_of
from bootlab.build.disk_usage import disk_usage
from bootlab.build.eviction.items import CacheContents, CacheItem, KindContents, Standing, UnknownThing
from bootlab.build.eviction.kinds import KINDS, SCRATCH, SCRATCH_PREFIXES, CacheKind, Layout
from bootlab.build.presence import is_held
from bootlab.errors import StoreError

ASIDE: Final = ".removing-"
"""What the name of something begins with that is being removed, or half was."""
_HASH: Final = "[0-9a-f]{64}"
_ENTRY: Final = re.compile(_HASH)
_HALF_MADE: Final = re.compile(rf"\.({_HASH})\.new")
_HALF_WRITTEN: Final = re.compile(r"\..+\.\d+\.new", re.DOTALL)
_NOTE: Final = re.compile(rf"(?:{re.escape(ASIDE)})?([a-z-]+)-({_HASH})(?:{re.escape(SIZES)})?")
_STALE: Final = ".stale"
_FAILED_LOG: Final = re.compile(r"[^.].*-failed\.log", re.DOTALL)
_LINK: Final = "a symbolic link, which is not followed"
_STRANGE: Final = "not bootlab's"


def survey(cache: Cache, looked: Callable[[str], None] = lambda kind: None) -> CacheContents:
    """Return what lies in a cache; `looked(kind)` is called at each entry and folder on the way.

    What vanishes meanwhile is left out. Raises StoreError where the cache itself cannot be read.
    """
    found = _Surveyor(cache, looked)
    try:
        names = sorted(os.listdir(cache.root))
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise StoreError(
            f"{cache.root}: cannot be read: {error.strerror or error}",
            hint="BOOTLAB_CACHE says which folder is looked at",
        ) from error
    for name in names:
        found.look_at(name)
    kinds = sorted(found.kinds.values(), key=lambda kind: kind.kind)
    return CacheContents(cache.root, tuple(kinds), tuple(found.unknown), tuple(found.unreadable))


class _Surveyor:
    """What was found so far."""

    def __init__(self, cache: Cache, looked: Callable[[str], None]) -> None:
        self._cache = cache
        self._looked = looked
        self.kinds: dict[str, KindContents] = {}
        self.unknown: list[UnknownThing] = []
        self.unreadable: list[str] = []

    def look_at(self, name: str) -> None:
        """Add what lies at the cache's top under this name."""
        path, kind = self._cache.root / name, KINDS.get(name)
        if name.startswith((*SCRATCH_PREFIXES, ASIDE)):
            kind = KINDS[SCRATCH]
        if path.is_symlink() or kind is None or not path.is_dir():
            self._add_unknown(path, "")
        elif kind.layout is Layout.SCRATCH:
            items = self._items(kind, path, Standing.REMAINS if name.startswith(ASIDE) else Standing.SCRATCH)
            before = self.kinds.get(SCRATCH, KindContents(SCRATCH, 0, 0, None))
            self._add(kind, before.number + 1, before.disk_bytes, (*before.items, *items))
        elif kind.layout is Layout.LEFT_ALONE:
            self._add_left_alone(kind, path)
        else:
            self._add_kind(kind, path)

    def _add_left_alone(self, kind: CacheKind, folder: Path) -> None:
        places = self._listed(folder)
        times = [os.lstat(place).st_mtime_ns for place in places if os.path.lexists(place)]
        self.kinds[kind.name] = KindContents(
            kind.name, len(places), self._size(kind.name, folder), max(times, default=None)
        )

    def _add_kind(self, kind: CacheKind, folder: Path) -> None:
        number, other_bytes, items = 0, _blocks(folder), list[CacheItem]()
        for place in self._listed(folder):
            self._looked(kind.name)
            found = list(self._of_kind(kind, place))
            if not found and kind.layout is Layout.NOTES:
                other_bytes += self._size(kind.name, place)
            elif not found:
                self._add_unknown(place, kind.name)
                continue
            items += found
            number += 1
        self._add(kind, number, other_bytes, tuple(items))

    def _add(self, kind: CacheKind, number: int, other_bytes: int, items: tuple[CacheItem, ...]) -> None:
        used_ns = max((item.used_ns for item in items), default=None)
        size = other_bytes + sum(item.disk_bytes for item in items)
        self.kinds[kind.name] = KindContents(kind.name, number, size, used_ns, items)

    def _of_kind(self, kind: CacheKind, place: Path) -> Iterator[CacheItem]:
        """Yield what can go of what lies at a place in a kind's folder; nothing for what is not bootlab's."""
        name = place.name
        if place.is_symlink():
            return
        if kind.layout is Layout.NOTES and (entry := entry_of(self._cache, place)) is not None:
            if not os.path.lexists(entry):
                yield from self._items(kind, place, Standing.REMAINS, lock_of(entry))
        elif name.startswith(ASIDE):
            yield from self._items(kind, place, Standing.REMAINS)
        elif kind.layout is Layout.ENTRIES and (half := _HALF_MADE.fullmatch(name)):
            yield from self._items(kind, place, Standing.REMAINS, lock_of(place.with_name(half[1])))
        elif _HALF_WRITTEN.fullmatch(name):
            yield from self._items(kind, place, Standing.SCRATCH)
        elif kind.layout is Layout.ENTRIES and _ENTRY.fullmatch(name):
            yield from self._items(kind, place, Standing.ENTRY, lock_of(place))
        elif kind.layout is Layout.WORK_FOLDERS and place.is_dir():
            standing = Standing.REMAINS if name.endswith(_STALE) else Standing.ENTRY
            yield from self._items(kind, place, standing, f"{kind.lock}{name.removesuffix(_STALE)}")
        elif place.is_file() and (kind.layout is Layout.FILES or _FAILED_LOG.fullmatch(name)):
            yield from self._items(kind, place, Standing.ENTRY)

    def _items(self, kind: CacheKind, place: Path, standing: Standing, lock: str | None = None) -> Iterator[CacheItem]:
        """Yield the item at a place, unless it has vanished."""
        try:
            used_ns = last_use_ns(place, self._cache.note(place), kind.name)
        except OSError:
            return
        noted = self._cache.disk_bytes(place) if kind.layout is Layout.ENTRIES else None
        size = noted if noted is not None else self._size(kind.name, place)
        at_work = lock is not None and is_held(self._cache.root / LOCKS / lock)
        yield CacheItem(kind.name, place, size, used_ns, standing, lock, at_work)

    def _add_unknown(self, path: Path, kind: str) -> None:
        if os.path.lexists(path):
            what = _LINK if path.is_symlink() else _STRANGE
            self.unknown.append(UnknownThing(path, self._size(kind, path), what))

    def _listed(self, folder: Path) -> list[Path]:
        try:
            return sorted(folder.iterdir())
        except FileNotFoundError:
            return []
        except OSError:
            self.unreadable.append(str(folder))
            return []

    def _size(self, kind: str, place: Path) -> int:
        usage = disk_usage(place, lambda: self._looked(kind))
        self.unreadable += usage.unreadable
        return usage.disk_bytes


def last_use_ns(place: Path, note: Path, kind: str) -> int:
    """Return when something of a kind was last used, in ns since 1970; `note`: where an entry's note lies.

    An entry without a note is handed out to nobody; it counts from when it came there. Of what is no entry it is when
    it was last written. Raises OSError where it is gone.
    """
    facts = os.lstat(place)
    if KINDS[kind].layout is not Layout.ENTRIES:
        return facts.st_mtime_ns
    for one in (note, aside_of(note)):
        with suppress(FileNotFoundError):
            return os.lstat(one).st_mtime_ns
    return facts.st_ctime_ns


def aside_of(path: Path) -> Path:
    """Return where something is put before it is removed, or a note while that of its entry is."""
    return path.with_name(f"{ASIDE}{path.name.removeprefix('.')}")


def entry_of(cache: Cache, note: Path) -> Path | None:
    """Return where the entry lies, or lay, that a file among the notes is about, put aside or not; None for no note."""
    found = _NOTE.fullmatch(note.name)
    return cache.root / found[1] / found[2] if found is not None else None


def free_bytes(root: Path) -> int | None:
    """Return how much room this user has left on the file system of `root`; None where there is no such folder."""
    try:
        facts = os.statvfs(root)
    except OSError:
        return None
    return facts.f_bavail * facts.f_frsize


def _blocks(folder: Path) -> int:
    try:
        return os.lstat(folder).st_blocks * 512
    except OSError:
        return 0
