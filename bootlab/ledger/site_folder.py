"""The folder of a published site: every file is written whole, and files of others are neither changed nor removed.

All that is new is written beside it first and then takes its name, pages before those that link to them. What belongs
to the site stands in `bootlab-site.json` with its hash: a file that is not there, or is another by now, is somebody
else's.
"""

import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from pydantic import Field, ValidationError, field_validator

from bootlab.build.cache import file_sha256
from bootlab.document import Document
from bootlab.errors import InputError, StoreError
from bootlab.kept_file import UNREADABLE, read_kept, read_kept_json, why_damaged

MANIFEST: Final = "bootlab-site.json"
_STAGE: Final = ".bootlab-site.new"
_LOCK: Final = ".bootlab-site.lock"
_SCHEMA: Final = "bootlab.site/1"
_ANOTHER: Final = "name a folder of its own, or move that file away"


class SiteFile(Document):
    """A file of the site."""

    sha256: list[str]
    """Of its content; of two while a publication is under way."""
    size: int = Field(default=-1)
    made_of: str = ""
    """Hash of what it was made of; empty where that is not known."""


class _Manifest(Document):
    schema_: Literal["bootlab.site/1"] = Field(default=_SCHEMA, alias="schema")
    files: dict[str, SiteFile] = {}

    @field_validator("files")
    @classmethod
    def _inside(cls, files: dict[str, SiteFile]) -> dict[str, SiteFile]:
        for name in files:
            path = PurePosixPath(name)
            if path.is_absolute() or not path.parts or ".." in path.parts or "\0" in name:
                raise ValueError(f"{name!r} is no path below the folder")
        return files


@dataclass(frozen=True, slots=True)
class Publication:
    """What a publication did: numbers of files, and those that it left because somebody has changed them."""

    written: int
    unchanged: int
    removed: int
    left: tuple[str, ...]


class SiteFolder:
    """A site in the making; `open_site` gives one."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._stage = root / _STAGE
        self._old = _read_manifest(root).files
        self._new: dict[str, SiteFile] = {}
        self._staged: list[str] = []

    def keep(self, name: str, made_of: str | None) -> bool:
        """Return whether a file is there that was made of the same, or of anything for None; then it stays as it is."""
        known = self._old.get(name)
        if known is None or not known.made_of or made_of not in (None, known.made_of):
            return False
        try:
            same = (self._root / name).lstat().st_size == known.size
        except OSError:
            return False
        if same:
            self._new[name] = known
        return same

    def read(self, name: str) -> str:
        """Return the text of a file of the site, which `keep` or `put` has named. Raises StoreError."""
        path = (self._stage if name in self._staged else self._root) / name
        try:
            return read_kept(path)
        except (OSError, ValueError) as error:
            raise StoreError(f"{path}: cannot be read: {why_damaged(error)}", hint=_ANOTHER) from error

    def put(self, name: str, text: str, made_of: str = "") -> None:
        """Write a file beside the site; it takes its name in `publish`, in the order of these calls.

        Raises InputError where a file of somebody else has that name, StoreError.
        """
        data = text.encode(errors="backslashreplace")
        new = SiteFile(sha256=[hashlib.sha256(data).hexdigest()], size=len(data), made_of=made_of)
        self._new[name] = new
        if self._is_free(name, new):
            return
        path = self._stage / name
        with _writing(self._root):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        self._staged.append(name)

    def publish(self) -> Publication:
        """Give every file its name and remove what the site has no more. Raises StoreError."""
        gone = [name for name in self._old if name not in self._new]
        with _writing(self._root):
            # Whenever this ends, each file of the site is known by one of the two.
            both = {
                name: SiteFile(sha256=list(dict.fromkeys([*self._hashes(name), *one.sha256])))
                for name, one in self._new.items()
                if name in self._staged
            }
            self._write_manifest({**self._old, **self._new, **both})
            for name in self._staged:
                target = self._root / name
                target.parent.mkdir(parents=True, exist_ok=True)
                (self._stage / name).replace(target)
            left = [name for name in gone if not self._remove(name)]
            if self._staged or gone or not (self._root / MANIFEST).exists() or self._new != self._old:
                self._write_manifest(self._new)
        return Publication(len(self._staged), len(self._new) - len(self._staged), len(gone) - len(left), tuple(left))

    def discard(self) -> None:
        """Remove what was written beside the site and has not got its name."""
        shutil.rmtree(self._stage, ignore_errors=True)

    def _hashes(self, name: str) -> list[str]:
        return self._old[name].sha256 if name in self._old else []

    def _is_free(self, name: str, new: SiteFile) -> bool:
        """Return whether the file is there already; raises InputError where another is."""
        target = self._root / name
        folder = target.parent
        if not folder.resolve().is_relative_to(self._root.resolve()):
            raise InputError(f"{folder}: leads out of the site, by a link", hint=_ANOTHER)
        if not os.path.lexists(target):
            return False
        if target.is_symlink() or not target.is_file():
            raise InputError(f"{target}: is there, and is no file that bootlab has published", hint=_ANOTHER)
        with _writing(self._root):
            digest = file_sha256(target)
        if digest in new.sha256:
            return True
        if digest not in self._hashes(name):
            what = "has been changed since" if name in self._old else "is there, and bootlab has not published it"
            raise InputError(f"{target}: {what}; nothing was published", hint=_ANOTHER)
        return False

    def _remove(self, name: str) -> bool:
        """Remove a file that the site has no more; one that somebody has changed stays, and False is returned."""
        target = self._root / name
        if not target.parent.resolve().is_relative_to(self._root.resolve()):
            return False
        if not os.path.lexists(target):
            return True
        if target.is_symlink() or not target.is_file() or file_sha256(target) not in self._hashes(name):
            return False
        target.unlink()
        for folder in target.relative_to(self._root).parents:
            try:
                if folder.parts:
                    (self._root / folder).rmdir()
            except OSError:
                # Something is left in it.
                break
        return True

    def _write_manifest(self, files: Mapping[str, SiteFile]) -> None:
        text = _Manifest(files=dict(sorted(files.items()))).model_dump_json(by_alias=True, indent=1) + "\n"
        self._stage.mkdir(parents=True, exist_ok=True)
        new = self._stage / MANIFEST
        with new.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._root / MANIFEST)


@contextmanager
def open_site(root: Path) -> Iterator[SiteFolder]:
    """Give the site in a folder, which is made where there is none; nobody else publishes there meanwhile.

    However this ends, nothing half-written is left. Raises InputError, StoreError.
    """
    with _writing(root):
        root.mkdir(parents=True, exist_ok=True)
        lock = os.open(root / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(f"{root}: another bootlab publishes there", hint="wait for it, or end it") from error
        site = SiteFolder(root)
        # Of one that was killed.
        site.discard()
        try:
            yield site
        finally:
            site.discard()
    finally:
        os.close(lock)


def _read_manifest(root: Path) -> _Manifest:
    path = root / MANIFEST
    try:
        return _Manifest.model_validate_json(read_kept_json(path))
    except FileNotFoundError:
        return _Manifest()
    except (*UNREADABLE, ValidationError) as error:
        raise StoreError(
            f"{path}: damaged: {why_damaged(error)}", hint="publish into another folder, or remove that site whole"
        ) from error


@contextmanager
def _writing(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise StoreError(
            f"{error.filename or root}: {error.strerror or error}",
            hint="free some space: the site is as it was" if full else "name a folder that you may write to",
        ) from error
