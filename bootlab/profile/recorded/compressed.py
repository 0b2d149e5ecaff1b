"""Compresses the large files of a profile once it is written, with zstd: a quarter of the size, and read as fast."""

import os
from contextlib import suppress
from pathlib import Path

import zstandard

from bootlab.kept_file import read_kept_bytes

_SUFFIX = ".zst"
_STEP = 4096


def compress_kept(path: Path) -> None:
    """Replace a file by `NAME.zst`; one that is not there stays away. Raises OSError; then the file is as it was."""
    if not path.is_file():
        return
    compressed = zstandard.ZstdCompressor(write_content_size=True).compress(path.read_bytes())
    temporary = path.with_name(path.name + ".new")
    temporary.write_bytes(compressed)
    temporary.rename(path.with_name(path.name + _SUFFIX))
    path.unlink()


def find_kept(path: Path) -> Path:
    """Return where the file that was written as `path` is now: there, or compressed beside it."""
    compressed = path.with_name(path.name + _SUFFIX)
    return compressed if os.path.isfile(compressed) and not os.path.isfile(path) else path


def read_kept(path: Path, *, cut_off: bool = False) -> bytes:
    """Return the content of the file that was written as `path`. Raises OSError, and ValueError when it is damaged.

    `cut_off`: the beginning will do, as far as it can be unpacked.
    """
    found = find_kept(path)
    data = read_kept_bytes(found)
    if found == path:
        return data
    try:
        return zstandard.ZstdDecompressor().decompress(data)
    except zstandard.ZstdError as error:
        if cut_off and (saved := _begin_of(data)):
            return saved
        raise ValueError(f"not whole: {error}") from error


def _begin_of(data: bytes) -> bytes:
    # What could still be unpacked of a file that was cut off, or that is damaged further on.
    unpacker, pieces = zstandard.ZstdDecompressor().decompressobj(), []
    with suppress(zstandard.ZstdError):
        # In small steps: of a step that fails nothing is given.
        for at in range(0, len(data), _STEP):
            pieces.append(unpacker.decompress(data[at : at + _STEP]))
    return b"".join(pieces)
