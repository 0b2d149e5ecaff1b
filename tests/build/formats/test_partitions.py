"""Partition tables: what is written is read back, by us and by others; what is damaged is said."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.build.formats.partitions import (
    BIOS_BOOT,
    ESP,
    LINUX_ROOT_X86_64,
    SECTOR,
    TABLE_BYTES,
    Partition,
    gpt_tables,
    parse_table,
)
from bootlab.errors import InputError
from bootlab.process import run

MIB = 1 << 20
PARTITIONS = (
    Partition(1, 8 * MIB, 16 * MIB, LINUX_ROOT_X86_64),
    Partition(14, MIB, MIB, BIOS_BOOT),
    Partition(15, 2 * MIB, 6 * MIB, ESP),
)


def test_a_gpt_is_read_as_it_was_written() -> None:
    first, last = gpt_tables(32 * MIB, PARTITIONS)
    assert len(first) == TABLE_BYTES and len(last) == 33 * SECTOR
    table = parse_table(first)
    assert table is not None and table.scheme == "gpt" and not table.boots_by_bios
    assert [replace(one, own=None) for one in table.partitions] == list(PARTITIONS)
    assert len({one.own for one in table.partitions}) == len(PARTITIONS)
    # The copy at the end has the same entries, and a header of its own.
    assert last[:-SECTOR] == first[2 * SECTOR :] and last[-SECTOR:][:8] == b"EFI PART"


def test_others_read_it_too(tmp_path: Path) -> None:
    image = tmp_path / "disk"
    first, last = gpt_tables(32 * MIB, PARTITIONS)
    image.write_bytes(first.ljust(32 * MIB - len(last), b"\0") + last)
    told = run(["grub-fstest", image, "ls"], package="grub-common").text
    assert all(f"(loop0,gpt{number})" in told for number in (1, 14, 15))


def test_an_mbr() -> None:
    entry = struct.pack("<B3sB3sII", 0x80, b"", 0x83, b"", 2048, 4096)
    extended = struct.pack("<B3sB3sII", 0, b"", 0x05, b"", 8192, 4096)
    head = b"\xeb\x63".ljust(446, b"\0") + entry + extended + bytes(32) + b"\x55\xaa"
    table = parse_table(head)
    assert table is not None and table.scheme == "mbr" and table.boots_by_bios
    assert table.partitions == (Partition(1, MIB, 2 * MIB),)


def test_no_table() -> None:
    assert parse_table(b"") is None and parse_table(bytes(TABLE_BYTES)) is None
    # A FAT file system ends its first sector in the same bytes.
    assert parse_table(b"\xeb\x3c\x90MSDOS5.0".ljust(510, b"\0") + b"\x55\xaa") is None


def test_a_damaged_gpt_is_said() -> None:
    first, _ = gpt_tables(32 * MIB, PARTITIONS)
    with pytest.raises(InputError, match="checksum of its header"):
        parse_table(first[:600] + b"\1" + first[601:])
    with pytest.raises(InputError, match="announces a GPT, and there is none"):
        parse_table(first[:SECTOR])
