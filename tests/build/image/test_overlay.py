"""An overlay has what differs and no more, and reads as the changed copy does."""

import random
from pathlib import Path

import pytest

from bootlab.build.image.image_file import QCOW2, RAW, ImageFile
from bootlab.build.image.overlay import write_overlay
from bootlab.process import run

MIB = 1 << 20


@pytest.mark.parametrize("format", [RAW, QCOW2])
def test_only_what_differs_is_in_it(format: str, tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    data = bytearray(random.Random(1).randbytes(9 * MIB) + bytes(MIB))
    base, copy, overlay = folder / "base", folder / "copy", folder / "overlay.qcow2"
    base.write_bytes(data)
    if format == QCOW2:
        run(["qemu-img", "convert", "-O", QCOW2, base, folder / "base.qcow2"])
        base = folder / "base.qcow2"
    # Across the edge of two clusters and of two chunks, at the very end, and zeros where there was something.
    changes = ((65_530, b"changed words"), (4 * MIB - 3, b"more of them"), (10 * MIB - 4, b"last"), (MIB, bytes(4096)))
    for at, new in changes:
        data[at : at + len(new)] = new
    copy.write_bytes(data)
    write_overlay(copy, ImageFile(base, format, len(data)), overlay, folder)
    assert overlay.stat().st_size < MIB
    run(["qemu-img", "convert", "-O", RAW, overlay, folder / "whole"])
    assert (folder / "whole").read_bytes() == data
