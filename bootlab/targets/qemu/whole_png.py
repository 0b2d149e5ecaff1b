"""Whether a PNG has all that it says it has: a reader of pictures shows what is missing as black, and 16 bits as 8."""

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_PALETTE: Final = 3
_CHANNELS: Final = {0: 1, 2: 3, _PALETTE: 1, 4: 2, 6: 4}
"""Kind of colour -> values of a pixel."""
_PASSES: Final = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""Of one that is interlaced: the first pixel of each, x and y, and from there to the next one."""
_PIECE: Final = 1 << 20


def expect_whole_png(file: BinaryIO) -> None:
    """Raise ValueError, with the reason, for a PNG with rows that are not there or are damaged, or of 16 bits."""
    if file.read(len(_SIGNATURE)) != _SIGNATURE:
        raise ValueError("it does not begin as a PNG does")
    wanted, unpacked, has_palette, unpack = -1, 0, False, zlib.decompressobj()
    for kind, piece in _pieces(file):
        if kind == b"IHDR":
            width, height, depth, colours, interlaced = struct.unpack(">IIBB2xB", piece[:13].ljust(13, b"\0"))
            if depth > 8:
                raise ValueError(f"it has {depth} bits a colour, and a screen's pixels have 8")
            wanted = _rows_size(width, height, depth * _CHANNELS.get(colours, 0), bool(interlaced))
            has_palette = colours != _PALETTE
        elif kind == b"PLTE":
            has_palette = True
        elif kind == b"IDAT":
            try:
                while piece and not unpack.eof and unpacked <= wanted:
                    unpacked += len(unpack.decompress(piece, _PIECE))
                    piece = unpack.unconsumed_tail
            except zlib.error as error:
                raise ValueError(f"its pixels are damaged: {error}") from error
    if not has_palette:
        raise ValueError("it has no palette, and its pixels are numbers of one")
    # What is unpacked and not handed out yet is no more than a row or so: all there was to unpack is in.
    if unpacked < wanted and unpacked + len(unpack.flush()) < wanted:
        raise ValueError("it is cut short: rows of pixels are missing")


def _pieces(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield kind and content of each chunk, of a long one in parts. Raises ValueError at the end of a damaged one."""
    while len(head := file.read(8)) == 8 and head[4:] != b"IEND":
        left, kind = struct.unpack(">I4s", head)
        seen = zlib.crc32(kind)
        while left and (piece := file.read(min(left, _PIECE))):
            seen, left = zlib.crc32(piece, seen), left - len(piece)
            yield kind, piece
        if left == 0 and len(told := file.read(4)) == 4 and int.from_bytes(told) != seen:
            raise ValueError(f"it is damaged in its {kind.decode('ascii', 'replace')}")


def _rows_size(width: int, height: int, bits: int, interlaced: bool) -> int:
    """Return how many bytes the rows of all pixels are, each with the one that says how it is filtered."""
    size = 0
    for x, y, step_x, step_y in _PASSES if interlaced else ((0, 0, 1, 1),):
        columns, rows = -((x - width) // step_x), -((y - height) // step_y)
        if columns > 0 and rows > 0:
            size += rows * (1 + (columns * bits + 7) // 8)
    return size
