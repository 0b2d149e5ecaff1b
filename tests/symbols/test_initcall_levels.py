"""Initcall tables in a kernel of the test's own: with symbols for them, and without."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootlab.symbols.initcall_levels import LEVELS, read_initcall_levels
from bootlab.symbols.table import SymbolTable, read_symbols

Make = Callable[..., Any]
BASE = 0xFFFFFFFF81000000
TABLE_AT, POINTERS_AT, CODE_AT, EACH = 0x1000, 0x2000, 0x3000, 16
COUNTS = dict(zip(LEVELS, (3, 1, 4, 2, 2, 5, 3, 1, 6, 4, 2), strict=True))
STARTS = (
    "__initcall_start", *(f"__initcall{level}_start" for level in "012345"), "__initcallrootfs_start",
    "__initcall6_start", "__initcall7_start", "__con_initcall_start", "__con_initcall_end",
)  # fmt: skip


def kernel(
    make_tables: Make, make_x86_elf: Make, *, symbols: bool, pointers: bool = True, absolute: bool = False
) -> bytes:
    """Return a kernel whose n-th initcall is `init_n`, in init text but for every third, by the levels of COUNTS."""
    total = sum(COUNTS.values())
    order = [(number * 7) % total for number in range(total)]
    places = {number: BASE + CODE_AT + EACH * number for number in range(total)}
    entry = 8 if absolute else 4
    starts = [BASE + TABLE_AT + entry * sum(list(COUNTS.values())[:level]) for level in range(len(COUNTS) + 1)]
    content = bytearray(0x6000)
    for number, function in enumerate(order):
        at = TABLE_AT + entry * number
        distance = places[function] - (BASE + at)
        content[at : at + entry] = struct.pack("<Q" if absolute else "<i", places[function] if absolute else distance)
    levels = [*starts[1:7], *starts[8:11]]
    if pointers:
        content[POINTERS_AT : POINTERS_AT + 72] = struct.pack("<9Q", *levels)
    rows = [(BASE, "T", "_text"), (BASE + 0x10, "T", "start_kernel")]
    if symbols:
        rows += [(start, "D", name) for start, name in zip(starts, STARTS, strict=True)]
    rows.append((BASE + CODE_AT - EACH, "T", "_sinittext"))
    rows += [(place, "t", f"init_{number}") for number, place in places.items()]
    rows.append((BASE + CODE_AT + EACH * total, "T", "_einittext"))
    tables = make_tables(rows, "6.12", BASE)
    return bytes(make_x86_elf(bytes(content) + tables.data))


def levels_of(table: SymbolTable) -> dict[str, str]:
    return {str(table.name_at(address)): level for address, level in read_initcall_levels(table).items()}


def expected(*, rootfs: str = "rootfs") -> dict[str, str]:
    total = sum(COUNTS.values())
    levels = [rootfs if level == "rootfs" else level for level, count in COUNTS.items() for _ in range(count)]
    return {f"init_{(number * 7) % total}": level for number, level in enumerate(levels)}


@pytest.mark.parametrize("absolute", [False, True])
def test_with_symbols(tmp_path: Path, make_tables: Make, make_x86_elf: Make, absolute: bool) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(kernel(make_tables, make_x86_elf, symbols=True, absolute=absolute))
    found = levels_of(read_symbols(path))
    assert found == expected()
    assert list(found) == list(expected()), "in the order of the tables"


def test_without_symbols(tmp_path: Path, make_tables: Make, make_x86_elf: Make) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(kernel(make_tables, make_x86_elf, symbols=False))
    assert levels_of(read_symbols(path)) == expected(rootfs="fs")


def test_without_anything_to_go_by(tmp_path: Path, make_tables: Make, make_x86_elf: Make) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(kernel(make_tables, make_x86_elf, symbols=False, pointers=False))
    assert read_initcall_levels(read_symbols(path)) == {}
