"""Identifies a user's own kernel tree by its content: the same files at another place are the same source.

Reading 85,000 files takes longer than a boot. So each file's hash is kept beside its size and times, and of a tree in
which nothing has moved since, only the directory entries are read (half a second).
"""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootlab.build.cache import Cache, file_sha256
from bootlab.errors import InputError, StoreError
from bootlab.process import ProgramFailed, run

_FORMAT = "%P\t%y%m %s %T@ %C@ %l\\0"
"""Path, then type and mode, size, time of content, time of status, target of a link."""
_SCAN_DEADLINE_S = 300.0


@dataclass(frozen=True, slots=True)
class Listing:
    """Every file of a tree but git's own, with what tells cheaply that it was changed."""

    tree: Path
    key: str
    """Of the system file that names the tree, for messages."""
    lines: tuple[bytes, ...]
    """Sorted: path, tab, facts."""

    @classmethod
    def load(cls, tree: Path, key: str, saved: bytes) -> "Listing":
        """Return the listing of which `saved` is the bytes."""
        return cls(tree, key, tuple(saved.split(b"\0")))

    @property
    def saved(self) -> bytes:
        """Return it as bytes, to be loaded again."""
        return b"\0".join(self.lines)

    @property
    def stamp(self) -> str:
        """Return a hash that changes when any file of the tree came, went or was written."""
        return hashlib.sha256(self.saved).hexdigest()

    @property
    def facts(self) -> dict[bytes, bytes]:
        """Return path -> what tells cheaply that the file was changed."""
        return {path: facts for path, _, facts in (line.partition(b"\t") for line in self.lines)}


def list_tree(tree: Path, key: str) -> Listing:
    """Return what lies in `tree`, which `key`.source names. Raises InputError when a folder of it cannot be read."""
    words: list[str | Path] = ["find", tree, "-name", ".git", "-prune", "-o", "(", "-type", "f", "-o", "-type", "l"]
    try:
        found = run([*words, ")", "-printf", _FORMAT], deadline_s=_SCAN_DEADLINE_S, package="findutils").stdout
    except ProgramFailed as error:
        raise InputError(f"{key}.source: {error.stderr.strip() or error.message}") from error
    return Listing(tree, key, tuple(sorted(found.split(b"\0"))[1:]))


def identity(listing: Listing, cache: Cache) -> str:
    """Return the hash of all files' paths, contents and permissions; reads only files that changed since last time.

    Raises InputError for a file that cannot be read.
    """
    name = hashlib.sha256(os.fsencode(listing.tree)).hexdigest()[:32]
    short = cache.root / "kernel-trees" / f"{name}.json"
    stamp = listing.stamp
    known = _read(short)
    if known.get("stamp") == stamp:
        return str(known["identity"])
    place = cache.root / "kernel-trees" / f"{name}.files.json"
    before = _read(place)
    files: dict[str, list[str]] = {}
    digest = hashlib.sha256()
    for path, facts in listing.facts.items():
        # JSON is text; what is no UTF-8 comes back as it was.
        key, fact = os.fsdecode(path), os.fsdecode(facts)
        old = before.get(key)
        content = old[1] if old is not None and old[0] == fact else _content(listing, key)
        files[key] = [fact, content]
        digest.update(path + b"\0" + facts.split(b" ", 1)[0] + content.encode() + b"\n")
    # In a cache that others fill and this user reads, every file is read again the next time.
    with suppress(StoreError):
        cache.write_text(place, json.dumps(files))
        cache.write_text(short, json.dumps({"stamp": stamp, "identity": digest.hexdigest()}))
    return digest.hexdigest()


def outdates_objects(before: Listing, now: Listing, made_s: float) -> bool:
    """Return whether make cannot tell what to compile again: files came, went, or changed to what has an older time.

    `before`: what the objects were made of, which was finished at `made_s` (seconds since 1970).
    """
    old, new = before.facts, now.facts
    if old.keys() != new.keys():
        return True
    return any(float(new[path].split(b" ")[2]) <= made_s for path, facts in old.items() if new[path] != facts)


def _content(listing: Listing, name: str) -> str:
    path = listing.tree / name
    try:
        if path.is_symlink():
            return os.readlink(path)
        return file_sha256(path)
    except OSError as error:
        raise InputError(f"{listing.key}.source: {path}: {error.strerror}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
