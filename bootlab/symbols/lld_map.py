"""Reads a stripped program's functions from the map that its linker lld wrote (`-Wl,--print-map`).

https://github.com/llvm/llvm-project/blob/main/lld/ELF/MapFile.cpp has the form: VMA, LMA and size in hex, alignment,
then an output section, 8 columns in an input section, 16 columns in a symbol.
"""

import re
from collections.abc import Iterator

_PLACE = r"^ *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\d+ "
_SYMBOL = re.compile(_PLACE + r" {16}(\S+)$", re.MULTILINE)
_FUNCTION_SECTION = re.compile(_PLACE + r" {8}\S.*:\(\.text\.(?:\.L)?(\S+)\)$", re.MULTILINE)


def mapped_symbols(text: str) -> Iterator[tuple[int, int, str]]:
    """Return address, size and name of every symbol in the map; none for a text that is no map of lld's.

    A function without a symbol, as zig's own C library has some, goes by the name of its section.
    """
    named = set()
    for found in _SYMBOL.finditer(text):
        named.add(found[1])
        yield int(found[1], 16), int(found[2], 16), found[3]
    for found in _FUNCTION_SECTION.finditer(text):
        if found[1] not in named:
            yield int(found[1], 16), int(found[2], 16), found[3]
