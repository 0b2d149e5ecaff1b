"""What is in a finished image of a root file system: ext2 to ext4, and squashfs, read without mounting it.

By each file system's own tool, into scratch space: debugfs (e2fsprogs) and unsquashfs (squashfs-tools).
"""

import os
import stat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bootlab.build.cache import Cache
from bootlab.build.formats.cpio import Entry
from bootlab.errors import InputError
from bootlab.process import ProgramFailed, run

_DEADLINE_S: Final = 600.0
_EXT_MAGIC_AT, _EXT_MAGIC = 0x438, b"\x53\xef"
_SQUASHFS_MAGIC: Final = b"hsqs"
_LARGEST: Final = 4 << 30
"""Bytes of the files of an image that are read: they lie in scratch space, and then in memory."""


def read_image_entries(path: Path, cache: Cache, start: int = 0) -> list[Entry] | None:
    """Return the folders, files and links of an image; None where its file system is not one that is read here.

    `start`: the byte of the file that the file system begins at, as in a disk with partitions. The folder of `cache`
    has to have room for its files. Raises InputError for a damaged image and one of more than 4 GiB of files,
    MissingTool, StoreError.
    """
    try:
        with path.open("rb") as file:
            file.seek(start)
            head = file.read(_EXT_MAGIC_AT + 2)
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    with cache.store_errors("reading a root file system"):
        cache.root.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="bootlab-root-", dir=cache.root) as folder:
        out = Path(folder) / "root"
        argv: list[str | Path]
        if head[_EXT_MAGIC_AT:] == _EXT_MAGIC:
            out.mkdir()
            place = f"{path}?offset={start}" if start else path
            argv, package = ["debugfs", "-R", f'rdump / "{out}"', place], "e2fsprogs"
        elif head.startswith(_SQUASHFS_MAGIC):
            argv = ["unsquashfs", "-no-progress", "-no-xattrs", "-quiet", "-offset", str(start), "-dest", out, path]
            package = "squashfs-tools"
        else:
            return None
        try:
            run(argv, deadline_s=_DEADLINE_S, package=package)
        except ProgramFailed as error:
            # Device nodes and owners, which only root makes, are no loss: 2 says that all else is there.
            if not (package == "squashfs-tools" and error.exit_status == 2):
                raise InputError(f"{path}: cannot be read: {error.message}", hint="build or copy it again") from error
        entries = list(_entries(out))
    if not entries:
        raise InputError(f"{path}: no file could be read in it: damaged, or empty")
    return entries


def _entries(root: Path) -> list[Entry]:
    found: list[Entry] = []
    names: dict[int, str] = {}
    total = 0
    for folder, folders, files in os.walk(root):
        for name in sorted([*folders, *files]):
            path = Path(folder) / name
            about = path.lstat()
            inside = str(path.relative_to(root))
            if stat.S_ISLNK(about.st_mode):
                found.append(Entry(inside, about.st_mode, os.readlink(path).encode(errors="surrogateescape")))
            elif stat.S_ISDIR(about.st_mode):
                found.append(Entry(inside, about.st_mode))
            elif stat.S_ISREG(about.st_mode):
                total += about.st_size
                if total > _LARGEST:
                    raise InputError(f"more than {_LARGEST >> 30} GiB of files, which are not all read here")
                linked = names.setdefault(about.st_ino, inside) if about.st_nlink > 1 else ""
                found.append(Entry(inside, about.st_mode, path.read_bytes(), linked=linked))
    return found
