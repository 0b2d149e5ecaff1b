"""Compression: what the kernel's decompressors take, the same bytes every time."""

import lzma
import random
import shutil

import pytest

from bootlab.build.formats.compress import compress, decompress
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import Compression

# Over 8 MiB, so that lz4 needs more than one block; compressible but not trivial.
_DATA = random.Random(1).randbytes(1 << 18) + bytes(8 << 20)
_PACKED = [how for how in Compression if how is not Compression.NONE]
_READERS = {
    Compression.GZIP: ["gzip", "-dc"],
    Compression.LZ4: ["lz4", "-dc"],
    Compression.ZSTD: ["zstd", "-dc"],
    Compression.XZ: ["xz", "-dc"],
    Compression.LZO: ["lzop", "-dc"],
}


@pytest.mark.parametrize("how", _PACKED)
def test_there_and_back(how: Compression) -> None:
    packed = compress(_DATA, how)
    assert decompress(packed) == (_DATA, len(packed))
    if how is not Compression.LZ4:  # whose legacy frame has no end mark
        assert decompress(packed + b"after") == (_DATA, len(packed))
    assert compress(_DATA, how) == packed


@pytest.mark.parametrize("how", _PACKED)
def test_the_usual_tool_reads_it(how: Compression) -> None:
    reader = _READERS[how]
    if shutil.which(reader[0]) is None:
        pytest.skip(f"needs {reader[0]}")
    assert run(reader, input=compress(_DATA, how)).stdout == _DATA


def test_none_changes_nothing() -> None:
    assert compress(b"data", Compression.NONE) == b"data"
    assert decompress(b"data") is None


def test_forms_of_the_kernel() -> None:
    assert compress(b"data", Compression.LZ4).hex().startswith("02214c18")
    packed = compress(b"data", Compression.XZ)
    assert packed[:6] == b"\xfd7zXZ\0" and packed[7] == lzma.CHECK_CRC32
    assert compress(b"data", Compression.GZIP)[4:8] == bytes(4), "a time in the header would change every build"


def test_damage_is_told() -> None:
    packed = bytearray(compress(_DATA[:100000], Compression.ZSTD))
    packed[len(packed) // 2] ^= 0xFF
    with pytest.raises(InputError, match="damaged"):
        decompress(bytes(packed))
