"""Functions of a user program or library by their place in its file, which is where every process has them.

Names come from .symtab, else from a separate debug file (build ID or .gnu_debuglink), else from .dynsym, which a
stripped library still has. Only little-endian ELF files for x86-64, arm64, riscv64 and 32-bit arm are read; a file
without symbols has no functions, and that is no error.
"""

import mmap
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bootlab.errors import InputError
from bootlab.symbols.functions import Function, without_overlap
from bootlab.symbols.roles import Role

Data = bytes | mmap.mmap

_MAGIC = b"\x7fELF"
_IDENTITY = 16


@dataclass(frozen=True)
class _ElfLayout:
    """How the tables of one class of ELF files are laid out."""

    machines: Mapping[int, str]
    header: struct.Struct
    section: struct.Struct
    segment: struct.Struct
    columns: tuple[int, ...]
    """Places in a row of segments of: kind, flags, offset, address, bytes in the file."""
    symbol: "np.dtype[np.void]"


_LAYOUT_64 = _ElfLayout(
    machines={62: "x86_64", 183: "aarch64", 243: "riscv64"},
    header=struct.Struct("<16xHHI8xQQIHHHHHH"),
    section=struct.Struct("<IIQQQQIIQQ"),
    segment=struct.Struct("<IIQQQQQQ"),
    columns=(0, 1, 2, 3, 6),
    symbol=np.dtype(
        [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
    ),
)
_LAYOUT_32 = _ElfLayout(
    machines={40: "armv7"},
    header=struct.Struct("<16xHHI4xIIIHHHHHH"),
    section=struct.Struct("<10I"),
    segment=struct.Struct("<8I"),
    columns=(0, 6, 1, 2, 5),
    symbol=np.dtype(
        [("name", "<u4"), ("value", "<u4"), ("size", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")]
    ),
)
_LAYOUTS = {b"\x02\x01": _LAYOUT_64, b"\x01\x01": _LAYOUT_32}
"""By class and byte order, which follow the magic number: 64 or 32 bits, little-endian."""
_PT_LOAD, _PF_X = 1, 1
_SHT_SYMTAB, _SHT_NOTE, _SHT_NOBITS, _SHT_DYNSYM = 2, 7, 8, 11
_STT_NOTYPE, _STT_FUNC, _STT_IFUNC = 0, 2, 10
_STB_LOCAL = 0
_NT_GNU_BUILD_ID = 3
_MOST_PARTS = 1 << 16
_STUB_SECTIONS = (".plt", ".plt.sec", ".plt.got", ".iplt")


@dataclass(frozen=True)
class _Section:
    name: str
    kind: int
    address: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class Program:
    """What is known of one ELF file. `functions` are by file offset, the last of role `end`; empty without symbols."""

    arch: str
    build_id: str | None
    debug_link: str | None
    """Name of the separate debug file that the program asks for."""
    stripped: bool
    """There is no .symtab: what functions there are come from .dynsym."""
    functions: tuple[Function, ...]


def read_program(data: Data, source: str, debug_files: Sequence[Path] = ()) -> Program | None:
    """Return the functions of an ELF file, `source` for messages; None when `data` is something else, a script say.

    `debug_files`: separate debug files, of this and of other programs; the one with the same build ID, or with the
    name that .gnu_debuglink asks for, is taken when the program itself is stripped. Raises InputError for a damaged
    file and for a debug file that cannot be read.
    """
    if _layout_of(data) is None:
        return None
    try:
        elf = _Elf(data)
        if elf.arch is None:
            return None
        program = elf.program()
        if program.stripped:
            for path in debug_files:
                found = _from_debug_file(path, program, elf)
                if found is not None:
                    return found
        return program
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        raise InputError(f"{source}: truncated or damaged ELF file: {error}") from error


def read_mapped_program(data: Data, source: str, symbols: Iterable[tuple[int, int, str]]) -> Program | None:
    """Return the functions of an ELF file whose linker told its `symbols`: address, size and name of each.

    `source` and None as with `read_program`. Raises InputError for a damaged file.
    """
    program = read_program(data, source)
    if program is None:
        return None
    elf = _Elf(data)
    functions = elf.place((address, size, False, name) for address, size, name in symbols if elf.is_named(name))
    return replace(program, stripped=False, functions=tuple(functions))


def belongs_to(path: Path, data: Data, program: Data) -> bool:
    """Return whether the ELF file `path`, whose content is `data`, is of the same build as `program`.

    By build ID; where one of them has none by its code, or for a debug file by the name that the program asks for.
    """
    try:
        elf, other = _Elf(program), _Elf(data)
        return _same_build(elf, elf.program().debug_link, path, other)
    except (struct.error, ValueError, IndexError, OverflowError):
        return False


def _same_build(elf: "_Elf", debug_link: str | None, path: Path, other: "_Elf") -> bool:
    if elf.build_id and other.build_id:
        return elf.build_id == other.build_id
    code = other.code()
    return elf.code() == code if code else path.name == debug_link


def _from_debug_file(path: Path, program: Program, elf: "_Elf") -> Program | None:
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if _layout_of(data) is None:
            return None
        debug = _Elf(data)
        if not _same_build(elf, program.debug_link, path, debug) or debug.table(_SHT_SYMTAB) is None:
            return None
        # A debug file's segments have the program's addresses, but no place in the program's file.
        return replace(program, stripped=False, functions=tuple(elf.functions(debug)))
    except (OSError, struct.error, ValueError, IndexError) as error:
        raise InputError(f"{path}: not a debug file that can be read: {error}") from error


def _layout_of(data: Data) -> _ElfLayout | None:
    layout = _LAYOUTS.get(bytes(data[4:6])) if data[:4] == _MAGIC else None
    return layout if layout is not None and len(data) >= layout.header.size else None


class _Elf:
    def __init__(self, data: Data) -> None:
        layout = _layout_of(data)
        if layout is None:
            raise ValueError("not a little-endian ELF file")
        self._data = data
        self._layout = layout
        _, machine, _, segments_at, sections_at, _, _, segment_size, segments, section_size, sections, names = (
            layout.header.unpack_from(data)
        )
        self.arch = layout.machines.get(machine)
        # Offset in the file, address and bytes in memory of what is executable; a debug file has none of the bytes.
        parts = (
            [row[column] for column in layout.columns]
            for row in self._rows(layout.segment, segments_at, segment_size, segments)
        )
        self._code = [
            (offset, address, size)
            for kind, flags, offset, address, size in parts
            if kind == _PT_LOAD and flags & _PF_X
        ]
        rows = list(self._rows(layout.section, sections_at, section_size, sections))
        self._sections = [
            _Section(self._text(rows[names][4] + row[0]) if names < len(rows) else "", row[1], *row[3:7])
            for row in rows
        ]
        self.build_id = self._build_id()
        # On 32-bit arm an odd address says that the function is in T32 code.
        self._instruction_set = ~1 if layout is _LAYOUT_32 else ~0

    def program(self) -> Program:
        stripped = self.table(_SHT_SYMTAB) is None
        link = next((each for each in self._sections if each.name == ".gnu_debuglink"), None)
        return Program(
            arch=self.arch or "",
            build_id=self.build_id,
            debug_link=self._text(link.offset) if link else None,
            stripped=stripped,
            functions=tuple(self.functions(self)),
        )

    def code(self) -> bytes:
        """Return the machine code in .text; empty in a debug file, which has none."""
        for section in self._sections:
            if section.name == ".text" and section.kind != _SHT_NOBITS:
                return bytes(self._data[section.offset : section.offset + section.size])
        return b""

    def table(self, kind: int) -> _Section | None:
        return next((each for each in self._sections if each.kind == kind and each.size), None)

    def functions(self, symbols_of: "_Elf") -> Iterator[Function]:
        """Return the functions of this file that the symbols of `symbols_of` name, by offset in this file."""
        table = symbols_of.table(_SHT_SYMTAB) or symbols_of.table(_SHT_DYNSYM)
        yield from self.place(symbols_of.named(table) if table else ())

    def place(self, symbols: Iterable[tuple[int, int, bool, str]]) -> Iterator[Function]:
        """Return the functions that symbols (address, size, whether it is local, name) name, by offset in this file."""
        found: dict[int, tuple[tuple[bool, int, str], int, Role, str]] = {}
        for address, size, is_local, name in symbols:
            offset = self._offset(address & self._instruction_set)
            if offset is None:
                continue
            # Of several names the one for others, then the plainest: memcpy rather than __memcpy_fwd.
            rank = (is_local, len(name) - len(name.lstrip("_")), name)
            if offset not in found or rank < found[offset][0]:
                found[offset] = (rank, max(size, found[offset][1] if offset in found else 0), Role.PLAIN, name)
        if found:
            for section in self._sections:
                if section.name in _STUB_SECTIONS and section.kind != _SHT_NOBITS and section.size:
                    found[section.offset] = ((False, 0, ""), section.size, Role.THUNK, section.name)
        yield from without_overlap((at, size, role, name) for at, (_, size, role, name) in sorted(found.items()))

    @staticmethod
    def is_named(name: str) -> bool:
        """Return whether a symbol's name is a function's: mapping symbols of arm ($x, $a) and labels name none."""
        return bool(name) and not name.startswith(("$", ".L")) and name.isprintable() and " " not in name

    def named(self, table: _Section) -> Iterator[tuple[int, int, bool, str]]:
        """Return address, size, whether it is local, and name of each function in a table of symbols."""
        strings = self._sections[table.link]
        text = bytes(self._data[strings.offset : strings.offset + strings.size])
        for row in self._symbols(table):
            name_at, info, address, size = (int(row[key]) for key in ("name", "info", "value", "size"))
            name = text[name_at : text.index(b"\0", name_at)].decode("utf-8", "replace")
            if self.is_named(name):
                yield address, size, info >> 4 == _STB_LOCAL, name

    def _symbols(self, table: _Section) -> NDArray[np.void]:
        symbol = self._layout.symbol
        rows = np.frombuffer(self._data, symbol, table.size // symbol.itemsize, table.offset)
        kinds = rows["info"] & 15
        code = np.zeros(len(rows), bool)
        for _, address, size in self._code:
            code |= (rows["value"] >= address) & (rows["value"] < address + size)
        # Assembly code often has labels without a type; local ones are not functions.
        wanted = (kinds == _STT_FUNC) | (kinds == _STT_IFUNC)
        wanted |= (kinds == _STT_NOTYPE) & (rows["info"] >> 4 != _STB_LOCAL)
        found: NDArray[np.void] = rows[code & wanted & (rows["section"] != 0)]
        return found

    def _offset(self, address: int) -> int | None:
        for offset, start, size in self._code:
            if start <= address < start + size:
                return int(offset + address - start)
        return None

    def _build_id(self) -> str | None:
        for section in self._sections:
            if section.kind != _SHT_NOTE or section.name != ".note.gnu.build-id" or section.size < 16:
                continue
            name_size, size, kind = struct.unpack_from("<III", self._data, section.offset)
            if kind == _NT_GNU_BUILD_ID:
                start = section.offset + 12 + (name_size + 3 & ~3)
                return bytes(self._data[start : start + size]).hex()
        return None

    def _rows(self, form: struct.Struct, start: int, size: int, count: int) -> Iterator[tuple[int, ...]]:
        if not count:
            return
        if size < form.size or count > _MOST_PARTS or start + size * count > len(self._data):
            raise ValueError("its header promises more than the file has")
        for number in range(count):
            yield form.unpack_from(self._data, start + size * number)

    def _text(self, start: int) -> str:
        end = self._data.find(b"\0", start)
        return self._data[start:end].decode("utf-8", "replace") if end >= 0 else ""
