"""Which initcall runs at which level, read from the tables that the kernel itself runs them from.

The tables of all levels lie behind one another in the init data: 32-bit distances from each entry to its function
(CONFIG_HAVE_ARCH_PREL32_RELOCATIONS: x86-64 and arm64 since 4.19), or addresses. A kernel without CONFIG_KALLSYMS_ALL
has no symbols for them: then the longest run of distances to init functions is the table, and the one array of nine
addresses in it (initcall_levels) says where a level begins.
"""

import itertools
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bootlab.errors import InputError
from bootlab.symbols.link_map import relative_relocations
from bootlab.symbols.table import SymbolTable

CONSOLE: Final = "console"
LEVELS: Final = ("early", "pure", "core", "postcore", "arch", "subsys", "fs", "rootfs", "device", "late", CONSOLE)
"""In the order in which they run, but for `console`: those are called much earlier, by console_init()."""

# Where each level begins, and where the last one ends.
_STARTS = (
    "__initcall_start", "__initcall0_start", "__initcall1_start", "__initcall2_start", "__initcall3_start",
    "__initcall4_start", "__initcall5_start", "__initcallrootfs_start", "__initcall6_start", "__initcall7_start",
    "__con_initcall_start", "__con_initcall_end",
)  # fmt: skip
_ROOTFS = LEVELS.index("rootfs")
_LEVEL_POINTERS = 9
_FEWEST = 16
_LARGEST = 1 << 20


def read_initcall_levels(table: SymbolTable) -> dict[int, str]:
    """Return the level of every initcall, by the link address of its function, in the order of the tables.

    Empty when the kernel has no such tables in a form known here. Without CONFIG_KALLSYMS_ALL the rootfs initcalls
    count as `fs`, among which they run. Raises InputError when the image is gone.
    """
    named = [table.address(name) for name in _STARTS]
    starts = [start for start in named if start is not None]
    if len(starts) != len(_STARTS):
        starts = _search(table)
    levels: dict[int, str] = {}
    for level, (start, end) in zip(LEVELS, itertools.pairwise(starts), strict=False):
        for function in _entries(table, start, end):
            levels.setdefault(function, level)
    return levels


def _entries(table: SymbolTable, start: int, end: int) -> list[int]:
    data = table.bytes_at(start, end - start) if 0 <= end - start <= _LARGEST else None
    if not data:
        return []
    distances = np.frombuffer(data, "<i4", len(data) // 4).tolist()
    addresses = np.frombuffer(data, "<u8", len(data) // 8)
    if table.arch == "armv7":
        # The lowest bit says that it is in Thumb code.
        addresses = np.frombuffer(data, "<u4", len(data) // 4) & ~np.uint32(1)
    for entries in (
        [start + 4 * number + distance for number, distance in enumerate(distances)],
        addresses.tolist(),
    ):
        if entries and all(table.name_at(entry) is not None for entry in entries):
            return entries
    return []


def _search(table: SymbolTable) -> list[int]:
    try:
        image = table.image.read_bytes()
    except OSError as error:
        raise InputError(f"{table.image}: {(error.strerror or str(error)).lower()}") from error
    for segment in table.link_map.segments:
        words = np.frombuffer(image, "<i4", segment.size // 4, segment.offset)
        run = _table_of_distances(words, segment.address, table)
        if run is not None:
            start, end = (segment.address + 4 * place for place in run)
            pointers = _level_pointers(image, start, end)
            # Before the first level are the early initcalls, behind the last one those of the consoles.
            if pointers:
                return [start, *pointers[: _ROOTFS - 1], *[pointers[_ROOTFS - 1]] * 2, *pointers[_ROOTFS:], end]
    return []


def _table_of_distances(words: NDArray[np.int32], address: int, table: SymbolTable) -> tuple[int, int] | None:
    # The longest run of words that lead to functions, most of them init functions; counted in words.
    low, high = table.address("_sinittext"), table.address("_einittext")
    if low is None or high is None:
        return None
    # Counted from the segment's start, everything fits into 64 bits with a sign.
    functions = np.unique(
        [symbol.address - address for symbol in table.functions() if symbol.address >= table.text_start]
    )
    targets = np.arange(len(words), dtype=np.int64) * 4 + words
    leads = np.zeros(len(words), bool)
    close = np.flatnonzero((targets >= functions[0]) & (targets <= functions[-1]) & (words != 0))
    leads[close] = np.isin(targets[close], functions)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], leads, [False])).astype(np.int8)))
    runs = edges.reshape(-1, 2)
    for start, end in runs[np.argsort(runs[:, 0] - runs[:, 1])].tolist():
        if end - start < _FEWEST:
            break
        in_init = (targets[start:end] >= low - address) & (targets[start:end] < high - address)
        if 2 * np.count_nonzero(in_init) > end - start:
            return start, end
    return None


def _level_pointers(image: bytes, start: int, end: int) -> list[int]:
    words = np.frombuffer(image, "<u8", len(image) // 8)
    found = _consecutive(np.arange(len(words)) * 8, words, start, end)
    if not found:
        places, addends = relative_relocations(image)
        order = np.argsort(places)
        found = _consecutive(places[order].astype(np.int64), addends[order], start, end)
    return found


def _consecutive(places: NDArray[np.int64], values: NDArray[np.uint64], start: int, end: int) -> list[int]:
    # Nine addresses in the table, next to one another and in order.
    inside = np.flatnonzero((values >= np.uint64(start)) & (values <= np.uint64(end)))
    for first in range(len(inside) - _LEVEL_POINTERS + 1):
        nine = inside[first : first + _LEVEL_POINTERS]
        if np.all(np.diff(places[nine]) == 8) and np.all(values[nine][1:] >= values[nine][:-1]):
            return [int(value) for value in values[nine]]
    return []
