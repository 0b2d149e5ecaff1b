"""Functions of a kernel image's decompressor at the physical addresses where they run.

Their symbols are in arch/*/boot/compressed/vmlinux, an ELF file linked at 0 that a kernel's build leaves and no
distribution ships. On x86-64 a boot loader puts its code at 1 MiB; from there it first copies itself to the end of the
memory that the unpacked kernel will need (arch/x86/boot/compressed/head_64.S), so every function has two places. 32-bit
arm's runs where it was loaded, unless it is in its own way.
"""

import io
import struct
from collections.abc import Sequence

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bootlab.errors import InputError
from bootlab.symbols.firmware import code_symbols
from bootlab.symbols.functions import Function, without_overlap
from bootlab.symbols.kallsyms import KERNEL_HALF
from bootlab.symbols.roles import Role

_ELF_MAGIC = b"\x7fELF"
_SETUP_MAGIC_AT, _SETUP_MAGIC = 0x202, b"HdrS"
_SETUP_HEADER_END = 0x264
_SECTOR = 512
_OLD_SETUP_SECTORS = 4
_LOADED_AT = 0x100000
_SHF_EXECINSTR = 4
_UNPACKS = {"EM_X86_64": "extract_kernel", "EM_ARM": "decompress_kernel"}
"""A function that every one has."""
_DAMAGED = (ELFError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, struct.error)


def list_decompressor_functions(
    data: bytes, source: str, image: bytes, loaded_at: Sequence[int] = ()
) -> list[Function] | None:
    """Return the functions in `data`, the decompressor's ELF file, of the kernel `image`; None for another file.

    `source` is the file's name for messages. `loaded_at`: where a zImage may be. Raises InputError when the
    decompressor in `image` is another one.
    """
    if data[: len(_ELF_MAGIC)] != _ELF_MAGIC:
        return None
    try:
        elf = ELFFile(io.BytesIO(data))
        symbols = elf.get_section_by_name(".symtab")
        unpacks = _UNPACKS.get(elf["e_machine"])
        if unpacks is None or not isinstance(symbols, SymbolTableSection):
            return None
        ends = symbols.get_symbol_by_name("_end")
        if not ends or not symbols.get_symbol_by_name(unpacks) or ends[0]["st_value"] >= KERNEL_HALF:
            return None
        code = [section for section in elf.iter_sections() if section["sh_flags"] & _SHF_EXECINSTR]
        found = sorted(code_symbols(symbols, code))
        places = (0, *loaded_at) if elf["e_machine"] == "EM_ARM" else _places(image, ends[0]["st_value"])
        same = places is not None and all(
            image[places[0] + section["sh_addr"] :][: section["sh_size"]] == section.data() for section in code
        )
    except _DAMAGED as error:
        raise InputError(f"{source}: truncated or damaged ELF file: {error or type(error).__name__}") from error
    if places is None or not same:
        raise InputError(f"{source}: the decompressor of another kernel than the one that boots")
    _, *starts = places
    rows = [(start + address, size, Role.PLAIN, name) for start in sorted(starts) for address, size, name in found]
    return list(without_overlap(rows))


def _places(image: bytes, end: int) -> tuple[int, int, int] | None:
    # Where the code is in the bzImage, where a loader puts it, and where it copies itself to.
    if image[_SETUP_MAGIC_AT : _SETUP_MAGIC_AT + 4] != _SETUP_MAGIC or len(image) < _SETUP_HEADER_END:
        return None
    (alignment,) = struct.unpack_from("<I", image, 0x230)
    preferred, init_size = struct.unpack_from("<QI", image, 0x258)
    if not alignment:
        return None
    output = max(preferred, -(-_LOADED_AT // alignment) * alignment)
    return ((image[0x1F1] or _OLD_SETUP_SECTORS) + 1) * _SECTOR, _LOADED_AT, output + init_size - end
