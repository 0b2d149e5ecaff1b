"""The inputs that a worker has: found by their hash, looked at before they are used, kept in this user's cache.

An input is where the client has it (a shared folder, or the same host), or a copy in the cache. Neither is believed: a
file counts for as long as it has the hash that is asked for, and a copy that was damaged is sent for again.
"""

import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from bootlab.build.cache import Cache, file_sha256
from bootlab.cluster.order import Input
from bootlab.errors import BootlabError, InputError, StoreError

_KIND: Final = "cluster-input"
_Signature = tuple[int, int, int]


class InputStore:
    """The inputs of one worker process; from any thread."""

    def __init__(self, cache: Cache, scratch: Path) -> None:
        self._cache = cache
        self._scratch = scratch
        self._seen: dict[tuple[str, str], _Signature] = {}
        self._found: dict[str, Path] = {}
        self._lock = threading.Lock()

    def lacking(self, inputs: Iterable[Input]) -> list[str]:
        """Return the hashes of those that are not here, or not whole."""
        return [one.sha256 for one in inputs if self._find(one) is None]

    def path(self, sha256: str) -> Path:
        """Return where an input lies that `lacking` has found here."""
        return self._found[sha256]

    def take(self, sha256: str, offset: int, data: bytes, sender: str) -> None:
        """Write a piece of an input that `sender` sends, whose pieces come in order. Raises StoreError."""
        incoming = self._incoming(sha256, sender)
        try:
            self._scratch.mkdir(parents=True, exist_ok=True)
            with incoming.open("r+b" if offset else "wb") as out:
                out.seek(offset)
                out.write(data)
        except OSError as error:
            raise StoreError(
                f"{self._scratch}: {error.strerror or error} while taking an input of a cluster",
                hint="dask worker --local-directory names another folder for what is under way",
            ) from error

    def finish(self, sha256: str, sender: str) -> bool:
        """Keep the input whose last piece has come; returns False, and keeps nothing, where its hash is another one.

        Raises StoreError.
        """
        incoming = self._incoming(sha256, sender)
        try:
            if not incoming.is_file() or file_sha256(incoming) != sha256:
                return False

            def keep(out: Path) -> None:
                # The cache is on another file system, as a rule.
                with incoming.open("rb") as source, out.open("wb") as target:
                    while piece := source.read(1 << 20):
                        target.write(piece)

            self._cache.make(_KIND, sha256, keep)
            return True
        finally:
            incoming.unlink(missing_ok=True)

    def _incoming(self, sha256: str, sender: str) -> Path:
        if not set(sha256 + sender) <= set("0123456789abcdef"):
            raise InputError("an input's name is not a hash")
        return self._scratch / f"{sha256}-{sender}"

    def _find(self, one: Input) -> Path | None:
        with self._lock:
            copy = self._cache.path(_KIND, one.sha256)
            for place in (one.path, copy):
                if self._has(place, one):
                    if place == copy:
                        self._cache.note_use(copy)
                    self._found[one.sha256] = place
                    return place
            # A damaged copy goes, so that the next one can have its place.
            with suppress(OSError):
                copy.unlink(missing_ok=True)
            return None

    def _has(self, place: Path, one: Input) -> bool:
        try:
            stat = os.stat(place)
            if stat.st_size != one.size or not place.is_file():
                return False
            signature = (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
            key = (str(place), one.sha256)
            if self._seen.get(key) != signature:
                if file_sha256(place) != one.sha256:
                    return False
                self._seen[key] = signature
        except (OSError, BootlabError):
            return False
        return True
