"""A profile's large files at rest: read back as they were, whether compressed or not, and damage is told."""

import random
from pathlib import Path

import pytest

from bootlab.profile.recorded.compressed import compress_kept, find_kept, read_kept


@pytest.mark.parametrize("content", [b"", b"x", bytes(range(256)) * 1000])
def test_it_reads_back(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "profile.bin"
    path.write_bytes(content)
    assert (find_kept(path), read_kept(path)) == (path, content)
    compress_kept(path)
    assert [one.name for one in tmp_path.iterdir()] == ["profile.bin.zst"]
    assert find_kept(path).name == "profile.bin.zst"
    assert read_kept(path) == content


def test_what_is_not_there_stays_away(tmp_path: Path) -> None:
    compress_kept(tmp_path / "profile.bin")
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError):
        read_kept(tmp_path / "profile.bin")


@pytest.mark.parametrize("keep", [0, 3, 20, -1])
def test_damage_is_told(keep: int, tmp_path: Path) -> None:
    path = tmp_path / "profile.bin"
    path.write_bytes(bytes(range(256)) * 1000)
    compress_kept(path)
    compressed = find_kept(path)
    compressed.write_bytes(compressed.read_bytes()[:keep])
    with pytest.raises(ValueError, match="not whole"):
        read_kept(path)


def test_the_beginning_of_what_was_cut_off_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "profile.bin"
    content = random.Random(1).randbytes(1 << 20)
    path.write_bytes(content)
    compress_kept(path)
    compressed = find_kept(path)
    compressed.write_bytes(compressed.read_bytes()[: 1 << 19])
    saved = read_kept(path, cut_off=True)
    assert content.startswith(saved) and len(saved) > 300_000
    with pytest.raises(ValueError, match="not whole"):
        read_kept(path)
    compressed.write_bytes(b"no zstd at all")
    with pytest.raises(ValueError, match="not whole"):
        read_kept(path, cut_off=True)
