"""lzop's form: its own program reads what is written, and what it writes is read, whatever its options were."""

import shutil
import time
from pathlib import Path

import pytest

from bootlab.build.formats import lzop
from bootlab.errors import InputError
from bootlab.process import run

pytestmark = pytest.mark.skipif(shutil.which("lzop") is None, reason="needs lzop")

# More than one block of 256 KiB, some that do not shrink.
_DATA = bytes(300_000) + bytes((i * i * 7919 >> 5) & 0xFF for i in range(300_000)) + b"end"


def test_the_program_reads_what_is_written() -> None:
    packed = lzop.pack(_DATA)
    assert packed.startswith(lzop.MAGIC)
    assert run(["lzop", "-dc"], input=packed).stdout == _DATA
    run(["lzop", "--test"], input=packed)


def test_the_bytes_do_not_depend_on_the_time() -> None:
    first = lzop.pack(_DATA)
    time.sleep(1.1)  # lzop's header counts seconds
    assert lzop.pack(_DATA) == first


@pytest.mark.parametrize("options", [[], ["-1"], ["--no-checksum"], ["--crc32"], ["-P"]], ids=str)
def test_the_end_is_found_whatever_checksums_and_names_there_are(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "a name").write_bytes(_DATA)
    packed = run(["lzop", "--stdout", *options, tmp_path / "a name"]).stdout
    assert lzop.unpack(packed + b"what comes after") == (_DATA, len(packed))


def test_nothing_packs_to_something() -> None:
    packed = lzop.pack(b"")
    assert lzop.unpack(packed) == (b"", len(packed))


def test_damage_is_told() -> None:
    packed = lzop.pack(_DATA)
    for cut in (len(lzop.MAGIC), 20, 40, len(packed) // 2, len(packed) - 4):
        with pytest.raises(InputError, match="cut short|damaged"):
            lzop.unpack(packed[:cut])
    flipped = bytearray(packed)
    flipped[len(packed) // 2] ^= 0xFF
    with pytest.raises(InputError, match="damaged"):
        lzop.unpack(bytes(flipped))
