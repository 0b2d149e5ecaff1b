"""Symbols of a kernel: address <-> function, and the code at it, at link addresses (before KASLR moves anything).

They come from the kernel file itself, from its .symtab or else from its own kallsyms, so that a stock stripped kernel
needs no System.map and no debug package. A kernel without either can borrow them: symbols/system_map.py.
"""

import mmap
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bootlab.errors import InputError
from bootlab.symbols import kallsyms
from bootlab.symbols.link_map import (
    ARM64_MAGIC,
    IMAGE_MAGIC_AT,
    RISCV_MAGIC,
    LinkMap,
    place_arm64_image,
    place_kallsyms,
    place_riscv_image,
    read_elf,
)

_TEXT_KINDS = "tTwW"
_ENDS = frozenset({"_etext", "_einittext"})
"""Linker labels behind the last function: they end it and begin nothing."""


class Symbol(NamedTuple):
    """One symbol: link address, letter of nm(1), name."""

    address: int
    kind: str
    name: str


class SymbolTable:
    """The symbols of one kernel image, by link address; aliases in the kernel's own order of preference."""

    def __init__(
        self, link_map: LinkMap, names: list[str], kinds: str, addresses: NDArray[np.uint64], image: Path
    ) -> None:
        self._map = link_map
        self._names = names
        self._kinds = kinds
        self._addresses = addresses
        self._image = image
        # Reversed, so that the first of equal names stays.
        self._first = {
            name: number for number, name in zip(range(len(names) - 1, -1, -1), reversed(names), strict=True)
        }
        self._starts, self._functions = self._index_functions()

    @property
    def arch(self) -> str:
        """`x86_64`, `aarch64`, `armv7` or `riscv64`."""
        return self._map.arch

    @property
    def text_start(self) -> int:
        """Link address of the image's first byte: what KASLR's slide is counted from."""
        return self._map.start

    @property
    def link_map(self) -> LinkMap:
        """Where the image's bytes are in the link-time address space."""
        return self._map

    @property
    def image(self) -> Path:
        """The uncompressed kernel that the symbols are of."""
        return self._image

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Symbol]:
        return map(Symbol, self._addresses.tolist(), self._kinds, self._names)

    def functions(self) -> Iterator[Symbol]:
        """Return the text symbols, by address; every alias is one."""
        return (symbol for symbol in self if symbol.kind in _TEXT_KINDS)

    def address(self, name: str) -> int | None:
        """Return the link address of `name`, the lowest of several with that name; None when the kernel has none.

        `_text` is always known, though a kernel without CONFIG_KALLSYMS_ALL does not list it.
        """
        number = self._first.get(name)
        if number is not None:
            return int(self._addresses[number])
        return self.text_start if name == "_text" else None

    def addresses(self, name: str) -> tuple[int, ...]:
        """Return the link address of every symbol called `name`, lowest first: static functions share names."""
        if name not in self._first:
            return ()
        return tuple(int(self._addresses[number]) for number, each in enumerate(self._names) if each == name)

    def name_at(self, address: int) -> str | None:
        """Return the function whose code holds a link address; None when the address is not in a function."""
        if not self.text_start <= address < self._map.end:
            return None
        place = bisect_right(self._starts, address) - 1
        number = self._functions[place] if place >= 0 else -1
        return self._names[number] if number >= 0 else None

    def code(self, name: str, size: int) -> bytes | None:
        """Return the `size` bytes that the image holds at the first symbol called `name`.

        None when there is no such symbol or the image does not hold all of them (bss, per-CPU data). The running
        kernel may have patched them since (ftrace, alternatives). Raises InputError when the image is gone.
        """
        address = self.address(name)
        return None if address is None else self.bytes_at(address, size)

    def bytes_at(self, address: int, size: int) -> bytes | None:
        """Return the `size` bytes at a link address; None when the image does not hold all of them.

        Raises InputError when the image is gone.
        """
        offset = self._map.offset(address, size)
        if offset is None:
            return None
        try:
            with self._image.open("rb") as file:
                file.seek(offset)
                code = file.read(size)
        except OSError as error:
            raise InputError(f"{self._image}: {(error.strerror or str(error)).lower()}") from error
        if len(code) != size:
            raise InputError(f"{self._image}: truncated since its symbols were read")
        return code

    def _index_functions(self) -> tuple[list[int], list[int]]:
        # Every address that a symbol has, and the function that starts there; -1 where only data or an end does.
        text = np.isin(np.frombuffer(self._kinds.encode("latin-1"), "u1"), np.frombuffer(_TEXT_KINDS.encode(), "u1"))
        for name in _ENDS:
            if name in self._first:
                text[self._first[name]] = False
        starts = np.unique(self._addresses)
        numbers = np.flatnonzero(text)
        held, first = np.unique(self._addresses[numbers], return_index=True)
        functions = np.full(len(starts), -1)
        functions[np.searchsorted(starts, held)] = numbers[first]
        return starts.tolist(), functions.tolist()


def read_symbols(path: Path) -> SymbolTable:
    """Return the symbols of an uncompressed kernel: an ELF vmlinux, or an arm64 or riscv64 Image.

    Raises InputError when the file cannot be read, is no such kernel, is truncated, or carries no symbols.
    """
    try:
        with path.open("rb") as file:
            image = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if image[:4] == b"\x7fELF":
                link_map, listed = read_elf(file, image, path)
                if listed is not None:
                    return make_table(link_map, listed.names, listed.kinds, listed.addresses, path)
                tables = kallsyms.decode(image, path)
                base = place_kallsyms(link_map, image, tables, path)
            elif image[IMAGE_MAGIC_AT : IMAGE_MAGIC_AT + 4] == ARM64_MAGIC:
                tables = kallsyms.decode(image, path)
                link_map, base = place_arm64_image(image, tables, path)
            elif image[IMAGE_MAGIC_AT : IMAGE_MAGIC_AT + 4] == RISCV_MAGIC:
                tables = kallsyms.decode(image, path)
                link_map, base = place_riscv_image(image, tables, path)
            else:
                raise InputError(
                    f"{path}: not an uncompressed kernel, expected an ELF vmlinux, or an arm64 or riscv64 Image",
                    hint="a bzImage or a compressed Image must be unpacked first",
                )
    except ValueError as error:
        raise InputError(f"{path}: empty file, expected a kernel") from error
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}, expected a kernel") from error
    return make_table(link_map, tables.names, tables.kinds, tables.addresses(base), path)


def make_table(
    link_map: LinkMap, names: list[str], kinds: str, addresses: NDArray[np.uint64], path: Path
) -> SymbolTable:
    """Return the table of symbols given by address, for the image at `path`. Raises InputError when they do not fit."""
    # In front of riscv64's _text is the head of the image, which the kernel begins with.
    if "_text" in names and link_map.arch != "riscv64":
        start = int(addresses[names.index("_text")])
        if link_map.offset(start, 1) is None:
            raise InputError(f"{path}: damaged: the kernel's symbols lie outside its own image")
        link_map = replace(link_map, start=start)
    return SymbolTable(link_map, names, kinds, addresses, path)
