"""A root file system in a folder of this host: its files as entries. It is read, never written to.

Who owns the folder counts as root: one that an ordinary user has unpacked is theirs from top to bottom. All other
owners stay as they are. What is mounted below it stays out, and so do sockets.
"""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bootlab.build.formats.cpio import Entry
from bootlab.build.given_root.limits import Budget
from bootlab.build.given_root.tar_stream import is_kept
from bootlab.errors import InputError

_NO_ROOT: Final = "THIS_IS_NOT_YOUR_ROOT_FILESYSTEM"
_PROGRAMS: Final = ("bin", "usr/bin", "sbin")
_REST: Final = ("etc", "lib", "usr")


def is_root_folder(path: Path) -> bool:
    """Return whether a folder holds a root file system: programs, and settings or libraries."""
    if not path.is_dir():
        return False
    return any((path / one).is_dir() for one in _PROGRAMS) and any((path / one).is_dir() for one in _REST)


def read_folder(folder: Path, budget: Budget, remarks: list[str]) -> tuple[Entry, ...]:
    """Return the files of a root in a folder; `remarks` get what is left out.

    Raises InputError for a file that may not be read, and for Buildroot's target folder, which is no root.
    """
    if (folder / _NO_ROOT).exists():
        raise InputError(
            f"{folder}: Buildroot's own folder, without device nodes and owners, as {_NO_ROOT} says in it",
            hint="name the folder above it: bootlab boots what Buildroot has built (docs/outputs.md)",
        )
    try:
        return tuple(_entries(folder, budget, remarks))
    except OSError as error:
        raise InputError(
            f"{error.filename or folder}: {(error.strerror or str(error)).lower()}",
            hint="whoever may read all of it can pack it: tar --create --xattrs --numeric-owner --file root.tar .",
        ) from error


def _entries(folder: Path, budget: Budget, remarks: list[str]) -> Iterator[Entry]:
    top = folder.stat()
    names: dict[int, str] = {}
    for here, folders, files in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = Path(here, name)
            about = path.lstat()
            inside = path.relative_to(folder).as_posix()
            kind = stat.S_IFMT(about.st_mode)
            if kind == stat.S_IFSOCK:
                remarks.append(f"/{inside}: a socket, left out")
                continue
            if about.st_dev != top.st_dev:
                remarks.append(f"/{inside}: another file system is mounted there, and its files are left out")
                if kind != stat.S_IFDIR:
                    continue
                folders.remove(name)
            budget.take_file(about.st_size if kind == stat.S_IFREG else 0)
            data, linked = b"", ""
            if kind == stat.S_IFREG:
                data = path.read_bytes()
                linked = names.setdefault(about.st_ino, inside) if about.st_nlink > 1 else ""
            elif kind == stat.S_IFLNK:
                data = os.readlink(os.fsencode(path))
            is_node = kind in (stat.S_IFCHR, stat.S_IFBLK)
            yield Entry(
                inside,
                kind | (0o777 if kind == stat.S_IFLNK else stat.S_IMODE(about.st_mode)),
                data,
                (os.major(about.st_rdev), os.minor(about.st_rdev)) if is_node else (0, 0),
                (0 if about.st_uid == top.st_uid else about.st_uid, 0 if about.st_gid == top.st_gid else about.st_gid),
                linked,
                _xattrs(path) if kind == stat.S_IFREG else (),
            )


def _xattrs(path: Path) -> tuple[tuple[str, bytes], ...]:
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        # A file system that has none.
        return ()
    return tuple((name, os.getxattr(path, name, follow_symlinks=False)) for name in sorted(names) if is_kept(name))


def _raise(error: OSError) -> None:
    raise error
