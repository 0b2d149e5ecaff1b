"""Remembers what a Debian package's name meant when it was last looked up, so that the cache answers offline.

Figures are keyed by the hash of what they were measured on, so a package that is in the cache is used again: it is
looked up anew only after a month or when asked to, and a changed version is said in a note.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from bootlab.build.cache import Cache
from bootlab.build.debian.apt import PrivateApt, Unreachable
from bootlab.build.workshop import Workshop

MAX_AGE_DAYS = 30

PACKAGES, ROOTS = "packages", "roots"
"""Folders of the cache in which is kept what a name meant when it was looked up, and the names of a root.

Without them, and without `apt.LISTS`, all is looked up anew, and what was downloaded or made of it stays.
"""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class PackageRecord:
    """What a name meant when it was last looked up."""

    name: str
    version: str
    sha256: str
    looked_up_s: float
    """Seconds since the epoch."""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A package to look up."""

    name: str
    """As asked for: of a meta package, not that of the package it stands for."""
    suite: str
    arch: str
    """Debian's name of the architecture, or what stands for source."""
    kind: str
    """Of the cache's entries with what was downloaded."""
    what: str
    """Its words in notes and messages."""

    def place(self, cache: Cache) -> Path:
        """Return the file that says what the name meant when it was last looked up."""
        part = self.arch if self.kind == "package" else self.kind
        return cache.root / PACKAGES / f"{self.suite}-{part}-{self.name}.json"


def look_up(
    shop: Workshop, wanted: Wanted, fetch: Callable[[], PackageRecord], *, max_age_days: float
) -> tuple[PackageRecord, tuple[str, ...]]:
    """Return what the name means and what a user should know of it; the cache then has what was downloaded.

    `fetch` looks it up and downloads it, when there is no record younger than `max_age_days`, or to refresh it.
    Raises Unreachable when that needs a network and nothing older is there, and what `fetch` raises.
    """
    # What was looked up lately needs no lock, so nobody waits for another's download, nor needs to write to the cache.
    if (record := _lately(shop, wanted, max_age_days)) is not None:
        return record, ()
    with shop.cache.lock(f"packages-{wanted.suite}-{wanted.arch}"):
        if (record := _lately(shop, wanted, max_age_days)) is not None:
            return record, ()
        old = find_known(wanted, shop.cache)
        try:
            record = fetch()
        except Unreachable as error:
            if old is None:
                raise Unreachable(f"{wanted.what}: {error.message}", hint=error.hint) from error
            return old, (f"{wanted.what}: could not be looked up again; using {old} from the cache",)
        remember(wanted, record, shop.cache)
    if old is not None and old.sha256 != record.sha256:
        return record, (f"{wanted.what}: is now {record}, was {old}; older figures do not apply",)
    return record, ()


def fetch_current(apt: PrivateApt, resolve: Callable[[], _T], keep: Callable[[_T], object], *, refresh: bool) -> _T:
    """Return what `resolve` finds in the archive's lists, after `keep` has downloaded it. Raises what they raise."""
    apt.update(force=refresh)
    package = resolve()
    try:
        keep(package)
    except Unreachable:
        # The lists may name a version that the archive has replaced since; the second answer counts.
        apt.update(force=True)
        package = resolve()
        keep(package)
    return package


def find_known(wanted: Wanted, cache: Cache) -> PackageRecord | None:
    """Return what the name meant when it was last looked up, however long ago; None when the cache has it no more."""
    try:
        record = PackageRecord(**{"name": wanted.name, **json.loads(wanted.place(cache).read_text(encoding="utf-8"))})
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return record if cache.find(wanted.kind, record.sha256) else None


def remember(wanted: Wanted, record: PackageRecord, cache: Cache) -> None:
    """Let the name mean this. The caller holds the lock of `look_up`. Raises StoreError."""
    cache.write_text(wanted.place(cache), json.dumps(asdict(record), indent=1) + "\n")


def is_young(looked_up_s: float, max_age_days: float = MAX_AGE_DAYS) -> bool:
    """Whether what was looked up then, in seconds since the epoch, still holds."""
    return 0 <= time.time() - looked_up_s < max_age_days * 86400


def _lately(shop: Workshop, wanted: Wanted, max_age_days: float) -> PackageRecord | None:
    record = None if shop.refresh else find_known(wanted, shop.cache)
    return record if record is not None and is_young(record.looked_up_s, max_age_days) else None
