"""What may go: the old, least recently used first; nothing that somebody may be using; only as much as is asked."""

from pathlib import Path
from typing import Any

from bootlab.build.eviction.choice import DAY_NS, Eviction, EvictionChoice, choose, in_use_since_ns
from bootlab.build.eviction.items import CacheItem, Standing

NOW_NS = 1000 * DAY_NS
HOUR_NS = DAY_NS // 24


def item(name: str, days: float, size: int = 10, kind: str = "kernel", **more: Any) -> CacheItem:
    return CacheItem(kind, Path(name), size, NOW_NS - int(days * DAY_NS), **more)


def chosen(items: list[CacheItem], asked: Eviction, since_days: float | None = None) -> EvictionChoice:
    since_ns = None if since_days is None else NOW_NS - int(since_days * DAY_NS)
    return choose(items, asked, sum(one.disk_bytes for one in items), NOW_NS, since_ns)


def names(items: tuple[CacheItem, ...]) -> list[str]:
    return [str(one.path) for one in items]


def test_what_was_not_used_for_long_goes_the_oldest_first() -> None:
    items = [item("young", 29.9), item("old", 31), item("older", 500), item("new", 0)]
    found = chosen(items, Eviction(30))
    assert names(found.going) == ["older", "old"]
    assert found.in_use == found.at_work == found.only_named == ()
    assert names(chosen(items, Eviction(36500)).going) == []


def test_nothing_goes_that_was_used_within_a_day_whatever_is_asked() -> None:
    items = [item("now", 0), item("hours", 0.9), item("noted late", 1.02), item("two days", 2), item("future", -400)]
    for asked in (Eviction(0), Eviction(0, to_bytes=0), Eviction(0, frozenset({"kernel"}), 0)):
        found = chosen(items, asked)
        assert names(found.going) == ["two days"]
        assert set(names(found.in_use)) == {"now", "hours", "noted late", "future"}


def test_nothing_goes_that_was_used_since_the_oldest_bootlab_that_runs_began() -> None:
    items = [item("since", 39), item("noted late", 40.02), item("before", 41)]
    found = chosen(items, Eviction(30), since_days=40)
    assert names(found.going) == ["before"]
    assert names(found.in_use) == ["noted late", "since"]
    assert names(chosen(items, Eviction(30), since_days=0.01).going) == ["before", "noted late", "since"]
    assert in_use_since_ns(NOW_NS, NOW_NS - DAY_NS // 2) == NOW_NS - DAY_NS - HOUR_NS


def test_only_as_much_goes_as_comes_down_to_a_size() -> None:
    items = [item("a", 5), item("b", 4), item("c", 3), item("d", 0)]
    assert names(chosen(items, Eviction(0, to_bytes=40)).going) == []
    assert names(chosen(items, Eviction(0, to_bytes=39)).going) == ["a"]
    assert names(chosen(items, Eviction(0, to_bytes=20)).going) == ["a", "b"]
    assert names(chosen(items, Eviction(0, to_bytes=0)).going) == ["a", "b", "c"]
    assert names(chosen(items, Eviction(4, to_bytes=0)).going) == ["a"]


def test_only_the_kinds_that_are_named_go() -> None:
    items = [item("a", 50), item("b", 60, kind="card"), item("names", 70, kind="packages")]
    found = chosen(items, Eviction(30))
    assert names(found.going) == ["b", "a"] and names(found.only_named) == ["names"]
    assert names(chosen(items, Eviction(30, frozenset({"card"}))).going) == ["b"]
    assert names(chosen(items, Eviction(30, frozenset({"packages", "kernel"}))).going) == ["names", "a"]


def test_what_is_worked_on_stays_and_remains_go_at_any_age() -> None:
    items = [
        item("locked", 50, at_work=True),
        item("half made", 0, standing=Standing.REMAINS),
        item("being made", 0, standing=Standing.REMAINS, at_work=True),
        item("temporary", 0.5, standing=Standing.SCRATCH),
        item("forgotten", 3, standing=Standing.SCRATCH),
    ]
    found = chosen(items, Eviction(30, to_bytes=1000))
    assert names(found.going) == ["forgotten", "half made"]
    assert names(found.at_work) == ["being made", "locked"]
    assert names(found.in_use) == ["temporary"]
