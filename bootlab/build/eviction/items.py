"""What the cache holds, one by one: values that say nothing of how they were found or go."""

from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path


class Standing(Enum):
    """Which limits hold for an item."""

    ENTRY = auto()
    """Goes when it was not used for long."""
    SCRATCH = auto()
    """Of a call that has ended or not, no lock says which: goes when none can be that old."""
    REMAINS = auto()
    """Half made by a build that was killed, or half removed: goes at once."""


@dataclass(frozen=True, slots=True)
class CacheItem:
    """A file or folder of the cache that can go whole. `used_ns`: its last use as it is known, since 1970."""

    kind: str
    path: Path
    disk_bytes: int
    used_ns: int
    standing: Standing = Standing.ENTRY
    lock: str | None = None
    """The cache's lock that whoever makes or changes it holds."""
    at_work: bool = False
    """Whether somebody holds that lock now."""


@dataclass(frozen=True, slots=True)
class KindContents:
    """All of one kind. `number`: how many there are; `used_ns`: the last use of any, None where none is known."""

    kind: str
    number: int
    disk_bytes: int
    used_ns: int | None
    items: tuple[CacheItem, ...] = ()
    """Those that can go: of some kinds nothing does."""


@dataclass(frozen=True, slots=True)
class UnknownThing:
    """What is left alone, since bootlab did not make it, or not so. `what`: why, in words."""

    path: Path
    disk_bytes: int
    what: str


@dataclass(frozen=True, slots=True)
class CacheContents:
    """All that lies in a cache."""

    root: Path
    kinds: tuple[KindContents, ...]
    """Those of which there is something, in the order of their names."""
    unknown: tuple[UnknownThing, ...]
    unreadable: tuple[str, ...]
    """Folders whose size is not counted: this user may not read them."""

    @property
    def items(self) -> tuple[CacheItem, ...]:
        """Return all that can go."""
        return tuple(item for kind in self.kinds for item in kind.items)

    @property
    def disk_bytes(self) -> int:
        """Return how much room all of it takes."""
        return sum(kind.disk_bytes for kind in self.kinds) + sum(one.disk_bytes for one in self.unknown)
