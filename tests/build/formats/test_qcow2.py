"""What a qcow2 image's header says, against qemu-img's own images, and what is refused."""

import struct
from pathlib import Path

import pytest

from bootlab.build.formats.qcow2 import Qcow2Header, parse_header
from bootlab.errors import InputError
from bootlab.process import run

MIB = 1 << 20


@pytest.mark.parametrize("compat", ["0.10", "1.1"])
def test_an_overlay_of_qemus(compat: str, tmp_path: Path) -> None:
    base, over = tmp_path / "base", tmp_path / "over"
    run(["qemu-img", "create", "-q", "-f", "qcow2", "-o", f"compat={compat}", base, "8M"])
    assert parse_header(base.read_bytes()) == Qcow2Header(8 * MIB)
    run(["qemu-img", "create", "-q", "-f", "qcow2", "-o", f"compat={compat}", "-b", "base", "-F", "qcow2", over])
    assert parse_header(over.read_bytes()) == Qcow2Header(8 * MIB, "base", "qcow2")
    # An extension that nobody knows, as older versions made overlays that do not say it.
    assert parse_header(over.read_bytes().replace(b"\xe2\x79\x2a\xca", b"\0\0\0\7")) == Qcow2Header(8 * MIB, "base")


@pytest.mark.parametrize("name", [b"a\0b", b"a\nb", b"nbd:x", b"json:{}", b""])
def test_what_is_no_files_name(name: bytes) -> None:
    head = struct.pack(">4sIQIIQI", b"QFI\xfb", 2, 72, len(name), 16, MIB, 0).ljust(72, b"\0") + name
    with pytest.raises(InputError, match="which is no file: refused"):
        parse_header(head)


def test_extensions_that_go_on_behind_the_end() -> None:
    head = struct.pack(">4sIQIIQI", b"QFI\xfb", 2, 80, 1, 16, MIB, 0).ljust(72, b"\0")
    assert parse_header(head + struct.pack(">II", 7, 0xFFFFFFFF) + b"x").backing_format == ""
    with pytest.raises(InputError, match="cut off"):
        parse_header(head[:20])
