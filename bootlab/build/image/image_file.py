"""An image as a file: which format it has, whether all of it is there, and what it may refer to. Nothing is written.

A qcow2 image can name other files that it is an overlay of. Who gives an image away could so have bootlab read any
file of this machine: one outside the image's own folder is refused.
"""

import hashlib
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bootlab.build.formats.el_torito import MAGIC, MAGIC_AT, read_boot_programs
from bootlab.errors import InputError

RAW, QCOW2, EFI, ISO = "raw", "qcow2", "efi", "iso"

QCOW2_MAGIC = b"QFI\xfb"
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
        return ImageFile(path, QCOW2, bytes_, chain)
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
    bytes_ = _qcow2_bytes(path, head)
    chain: list[Path] = []
    here, place = head, path
    while (name := _backing_name(place, here)) is not None:
        backing = (place.resolve().parent / name).resolve()
        if not backing.is_relative_to(folder):
            raise InputError(
                f"{path}: is an overlay of {name}, which lies outside of the image's folder: refused",
                hint=f"qemu-img convert -O qcow2 {path.name} whole.qcow2 makes one file of both, if you trust it",
            )
        if not backing.is_file():
            raise InputError(
                f"{path}: is an overlay of {name}, which is not there",
                hint="copy that file beside the image, or get the image without an overlay",
            )
        chain.append(backing)
        if len(chain) > _DEEPEST_CHAIN or backing in (path.resolve(), *chain[:-1]):
            raise InputError(f"{path}: its overlays lead in a circle, or are more than {_DEEPEST_CHAIN}")
        try:
            with backing.open("rb") as file:
                here = file.read(_HEAD)
        except OSError as error:
            raise InputError(f"{path}: {backing}: {(error.strerror or str(error)).lower()}") from error
        if here[:4] != QCOW2_MAGIC:
            break
        place = backing
    return tuple(chain), bytes_


def _qcow2_bytes(path: Path, head: bytes) -> int:
    try:
        version, bytes_, crypt = struct.unpack_from(">I16xQI", head, 4)
        (features,) = struct.unpack_from(">Q", head, 72) if version >= 3 else (0,)
    except struct.error as error:
        raise InputError(f"{path}: a qcow2 image that is cut off", hint="copy or download it again") from error
    if version not in (2, 3):
        raise InputError(f"{path}: qcow version {version}, expected 2 or 3", hint="qemu-img convert -O qcow2")
    if crypt:
        raise InputError(f"{path}: an encrypted qcow2 image, which bootlab has no key for")
    if features & 4:
        raise InputError(f"{path}: a qcow2 image whose data is in another file: refused", hint="qemu-img convert")
    if features & 2:
        raise InputError(
            f"{path}: a qcow2 image that is marked as corrupt", hint="qemu-img check -r all repairs a copy"
        )
    return int(bytes_)


def _backing_name(path: Path, head: bytes) -> str | None:
    at, size = struct.unpack_from(">QI", head, 8)
    if not at:
        return None
    name = head[at : at + size].decode(errors="replace")
    if len(name) < size or not name or ":" in name.partition("/")[0]:
        # A protocol, as in nbd:, or json:{}: something that is no file.
        raise InputError(f"{path}: is an overlay of {name[:80]!r}, which is no file: refused")
    return name


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
