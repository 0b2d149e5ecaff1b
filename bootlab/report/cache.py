"""The cache as lists: what it holds, kind by kind, and what of it goes or has gone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import Field
from rich.console import RenderableType

from bootlab.build.eviction.choice import DAY_NS, Eviction, EvictionChoice
from bootlab.build.eviction.items import CacheContents, CacheItem, Standing, UnknownThing
from bootlab.build.eviction.kinds import KINDS, Layout
from bootlab.build.eviction.removal import RemovedItems
from bootlab.document import Document
from bootlab.report.parts.figures import count, size_words, visible
from bootlab.report.parts.terminal_tables import keep_whole, plain_table
from bootlab.report.parts.view import View

CACHE_SCHEMA: Final = "bootlab.cache/1"
EVICTION_SCHEMA: Final = "bootlab.cache-gc/1"
_FIRST_S: Final = int(datetime.min.replace(tzinfo=UTC).timestamp())
_LAST_S: Final = int(datetime.max.replace(microsecond=0, tzinfo=UTC).timestamp())
_WHY: Final = {
    Standing.ENTRY: "",
    Standing.SCRATCH: "  temporary, of a call that has ended",
    Standing.REMAINS: "  half made or half removed",
}


class CacheKindRow(Document):
    """A kind of things in the cache. `last_used_ns`: since 1970, null where nobody knows; `goes`: by which rule."""

    kind: str
    holds: str
    entries: int
    bytes: int
    last_used_ns: int | None
    goes: Literal["by age", "when named", "never"]
    why: str
    """Why it never goes."""


class UnknownRow(Document):
    """What bootlab did not make, or not so."""

    path: str
    bytes: int
    what: str


class CacheDocument(Document):
    """All that a cache holds. Sizes are room on the disk."""

    schema_: Literal["bootlab.cache/1"] = Field(default=CACHE_SCHEMA, alias="schema")
    cache: str
    kinds: list[CacheKindRow]
    unknown: list[UnknownRow]
    unreadable: list[str]
    """Folders that are not counted."""
    bytes: int
    free_bytes: int | None


class EvictedRow(Document):
    """One file or folder that goes."""

    kind: str
    path: str
    bytes: int
    last_used_ns: int
    why: Literal["unused", "scratch", "remains"]


class NotRemovedRow(Document):
    """What could not be removed."""

    path: str
    why: str


class EvictionDocument(Document):
    """What of a cache goes, and what stays for which reason."""

    schema_: Literal["bootlab.cache-gc/1"] = Field(default=EVICTION_SCHEMA, alias="schema")
    cache: str
    older_than_days: int
    kinds: list[str]
    to_bytes: int | None
    removed: bool
    """Whether it is gone; else it is what would go."""
    removable: list[EvictedRow]
    not_removed: list[NotRemovedRow]
    already_gone: list[str]
    """What somebody else had removed before."""
    at_work: list[str]
    """What somebody works on now."""
    in_use: int
    in_use_bytes: int
    """What a running bootlab may be using."""
    working_since_ns: int | None
    """When the oldest bootlab that runs began."""
    only_named: list[str]
    """Old enough, but goes only where its kind is named."""
    left_alone: list[CacheKindRow]
    unknown: list[UnknownRow]
    unreadable: list[str]
    kept_bytes: int
    free_bytes: int | None


@dataclass(frozen=True, slots=True)
class Evicted:
    """A cache, what was asked of it, and what came of that. `done`: None where things were only listed."""

    found: CacheContents
    asked: Eviction
    choice: EvictionChoice
    working_since_ns: int | None
    done: RemovedItems | None
    free_bytes: int | None
    now_ns: int


def cache_view(found: CacheContents, free_bytes: int | None) -> View:
    """Return what a cache holds."""
    rows = _kind_rows(found)
    document = CacheDocument(
        cache=_text(found.root),
        kinds=rows,
        unknown=_unknown_rows(found.unknown),
        unreadable=[_text(Path(one)) for one in found.unreadable],
        bytes=found.disk_bytes,
        free_bytes=free_bytes,
    )
    table = plain_table("kind", "entries>", "size>", "last used", "what it holds")
    keep_whole(table, table.columns[:4])
    for row in rows:
        used = _day(row.last_used_ns) if row.last_used_ns is not None else ""
        why = f" (stays: {row.why})" if row.goes == "never" else ""
        table.add_row(row.kind, count(row.entries), size_words(row.bytes), used, f"{row.holds}{why}")
    lines: list[RenderableType] = [table] if rows else []
    lines += _elsewhere(found)
    free = f", {size_words(free_bytes)} free on its file system" if free_bytes is not None else ""
    lines.append(visible(f"{found.root}: {size_words(found.disk_bytes)}{free}"))
    return View(document, tuple(lines))


def eviction_view(evicted: Evicted) -> View:
    """Return what of a cache goes or has gone, and what stays; it is good when all went that was to go."""
    found, choice, done = evicted.found, evicted.choice, evicted.done
    gone = choice.going if done is None else done.gone
    failed = () if done is None else done.failed
    vanished = () if done is None else done.vanished
    kept_bytes = found.disk_bytes - _bytes(gone) - _bytes(vanished)
    at_work = [*choice.at_work, *(() if done is None else done.taken)]
    document = EvictionDocument(
        cache=_text(found.root),
        older_than_days=evicted.asked.older_than_days,
        kinds=sorted(evicted.asked.kinds),
        to_bytes=evicted.asked.to_bytes,
        removed=done is not None,
        removable=[_evicted_row(item) for item in gone],
        not_removed=[NotRemovedRow(path=_text(one.item.path), why=one.why) for one in failed],
        already_gone=[_text(item.path) for item in vanished],
        at_work=[_text(item.path) for item in at_work],
        in_use=len(choice.in_use),
        in_use_bytes=_bytes(choice.in_use),
        working_since_ns=evicted.working_since_ns,
        only_named=[_text(item.path) for item in choice.only_named],
        left_alone=[row for row in _kind_rows(found) if row.goes == "never"],
        unknown=_unknown_rows(found.unknown),
        unreadable=[_text(Path(one)) for one in found.unreadable],
        kept_bytes=kept_bytes,
        free_bytes=evicted.free_bytes,
    )
    lines = [_line(item, evicted.now_ns) for item in gone if KINDS[item.kind].layout is not Layout.NOTES]
    if notes := [item for item in gone if KINDS[item.kind].layout is Layout.NOTES]:
        lines.append(f"{size_words(_bytes(notes)):>10}  {'':>8}  contents  {len(notes)} notes on entries that are gone")
    said = "may go (--remove removes them)" if done is None else "removed"
    free = f", {size_words(evicted.free_bytes)} free" if evicted.free_bytes is not None else ""
    lines.append(f"{len(gone)} entries, {size_words(_bytes(gone))}, {said}; {size_words(kept_bytes)} stay{free}")
    if vanished:
        lines.append(f"{len(vanished)} entries, {size_words(_bytes(vanished))}, were removed by somebody else before")
    lines += _staying(evicted, kept_bytes)
    lines += [f"stays, somebody works on it: {visible(str(item.path))}" for item in at_work]
    lines += [_left_line(row) for row in document.left_alone]
    lines += _elsewhere(found)
    lines += [visible(f"not removed: {one.item.path}: {one.why}") for one in failed]
    if failed:
        lines.append(f"{len(failed)} entries could not be removed")
    return View(document, tuple(lines), good=not failed)


def _staying(evicted: Evicted, kept_bytes: int) -> list[str]:
    choice, to_bytes = evicted.choice, evicted.asked.to_bytes
    lines = []
    if to_bytes is not None and kept_bytes > to_bytes:
        lines.append(f"--to {size_words(to_bytes)} is not reached: no more may go")
    if choice.in_use:
        since = evicted.working_since_ns
        running = f", or since the oldest bootlab that runs began ({_minute(since)})" if since is not None else ""
        many = f"{len(choice.in_use)} entries, {size_words(_bytes(choice.in_use))}"
        lines.append(f"stays, used within the last day{running}: {many}")
    for kind in sorted({item.kind for item in choice.only_named}):
        number = sum(item.kind == kind for item in choice.only_named)
        lines.append(f"stays unless --kind {kind} names it: {number} files: {KINDS[kind].holds}")
    return lines


def _elsewhere(found: CacheContents) -> list[str]:
    lines = [visible(f"left alone, {one.what}: {one.path}, {size_words(one.disk_bytes)}") for one in found.unknown]
    return lines + [visible(f"not counted, it cannot be read: {folder}") for folder in found.unreadable]


def _kind_rows(found: CacheContents) -> list[CacheKindRow]:
    rows = []
    for one in found.kinds:
        kind = KINDS[one.kind]
        goes: Literal["by age", "when named", "never"] = "when named" if kind.only_named else "by age"
        if kind.layout is Layout.LEFT_ALONE:
            goes = "never"
        row = CacheKindRow(
            kind=one.kind,
            holds=kind.holds,
            entries=one.number,
            bytes=one.disk_bytes,
            last_used_ns=one.used_ns,
            goes=goes,
            why=kind.why_left,
        )
        rows.append(row)
    return rows


def _unknown_rows(unknown: Sequence[UnknownThing]) -> list[UnknownRow]:
    return [UnknownRow(path=_text(one.path), bytes=one.disk_bytes, what=one.what) for one in unknown]


def _evicted_row(item: CacheItem) -> EvictedRow:
    why: dict[Standing, Literal["unused", "scratch", "remains"]] = {
        Standing.ENTRY: "unused",
        Standing.SCRATCH: "scratch",
        Standing.REMAINS: "remains",
    }
    return EvictedRow(
        kind=item.kind,
        path=_text(item.path),
        bytes=item.disk_bytes,
        last_used_ns=item.used_ns,
        why=why[item.standing],
    )


def _line(item: CacheItem, now_ns: int) -> str:
    days = max(now_ns - item.used_ns, 0) // DAY_NS
    age = f"{count(days)} day{'' if days == 1 else 's'}"
    return visible(f"{size_words(item.disk_bytes):>10}  {age:>8}  {item.kind}  {item.path}{_WHY[item.standing]}")


def _left_line(row: CacheKindRow) -> str:
    return f"left alone: {row.kind}, {size_words(row.bytes)}: {row.why}"


def _bytes(items: Sequence[CacheItem]) -> int:
    return sum(item.disk_bytes for item in items)


def _day(ns: int) -> str:
    return _minute(ns)[:10]


def _minute(ns: int) -> str:
    # A file's time can be of any year, and datetime has those from 1 to 9999.
    seconds = min(max(ns // 10**9, _FIRST_S), _LAST_S)
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat(' ')[:16]} UTC"


def _text(path: Path) -> str:
    # JSON is UTF-8, and a name need not be.
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
