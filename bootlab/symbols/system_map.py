"""Symbols that a user brings for a kernel which carries none: its unstripped vmlinux, or its System.map.

Symbols of another build would name everything wrongly and quietly, so both must agree with the kernel that boots: the
vmlinux in its version line, the System.map in where it says that line, or an Image's entry, is.
"""

import mmap
import re
import struct
from enum import Enum, auto
from pathlib import Path

import numpy as np

from bootlab.errors import InputError
from bootlab.symbols.kallsyms import KERNEL_HALF
from bootlab.symbols.link_map import (
    ARM64_MAGIC,
    IMAGE_MAGIC_AT,
    RISCV_MAGIC,
    RISCV_START,
    FileSegment,
    LinkMap,
    arm64_start,
    read_elf,
)
from bootlab.symbols.table import SymbolTable, make_table, read_symbols

_LINE = re.compile(rb"([0-9a-f]{8,16}) ([A-Za-z?]) (\S+)\n?")
_BANNER = re.compile(rb"Linux version \d[^\0\n]*")
_BANNER_START = b"Linux version "
_BANNER_SYMBOL = "linux_banner"
_ELF_MAGIC = b"\x7fELF"
_ELF_LITTLE = {
    b"\x02\x01": (struct.Struct("<32xQ14xHH"), struct.Struct("<16xQ"), KERNEL_HALF),
    b"\x01\x01": (struct.Struct("<28xI10xHH"), struct.Struct("<8xI"), 1 << 31),
}
"""Class and byte order -> the header's table of segments, a segment's address, the lowest that only kernels have."""
_LONGEST_NAME = 512
_PLACEHOLDER = b"The real System.map is in the linux-image"
_LARGEST_MAP = 64 << 20


class SymbolFile(Enum):
    """What a file of symbols is."""

    KERNEL = auto()
    """An ELF vmlinux, or an arm64 or riscv64 Image."""
    SYSTEM_MAP = auto()
    PROGRAM = auto()
    """An ELF program, library, or the separate debug file of one."""


def classify_symbol_file(path: Path) -> SymbolFile:
    """Return what the file is. Raises InputError when it cannot be read or is none of them."""
    start = _start_of(path)
    if not start:
        raise InputError(f"{path}: empty file, expected symbols")
    if start[:4] == _ELF_MAGIC:
        if start[4:6] not in _ELF_LITTLE or len(start) < _ELF_LITTLE[start[4:6]][0].size:
            raise InputError(f"{path}: not an ELF file of a little-endian machine, or cut off")
        with _mapped(path) as data:
            return SymbolFile.KERNEL if _is_elf_kernel(data) else SymbolFile.PROGRAM
    if start[IMAGE_MAGIC_AT : IMAGE_MAGIC_AT + 4] in (ARM64_MAGIC, RISCV_MAGIC):
        return SymbolFile.KERNEL
    if _LINE.match(start):
        return SymbolFile.SYSTEM_MAP
    raise InputError(
        f"{path}: not a file of symbols",
        hint="expected an ELF vmlinux, a System.map, a program with symbols or the debug file of one",
    )


def read_kernel_symbols(path: Path, image: Path | None) -> SymbolTable:
    """Return the symbols in `path`, a vmlinux or System.map, of the uncompressed kernel `image`.

    `image` None: it could not be had, and only a vmlinux serves, on its word. Raises InputError when the file cannot be
    read, has no symbols, or is of another build than `image`.
    """
    kind = classify_symbol_file(path)
    if kind is SymbolFile.PROGRAM:
        raise InputError(f"{path}: an ELF file, but not a kernel", hint="expected the kernel's vmlinux or System.map")
    if image is None:
        if kind is SymbolFile.KERNEL:
            return read_symbols(path)
        raise InputError(
            f"{path}: a System.map has addresses but no code, and the kernel cannot be unpacked",
            hint="give the kernel's vmlinux instead",
        )
    if kind is SymbolFile.SYSTEM_MAP:
        return _read_system_map(path, image)
    ours, theirs = _banner(path), _banner(image)
    if ours != theirs:
        raise InputError(f"{path}: symbols of another kernel: {_shown(ours)}; the one that boots is {_shown(theirs)}")
    return read_symbols(path)


def _read_system_map(path: Path, image: Path) -> SymbolTable:
    addresses, kinds, names = [], [], []
    for number, line in enumerate(_text_of(path).splitlines(), start=1):
        if _PLACEHOLDER in line:
            raise InputError(
                f"{path}: Debian's placeholder for a System.map",
                hint="the real one is in linux-image-VERSION-dbg; Debian's kernels hold symbols of their own",
            )
        found = _LINE.fullmatch(line)
        if found is None or len(found[3]) > _LONGEST_NAME:
            raise InputError(f"{path}:{number}: not a line of a System.map: {line[:60].decode('latin-1')!r}")
        addresses.append(int(found[1], 16))
        kinds.append(found[2].decode())
        names.append(found[3].decode("latin-1"))
    order = sorted(range(len(addresses)), key=addresses.__getitem__)
    link_map = _link_map(path, image, dict(zip(reversed(names), reversed(addresses), strict=True)))
    table = make_table(
        link_map,
        [names[number] for number in order],
        "".join(kinds[number] for number in order),
        np.array([addresses[number] for number in order], np.uint64),
        image,
    )
    if table.address(_BANNER_SYMBOL) is None and table.arch in ("x86_64", "riscv64"):
        raise InputError(f"{path}: has no {_BANNER_SYMBOL}: not a whole System.map")
    if table.code(_BANNER_SYMBOL, len(_BANNER_START)) not in (_BANNER_START, None):
        raise _of_another_kernel(path, _BANNER_SYMBOL)
    return table


def _link_map(path: Path, image: Path, addresses: dict[str, int]) -> LinkMap:
    with image.open("rb") as file, _mapped(image) as data:
        if data[:4] == _ELF_MAGIC:
            return read_elf(file, data, image)[0]
        if data[IMAGE_MAGIC_AT : IMAGE_MAGIC_AT + 4] == ARM64_MAGIC:
            # Functions alone, as a kernel without CONFIG_KALLSYMS_ALL lists them, still have the entry.
            start = arm64_start(data, addresses.get)
            if start is None or start < KERNEL_HALF or addresses.get("_text", start) != start:
                raise _of_another_kernel(path, "primary_entry")
            return LinkMap("aarch64", start, (FileSegment(start, 0, len(data)),))
        if data[IMAGE_MAGIC_AT : IMAGE_MAGIC_AT + 4] == RISCV_MAGIC:
            if addresses.get("_start", RISCV_START) != RISCV_START:
                raise _of_another_kernel(path, "_start")
            return LinkMap("riscv64", RISCV_START, (FileSegment(RISCV_START, 0, len(data)),))
    raise InputError(f"{image}: not an uncompressed kernel, expected an ELF vmlinux, or an arm64 or riscv64 Image")


def _of_another_kernel(path: Path, symbol: str) -> InputError:
    return InputError(
        f"{path}: symbols of another kernel: the one that boots does not have what the file says is at {symbol}",
        hint="System.map and the kernel must come out of the same build",
    )


def _is_elf_kernel(data: mmap.mmap) -> bool:
    # A kernel is the only program with a segment in the kernel's half of the addresses.
    header, segment, lowest = _ELF_LITTLE[data[4:6]]
    segments_at, segment_size, count = header.unpack_from(data)
    if segment_size < segment.size or segments_at + segment_size * count > len(data):
        return False
    addresses = (segment.unpack_from(data, segments_at + segment_size * each)[0] for each in range(count))
    return any(address >= lowest for address in addresses)


def _banner(path: Path) -> bytes | None:
    with _mapped(path) as data:
        found = _BANNER.search(data)
        return found[0] if found else None


def _shown(banner: bytes | None) -> str:
    return "without a version" if banner is None else banner.decode("latin-1")[:100]


def _start_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError as error:
        raise _unreadable(path, error) from error


def _text_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST_MAP + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(text) > _LARGEST_MAP:
        raise InputError(f"{path}: too large for a System.map")
    return text


def _mapped(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError as error:
        raise InputError(f"{path}: empty file") from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: {(error.strerror or str(error)).lower()}, expected symbols")
