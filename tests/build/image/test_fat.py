"""FAT file systems: what was put in is there, the bytes are the same each time, and one that is full is named."""

import hashlib
from pathlib import Path

import pytest

from bootlab.build.image.fat import make_fat, put_into_fat
from bootlab.errors import InputError
from bootlab.process import run

MIB = 1 << 20
SERIAL = "b0071ab0"


def read(image: Path, path: str) -> bytes:
    return run(["mtype", "-i", image, f"::{path}"], package="mtools").stdout


def test_files_in_folders_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    files = {"EFI/BOOT/BOOTX64.EFI": b"a" * 5000, "loader/loader.conf": b"timeout 0\n"}
    hashes = []
    for name in ("one", "two"):
        make_fat(tmp_path / name, 40 * MIB, SERIAL, files)
        assert {path: read(tmp_path / name, path) for path in files} == files
        hashes.append(hashlib.sha256((tmp_path / name).read_bytes()).hexdigest())
    assert hashes[0] == hashes[1] and (tmp_path / "one").stat().st_size == 40 * MIB


def test_a_file_takes_the_place_of_another_with_its_room(tmp_path: Path) -> None:
    image, content = tmp_path / "fat", tmp_path / "content"
    make_fat(image, 40 * MIB, SERIAL, {"a/old": bytes(30 * MIB)})
    content.write_bytes(b"x" * (35 * MIB))
    put_into_fat(str(image), "a/old", content, "partition 1")
    assert read(image, "a/old") == content.read_bytes()


def test_no_room(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"EFI system partition of 40 MiB has no room for a/b: it needs 41.0 MiB, and 39.4"
    ):
        make_fat(tmp_path / "small", 40 * MIB, SERIAL, {"a/b": bytes(41 * MIB)})
    image, content = tmp_path / "fat", tmp_path / "content"
    make_fat(image, 40 * MIB, SERIAL, {"a/old": bytes(30 * MIB), "a/other": bytes(9 * MIB)})
    content.write_bytes(bytes(35 * MIB))
    # 0.4 MiB are free, and the 30 of the file that it replaces.
    with pytest.raises(
        InputError, match=r"^partition 1 has no room for a/old: it needs 35.0 MiB, and 30.4 MiB are free$"
    ):
        put_into_fat(str(image), "a/old", content, "partition 1")
    make_fat(image, 40 * MIB, SERIAL, {"a/other": bytes(39 * MIB)})
    with pytest.raises(InputError, match=r"no room for new: it needs 35.0 MiB, and \d{3},\d{3} bytes are free"):
        put_into_fat(str(image), "new", content, "partition 1")
