"""An unpacked kernel package small enough to make on the spot: real ELF modules, no compiler."""

import lzma
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

MakePackage = Callable[..., Path]


def _module(**info: str) -> bytes:
    # Nothing but a .modinfo section, as modpost writes it.
    modinfo = b"".join(f"{key}={value}\0".encode() for key, value in info.items())
    names = b"\0.modinfo\0.shstrtab\0"
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 1, 62, 1, 0, 0, 64 + len(modinfo) + len(names), 0, 64, 0, 0, 64, 3, 2
    )
    sections = [
        bytes(64),
        struct.pack("<IIQQQQIIQQ", 1, 1, 2, 0, 64, len(modinfo), 0, 0, 1, 0),
        struct.pack("<IIQQQQIIQQ", 10, 3, 0, 0, 64 + len(modinfo), len(names), 0, 0, 1, 0),
    ]
    return header + modinfo + names + b"".join(sections)


def _package(root: Path, *, base: str = "lib", suffix: str = ".ko") -> Path:
    folder = root / base / "modules" / "6.1.0-test"
    modules = {
        "drivers/virtio_blk": _module(license="GPL", depends="virtio,virtio_ring"),
        "drivers/virtio": _module(depends="virtio_ring"),
        "drivers/virtio_ring": _module(depends=""),
        "drivers/virtio-rng": _module(depends="virtio"),
        "fs/btrfs": _module(depends="xor", softdep="pre: crc32c sha256 post: later"),
        "lib/xor": _module(depends=""),
        "crypto/crc32c": _module(),
    }
    for name, content in modules.items():
        path = folder / "kernel" / f"{name}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        packed = {".ko": content, ".ko.xz": lzma.compress(content), ".ko.zst": zstandard.compress(content)}
        path.write_bytes(packed[suffix])
    (folder / "modules.builtin").write_text("kernel/fs/ext4/ext4.ko\nkernel/crypto/crc32c-generic.ko\n")
    return root


@pytest.fixture
def kernel_package() -> MakePackage:
    """Make an unpacked kernel package with a handful of modules below a folder, in the layout and compression asked."""
    return _package


@pytest.fixture
def module() -> Callable[..., bytes]:
    """Make the ELF file of a kernel module with this .modinfo."""
    return _module
