"""Symbol tables of whole synthetic kernels: ELF with kallsyms or .symtab, arm64 Images with and without RELA."""

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import InputError
from bootlab.symbols.link_map import RISCV_START
from bootlab.symbols.table import read_symbols

X86_BASE = 0xFFFFFFFF81000000
CODE = bytes(range(1, 251))

Make = Callable[..., Any]


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "kernel"
    path.write_bytes(data)
    return path


@pytest.fixture(scope="session")
def x86_kernel(make_tables: Make, make_symbols: Make, make_x86_elf: Make) -> bytes:
    symbols = make_symbols(X86_BASE, percpu=True)
    tables = make_tables(symbols, "6.12", X86_BASE, absolute_percpu=True)
    start_kernel = next(address for address, _, name in symbols if name == "start_kernel") - X86_BASE
    text = bytes(start_kernel) + CODE
    return bytes(make_x86_elf(text.ljust(0x6000, b"\xcc") + tables.data))


def arm64_image(
    make_tables: Make, make_symbols: Make, *, start: int, order: str = "6.1", rela: bool = True, text: bool = False
) -> bytes:
    """Return an Image as Linux 6.1 makes it: the base is _stext, 64 KiB behind the start, and a relocation fills it in.

    With `text` the symbol _text is there, as with CONFIG_KALLSYMS_ALL, and is the base.
    """
    base = start if text else start + 0x10000
    symbols = make_symbols(base)
    if not text:
        symbols[0] = (base, "T", "_stext")
    entry = symbols[-1][0] + 0x800
    symbols.append((entry, "T", "primary_entry"))
    tables = make_tables(symbols, order, base, word=0 if rela else None)
    content_at = 0x18000
    branch = 0b000101 << 26 | (entry - start - 4) >> 2
    header = struct.pack("<II", 0xFA405A4D, branch) + bytes(48) + b"ARM\x64" + bytes(4)
    image: bytes = header.ljust(content_at, b"\0") + tables.data
    image += bytes(-len(image) % 8)
    if rela:
        wanted = [(start + content_at + tables.base_at, base)]
        others = [(start + 0x20 + 8 * number, start + 0x12340 + 4 * number) for number in range(500)]
        image += b"".join(
            struct.pack("<QQQ", place, 1027, addend) for place, addend in [*others[:250], *wanted, *others]
        )
    return image


def test_stripped_elf_kernel(tmp_path: Path, x86_kernel: bytes, make_symbols: Make) -> None:
    table = read_symbols(written(tmp_path, x86_kernel))
    expected = make_symbols(X86_BASE, percpu=True)
    assert [tuple(symbol) for symbol in table] == expected
    assert len(table) == len(expected)
    assert (table.arch, table.text_start) == ("x86_64", X86_BASE)
    assert table.address("_text") == X86_BASE
    assert table.address("no_such_function") is None


def test_duplicated_names(tmp_path: Path, x86_kernel: bytes) -> None:
    table = read_symbols(written(tmp_path, x86_kernel))
    places = table.addresses("type_show")
    assert len(places) == 12
    assert list(places) == sorted(places)
    assert table.address("type_show") == places[0]
    assert table.addresses("no_such_function") == ()


def test_name_at_names_functions_only(tmp_path: Path, x86_kernel: bytes) -> None:
    table = read_symbols(written(tmp_path, x86_kernel))
    start = table.address("start_kernel")
    end, data = table.address("_etext"), table.address("init_task")
    assert start and end and data
    assert table.name_at(start) == "start_kernel", "the first alias is the kernel's own choice"
    assert table.name_at(start + 63) == "start_kernel"
    assert table.name_at(start - 1) == "type_show"
    assert table.name_at(end - 1) == "rust_" + "q7Zx_9KwJ2" * 40
    assert table.name_at(end) is None, "_etext ends the text and begins nothing"
    assert table.name_at(data) is None
    assert table.name_at(0x1000) is None, "a per-CPU offset is no place in the text"
    assert table.name_at(X86_BASE - 1) is None
    assert table.name_at((1 << 64) - 1) is None
    assert table.name_at(0) is None


def test_code_comes_from_the_image(tmp_path: Path, x86_kernel: bytes) -> None:
    table = read_symbols(written(tmp_path, x86_kernel))
    assert table.code("start_kernel", 16) == CODE[:16]
    assert table.code("no_such_function", 16) is None
    assert table.code("cpu_1_state", 4) is None, "per-CPU variables have no link address in the text"
    assert table.code("start_kernel", 1 << 30) is None


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("start", [0xFFFF800008000000, 0xFFFF800080000000, 0xFFFFFFC008000000])
@pytest.mark.parametrize(("order", "rela"), [("6.1", True), ("6.12", False), ("6.12", True)])
def test_arm64_image_is_placed(
    tmp_path: Path, make_tables: Make, make_symbols: Make, start: int, order: str, rela: bool, text: bool
) -> None:
    image = arm64_image(make_tables, make_symbols, start=start, order=order, rela=rela, text=text)
    table = read_symbols(written(tmp_path, image))
    assert (table.arch, table.text_start) == ("aarch64", start)
    assert table.address("_text") == start, "known even when it is not listed"
    base = start if text else start + 0x10000
    assert table.address("start_kernel") == base + 0x100 + 32 * 600
    assert table.code("_text", 4) == b"MZ\x40\xfa"


def test_arm64_image_without_its_relocation(tmp_path: Path, make_tables: Make, make_symbols: Make) -> None:
    image = arm64_image(make_tables, make_symbols, start=0xFFFF800008000000)
    with pytest.raises(InputError, match="0 relocations could place the kernel symbols"):
        read_symbols(written(tmp_path, image.replace(struct.pack("<Q", 1027), struct.pack("<Q", 1026))))


def test_arm64_image_that_cannot_be_placed(tmp_path: Path, make_tables: Make, make_symbols: Make) -> None:
    image = bytearray(arm64_image(make_tables, make_symbols, start=0xFFFF800008000000))
    image[4:8] = bytes(4)
    with pytest.raises(InputError, match="neither _text nor the entry point"):
        read_symbols(written(tmp_path, bytes(image)))


def riscv_image(make_tables: Make, make_symbols: Make, *, word: int | None = None, all_symbols: bool = True) -> bytes:
    """Return an Image as Linux 6.12 makes it for riscv64: its text is 8 KiB behind the start, where its head is.

    Without `all_symbols` the kernel lists none of its head, as without CONFIG_KALLSYMS_ALL.
    """
    symbols = make_symbols(RISCV_START + 0x2000)
    symbols[0] = (RISCV_START + 0x2000, "T", "_text")
    if all_symbols:
        symbols[:0] = [(RISCV_START, "T", "_start"), (RISCV_START + 0x10D8, "T", "_start_kernel")]
    tables = make_tables(symbols, "6.12", symbols[0][0], word=word)
    header = b"MZ" + bytes(46) + b"RISCV\0\0\0RSC\x05"
    image: bytes = header.ljust(0x18000, b"\0") + tables.data
    image += bytes(-len(image) % 8)
    if word == 0:
        places = [RISCV_START + 0x20, RISCV_START + 0x18000 + tables.base_at, RISCV_START + 0x40]
        image += b"".join(struct.pack("<QQQ", place, 3, symbols[0][0]) for place in places)
    return image


@pytest.mark.parametrize(("word", "all_symbols"), [(None, True), (None, False), (0, True), (0, False)])
def test_riscv64_image_is_placed(
    tmp_path: Path, make_tables: Make, make_symbols: Make, word: int | None, all_symbols: bool
) -> None:
    image = riscv_image(make_tables, make_symbols, word=word, all_symbols=all_symbols)
    table = read_symbols(written(tmp_path, image))
    assert (table.arch, table.text_start) == ("riscv64", RISCV_START)
    assert table.address("_text") == RISCV_START + 0x2000
    assert table.address("start_kernel") == RISCV_START + 0x2100 + 32 * 600
    assert table.link_map.offset(RISCV_START, 2) == 0
    if all_symbols:
        assert table.code("_start", 2) == b"MZ"
        assert table.name_at(RISCV_START + 0x10D8) == "_start_kernel"


def test_riscv64_image_that_cannot_be_placed(tmp_path: Path, make_tables: Make, make_symbols: Make) -> None:
    image = riscv_image(make_tables, make_symbols, word=0)
    with pytest.raises(InputError, match="0 relocations could place the kernel symbols"):
        read_symbols(written(tmp_path, image.replace(struct.pack("<Q", 3), struct.pack("<Q", 2))))
    early = riscv_image(make_tables, make_symbols, word=0xFFFFFFE000000000)
    with pytest.raises(InputError, match="linked at 0xffffffe000000000, expected 0xffffffff80000000"):
        read_symbols(written(tmp_path, early))


def elf_with_symtab(machine: int = 62) -> bytes:
    """Return an ELF kernel whose .symtab has one symbol of each kind that matters."""
    names = [
        "_text",
        "start_kernel",
        "weak_one",
        "static_one",
        "variable",
        "undefined",
        "$x",
        ".L12",
        "bss_one",
        "table",
    ]
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in names)

    def at(name: str) -> int:
        return strings.index(name.encode() + b"\0")

    rows = [
        ("undefined", 1 << 4 | 0, 0, 0),
        ("static_one", 2, 1, 0x40),
        ("start_kernel", 1 << 4 | 2, 1, 0x20),
        ("weak_one", 2 << 4 | 2, 1, 0x20),
        ("_text", 1 << 4, 1, 0),
        ("variable", 1 << 4 | 1, 2, 0x100),
        ("table", 1, 3, 0x140),
        ("bss_one", 1, 4, 0x180),
        ("$x", 0, 1, 0),
        (".L12", 0, 1, 4),
    ]
    # Out of order on purpose: a .symtab is not sorted. A section symbol names nothing.
    symtab = bytes(24) + struct.pack("<IBBHQQ", 0, 3, 0, 1, X86_BASE, 0)
    for name, info, index, offset in rows:
        symtab += struct.pack("<IBBHQQ", at(name), info, 0, index, X86_BASE + offset if index else 0, 8)
    content = bytes(0x20) + CODE.ljust(0x200, b"\0")
    section_names = b"\0.text\0.data\0.rodata\0.bss\0.symtab\0.strtab\0.shstrtab\0"

    def section(name: str, kind: int, flags: int, address: int, offset: int, size: int, link: int, step: int) -> bytes:
        start = section_names.index(b"\0" + name.encode() + b"\0") + 1 if name else 0
        return struct.pack("<IIQQQQIIQQ", start, kind, flags, address, offset, size, link, 0, 8, step)

    text_at = 0x1000
    symtab_at = text_at + len(content)
    strings_at = symtab_at + len(symtab)
    names_at = strings_at + len(strings)
    sections_at = names_at + len(section_names)
    sections = [
        section("", 0, 0, 0, 0, 0, 0, 0),
        section(".text", 1, 6, X86_BASE, text_at, 0x100, 0, 0),
        section(".data", 1, 3, X86_BASE + 0x100, text_at + 0x100, 0x40, 0, 0),
        section(".rodata", 1, 2, X86_BASE + 0x140, text_at + 0x140, 0x40, 0, 0),
        section(".bss", 8, 3, X86_BASE + 0x180, text_at + 0x180, 0x40, 0, 0),
        section(".symtab", 2, 0, 0, symtab_at, len(symtab), 6, 24),
        section(".strtab", 3, 0, 0, strings_at, len(strings), 0, 0),
        section(".shstrtab", 3, 0, 0, names_at, len(section_names), 0, 0),
    ]
    fields = (2, machine, 1, 0, 64, sections_at, 0, 64, 56, 1, 64, len(sections), 7)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", *fields)
    segment = struct.pack("<IIQQQQQQ", 1, 7, text_at, X86_BASE, 0, len(content), len(content), 0x1000)
    return (header + segment).ljust(text_at, b"\0") + content + symtab + strings + section_names + b"".join(sections)


def test_elf_with_a_symtab(tmp_path: Path) -> None:
    table = read_symbols(written(tmp_path, elf_with_symtab()))
    assert [(symbol.address - X86_BASE, symbol.kind, symbol.name) for symbol in table] == [
        (0, "T", "_text"),
        (0x20, "T", "start_kernel"),
        (0x20, "W", "weak_one"),
        (0x40, "t", "static_one"),
        (0x100, "D", "variable"),
        (0x140, "r", "table"),
        (0x180, "b", "bss_one"),
    ]
    assert table.name_at(X86_BASE + 0x50) == "static_one"
    assert table.name_at(X86_BASE + 0x120) is None
    assert table.code("start_kernel", 4) == CODE[:4]


@pytest.mark.parametrize("kernel", ["symtab", "stripped"])
def test_damaged_elf_is_an_input_error(tmp_path: Path, kernel: str, x86_kernel: bytes) -> None:
    data = elf_with_symtab() if kernel == "symtab" else x86_kernel
    rng = random.Random(2)
    path = tmp_path / "kernel"
    for number in range(200):
        damaged = bytearray(data)
        if number % 4 == 0:
            damaged = damaged[: rng.randrange(len(damaged))]
        else:
            places = [*range(16, 180), *range(len(data) - 600, len(data))]
            for at in rng.sample(places, 3):
                damaged[at] = rng.choice([0, 0xFF, rng.randrange(256)])
        path.write_bytes(damaged)
        try:
            read_symbols(path)
        except InputError as error:
            assert error.message.startswith(f"{path}: ")


def test_wrong_files(tmp_path: Path) -> None:
    for name, data, message in [
        ("empty", b"", "empty file"),
        ("text", b"hello\n" * 100, "not an uncompressed kernel"),
        ("mips", elf_with_symtab(machine=8), "symbols are read for x86_64, aarch64, armv7, riscv64"),
    ]:
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=f"{name}: .*{message}"):
            read_symbols(tmp_path / name)
    with pytest.raises(InputError, match="is a directory"):
        read_symbols(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_symbols(tmp_path / "missing")
    program = Path("/bin/sh").resolve()
    with pytest.raises(InputError, match="not a kernel"):
        read_symbols(program)
