"""The list of files of a modelled disk, beside a profile: read as written, and refused with its line where damaged."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.profile.recorded.compressed import compress_kept
from bootlab.profile.recorded.disk_files import DISK_FILES, FilePiece, read_disk_files, write_disk_files


def test_it_is_read_in_the_order_of_the_disk(tmp_path: Path) -> None:
    pieces = {"rootfs": [FilePiece(80, 8, "/b c"), FilePiece(16, 8, "/a\nline")], "disk0": [FilePiece(0, 1, "/x")]}
    path = tmp_path / DISK_FILES
    path.write_text(write_disk_files(pieces))
    read = {"rootfs": [FilePiece(16, 8, "/a?line"), FilePiece(80, 8, "/b c")], "disk0": [FilePiece(0, 1, "/x")]}
    assert read_disk_files(path) == read
    compress_kept(path)
    assert not path.exists() and read_disk_files(path) == read


def test_a_boot_without_one_has_none(tmp_path: Path) -> None:
    assert read_disk_files(tmp_path / DISK_FILES) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: not a list"),
        ("bootlab-disk-files 2\n", ":1: not a list"),
        ("bootlab-disk-files 1\nrootfs 1 2\n", ":2: not a piece"),
        ("bootlab-disk-files 1\nrootfs 1 2 /a\nrootfs -1 2 /a\n", ":3: not a piece"),
    ],
)
def test_a_damaged_one_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / DISK_FILES).write_text(text)
    with pytest.raises(InputError, match=said):
        read_disk_files(tmp_path / DISK_FILES)


def test_one_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / DISK_FILES
    path.write_text(write_disk_files({"rootfs": [FilePiece(n * 8, 8, f"/{n}") for n in range(1000)]}))
    compress_kept(path)
    kept = path.with_name(f"{DISK_FILES}.zst")
    kept.write_bytes(kept.read_bytes()[:-40])
    with pytest.raises(InputError, match="not whole"):
        read_disk_files(path)
