"""The files of a ledger: a folder with one file a system, a line an entry, that git merges by keeping both sides.

Lines are only ever added, so two branches that measured never conflict: `.gitattributes` has git's `union` merge for
them, which keeps the lines of both in any order, and whoever reads a ledger sorts it.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.errors import InputError, StoreError
from bootlab.kept_file import UNREADABLE, read_kept_bytes, why_damaged
from bootlab.ledger.entry import SCHEMA, LedgerEntry

ATTRIBUTES: Final = ".gitattributes"
_UNION: Final = "*.jsonl merge=union"
_CONFLICT: Final = (b"<<<<<<< ", b"=======", b">>>>>>> ", b"||||||| ")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class History:
    """The entries of one system, oldest commit first. `remarks`: lines of the file that are none of them, and why."""

    system: str
    entries: tuple[LedgerEntry, ...]
    remarks: tuple[str, ...] = ()


def list_systems(folder: Path) -> list[str]:
    """Return the systems that a ledger has entries of. Raises InputError where there is no ledger."""
    try:
        found = sorted(path.stem for path in folder.glob("*.jsonl"))
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror or error}") from error
    if not found:
        raise InputError(f"{folder}: no ledger there", hint="bootlab ledger add RUN --ledger DIR begins one")
    return found


def read_history(folder: Path, system: str) -> History:
    """Return all entries of a system, sorted; of two with one key the one measured later.

    A damaged line is left out and said. Raises InputError where there is no such system, StoreError for a file that
    cannot be read, or that a merge has left in conflict.
    """
    path = file_of(folder, system)
    try:
        data = read_kept_bytes(path)
    except FileNotFoundError as error:
        known = ", ".join(list_systems(folder))
        raise InputError(f"{system}: the ledger in {folder} has no entry of it; it has {known}") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from error
    by_key: dict[str, LedgerEntry] = {}
    remarks = []
    for number, line in enumerate(data.splitlines(), 1):
        if line.startswith(_CONFLICT):
            raise StoreError(
                f"{path}:{number}: a merge has left a conflict here",
                hint=f"keep the lines of both sides, and remove the marks; {ATTRIBUTES} beside it: {_UNION}",
            )
        if not line.strip():
            continue
        try:
            entry = LedgerEntry.model_validate_json(line)
        except UNREADABLE as error:
            remarks.append(f"{path}:{number}: left out: {_why(line, error)}")
            continue
        if entry.system != system:
            remarks.append(
                f"{path}:{number}: left out: an entry of {ascii(entry.system)[1:-1]}, in the file of {system}"
            )
            continue
        known_entry = by_key.get(entry.key)
        by_key[entry.key] = entry if known_entry is None else _both(known_entry, entry)
    if data and not data.endswith(b"\n"):
        remarks.append(f"{path}: its last line was cut off, or written by hand without an end")
    return History(system, tuple(sorted(by_key.values(), key=lambda one: one.order)), tuple(remarks))


def append_entry(folder: Path, entry: LedgerEntry) -> Path:
    """Add an entry to its system's file and return that. Raises StoreError, and InputError for a name of no file."""
    path = file_of(folder, entry.system)
    line = entry.model_dump_json(by_alias=True, exclude_defaults=False).encode() + b"\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _expect_union(folder / ATTRIBUTES)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            # Two that measure at once write one line after the other.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line
            if os.write(descriptor, line) != len(line):
                os.ftruncate(descriptor, size)
                raise StoreError(f"{path}: the disk is full: nothing was added")
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StoreError(
            f"{path}: {error.strerror or error}", hint="--ledger names a folder that you may write to"
        ) from error
    return path


def _expect_union(attributes: Path) -> None:
    said = attributes.read_text(encoding="utf-8", errors="replace") if attributes.exists() else ""
    if _UNION not in said.splitlines():
        with attributes.open("a", encoding="utf-8") as file:
            file.write(f"{'' if said.endswith(chr(10)) or not said else chr(10)}{_UNION}\n")


def choose(history: History, words: str) -> LedgerEntry:
    """Return the entry that is meant: `last`, `last~2`, or how its commit begins. Raises InputError."""
    entries = history.entries
    if found := re.fullmatch(r"last(?:~(\d{1,6}))?", words):
        back = int(found[1] or 0)
        if back < len(entries):
            return entries[-1 - back]
        raise InputError(f"{words}: {history.system} has {len(entries)} entries")
    meant = [one for one in entries if words and one.commit == words]
    meant = meant or [one for one in entries if words and one.commit.startswith(words)]
    if not meant:
        raise InputError(
            f"{words}: no entry of {history.system} has such a commit", hint=f"bootlab ledger log {history.system}"
        )
    if len({one.commit for one in meant}) > 1:
        raise InputError(f"{words}: several commits begin so: {', '.join(_names(meant))}")
    # Of several measurements of one commit the last.
    return meant[-1]


def file_of(folder: Path, system: str) -> Path:
    """Return the file that has a system's entries. Raises InputError for a name that no file can have."""
    if _NAME.fullmatch(system) is None:
        raise InputError(f"{ascii(system)}: a system's name has letters, digits, '.', '_' and '-'")
    return folder / f"{system}.jsonl"


def _both(one: LedgerEntry, other: LedgerEntry) -> LedgerEntry:
    """Return what two measurements of one state say together, whichever line comes first: more boots say more."""
    less, more = sorted((one, other), key=lambda entry: (len(entry.times.all), entry.measured, entry.note))
    return more.model_copy(update={"issues_ns": {**less.issues_ns, **more.issues_ns}, "note": more.note or less.note})


def _why(line: bytes, error: Exception) -> str:
    for known in (b'"schema":"', b'"schema": "'):
        said = line.partition(known)[2].partition(b'"')[0].decode(errors="replace")
        if said and said != SCHEMA:
            return f"an entry of {said}, this bootlab reads {SCHEMA}"
    return why_damaged(error)


def _names(entries: list[LedgerEntry]) -> Iterator[str]:
    yield from dict.fromkeys(one.commit[:12] for one in entries)
