"""Symbols -> functions: one for each address, labels and aliases sorted out, code's ends known."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootlab.symbols.functions import ALTERNATIVES, Function, list_functions, without_overlap
from bootlab.symbols.roles import Role
from bootlab.symbols.table import SymbolTable, read_symbols

Make = Callable[..., Any]
Row = tuple[int, str, str]
BASE = 0xFFFFFFFF81000000
ROWS: list[Row] = [
    (0x1000, "A", "cpu_number"),
    (BASE, "T", "_stext"),
    (BASE, "T", "_text"),
    (BASE, "T", "startup_64"),
    (BASE + 0x40, "T", "secondary_startup_64_no_verify"),
    (BASE + 0x80, "W", "__memcpy"),
    (BASE + 0x80, "T", "memcpy"),
    (BASE + 0x90, "T", "__entry_text_start"),
    (BASE + 0xA0, "T", "entry_SYSCALL_64"),
    (BASE + 0xB0, "T", "entry_SYSCALL_64_after_hwframe"),
    (BASE + 0xC0, "T", "__irqentry_text_start"),
    (BASE + 0xC0, "T", "irq_entries_start"),
    (BASE + 0xD0, "T", "asm_exc_page_fault"),
    (BASE + 0xE0, "T", "__pi_strlen"),
    (BASE + 0xE0, "T", "strlen"),
    (BASE + 0xF0, "T", "__x86_return_thunk"),
    (BASE + 0x100, "T", "_etext"),
    (BASE + 0x200, "D", "init_task"),
    (BASE + 0x210, "D", "other_0123456789"),
    (BASE + 0x300, "T", "_sinittext"),
    (BASE + 0x300, "t", "set_reset_devices"),
    (BASE + 0x340, "T", "_einittext"),
    (BASE + 0x400, "d", "initcall_levels"),
    (BASE + 0x500, "t", "exit_elf"),
    (BASE + 0x540, "d", "late_data"),
]


@pytest.fixture
def table(tmp_path: Path, make_tables: Make, make_x86_elf: Make) -> SymbolTable:
    tables = make_tables(ROWS, "6.12", BASE, absolute_percpu=True)
    path = tmp_path / "vmlinux"
    path.write_bytes(make_x86_elf(bytes(0x1000) + tables.data))
    return read_symbols(path)


def test_one_function_for_each_address(table: SymbolTable) -> None:
    assert list_functions(table) == [
        Function(BASE, Role.PLAIN, "startup_64"),
        Function(BASE + 0x80, Role.PLAIN, "__memcpy"),
        Function(BASE + 0xA0, Role.ENTRY, "entry_SYSCALL_64"),
        Function(BASE + 0xC0, Role.STUBS, "irq_entries_start"),
        Function(BASE + 0xD0, Role.ENTRY, "asm_exc_page_fault"),
        Function(BASE + 0xE0, Role.PLAIN, "strlen"),
        Function(BASE + 0xF0, Role.RETURN, "__x86_return_thunk"),
        Function(BASE + 0x100, Role.END, "end"),
        Function(BASE + 0x300, Role.PLAIN, "set_reset_devices"),
        Function(BASE + 0x340, Role.THUNK, ALTERNATIVES),
        Function(BASE + 0x400, Role.END, "end"),
        Function(BASE + 0x500, Role.PLAIN, "exit_elf"),
        Function(BASE + 0x540, Role.END, "end"),
    ]


def test_text_to_the_end_of_the_image_has_an_end(tmp_path: Path, make_tables: Make, make_x86_elf: Make) -> None:
    tables = make_tables(
        [(BASE, "T", "_text"), (BASE + 16, "T", "panic"), (BASE + 32, "t", "x_0123456789")], "6.12", BASE
    )
    path = tmp_path / "vmlinux"
    path.write_bytes(make_x86_elf(bytes(0x100) + tables.data))
    functions = list_functions(read_symbols(path))
    assert [function.name for function in functions] == ["panic", "x_0123456789", "end"]
    assert functions[-1].role is Role.END
    assert functions[-1].address == BASE + 0x100 + len(tables.data)


def test_gaps_between_functions_of_known_size() -> None:
    assert list(without_overlap([])) == []
    rows = [
        (0, 10, Role.PLAIN, "a"),
        (16, 0, Role.PLAIN, "label"),
        (100, 20, Role.THUNK, "b"),
        (140, 4, Role.PLAIN, "c"),
    ]
    assert list(without_overlap(rows)) == [
        Function(0, Role.PLAIN, "a"),
        Function(16, Role.PLAIN, "label"),
        Function(100, Role.THUNK, "b"),
        Function(120, Role.END, "end"),
        Function(140, Role.PLAIN, "c"),
        Function(144, Role.END, "end"),
    ]
