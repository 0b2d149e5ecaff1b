"""Small disk images for tests: an EFI program written by hand, file systems by their own makers, a GPT around them."""

import struct
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootlab.build.formats.cpio import Entry
from bootlab.build.formats.cpio import write as write_cpio
from bootlab.build.formats.partitions import ESP, LINUX_ROOT_X86_64, SECTOR, Partition, gpt_tables
from bootlab.process import run

MIB = 1 << 20
CODE = bytes(range(0x40, 0x60))


def efi_program(
    sections: Mapping[str, bytes] | None = None, *, machine: int = 0x8664, text: bytes = b"", base: int = 0
) -> bytes:
    """Return a PE file: a section .text that begins with CODE, its entry 16 bytes into it, and more sections."""
    parts = {".text": CODE + text, **(sections or {})}
    header = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40)
    optional = struct.pack("<H", 0x20B).ljust(16, b"\0") + struct.pack("<I", 0x1010)
    optional = optional.ljust(24, b"\0") + struct.pack("<QII", base, 0x1000, SECTOR)
    optional = optional.ljust(56, b"\0") + struct.pack("<II", 0x100000, 0x1000)
    optional = optional.ljust(240, b"\0")
    pe = b"PE\0\0" + struct.pack("<HHIIIHH", machine, len(parts), 0, 0, 0, len(optional), 0x22E) + optional
    raw, address, table, content = 0x1000, 0x1000, b"", b""
    for name, data in parts.items():
        padded = data + bytes(-len(data) % SECTOR)
        table += name.encode().ljust(8, b"\0")
        table += struct.pack("<IIII", len(data), address, len(padded), raw).ljust(32, b"\0")
        content += padded
        raw, address = raw + len(padded), address + -(-len(data) // 0x1000) * 0x1000
    return (header + pe + table).ljust(0x1000, b"\0") + content


def kernel() -> bytes:
    """Return what looks like a kernel's bzImage, and no more."""
    head = bytearray(0x2000)
    head[0x1F1], head[0x202:0x206], head[0x1FE:0x200] = 1, b"HdrS", b"\x55\xaa"
    return bytes(head)


def archive(*paths: str) -> bytes:
    """Return an initramfs that has empty files at `paths`."""
    return write_cpio([Entry(path, 0o100644) for path in paths])


def make_ext4(folder: Path, files: Mapping[str, bytes], *, mib: int = 16) -> Path:
    """Return an ext4 file system with `files`, made in `folder`."""
    source, image = folder / "ext4-files", folder / "ext4.img"
    for name, data in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(data)
    source.mkdir(exist_ok=True)
    with image.open("wb") as file:
        file.truncate(mib * MIB)
    run(["mke2fs", "-q", "-t", "ext4", "-d", source, image], package="e2fsprogs")
    return image


def make_fat(folder: Path, files: Mapping[str, bytes], *, mib: int = 40) -> Path:
    """Return a FAT file system with `files`, made in `folder`."""
    image, source = folder / "fat.img", folder / "fat-file"
    image.touch()
    run(["mformat", "-i", image, "-C", "-F", "-T", str(mib * MIB // SECTOR), "-h", "255", "-s", "63", "::"])
    made: set[str] = set()
    for name, data in files.items():
        for depth in range(1, name.count("/") + 1):
            path = "/".join(name.split("/")[:depth])
            if path not in made:
                made.add(path)
                run(["mmd", "-i", image, f"::{path}"])
        source.write_bytes(data)
        run(["mcopy", "-i", image, source, f"::{name}"])
    return image


def make_disk(
    path: Path,
    parts: Sequence[Path | bytes],
    *,
    code: bytes = b"",
    esp: int = 1,
    types: Mapping[int, uuid.UUID] | None = None,
) -> Path:
    """Write a disk with a GPT around `parts`, the `esp`-th of which is the EFI system partition; `code` boots it.

    `types`: of partitions that are neither that nor a root, by their number.
    """
    known = {esp: ESP, **(types or {})}
    contents = [part if isinstance(part, bytes) else part.read_bytes() for part in parts]
    at, partitions = MIB, []
    for number, content in enumerate(contents, start=1):
        size = -(-len(content) // MIB) * MIB
        partitions.append(Partition(number, at, size, known.get(number, LINUX_ROOT_X86_64)))
        at += size
    first, last = gpt_tables(at + MIB, partitions)
    with path.open("wb") as image:
        image.write(code.ljust(440, b"\0")[:440] + first[440:])
        for partition, content in zip(partitions, contents, strict=True):
            image.seek(partition.start)
            image.write(content)
        image.seek(at + MIB - len(last))
        image.write(last)
    return path
