"""What BIOS starts of a disk, and where GRUB has written that the rest of it lies."""

import io
from pathlib import Path

import pytest

from bootlab.build.formats.first_sector import disk_code, hybrid_code, is_grub
from bootlab.build.formats.partitions import SECTOR

CORE = bytes(range(16))


def disk(folder: Path, *, place: int, sector: int = 1, says: bytes = b"GRUB ") -> Path:
    """Write two sectors, the first of which says at `place` that core.img is at `sector`."""
    head = bytearray(SECTOR)
    head[:3], head[510:] = b"\xeb\x63\x90", b"\x55\xaa"
    head[0x180 : 0x180 + len(says)] = says
    head[place : place + 8] = sector.to_bytes(8, "little")
    path = folder / "disk"
    path.write_bytes(bytes(head) + CORE.ljust(SECTOR, b"\0"))
    return path


def test_grub_of_a_disk(tmp_path: Path) -> None:
    with disk(tmp_path, place=0x5C).open("rb") as file:
        assert is_grub(file)
        code, core = disk_code(file)
        assert code.startswith("eb6390") and bytes.fromhex(core) == CORE


def test_grub_of_a_hybrid(tmp_path: Path) -> None:
    with disk(tmp_path, place=0x1B0).open("rb") as file:
        found = hybrid_code(file)
        assert found is not None and bytes.fromhex(found[1]) == CORE


@pytest.mark.parametrize("sector", [2, 1 << 54, (1 << 64) - 1])
def test_a_place_behind_the_disk_is_none(sector: int, tmp_path: Path) -> None:
    with disk(tmp_path, place=0x5C, sector=sector).open("rb") as file:
        assert disk_code(file)[1] == ""


def test_other_code(tmp_path: Path) -> None:
    with disk(tmp_path, place=0x5C, says=b"LILO").open("rb") as file:
        assert not is_grub(file) and hybrid_code(file) is None
        assert disk_code(file)[1] == ""
    empty = io.BytesIO(b"")
    assert not is_grub(empty) and hybrid_code(empty) is None and disk_code(empty) == ("", "")
