"""A kernel that borrows its symbols: from System.map or vmlinux of the same build, and of no other."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import InputError
from bootlab.symbols.system_map import SymbolFile, classify_symbol_file, read_kernel_symbols
from bootlab.symbols.table import read_symbols

Make = Callable[..., Any]
BASE = 0xFFFFFFFF81000000
BANNER = b"Linux version 6.12.1 (me@here) #1 SMP Thu Jan  1 00:00:00 UTC 2026\0"
BANNER_AT = 0x800
CONTENT = (bytes(range(256)) * 8).ljust(BANNER_AT, b"\0")[:BANNER_AT] + BANNER
MAP = f"""\
0000000000001000 D cpu_number
{BASE:016x} T _text
{BASE + 0x40:016x} T start_kernel
{BASE + 0x40:016x} t alias
{BASE + 0x80:016x} t init_module
{BASE + 0x100:016x} T _etext
{BASE + BANNER_AT:016x} D linux_banner
"""


@pytest.fixture
def kernel(tmp_path: Path, make_x86_elf: Make) -> Path:
    path = tmp_path / "vmlinux"
    path.write_bytes(make_x86_elf(CONTENT))
    return path


def written(folder: Path, text: str | bytes, name: str = "System.map") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_kernel_without_kallsyms_takes_its_system_map(tmp_path: Path, kernel: Path) -> None:
    with pytest.raises(InputError, match="no kernel symbols"):
        read_symbols(kernel)
    table = read_kernel_symbols(written(tmp_path, MAP), kernel)
    assert table.address("start_kernel") == BASE + 0x40
    assert table.name_at(BASE + 0x7F) == "start_kernel"
    assert table.name_at(BASE + 0x100) is None
    assert table.code("start_kernel", 4) == b"\x40\x41\x42\x43"
    assert table.text_start == BASE
    assert table.arch == "x86_64"


def test_order_of_lines_does_not_matter(tmp_path: Path, kernel: Path) -> None:
    table = read_kernel_symbols(written(tmp_path, "".join(reversed(MAP.splitlines(keepends=True)))), kernel)
    addresses = [symbol.address for symbol in table]
    assert addresses == sorted(addresses)


ARM64_MAP = MAP.replace("ffffffff81", "ffff800080") + "ffff800080000400 T primary_entry\n"


def arm64_image(entry: int) -> bytes:
    image = b"MZ\x40\xfa" + struct.pack("<I", 0b000101 << 26 | (entry - 4) >> 2)
    return (image.ljust(56, b"\0") + b"ARM\x64").ljust(BANNER_AT, b"\1") + BANNER


def test_an_arm64_image_takes_its_system_map(tmp_path: Path) -> None:
    path = written(tmp_path, arm64_image(0x400), "Image")
    table = read_kernel_symbols(written(tmp_path, ARM64_MAP), path)
    assert (table.arch, table.text_start) == ("aarch64", 0xFFFF800080000000)
    assert table.code("start_kernel", 4) == b"\1" * 4
    # Functions alone are enough.
    lines = [line for line in ARM64_MAP.splitlines() if "_text" not in line and "banner" not in line]
    table = read_kernel_symbols(written(tmp_path, "\n".join(lines) + "\n"), path)
    assert (table.text_start, table.address("_text")) == (0xFFFF800080000000, 0xFFFF800080000000)
    other = written(tmp_path, arm64_image(0x404), "other")
    with pytest.raises(InputError, match="symbols of another kernel.*primary_entry"):
        read_kernel_symbols(written(tmp_path, ARM64_MAP), other)


def test_a_riscv64_image_takes_its_system_map(tmp_path: Path) -> None:
    head = b"MZ".ljust(48, b"\0") + b"RISCV\0\0\0RSC\x05"
    path = written(tmp_path, head.ljust(BANNER_AT, b"\1") + BANNER, "Image")
    text = MAP.replace("ffffffff81", "ffffffff80")
    table = read_kernel_symbols(written(tmp_path, text), path)
    assert (table.arch, table.text_start) == ("riscv64", 0xFFFFFFFF80000000)
    assert classify_symbol_file(path) is SymbolFile.KERNEL
    with pytest.raises(InputError, match="symbols of another kernel.*_start"):
        read_kernel_symbols(written(tmp_path, text + "ffffffe000000000 T _start\n"), path)
    without = "".join(line for line in text.splitlines(keepends=True) if "banner" not in line)
    with pytest.raises(InputError, match="not a whole System.map"):
        read_kernel_symbols(written(tmp_path, without), path)


def test_symbols_of_another_build(tmp_path: Path, kernel: Path, make_x86_elf: Make) -> None:
    other = written(tmp_path, make_x86_elf(CONTENT.replace(b"#1 ", b"#2 ")), "other")
    with pytest.raises(InputError, match=r"symbols of another kernel.*#2.*#1"):
        read_kernel_symbols(other, kernel)
    with pytest.raises(InputError, match="symbols of another kernel"):
        read_kernel_symbols(written(tmp_path, MAP.replace(f"{BASE + BANNER_AT:x}", f"{BASE + 0x700:x}")), kernel)
    with pytest.raises(InputError, match="not a whole System.map"):
        read_kernel_symbols(written(tmp_path, MAP.replace("linux_banner", "other_banner")), kernel)


def test_vmlinux_with_its_own_symbols(
    tmp_path: Path, kernel: Path, make_tables: Make, make_symbols: Make, make_x86_elf: Make
) -> None:
    tables = make_tables(make_symbols(BASE), "6.12", BASE)
    vmlinux = written(tmp_path, make_x86_elf(CONTENT.ljust(0x6000, b"\0") + tables.data), "vmlinux-with")
    assert read_kernel_symbols(vmlinux, kernel).address("start_kernel") is not None
    assert read_kernel_symbols(vmlinux, None).address("start_kernel") is not None
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_kernel_symbols(written(tmp_path, MAP), None)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty file"),
        ("#!/bin/sh\n", "not a file of symbols"),
        (b"\x7fELF" + bytes(60), "little-endian"),
        (b"\x7fELF\x02\x01" + bytes(60), "not a kernel"),
        (MAP + "what is this\n", ":8: not a line"),
        (MAP + "ffffffff81000000 T two words\n", ":8: not a line"),
        ("0000000000001000 D cpu_number\n", "not a whole"),
        (b"\x7fELF\x02\x01", "cut off"),
    ],
)
def test_what_is_no_file_of_symbols(tmp_path: Path, kernel: Path, text: str | bytes, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_kernel_symbols(written(tmp_path, text), kernel)
    with pytest.raises(InputError, match="no such file"):
        read_kernel_symbols(tmp_path / "gone", kernel)


def test_kinds_of_files(tmp_path: Path, kernel: Path) -> None:
    assert classify_symbol_file(kernel) is SymbolFile.KERNEL
    assert classify_symbol_file(written(tmp_path, MAP)) is SymbolFile.SYSTEM_MAP
    assert classify_symbol_file(written(tmp_path, b"\x7fELF\x02\x01" + bytes(100), "program")) is SymbolFile.PROGRAM
    with pytest.raises(InputError, match="is a directory"):
        classify_symbol_file(tmp_path)
