"""Packed input: every way of packing, damaged files, and files that claim too much."""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable

import pytest
import zstandard

from bootlab.importers.reading.source import HEAD_BYTES, FormatError, Source

TEXT = b"".join(b"[%5d.%06d] line %d\n" % (number // 1000, number % 1000, number) for number in range(20_000))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zstd": zstandard.compress,
    "two gzip members": lambda data: gzip.compress(data[:1000]) + gzip.compress(data[1000:]),
    "two xz streams": lambda data: lzma.compress(data[:1000]) + lzma.compress(data[1000:]),
}


@pytest.mark.parametrize("name", PACKERS)
def test_every_compression_gives_the_same_rows(name: str) -> None:
    packed = PACKERS[name](TEXT)
    source = Source("x", io.BytesIO(packed))
    rows = list(source.rows())
    assert [number for number, _ in rows] == list(range(1, 20_001))
    assert "\n".join(row for _, row in rows) + "\n" == TEXT.decode()
    source.drain()
    assert source.size == len(packed)
    assert source.head.data == TEXT[:HEAD_BYTES]


@pytest.mark.parametrize("name", ["gzip", "xz", "bz2", "zstd"])
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_file_is_said_to_be_one(name: str, damage: str) -> None:
    packed = PACKERS[name](TEXT)
    middle = len(packed) // 2
    flipped = packed[:middle] + bytes(byte ^ 0xFF for byte in packed[middle : middle + 64]) + packed[middle + 64 :]
    with pytest.raises(FormatError, match=r"^board\.log: damaged"):
        list(Source("board.log", io.BytesIO(packed[:middle] if damage == "cut" else flipped)).rows())


def test_a_bomb_is_not_held() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    with pytest.raises(FormatError, match="larger than 1 MiB"):
        Source("bomb.gz", io.BytesIO(bomb)).whole(1 << 20)


def test_an_xz_header_that_claims_gigabytes_is_refused() -> None:
    # Byte 16 of the stream is the dictionary size: 40 claims 4 GiB.
    packed = bytearray(lzma.compress(b"x" * 1000))
    packed[16] = 40
    with pytest.raises(FormatError, match="damaged"):
        Source("x.xz", io.BytesIO(bytes(packed)))
