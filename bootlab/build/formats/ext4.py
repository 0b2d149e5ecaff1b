"""ext4 images, made without root, the same bytes on every run.

mke2fs formats, and debugfs writes every file into it with the owner, mode and device number it is to have: both work on
the image alone, so nobody need be root, and e2fsprogs of any version will do.

Everything that mke2fs would take from its configuration file, the clock or a random source is given; versions 1.47.0
and 1.47.2 then agree on images up to 128 MiB (one block group), and lay larger ones out differently.
"""

import os
import stat
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from uuid import UUID

from bootlab.build.formats.cpio import Entry
from bootlab.build.formats.ext4_late import INODES, LatePart, add
from bootlab.errors import BootlabError, InputError
from bootlab.process import run

DATE = 1577836800
"""2020-01-01, in seconds since the epoch: the time of every file, before any guest's clock."""

DEFAULT_UUID = "b0071ab0-0000-4000-8000-000000000001"
"""Of every image that is given no other: a guest tells file systems apart by it."""
_HASH_SEED = "b0071ab0-0000-4000-8000-000000000002"
_FEATURES = (
    "none,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,"
    "sparse_super,large_file,huge_file,dir_nlink,extra_isize,metadata_csum"
)
_EXTENDED = f"hash_seed={_HASH_SEED},root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0,nodiscard"
_ENVIRONMENT = {"MKE2FS_CONFIG": os.devnull, "E2FSPROGS_FAKE_TIME": str(DATE), "SOURCE_DATE_EPOCH": str(DATE)}
_PACKAGE = "e2fsprogs"
_DEADLINE_S = 600.0
_BLOCK = 4096
_INODE = 256
_GROUP_MIB = 128
_JOURNAL_NEEDS_MIB = 10
"""mke2fs makes no journal below 4 MiB, nor of more than half the free blocks; below 8 MiB it silently leaves it out."""
_IN_INODE = 59
"""A link's target up to this many bytes needs no block."""


def make(path: Path, size_mib: int, *, block: int, inodes: int, journal_mib: int, uuid: str = DEFAULT_UUID) -> None:
    """Make an empty file system of `size_mib` MiB at `path`; `block` in bytes, no journal for 0 MiB of it.

    Raises MissingTool (e2fsprogs), ProgramFailed.
    """
    with path.open("wb") as image:
        image.truncate(size_mib << 20)
    argv: list[str | Path] = ["mke2fs", "-F", "-q", "-t", "ext4", "-b", str(block), "-I", str(_INODE)]
    argv += ["-m", "0", "-N", str(inodes), "-U", uuid, "-L", "bootlab", "-E", _EXTENDED]
    if journal_mib:
        argv += ["-O", f"{_FEATURES},has_journal", "-J", f"size={journal_mib}"]
    else:
        argv += ["-O", _FEATURES]
    run([*argv, path], deadline_s=_DEADLINE_S, env=_ENVIRONMENT, package=_PACKAGE)


def make_from(
    entries: Sequence[Entry],
    path: Path,
    size_mib: int | None,
    *,
    journal: bool,
    uuid: str = DEFAULT_UUID,
    late: LatePart | None = None,
) -> None:
    """Make a file system that holds `entries` (sorted) at `path`; by default as large as they need and a quarter more.

    `late`: those of them that lie in a part of their own. `path.parent` is scratch space. Raises InputError when they
    do not fit, MissingTool (e2fsprogs), ProgramFailed.
    """
    entries, behind = (entries, []) if late is None else late.split(entries)
    inodes = len(entries) * 5 // 4 + 64
    blocks = _blocks(entries)
    if late is not None:
        blocks += late.blocks
        # The part lies in one group, whichever that is, behind what is skipped of its inode table.
        inodes += 2 * INODES * (2 + (size_mib or blocks * 2 * _BLOCK >> 20) // _GROUP_MIB)
    journal_mib = (4 if blocks < 16384 else 16) if journal else 0
    needed = blocks * _BLOCK + inodes * _INODE + (journal_mib << 20)
    given_mib = size_mib or max(-(-(needed * 5 // 4 + (1 << 20)) >> 20), _JOURNAL_NEEDS_MIB if journal else 0)
    if journal and given_mib < _JOURNAL_NEEDS_MIB:
        raise InputError(
            f"rootfs.size_mib: {given_mib} MiB are too few for a journal, which needs {_JOURNAL_NEEDS_MIB}",
            hint="rootfs.journal = false, or leave rootfs.size_mib out",
        )
    if needed + (1 << 18) > given_mib << 20:
        raise InputError(
            f"rootfs.size_mib: {given_mib} MiB are too few for {needed / 2**20:.1f} MiB of files and their tables",
            hint="leave rootfs.size_mib out: the file system is then as large as it needs to be",
        )
    make(path, given_mib, block=_BLOCK, inodes=inodes, journal_mib=journal_mib, uuid=uuid)
    folder = path.parent / "files"
    folder.mkdir()
    _debugfs(path, _commands(entries, folder))
    if late is not None:
        add(late, path, behind, _commands(behind, folder, "late"), partial(_debugfs, path))


def _debugfs(path: Path, commands: Iterable[str]) -> None:
    script = path.parent / "debugfs"
    script.write_text("".join(f"{line}\n" for line in commands), errors="surrogateescape")
    told = run(
        ["debugfs", "-w", "-f", script, path], deadline_s=_DEADLINE_S, env=_ENVIRONMENT, package=_PACKAGE
    ).stderr.decode(errors="replace")
    # debugfs goes on after an error and says so only in words; its first line is its version.
    complaints = [line for line in told.splitlines() if line and not line.startswith("debugfs ")]
    if complaints:
        raise BootlabError("debugfs: could not write the files:\n  " + "\n  ".join(complaints[:5]))


def statfs_id(uuid: str) -> int:
    """Return what a guest's statfs calls the file system with this UUID (`uuid_to_fsid` of the kernel), 64 bits."""
    low, high = struct.unpack("<2Q", UUID(uuid).bytes)
    return int(low ^ high)


def _blocks(entries: Sequence[Entry]) -> int:
    folders: Counter[str] = Counter()
    blocks = 0
    linked: set[str] = set()
    for entry in entries:
        folders[str(PurePosixPath(entry.path).parent)] += 12 + len(entry.path.rpartition("/")[2])
        if stat.S_ISREG(entry.mode) and entry.linked not in linked:
            blocks += -(-entry.size // _BLOCK)
            linked |= {entry.linked} - {""}
        elif stat.S_ISLNK(entry.mode) and entry.size > _IN_INODE or stat.S_ISDIR(entry.mode):
            blocks += 1
        blocks += bool(entry.xattrs)
    return blocks + sum(size // _BLOCK for size in folders.values()) + 16


def _commands(entries: Sequence[Entry], folder: Path, names: str = "") -> Iterator[str]:
    links = Counter(entry.linked for entry in entries)
    first: dict[str, str] = {}
    here = ""
    for number, entry in enumerate(entries):
        parent, _, name = entry.path.rpartition("/")
        if parent != here:
            yield f"cd {_quoted('/' + parent)}"
            here = parent
        place, kind = f"/{entry.path}", stat.S_IFMT(entry.mode)
        if entry.linked and entry.linked in first:
            # Of all that debugfs makes, a hard link alone does not grow its folder: what makes room goes again.
            yield f"symlink {_quoted(name)} x"
            yield f"rm {_quoted(name)}"
            yield f"ln {_quoted(first[entry.linked])} {_quoted(name)}"
            continue
        if kind == stat.S_IFDIR:
            yield f"mkdir {_quoted(name)}"
        elif kind == stat.S_IFLNK:
            yield f"symlink {_quoted(name)} {_quoted(entry.data.decode(errors='surrogateescape'))}"
            continue
        elif kind == stat.S_IFREG:
            content = folder / f"{names}{number}"
            content.write_bytes(entry.data)
            yield f"write {_quoted(str(content))} {_quoted(name)}"
            if links[entry.linked] > 1 and entry.linked:
                first[entry.linked] = place
                yield f"sif {_quoted(place)} links_count {links[entry.linked]}"
        elif kind == stat.S_IFIFO:
            yield f"mknod {_quoted(name)} p"
        else:
            major, minor = entry.device
            yield f"mknod {_quoted(name)} {'c' if kind == stat.S_IFCHR else 'b'} {major} {minor}"
        yield f"sif {_quoted(place)} mode 0{entry.mode:o}"
        for field, number_of in zip(("uid", "gid"), entry.owner, strict=True):
            yield f"sif {_quoted(place)} {field} {number_of}"
        for index, (attribute, value) in enumerate(entry.xattrs):
            content = folder / f"{names}{number}.{index}"
            content.write_bytes(value)
            yield f"ea_set -f {_quoted(str(content))} {_quoted(place)} {_quoted(attribute)}"


def _quoted(word: str) -> str:
    if "\n" in word or "\r" in word:
        raise InputError(f"{word!r}: a file's name with a line break cannot be written to ext4")
    return '"' + word.replace('"', '""') + '"'
