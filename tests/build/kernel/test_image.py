"""Kernel files of every format that is read, made here from the format's description, whole, cut off and damaged."""

import bz2
import gzip
import lzma
import random
import struct
from collections.abc import Callable
from pathlib import Path

import lz4.block
import pytest
import zstandard

from bootlab.build.kernel.image import ImageKind, KernelImage, expect_arch, expect_loadable, extract_vmlinux, inspect
from bootlab.errors import InputError

X86_BASE = 0xFFFFFFFF81000000
_NAMES = b"Linux version 6.9.0-lab (someone@somewhere) (gcc)"
BANNER = b"Linux version %s (%s)\0" + _NAMES + b" # SMP\n\0" + _NAMES + b" #1 SMP\n\0"
PVH_ENTRY = 0x1000850


def note(name: bytes, kind: int, data: bytes) -> bytes:
    def padded(part: bytes) -> bytes:
        return part + bytes(-len(part) % 4)

    return struct.pack("<III", len(name), len(data), kind) + padded(name) + padded(data)


def elf(*, machine: int = 62, kind: int = 2, base: int = X86_BASE, pvh: bool = True) -> bytes:
    notes = note(b"Linux\0", 18, b"abcd") + note(b"Xen\0", 6, b"linux\0")
    if pvh:
        notes += note(b"Xen\0", 18, struct.pack("<Q", PVH_ENTRY))
    text = random.Random(1).randbytes(20_000) + BANNER + bytes(40_000)
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0x1000000, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    header += struct.pack("<IIQQQQQQ", 1, 5, 0x1000, base, 0x1000000, len(text), len(text), 0x1000)
    at = 0x1000 + len(text)
    header += struct.pack("<IIQQQQQQ", 4, 4, at, base + len(text), 0, len(notes), len(notes), 4)
    return header.ljust(0x1000, b"\0") + text + notes


def lz4_legacy(data: bytes) -> bytes:
    packed = b"\x02\x21\x4c\x18"
    for start in range(0, len(data), 8 << 20):
        block = lz4.block.compress(data[start : start + (8 << 20)], store_size=False)
        packed += struct.pack("<I", len(block)) + block
    return packed


def with_size(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: pack(data) + struct.pack("<I", len(data))


PAYLOADS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "bzip2": with_size(bz2.compress),
    "lzma": with_size(lambda data: lzma.compress(data, lzma.FORMAT_ALONE)),
    "xz": with_size(lambda data: lzma.compress(data, lzma.FORMAT_XZ, check=lzma.CHECK_CRC32)),
    "lz4": with_size(lz4_legacy),
    "zstd": with_size(lambda data: zstandard.ZstdCompressor().compress(data)),
}


def bzimage(payload: bytes, *, protocol: int = 0x20F, xloadflags: int = 0x3F) -> bytes:
    """Return a bzImage: three setup sectors, then code of its own in front of and behind the payload."""
    before, behind = b"\x90" * 700, b"\xcc" * 1000
    protected = before + payload + behind
    protected += bytes(-len(protected) % 16)
    setup = bytearray(4 * 512)
    setup[0:2] = b"MZ"
    setup[0x1F1] = 3
    struct.pack_into("<I", setup, 0x1F4, len(protected) // 16)
    setup[0x1FE:0x200] = b"\x55\xaa"
    setup[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", setup, 0x206, protocol)
    struct.pack_into("<H", setup, 0x20E, 0x400)
    struct.pack_into("<H", setup, 0x236, xloadflags)
    struct.pack_into("<II", setup, 0x248, len(before), len(payload))
    setup[0x600:0x620] = b"6.9.0-lab (someone@somewhere) #1".ljust(32, b"\0")
    return bytes(setup) + protected


def zimage(promised: int = 1000) -> bytes:
    """Return an arm zImage of 1000 bytes whose header promises so many."""
    return (bytes(0x24) + struct.pack("<III", 0x016F2818, 0, promised)).ljust(1000, b"\0")


def arm64_image() -> bytes:
    """Return an arm64 Image with the PE header of its EFI stub."""
    body = random.Random(2).randbytes(30_000) + BANNER + bytes(20_000)
    header = bytearray(0x1000)
    header[0:8] = struct.pack("<II", 0xFA405A4D, 0b000101 << 26 | 0x400)
    struct.pack_into("<QQ", header, 8, 0, 0x200000)
    header[56:64] = b"ARM\x64" + struct.pack("<I", 64)
    header[64:88] = b"PE\0\0" + struct.pack("<HHIIIHH", 0xAA64, 1, 0, 0, 0, 16, 0)
    section_at = 88 + 16
    header[section_at : section_at + 24] = b".text\0\0\0" + struct.pack("<IIII", 0x200000, 0x1000, len(body), 0x1000)
    return bytes(header) + body


def riscv_image(text_offset: int = 0x200000) -> bytes:
    """Return a riscv Image with the header that its EFI stub has."""
    body = random.Random(3).randbytes(30_000) + BANNER + bytes(20_000)
    header = bytearray(arm64_image()[:0x1000])
    header[0:8] = b"MZ" + struct.pack("<IH", 0x0D60106F, 1)
    struct.pack_into("<QQ", header, 8, text_offset, 0x200000)
    header[48:60] = b"RISCV\0\0\0RSC\x05"
    header[68:70] = struct.pack("<H", 0x5064)
    struct.pack_into("<I", header, 88 + 16 + 16, len(body))
    return bytes(header) + body


def zboot(payload: bytes, *, machine: int = 0xAA64) -> bytes:
    header = bytearray(0x200)
    header[0:8] = b"MZ\0\0zimg"
    struct.pack_into("<II", header, 8, 0x200, len(payload))
    header[24:28] = b"gzip"
    struct.pack_into("<II", header, 56, 0x818223CD, 64)
    header[64:70] = b"PE\0\0" + struct.pack("<H", machine)
    return bytes(header) + payload + bytes(100)


def written(tmp_path: Path, data: bytes, name: str = "kernel") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("compression", PAYLOADS)
def test_bzimage(tmp_path: Path, compression: str) -> None:
    kernel = elf()
    path = written(tmp_path, bzimage(PAYLOADS[compression](kernel)))
    assert inspect(path) == KernelImage(path, "x86_64", ImageKind.BZIMAGE, "6.9.0-lab", compression, build="#1")
    out = tmp_path / "vmlinux"
    vmlinux = KernelImage(out, "x86_64", ImageKind.ELF, "6.9.0-lab", None, PVH_ENTRY, "#1 SMP")
    assert extract_vmlinux(path, out) == vmlinux
    assert out.read_bytes() == kernel


def test_elf_without_pvh(tmp_path: Path) -> None:
    image = inspect(written(tmp_path, elf(pvh=False)))
    assert (image.kind, image.pvh_entry, image.version) == ("elf", None, "6.9.0-lab")


def test_uncompressed_kernels_are_copied(tmp_path: Path) -> None:
    for data in (elf(), elf(machine=183), elf(machine=243), arm64_image(), riscv_image()):
        path, out = written(tmp_path, data), tmp_path / "out"
        assert extract_vmlinux(path, out).kind == inspect(path).kind
        assert out.read_bytes() == data


def test_arm64_image_and_its_wrappings(tmp_path: Path) -> None:
    plain = arm64_image()
    path = written(tmp_path, plain)
    assert inspect(path) == KernelImage(path, "aarch64", ImageKind.ARM64_IMAGE, "6.9.0-lab", build="#1 SMP")
    out = tmp_path / "Image"
    for data, kind, version in [
        (gzip.compress(plain), ImageKind.ARM64_IMAGE_COMPRESSED, "6.9.0-lab"),
        (zboot(gzip.compress(plain)), ImageKind.ARM64_EFI_ZBOOT, None),
    ]:
        path = written(tmp_path, data)
        assert inspect(path) == KernelImage(path, "aarch64", kind, version, "gzip")
        assert extract_vmlinux(path, out).kind is ImageKind.ARM64_IMAGE
        assert out.read_bytes() == plain


def test_riscv64_image_and_what_qemu_starts_of_it(tmp_path: Path) -> None:
    plain = riscv_image()
    image = inspect(written(tmp_path, plain))
    assert image == KernelImage(image.path, "riscv64", ImageKind.RISCV64_IMAGE, "6.9.0-lab", build="#1 SMP")
    expect_loadable(image)
    out = tmp_path / "Image"
    for data, kind, version in [
        (gzip.compress(plain), ImageKind.RISCV64_IMAGE_COMPRESSED, "6.9.0-lab"),
        (zboot(gzip.compress(plain), machine=0x5064), ImageKind.RISCV64_EFI_ZBOOT, None),
    ]:
        image = inspect(written(tmp_path, data))
        assert image == KernelImage(image.path, "riscv64", kind, version, "gzip")
        assert extract_vmlinux(image.path, out).kind is ImageKind.RISCV64_IMAGE
        assert out.read_bytes() == plain
        with pytest.raises(InputError, match=f"as a plain Image only, and this is {kind.value}"):
            expect_loadable(image)
    with pytest.raises(InputError, match="this is elf"):
        expect_loadable(inspect(written(tmp_path, elf(machine=243))))
    wrong = inspect(written(tmp_path, zboot(gzip.compress(arm64_image()), machine=0x5064)))
    with pytest.raises(InputError, match="not an Image for riscv64"):
        extract_vmlinux(wrong.path, out)


@pytest.mark.parametrize(
    ("data", "arch"),
    [
        (bzimage(PAYLOADS["gzip"](elf()), xloadflags=0), "i386"),
        (elf(machine=243), "riscv64"),
        (elf(machine=4711), "ELF machine 4711"),
        (riscv_image(), "riscv64"),
        (riscv_image(0x400000), "riscv32"),
        (zimage(), "armv7"),
        (zboot(b"", machine=0x6264), "loongarch64"),
        (arm64_image(), "aarch64"),
    ],
    ids=["i386", "riscv-elf", "unknown-elf", "riscv-image", "riscv32-image", "arm", "loongarch-zboot", "arm64"],
)
def test_a_kernel_for_another_machine_is_named(tmp_path: Path, data: bytes, arch: str) -> None:
    image = inspect(written(tmp_path, data))
    assert image.arch == arch
    with pytest.raises(InputError, match=f"kernel: kernel for {arch}, the machine is x86_64"):
        expect_arch(image, "x86_64")


def test_the_right_machine_passes(tmp_path: Path) -> None:
    expect_arch(inspect(written(tmp_path, elf())), "x86_64")
    expect_arch(inspect(written(tmp_path, arm64_image())), "aarch64")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty file"),
        (b"hello world\n" * 200, "not a Linux kernel"),
        (bytes(10_000), "not a Linux kernel"),
        (bzimage(b"")[:0x100], "cut off in its header"),
        (bzimage(b"")[:0x210], "truncated kernel"),
        (zimage(1001), "truncated kernel: its header promises 1001 bytes, the file has 1000"),
        (bzimage(PAYLOADS["gzip"](elf()), protocol=0x20A), "boot protocol 2.10, at least 2.12"),
        (elf(base=0x400000), "not a Linux kernel"),
        (elf(kind=1), "kernel module"),
        (gzip.compress(b"a log, rotated\n" * 100, mtime=0), "no arm64 or riscv64 Image inside"),
        (b"\x89LZO" + bytes(1000), "lzo compression cannot be unpacked here"),
    ],
)
def test_what_is_no_kernel(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        inspect(written(tmp_path, data))


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or directory"):
        inspect(tmp_path / "missing")
    with pytest.raises(InputError, match="is a directory"):
        inspect(tmp_path)


def test_damaged_payload(tmp_path: Path) -> None:
    out = tmp_path / "out"
    kernel = elf()
    for payload, message in [
        (PAYLOADS["zstd"](kernel)[:-4] + bytes(4), "the image says 0"),
        (PAYLOADS["xz"](b"no ELF"), "not an ELF kernel"),
        (PAYLOADS["gzip"](kernel)[:-400], "gzip kernel: "),
        (b"\x89LZO" + bytes(100), "lzo compression cannot be unpacked here"),
        (b"?" * 100, "no compression known here"),
    ]:
        path = written(tmp_path, bzimage(payload))
        assert inspect(path).kind is ImageKind.BZIMAGE
        with pytest.raises(InputError, match=message):
            extract_vmlinux(path, out)
    assert not out.exists()


@pytest.mark.parametrize(
    "whole",
    [
        bzimage(PAYLOADS["zstd"](elf())),
        elf(),
        arm64_image(),
        gzip.compress(arm64_image()),
        zboot(gzip.compress(arm64_image()))[:-100],
    ],
    ids=["bzimage", "elf", "arm64", "arm64-gzip", "zboot"],
)
def test_every_truncation_is_found(tmp_path: Path, whole: bytes) -> None:
    sizes = [*range(0, 700, 41), *random.Random(4).sample(range(len(whole)), 40), len(whole) - 1]
    for size in sizes:
        with pytest.raises(InputError):
            inspect(written(tmp_path, whole[:size]))
    inspect(written(tmp_path, whole))


@pytest.mark.parametrize("compression", PAYLOADS)
def test_damage_never_escapes_as_another_error(tmp_path: Path, compression: str) -> None:
    whole = bzimage(PAYLOADS[compression](elf()))
    rng = random.Random(6)
    for _ in range(40):
        damaged = bytearray(whole)
        for at in rng.sample([*range(0x1F0, 0x260), *rng.sample(range(len(whole)), 100)], 3):
            damaged[at] = rng.randrange(256)
        path = written(tmp_path, bytes(damaged))
        try:
            extract_vmlinux(path, tmp_path / "out")
        except InputError as error:
            assert error.message.startswith(f"{path}: ")
