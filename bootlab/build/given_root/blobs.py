"""The files that a container image is made of, by name: of an OCI layout's folder, or of a tar archive of one.

Of an archive that is compressed as a whole an unpacked copy is in the cache. Links in it, by which older `docker save`
names a layer twice, are followed within the archive.
"""

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Protocol

from bootlab.build.given_root.tar_stream import inside
from bootlab.errors import InputError
from bootlab.system.part import brief

_LINKS_AT_MOST: Final = 8


class Blobs(Protocol):
    """Where the files of a container image are."""

    where: str

    def open(self, name: str) -> IO[bytes] | None:
        """Return a file opened for reading; None where there is no such file."""


class FolderBlobs:
    """Those of a folder."""

    def __init__(self, folder: Path) -> None:
        self.where = str(folder)
        self._folder = folder

    def open(self, name: str) -> IO[bytes] | None:
        path = self._folder / inside(name, self.where)
        try:
            return path.open("rb") if path.is_file() else None
        except OSError as error:
            raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from error


class _TarBlobs:
    def __init__(self, where: str, archive: tarfile.TarFile) -> None:
        self.where = where
        self._archive = archive
        self._members: dict[str, tarfile.TarInfo] = {}
        for member in archive:
            name = inside(member.name, where)
            if name in self._members and not member.isdir():
                raise InputError(f"{where}: {brief(name)!r} is in it twice: which one counts is not said")
            self._members[name] = member

    def open(self, name: str) -> IO[bytes] | None:
        path = inside(name, self.where)
        for _ in range(_LINKS_AT_MOST):
            member = self._members.get(path)
            if member is None:
                return None
            if member.isreg():
                return self._archive.extractfile(member)
            if not member.issym() and not member.islnk():
                return None
            path = _target(path, member)
        raise InputError(f"{self.where}: {brief(name)!r}: links lead in a circle")


def _target(path: str, member: tarfile.TarInfo) -> str:
    if member.islnk():
        return member.linkname.strip("/")
    parts = path.split("/")[:-1]
    for part in member.linkname.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


@contextmanager
def open_archive(path: Path, where: str) -> Iterator[Blobs]:
    """Give the files of a tar archive that is not compressed. Raises InputError for one that cannot be read."""
    try:
        with tarfile.open(path, mode="r:", encoding="utf-8") as archive:
            yield _TarBlobs(where, archive)
    except tarfile.TarError as error:
        raise InputError(f"{where}: cut off or damaged: {error}", hint="copy or make it again") from error
    except OSError as error:
        raise InputError(f"{where}: {(error.strerror or str(error)).lower()}") from error
