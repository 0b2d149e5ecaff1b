"""Compressed images and cards: unpacked once, holes kept, the build's own file left as it was."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from bootlab.build.cache import Cache
from bootlab.build.outputs.unpacked import make_card, unpack_disk, unpack_image
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from tests.build.outputs.folders import write

CONTENT = bytes(3 << 20) + b"root" + bytes(5 << 20)


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(Cache(tmp_path / "cache"))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, zstandard.compress])
def test_an_image_is_unpacked_with_its_holes(pack: Callable[[bytes], bytes], shop: Workshop, tmp_path: Path) -> None:
    path = write(tmp_path / "root.packed", pack(CONTENT))
    out = unpack_image(shop, path)
    assert out.read_bytes() == CONTENT and out.stat().st_blocks * 512 <= 2 << 20
    assert unpack_image(shop, path) == out


def test_what_is_not_compressed_stays_where_it_is(shop: Workshop, tmp_path: Path) -> None:
    path = write(tmp_path / "root.ext4", CONTENT)
    assert unpack_image(shop, path) == path


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.compress])
def test_one_that_is_cut_off_is_told(pack: Callable[[bytes], bytes], shop: Workshop, tmp_path: Path) -> None:
    packed = pack(CONTENT)
    path = write(tmp_path / "root.packed", packed[: len(packed) // 2])
    with pytest.raises(InputError, match="damaged or cut off"):
        unpack_image(shop, path)


def test_a_file_that_is_not_there(shop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        unpack_image(shop, tmp_path / "gone")
    with pytest.raises(InputError, match="no such file"):
        make_card(shop, tmp_path / "gone")


def test_a_card_is_as_long_as_a_card_may_be(shop: Workshop, tmp_path: Path) -> None:
    path = write(tmp_path / "sdcard.img", CONTENT)
    card = make_card(shop, path)
    assert card.stat().st_size == 64 << 20 and card.read_bytes()[: len(CONTENT)] == CONTENT
    assert path.stat().st_size == len(CONTENT)
    assert make_card(shop, card) == card


@pytest.mark.parametrize(
    ("ending", "match"),
    [
        ("zst", "not a zstd file, as its name says: damaged"),
        ("gz", "not a gzip file"),
        ("xz", "not a xz file"),
        ("bz2", "not a bzip2 file"),
        ("lz4", "lz4 by its name, and bootlab unpacks gzip, xz, zstd, bzip2"),
    ],
)
def test_a_disk_that_is_not_what_its_name_says_is_refused(
    ending: str, match: str, shop: Workshop, tmp_path: Path
) -> None:
    path = write(tmp_path / f"rootfs.ext4.{ending}", CONTENT)
    with pytest.raises(InputError, match=rf"rootfs\.ext4\.{ending}: {match}"):
        unpack_disk(shop, path)
    with pytest.raises(InputError, match=match):
        make_card(shop, path)


def test_a_compressed_disk_by_another_name_is_unpacked(shop: Workshop, tmp_path: Path) -> None:
    assert unpack_disk(shop, write(tmp_path / "root.gz", zstandard.compress(CONTENT))).read_bytes() == CONTENT
    plain = write(tmp_path / "root.ext4", CONTENT)
    assert unpack_disk(shop, plain) == plain
