"""A PNG is whole, or it is said what of it is not: rows, a sum, its palette."""

import io
import struct
import zlib

import pytest
from PIL import Image

from bootlab.targets.qemu.whole_png import expect_whole_png

RGB = b"\0abcdef" * 2


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(rows: bytes, *, size: tuple[int, int] = (2, 2), depth: int = 8, colours: int = 2, interlaced: int = 0) -> bytes:
    head = struct.pack(">IIBBBBB", *size, depth, colours, 0, 0, interlaced)
    packed = zlib.compress(rows)
    parts = chunk(b"IDAT", packed[:5]) + chunk(b"IDAT", packed[5:])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"tEXt", b"a\0b") + parts + chunk(b"IEND", b"")


def check(data: bytes) -> None:
    expect_whole_png(io.BytesIO(data))


def test_one_that_has_all_its_rows_is_whole() -> None:
    check(png(RGB))
    check(png(RGB + b"more"))
    check(png(b"\0\xaa" * 3, size=(7, 3), depth=1, colours=0))
    # Interlaced: a pixel of the first pass, and a row of one and of three pixels of the others.
    check(png(b"\0abc", size=(1, 1), interlaced=1))
    check(png(b"\0a\0b\0cd\0e\0f\0ghi", size=(3, 3), colours=0, interlaced=1))
    # What comes behind the pixels may be lost.
    check(png(RGB)[:-12])


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_a_large_one_is_whole_however_it_is_packed(mode: str) -> None:
    for colour in (Image.effect_noise((1500, 900), 90), Image.new("L", (1500, 900), 7)):
        file = io.BytesIO()
        colour.convert("RGBA").convert(mode).save(file, "PNG")
        check(file.getvalue())


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "does not begin as a PNG"),
        (b"GIF89a", "does not begin as a PNG"),
        (png(RGB, depth=16), "16 bits a colour"),
        (png(RGB[:-1]), "rows of pixels are missing"),
        (png(RGB)[:60], "rows of pixels are missing"),
        (png(b"\0a\0b\0cd\0e\0f\0gh", size=(3, 3), colours=0, interlaced=1), "rows of pixels are missing"),
        (png(b"\0\0" * 2, size=(1, 2), colours=3), "has no palette"),
        (png(RGB).replace(b"tEXta", b"tEXtb"), "damaged in its tEXt"),
    ],
)
def test_what_is_not_there_is_said(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check(data)
