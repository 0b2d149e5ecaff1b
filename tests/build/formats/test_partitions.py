"""Partition tables: what is written is read back, by us and by others; what is damaged is said."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from bootlab.build.formats.partitions import (
    BIOS_BOOT,
    ESP,
    LINUX_ROOT_X86_64,
    SECTOR,
    TABLE_BYTES,
    Partition,
    PartitionTable,
    gpt_tables,
    read_table,
)
from bootlab.errors import InputError
from bootlab.process import run

MIB = 1 << 20
PARTITIONS = (
    Partition(1, 8 * MIB, 16 * MIB, LINUX_ROOT_X86_64),
    Partition(14, MIB, MIB, BIOS_BOOT),
    Partition(15, 2 * MIB, 6 * MIB, ESP),
)


def read(image: bytes) -> PartitionTable | None:
    return read_table(BytesIO(image))


def mbr(*entries: tuple[int, int, int, int], code: bytes = b"") -> bytes:
    """Return a sector with entries: status, kind, first sector, sectors."""
    table = b"".join(struct.pack("<B3sB3sII", one[0], b"", one[1], b"", *one[2:]) for one in entries)
    return code.ljust(446, b"\0") + table.ljust(64, b"\0") + b"\x55\xaa"


def spoilt(places: Sequence[tuple[int, bytes]]) -> bytes:
    """Return a GPT with other bytes at some places, and checksums that are right all the same."""
    table = bytearray(gpt_tables(32 * MIB, PARTITIONS)[0])
    for at, data in places:
        table[at : at + len(data)] = data
    struct.pack_into("<I", table, SECTOR + 88, zlib.crc32(table[2 * SECTOR :]))
    struct.pack_into("<I", table, SECTOR + 16, 0)
    struct.pack_into("<I", table, SECTOR + 16, zlib.crc32(table[SECTOR : SECTOR + 92]))
    return bytes(table)


def test_a_gpt_is_read_as_it_was_written() -> None:
    first, last = gpt_tables(32 * MIB, PARTITIONS)
    assert len(first) == TABLE_BYTES and len(last) == 33 * SECTOR
    table = read(first)
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
    table = read(mbr((0x80, 0x83, 2048, 4096), (0, 0xEF, 8192, 4096), code=b"\xeb\x63"))
    assert table is not None and table.scheme == "mbr" and table.boots_by_bios
    assert table.partitions == (Partition(1, MIB, 2 * MIB), Partition(2, 4 * MIB, 2 * MIB, ESP))


def test_logical_partitions_are_counted_from_five_as_others_count_them(tmp_path: Path) -> None:
    image = bytearray(24 * MIB)
    for sector, content in (
        (0, mbr((0x80, 0x83, 2048, 4096), (0, 0x05, 8192, 32768))),
        (8192, mbr((0, 0x83, 2048, 4096), (0, 0x05, 8192, 8192))),
        (16384, mbr((0, 0x82, 2048, 2048))),
    ):
        image[sector * SECTOR : (sector + 1) * SECTOR] = content
    table = read(bytes(image))
    assert table is not None
    expected = (Partition(1, MIB, 2 * MIB), Partition(5, 5 * MIB, 2 * MIB), Partition(6, 9 * MIB, MIB))
    assert table.partitions == expected
    disk = tmp_path / "disk"
    disk.write_bytes(image)
    told = run(["grub-fstest", disk, "ls"], package="grub-common").text
    assert all(f"(loop0,msdos{one.number})" in told for one in expected)


def test_logical_partitions_that_lead_in_a_circle() -> None:
    head = mbr((0, 0x0F, 1, 99)) + mbr((0, 0x83, 1, 1), (0, 0x05, 0, 9))
    with pytest.raises(InputError, match="lead in a circle"):
        read(head)
    # An extended partition with nothing in it yet.
    table = read(mbr((0, 0x83, 1, 1), (0, 0x05, 1, 9)) + bytes(SECTOR))
    assert table is not None and len(table.partitions) == 1


def test_no_table() -> None:
    assert read(b"") is None and read(bytes(TABLE_BYTES)) is None
    # A FAT file system ends its first sector in the same bytes.
    assert read(b"\xeb\x3c\x90MSDOS5.0".ljust(510, b"\0") + b"\x55\xaa") is None
    # Or has code there.
    assert read(mbr((0x74, 0x65, 0x20776F, 0x646B73))) is None


def test_a_damaged_gpt_is_said() -> None:
    first, _ = gpt_tables(32 * MIB, PARTITIONS)
    with pytest.raises(InputError, match="checksum of its header"):
        read(first[:600] + b"\1" + first[601:])
    with pytest.raises(InputError, match="announces a GPT, and there is none"):
        read(first[:SECTOR])


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ([(SECTOR + 12, struct.pack("<I", 0))], "a header of 0 bytes"),
        ([(SECTOR + 84, struct.pack("<I", 0))], "128 entries of 0 bytes"),
        ([(SECTOR + 84, struct.pack("<I", 48))], "128 entries of 48 bytes"),
        ([(SECTOR + 80, struct.pack("<I", 0xFFFFFFFF))], "4,294,967,295 entries"),
        ([(SECTOR + 72, struct.pack("<Q", 1 << 62))], "not all there"),
        ([(2 * SECTOR + 32, struct.pack("<QQ", 1 << 60, 10))], "partition 1 ends before it begins"),
    ],
)
def test_a_gpt_that_cannot_be_true(places: Sequence[tuple[int, bytes]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(spoilt(places))


def test_entries_have_a_checksum_of_their_own() -> None:
    first, _ = gpt_tables(32 * MIB, PARTITIONS)
    at = 2 * SECTOR + 40
    with pytest.raises(InputError, match="checksum is wrong"):
        read(first[:at] + b"\1" + first[at + 1 :])


def test_a_gpt_of_larger_sectors_is_named() -> None:
    first, _ = gpt_tables(32 * MIB, PARTITIONS)
    with pytest.raises(InputError, match="sectors of 4,096 bytes"):
        read(first[:SECTOR].ljust(4096, b"\0") + first[SECTOR:])
