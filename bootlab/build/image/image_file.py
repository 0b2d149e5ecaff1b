"""An image as a file: which format it has, whether all of it is there, and what it may refer to. Nothing is written.

A qcow2 image can name other files that it is an overlay of. Who gives an image away could so have bootlab read any
file of this machine: one outside the image's own folder is refused.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bootlab.build.formats.el_torito import MAGIC, MAGIC_AT, read_boot_programs
from bootlab.build.formats.qcow2 import MAGIC as QCOW2_MAGIC
from bootlab.build.formats.qcow2 import Qcow2Header, parse_header
from bootlab.errors import InputError

RAW, QCOW2, EFI, ISO = "raw", "qcow2", "efi", "iso"

_BLOCK = 1 << 20
_HEAD = 0x8800
_DEEPEST_CHAIN = 16
_OTHERS = (
    (0, b"KDMV", "a VMware disk (VMDK)", "qemu-img convert -O qcow2 {name} disk.qcow2"),
    (0, b"# Disk DescriptorFile", "a VMware disk (VMDK)", "qemu-img convert -O qcow2 {name} disk.qcow2"),
    (0, b"vhdxfile", "a Hyper-V disk (VHDX)", "qemu-img convert -O qcow2 {name} disk.qcow2"),
    (0, b"conectix", "a Virtual PC disk (VHD)", "qemu-img convert -O qcow2 {name} disk.qcow2"),
    (0x40, b"\x7f\x10\xda\xbe", "a VirtualBox disk (VDI)", "qemu-img convert -O qcow2 {name} disk.qcow2"),
    (0, b"\x1f\x8b", "compressed with gzip", "gunzip --keep {name}"),
    (0, b"\xfd7zXZ\0", "compressed with xz", "unxz --keep {name}"),
    (0, b"\x28\xb5\x2f\xfd", "compressed with zstd", "unzstd {name}"),
    (0, b"BZh", "compressed with bzip2", "bunzip2 --keep {name}"),
    (0, b"PK\3\4", "a zip archive", "unzip {name}"),
    (0, b"\x7fELF", "an ELF file", "kernel.image in a system file takes a kernel"),
    (0x101, b"ustar", "a tar archive", "bootlab boot {name} boots the root in it, or rootfs.source of a system file"),
)
"""Where a magic number is, the number, what such a file is, and what to do with it."""


@dataclass(frozen=True, slots=True)
class ImageFile:
    """`format`: `raw`, `qcow2`, `iso`; `efi`: a program that is no disk. `bytes`: as large as the guest's disk is."""

    path: Path
    format: str
    bytes: int
    chain: tuple[Path, ...] = ()
    """The files that it is an overlay of, the nearest first."""


def looks_like_image(path: Path) -> bool:
    """Return whether a file is to be read as an image: by its first bytes, or its name where those tell nothing."""
    if path.suffix.lower() == ".toml" or not os.path.isfile(path):
        # What is read from a pipe is gone: a system file may come through one.
        return False
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    if head[:4] == QCOW2_MAGIC or head[:2] == b"MZ" or head[510:512] == b"\x55\xaa" or head[512:520] == b"EFI PART":
        return True
    if head[MAGIC_AT : MAGIC_AT + len(MAGIC)] == MAGIC:
        return True
    if any(head[at : at + len(magic)] == magic for at, magic, _, _ in _OTHERS):
        return True
    return path.suffix.lower() in (".img", ".raw", ".qcow2", ".iso", ".efi", ".vmdk", ".vhd", ".vdi") or b"\0" in head


def open_image(path: Path) -> ImageFile:
    """Return what an image file is. Raises InputError for a file that is none, is cut off, or refers elsewhere."""
    try:
        with path.open("rb") as file:
            head, size = file.read(_HEAD), os.fstat(file.fileno()).st_size
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}, expected a disk image") from error
    if not size:
        raise InputError(f"{path}: an empty file, expected a disk image", hint="copy or download it again")
    if head[:4] == QCOW2_MAGIC:
        chain, bytes_ = _follow_chain(path, head)
        # QEMU looks for what it lies over beside the name that it is given, and not beside the file behind a link.
        return ImageFile(path.resolve() if chain else path, QCOW2, bytes_, chain)
    for at, magic, what, hint in _OTHERS:
        if head[at : at + len(magic)] == magic:
            raise InputError(
                f"{path}: {what}, expected a raw, qcow2 or ISO disk image", hint=hint.format(name=path.name)
            )
    if head[MAGIC_AT : MAGIC_AT + len(MAGIC)] == MAGIC:
        return _open_iso(path, size)
    if head[:2] == b"MZ" and head[510:512] != b"\x55\xaa":
        return ImageFile(path, EFI, size)
    if not any(head):
        raise InputError(
            f"{path}: its first {len(head):,} bytes are zeros: without a partition table it boots nowhere",
            hint="bootlab build image makes one that boots",
        )
    return ImageFile(path, RAW, size)


def _open_iso(path: Path, size: int) -> ImageFile:
    try:
        with path.open("rb") as file:
            read_boot_programs(file, size)
    except InputError as error:
        whole = "cut off" in error.message or "damaged" in error.message
        hint = "copy or download it again" if whole else "bootlab boots CDs that have a boot catalogue (El Torito)"
        raise InputError(f"{path}: {error.message}", hint=hint) from error
    return ImageFile(path, ISO, size)


def _follow_chain(path: Path, head: bytes) -> tuple[tuple[Path, ...], int]:
    folder = path.resolve().parent
    first = header = _header(path, path, head)
    chain: list[Path] = []
    place = path.resolve()
    while name := header.backing:
        backing = (place.parent / name).resolve()
        if not backing.is_relative_to(folder):
            raise InputError(
                f"{path}: is an overlay of {name}, which lies outside of the image's folder: refused",
                hint=f"qemu-img convert -O qcow2 {path.name} whole.qcow2 makes one file of both, if you trust it",
            )
        if not os.path.isfile(backing):
            raise InputError(
                f"{path}: is an overlay of {name}, which is not there",
                hint="copy that file beside the image, or get the image without an overlay",
            )
        chain.append(backing)
        if len(chain) > _DEEPEST_CHAIN or backing in (path.resolve(), *chain[:-1]):
            raise InputError(f"{path}: its overlays lead in a circle, or are more than {_DEEPEST_CHAIN}")
        try:
            with backing.open("rb") as file:
                head = file.read(_HEAD)
        except OSError as error:
            raise InputError(f"{path}: {backing}: {(error.strerror or str(error)).lower()}") from error
        if not _is_qcow2_over(path, place, header, head):
            break
        place, header = backing, _header(path, backing, head)
    return tuple(chain), first.bytes


def _header(path: Path, here: Path, head: bytes) -> Qcow2Header:
    try:
        return parse_header(head)
    except InputError as error:
        where = path if here == path else f"{path}: {here.name}, below it"
        raise InputError(f"{where}: {error.message}", hint=error.hint) from error


def _is_qcow2_over(path: Path, place: Path, header: Qcow2Header, head: bytes) -> bool:
    """Return whether what an overlay lies over is qcow2; else it is raw. Raises InputError for any other format.

    QEMU guesses where the overlay does not say, and other formats name more files, anywhere.
    """
    told, is_qcow2 = header.backing_format, head[:4] == QCOW2_MAGIC
    if told == RAW or (told in ("", QCOW2) and is_qcow2):
        return told != RAW
    over = f"{path}: says that {place.name} is an overlay of {header.backing}"
    if not told:
        raise InputError(
            f"{over}, and not of which format that is: refused",
            hint=f"qemu-img rebase -u -F raw -b {header.backing} {place.name} says that it is raw, if it is",
        )
    raise InputError(
        f"{over}, of format {told!r}{', which it is not' if told == QCOW2 else ''}: refused",
        hint=f"qemu-img convert -O qcow2 {path.name} whole.qcow2 makes one file of both, if you trust it",
    )


def content_hash(image: ImageFile) -> str:
    """Return a sha256 of what the files of an image hold, in hex: holes are skipped, and count as the zeros they are.

    Raises InputError for a file that cannot be read.
    """
    paths = (image.path, *image.chain)
    try:
        found = tuple(_state(path) for path in paths)
    except OSError as error:
        raise InputError(f"{image.path}: {(error.strerror or str(error)).lower()}") from error
    if found not in _HASHED:
        _HASHED[found] = _hash(paths)
    return _HASHED[found]


_HASHED: dict[tuple[tuple[int, ...], ...], str] = {}
"""Of files as they were: a verb asks more than once, and a GB takes a second."""


def _state(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _hash(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                digest.update(f"{size}\n".encode())
                for at, block in _blocks(file, size):
                    digest.update(b"%d " % at)
                    digest.update(block)
        except OSError as error:
            raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    return digest.hexdigest()


def _blocks(file: IO[bytes], size: int) -> Iterator[tuple[int, bytes]]:
    # Of each block that is not all zeros, whether the file system keeps it as a hole or not.
    at = 0
    while at < size:
        try:
            data_at = os.lseek(file.fileno(), at, os.SEEK_DATA)
        except OSError:
            # ENXIO: no more data up to the end.
            return
        at = data_at - data_at % _BLOCK
        file.seek(at)
        block = file.read(_BLOCK)
        if not block:
            return
        if block.count(0) != len(block):
            yield at, block
        at += _BLOCK
