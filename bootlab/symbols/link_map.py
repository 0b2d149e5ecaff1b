"""Where a kernel file's bytes live in the link-time address space.

An ELF vmlinux says so itself. An Image, of arm64 or riscv64, is a bare memory dump. An arm64 one's link address differs
between versions and configurations, so it is derived from the image: from the kallsyms base word or, where a boot-time
relocation fills that word, from the one relocation entry that does. Every riscv64 one has the same.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from numpy.typing import NDArray

from bootlab.errors import InputError
from bootlab.symbols.kallsyms import KERNEL_HALF, Image, Kallsyms

IMAGE_MAGIC_AT = 56
ARM64_MAGIC = b"ARM\x64"
_ARM64_IMAGE_ALIGNMENT = 0x10000
_R_AARCH64_RELATIVE, _R_RISCV_RELATIVE = 1027, 3
RISCV_MAGIC = b"RSC\x05"
RISCV_START = 0xFFFFFFFF80000000
"""Link address of every riscv64 kernel that runs from memory, since Linux 5.13 (KERNEL_LINK_ADDR, asm/pgtable.h)."""
_ELF_ARCHES = {
    ("EM_X86_64", 64): "x86_64",
    ("EM_AARCH64", 64): "aarch64",
    ("EM_ARM", 32): "armv7",
    ("EM_RISCV", 64): "riscv64",
}
_ARM_KERNEL = range(0x40000000, 0xFFFF0000)
"""Where a 32-bit arm kernel may be linked, for any split of the addresses; above are its exception vectors."""
# pyelftools answers a damaged file with whatever its parser trips over.
_DAMAGED_ELF = (
    ELFError, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, OSError, TypeError, ValueError,
)  # fmt: skip
_MOST_PARTS = 16384
_FIRST_RESERVED_SECTION, _ABSOLUTE_SECTION = 0xFF00, 0xFFF1
_STT_OBJECT, _STT_FUNC, _STT_SECTION, _STT_FILE = 1, 2, 3, 4
_STB_LOCAL, _STB_WEAK = 0, 2
_SHF_WRITE, _SHF_EXECINSTR = 1, 4
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_SYMBOL_32 = np.dtype(
    [("name", "<u4"), ("value", "<u4"), ("size", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")]
)


@dataclass(frozen=True)
class FileSegment:
    """A stretch of the file: link address, offset in the file, bytes."""

    address: int
    offset: int
    size: int


@dataclass(frozen=True)
class LinkMap:
    """An image's architecture and the link addresses of its bytes."""

    arch: str
    start: int
    """Link address of the image's first byte: the kernel's `_text`, on riscv64 its `_start`."""
    segments: tuple[FileSegment, ...]

    @property
    def end(self) -> int:
        """The first link address behind the last byte of the file."""
        return max(segment.address + segment.size for segment in self.segments)

    def offset(self, address: int, size: int) -> int | None:
        """Return where in the file the `size` bytes at a link address are; None when they are not all in it."""
        for segment in self.segments:
            if segment.address <= address and address + size <= segment.address + segment.size:
                return segment.offset + address - segment.address
        return None

    def address(self, offset: int) -> int | None:
        """Return the link address of the byte at `offset` in the file; None when it is not loaded."""
        for segment in self.segments:
            if segment.offset <= offset < segment.offset + segment.size:
                return segment.address + offset - segment.offset
        return None


@dataclass(frozen=True)
class ElfSymbols:
    """The defined symbols of an ELF .symtab, by address, with letters of nm(1)."""

    names: list[str]
    kinds: str
    addresses: NDArray[np.uint64]


def read_elf(file: IO[bytes], image: Image, source: Path) -> tuple[LinkMap, ElfSymbols | None]:
    """Return the link map of an ELF vmlinux, and its .symtab; None for a stripped one. Raises InputError."""
    try:
        elf = ELFFile(file)
        arch = _ELF_ARCHES.get((elf["e_machine"], elf.elfclass))
        if arch is None or not elf.little_endian:
            known = ", ".join(_ELF_ARCHES.values())
            raise InputError(f"{source}: ELF kernel for {elf['e_machine']}; symbols are read for {known}")
        # A damaged header can promise 2**64 of them.
        if max(elf.num_segments(), elf.num_sections()) > _MOST_PARTS:
            raise InputError(f"{source}: damaged ELF file: more than {_MOST_PARTS} segments or sections")
        # The x86 per-CPU segment is linked at 0: its addresses are offsets, never places that code runs at.
        segments = tuple(
            FileSegment(segment["p_vaddr"], segment["p_offset"], segment["p_filesz"])
            for segment in elf.iter_segments("PT_LOAD")
            if segment["p_vaddr"] >= KERNEL_HALF or (elf.elfclass == 32 and segment["p_vaddr"] in _ARM_KERNEL)
        )
        symbols = _elf_symbols(elf)
    except _DAMAGED_ELF as error:
        raise InputError(f"{source}: truncated or damaged ELF file: {error or type(error).__name__}") from error
    if not segments:
        raise InputError(f"{source}: an ELF file, but not a kernel: nothing of it lives in the kernel's addresses")
    behind = max(segment.offset + segment.size for segment in segments)
    if behind > len(image):
        raise InputError(f"{source}: truncated kernel: its header promises {behind} bytes, the file has {len(image)}")
    return LinkMap(arch, min(segment.address for segment in segments), segments), symbols


def place_kallsyms(link_map: LinkMap, image: Image, tables: Kallsyms, source: Path) -> int:
    """Return the link address that relative_base stands for in an ELF kernel. Raises InputError."""
    if tables.base:
        return tables.base
    word = link_map.address(tables.base_at)
    places, addends = relative_relocations(image)
    found = addends[places == np.uint64(word or 0)]
    if len(found) != 1:
        raise InputError(f"{source}: the kernel symbols' base address is not in the image")
    return int(found[0])


def place_arm64_image(image: Image, tables: Kallsyms, source: Path) -> tuple[LinkMap, int]:
    """Return the link map of an arm64 Image and the link address that relative_base stands for.

    Raises InputError when the image does not say, or says two different things.
    """
    distance = _arm64_distance_of_start(image, tables)
    if distance is None:
        raise InputError(f"{source}: neither _text nor the entry point is among the kernel symbols")
    ahead = -distance
    if tables.base:
        base = tables.base
    else:
        # The entry stores `base` at start + base_at, and start is base - ahead: only the difference is known, and
        # among 130,000 entries of a real kernel one has it.
        places, addends = relative_relocations(image)
        starts = addends - np.uint64(ahead % (1 << 64))
        fits = (places - addends == np.uint64((tables.base_at - ahead) % (1 << 64))) & (
            starts % np.uint64(_ARM64_IMAGE_ALIGNMENT) == 0
        )
        found = np.unique(addends[fits])
        if len(found) != 1:
            raise InputError(f"{source}: {len(found)} relocations could place the kernel symbols, expected one")
        base = int(found[0])
    start = base - ahead
    if start < KERNEL_HALF or start % _ARM64_IMAGE_ALIGNMENT or start + len(image) > 1 << 64:
        raise InputError(f"{source}: damaged: the image would be linked at {start:#x}")
    return LinkMap("aarch64", start, (FileSegment(start, 0, len(image)),)), base


def place_riscv_image(image: Image, tables: Kallsyms, source: Path) -> tuple[LinkMap, int]:
    """Return the link map of a riscv64 Image and the link address that relative_base stands for. Raises InputError."""
    base = tables.base
    if not base:
        # CONFIG_RELOCATABLE: the kernel fills the word in when it starts.
        places, addends = relative_relocations(image, _R_RISCV_RELATIVE)
        found = addends[places == np.uint64(RISCV_START + tables.base_at)]
        if len(found) != 1:
            raise InputError(f"{source}: {len(found)} relocations could place the kernel symbols, expected one")
        base = int(found[0])
    if not RISCV_START <= base < RISCV_START + len(image):
        raise InputError(f"{source}: its symbols are of a kernel linked at {base:#x}, expected {RISCV_START:#x} (5.13)")
    return LinkMap("riscv64", RISCV_START, (FileSegment(RISCV_START, 0, len(image)),)), base


def _arm64_distance_of_start(image: Image, tables: Kallsyms) -> int | None:
    # From relative_base to the image's first byte.
    text = tables.distance("_text")
    return arm64_start(image, tables.distance) if text is None else text


def arm64_start(image: Image, place: Callable[[str], int | None]) -> int | None:
    """Return where an arm64 Image's first byte is, by where `place` says its entry point is; None when it does not.

    Without CONFIG_KALLSYMS_ALL `_text` is not a symbol, but one of the header's two instructions is a branch to the
    entry point, which is (stext until 5.7).
    """
    for at, word in zip((0, 4), struct.unpack_from("<2I", image), strict=True):
        if word >> 26 == 0b000101:
            words: int = (word & 0x3FFFFFF) - ((word & 0x2000000) << 1)
            for name in ("primary_entry", "stext"):
                entry = place(name)
                if entry is not None:
                    return entry - at - 4 * words
    return None


def relative_relocations(
    image: Image, kind: int = _R_AARCH64_RELATIVE
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return places and addends of everything that looks like an Elf64_Rela of this type, by default arm64's."""
    words = np.frombuffer(image, "<u8", len(image) // 8)
    kinds = np.flatnonzero(words[1:-1] == kind) + 1
    return words[kinds - 1], words[kinds + 1]


def _elf_symbols(elf: ELFFile) -> ElfSymbols | None:
    table = elf.get_section_by_name(".symtab")
    if table is None:
        return None
    sections = list(elf.iter_sections())
    data = table.data()
    layout = _SYMBOL if elf.elfclass == 64 else _SYMBOL_32
    entries = np.frombuffer(data, layout, len(data) // layout.itemsize)
    # By name: numpy would convert fields by their places.
    raw = np.empty(len(entries), _SYMBOL)
    for field in _SYMBOL.names or ():
        raw[field] = entries[field]
    kind, section = raw["info"] & 15, raw["section"]
    if elf["e_machine"] == "EM_ARM":
        # The lowest bit of a function's address says that it is in Thumb code, and is no part of where it is.
        raw["value"] &= ~(kind == _STT_FUNC).astype(np.uint64)
    defined = (section != 0) & ((section < _FIRST_RESERVED_SECTION) | (section == _ABSOLUTE_SECTION))
    raw = raw[defined & (kind != _STT_SECTION) & (kind != _STT_FILE)]
    # Like the kernel's own table: by address, a weak alias behind the strong one.
    raw = raw[np.lexsort((raw["info"] >> 4 == _STB_WEAK, raw["value"]))]
    letters = [_letter(each["sh_flags"], each["sh_type"]) for each in sections]
    strings = sections[table["sh_link"]].data()
    names: list[str] = []
    kinds: list[str] = []
    kept: list[int] = []
    fields = (raw["name"].tolist(), raw["info"].tolist(), raw["section"].tolist())
    for number, (name_at, info, index) in enumerate(zip(*fields, strict=True)):
        name = strings[name_at : strings.index(b"\0", name_at)].decode("latin-1")
        # Mapping symbols of arm ($a, $t, $x, $d) and the compiler's local labels name no function.
        if not name or name.startswith(("$", ".L")):
            continue
        if info >> 4 == _STB_WEAK:
            letter = "V" if info & 15 == _STT_OBJECT else "W"
        else:
            letter = "a" if index == _ABSOLUTE_SECTION else letters[index]
            letter = letter if info >> 4 == _STB_LOCAL else letter.upper()
        names.append(name)
        kinds.append(letter)
        kept.append(number)
    if not kept:
        return None
    return ElfSymbols(names, "".join(kinds), raw["value"][kept].astype(np.uint64))


def _letter(flags: int, kind: str) -> str:
    if flags & _SHF_EXECINSTR:
        return "t"
    if kind == "SHT_NOBITS":
        return "b"
    return "d" if flags & _SHF_WRITE else "r"
