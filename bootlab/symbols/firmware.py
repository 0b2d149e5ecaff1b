"""Symbols of what runs before a kernel, and is linked to where it runs: a bootloader's ELF files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, SymbolTableSection

from bootlab.errors import InputError
from bootlab.symbols.functions import Function, without_overlap
from bootlab.symbols.roles import Role

_SHF_EXECINSTR = 4
_LABELS = frozenset({"save_boot_params_ret", "switch_to_hypervisor_ret"})
"""Global labels inside of U-Boot's reset()."""
_FUNCTION_TYPES = ("STT_FUNC", "STT_NOTYPE")
_DAMAGED = (ELFError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


class Firmware:
    """The functions of one ELF file by name: link address, and the code there."""

    def __init__(self, path: Path) -> None:
        """Read the file. Raises InputError when it cannot be read or is no ELF file with symbols."""
        self._code: dict[str, tuple[int, bytes, int]] = {}
        self.path = path
        self.sections: tuple[tuple[int, bytes], ...] = ()
        """Where each section of code is linked to, and what is in it."""
        with self._elf() as (elf, table):
            self._read(elf, table)

    @contextmanager
    def _elf(self) -> Iterator[tuple[ELFFile, SymbolTableSection]]:
        path = self.path
        try:
            with path.open("rb") as file:
                elf = ELFFile(file)
                table = elf.get_section_by_name(".symtab")
                if not isinstance(table, SymbolTableSection):
                    raise InputError(f"{path}: an ELF file without symbols")
                yield elf, table
        except OSError as error:
            raise InputError(f"{path}: {(error.strerror or str(error)).lower()}, expected an ELF file") from error
        except _DAMAGED as error:
            raise InputError(f"{path}: truncated or damaged ELF file: {error or type(error).__name__}") from error

    def _read(self, elf: ELFFile, table: SymbolTableSection) -> None:
        self.sections = tuple(
            (int(section["sh_addr"]), section.data()) for section in elf.iter_sections() if _is_code(section)
        )
        # The lowest bit of an arm function's address says that it is in Thumb code.
        mask = ~1 if elf["e_machine"] == "EM_ARM" else ~0
        for symbol in table.iter_symbols():
            if symbol["st_info"]["type"] not in ("STT_FUNC", "STT_NOTYPE") or not symbol.name:
                continue
            address = symbol["st_value"] & mask
            for start, data in self.sections:
                if start <= address < start + len(data):
                    self._code.setdefault(symbol.name, (address, data, address - start))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Every function by link address, one for each address; the last is of role `end`.

        Raises InputError when the file is gone.
        """
        with self._elf() as (elf, table):
            found = sorted(code_symbols(table, [section for section in elf.iter_sections() if _is_code(section)]))
        return tuple(without_overlap((address, size, Role.PLAIN, name) for address, size, name in found))

    def address(self, name: str) -> int | None:
        """Return the link address of a function; None when there is none of this name."""
        found = self._code.get(name)
        return None if found is None else found[0]

    def code(self, name: str, size: int) -> bytes | None:
        """Return the first `size` bytes of a function; None when there is none, or fewer."""
        _, data, offset = self._code.get(name, (0, b"", 0))
        found = data[offset : offset + size]
        return found if len(found) == size else None


def functions_of_image(elf: Path, image: bytes, address: int) -> tuple[Function, ...]:
    """Return the functions of `image`, whose first byte lies at `address`, by the ELF file that it was made of.

    Empty where that is not there, has no symbols, or is of another build.
    """
    if not _has_symbols(elf):
        return ()
    firmware = Firmware(elf)
    start = min((at for at, _ in firmware.sections), default=0)
    if not firmware.sections or any(image[at - start :][: len(code)] != code for at, code in firmware.sections):
        return ()
    return tuple(one._replace(address=one.address - start + address) for one in firmware.functions)


def _has_symbols(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return ELFFile(file).get_section_by_name(".symtab") is not None
    except (OSError, *_DAMAGED):
        return False


def code_symbols(table: SymbolTableSection, code: Sequence[Section]) -> Iterator[tuple[int, int, str]]:
    """Return address, size and name of each function in sections of code, one for each address."""
    found: dict[int, tuple[tuple[bool, bool, int], int, str]] = {}
    spans = [(section["sh_addr"], section["sh_addr"] + section["sh_size"]) for section in code]
    for symbol in table.iter_symbols():
        kind, is_local = symbol["st_info"]["type"], symbol["st_info"]["bind"] == "STB_LOCAL"
        address, size, name = symbol["st_value"], symbol["st_size"], symbol.name
        # Labels without a type are functions of assembly code, unless they are local.
        if kind not in _FUNCTION_TYPES or (kind == "STT_NOTYPE" and is_local) or not name or name in _LABELS:
            continue
        if kind == "STT_FUNC" and table.elffile["e_machine"] == "EM_ARM":
            address &= ~1
        rank = (kind != "STT_FUNC", is_local, len(name) - len(name.lstrip("_")))
        if any(start <= address < end for start, end in spans) and (address not in found or rank < found[address][0]):
            found[address] = (rank, size, name)
    for address, (_, size, name) in found.items():
        yield address, size, name


def _is_code(section: Section) -> bool:
    return bool(section["sh_flags"] & _SHF_EXECINSTR) and section["sh_type"] == "SHT_PROGBITS"
