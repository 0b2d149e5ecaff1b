"""Which items of the cache may go: pure values in, pure values out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bootlab.build.cache import USE_NOTED_EVERY_S
from bootlab.build.eviction.items import CacheItem, Standing
from bootlab.build.eviction.kinds import KINDS

_S: Final = 10**9
DAY_NS: Final = 86400 * _S
_NOTED_LATE_NS: Final = USE_NOTED_EVERY_S * _S


@dataclass(frozen=True, slots=True)
class Eviction:
    """What goes: items not used for so many days, of these kinds (none: of all), down to a size of the whole cache."""

    older_than_days: int
    kinds: frozenset[str] = frozenset()
    to_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class EvictionChoice:
    """What may go, least recently used first, and why what is old enough stays."""

    going: tuple[CacheItem, ...]
    at_work: tuple[CacheItem, ...]
    """Somebody holds their lock."""
    in_use: tuple[CacheItem, ...]
    """A running bootlab may be using them."""
    only_named: tuple[CacheItem, ...]
    """Of kinds that go only where they are named."""


def in_use_since_ns(now_ns: int, working_since_ns: int | None) -> int:
    """Return since when what was used may still be in use: a day, or since the oldest bootlab that runs began.

    A use is noted up to an hour early, so it is that much longer ago.
    """
    day = now_ns - DAY_NS
    return min(day, day if working_since_ns is None else working_since_ns) - _NOTED_LATE_NS


def choose(
    items: Sequence[CacheItem], asked: Eviction, disk_bytes: int, now_ns: int, working_since_ns: int | None
) -> EvictionChoice:
    """Return what of `items` may go. `disk_bytes`: what the cache holds; `working_since_ns`: of `presence`."""
    going, at_work, in_use, only_named = [], [], [], []
    since_ns = in_use_since_ns(now_ns, working_since_ns)
    for item in sorted(items, key=_order):
        if asked.kinds and item.kind not in asked.kinds:
            continue
        old = asked.older_than_days == 0 or item.used_ns < now_ns - asked.older_than_days * DAY_NS
        if not old and item.standing is Standing.ENTRY:
            continue
        if item.at_work:
            at_work.append(item)
        elif item.standing is not Standing.REMAINS and item.used_ns >= since_ns:
            in_use.append(item)
        elif KINDS[item.kind].only_named and not asked.kinds:
            only_named.append(item)
        elif asked.to_bytes is None or disk_bytes > asked.to_bytes or item.standing is not Standing.ENTRY:
            going.append(item)
            disk_bytes -= item.disk_bytes
    return EvictionChoice(tuple(going), tuple(at_work), tuple(in_use), tuple(only_named))


def _order(item: CacheItem) -> tuple[bool, int, str]:
    return item.standing is Standing.ENTRY, item.used_ns, str(item.path)
