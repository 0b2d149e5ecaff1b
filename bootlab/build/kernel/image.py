"""What a kernel file is (architecture, format, version, PVH entry), and the uncompressed kernel inside it.

Formats: x86 bzImage (Documentation/arch/x86/boot.rst), ELF vmlinux, the Image of arm64 and of riscv64
(Documentation/arch/arm64/booting.rst, arch/riscv/boot-image-header.rst), plain, compressed or as EFI zboot, arm zImage
(Documentation/arch/arm/booting.rst). Every length in a header is held against the file, so that a truncated kernel is
told here and not by a guest that hangs.
"""

import mmap
import re
import shutil
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from bootlab.build.formats.compress import decompress
from bootlab.errors import InputError

_Bytes = bytes | mmap.mmap

_BANNER = b"Linux version "
_BANNER_LINE = re.compile(rb"Linux version (\d[!-~]*) \((?:[^\n\0]*\) (#\d+ [ -~]*)\n)?")
"""RELEASE (USER@HOST) (COMPILER) BUILD, init/version-timestamp.c."""
_LONGEST_BANNER = 512
_COMPRESSIONS = (
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x02\x21\x4c\x18", "lz4"),
    (b"BZh", "bzip2"),
    (b"\x5d\0\0", "lzma"),
    (b"\x89LZO", "lzo"),
)
_ELF_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 8: "mips", 20: "ppc", 21: "ppc64", 22: "s390x",
                 243: "riscv64", 258: "loongarch64"}  # fmt: skip
_PE_MACHINES = {0x8664: "x86_64", 0xAA64: "aarch64", 0x5064: "riscv64", 0x6264: "loongarch64", 0x14C: "i386"}
_ELF_KERNELS = ("x86_64", "aarch64", "riscv64")
_ELF_EXECUTABLE, _ELF_SHARED = 2, 3
_RISCV32_TEXT_OFFSET = 0x400000
"""By which a 32-bit riscv kernel is told from a 64-bit one, whose header is the same (arch/riscv/kernel/head.S)."""
_ZIMAGE_MAGIC_AT, _ZIMAGE_MAGIC = 0x24, b"\x18\x28\x6f\x01"
_PT_LOAD, _PT_NOTE = 1, 4
_KERNEL_HALF = 0xFFFF << 48
_XEN_ELFNOTE_PHYS32_ENTRY = 18
_XLF_KERNEL_64 = 1
_SETUP_HEADER_END = 0x250
_OLDEST_PROTOCOL = 0x20C
"""Boot protocol 2.12 (Linux 3.8): the first that says whether the kernel is 64-bit."""


class ImageKind(StrEnum):
    """What kind of file a kernel is: how it is packed, and for which way of booting."""

    BZIMAGE = "bzimage"
    ELF = "elf"
    ARM64_IMAGE = "arm64-image"
    ARM64_IMAGE_COMPRESSED = "arm64-image-compressed"
    ARM64_EFI_ZBOOT = "arm64-efi-zboot"
    RISCV64_IMAGE = "riscv64-image"
    RISCV64_IMAGE_COMPRESSED = "riscv64-image-compressed"
    RISCV64_EFI_ZBOOT = "riscv64-efi-zboot"
    ARM_ZIMAGE = "arm-zimage"
    OTHER = "other"
    """A kernel that is recognised only so that an error can name its architecture."""


@dataclass(frozen=True)
class KernelImage:
    """What is known about a kernel file without running it."""

    path: Path
    arch: str
    """`x86_64`, `aarch64`, `armv7`, `riscv64`, or another machine's name for a kernel that bootlab cannot boot."""
    kind: ImageKind
    version: str | None = None
    """Release, as `uname -r` prints it; None when the file does not carry it in the open."""
    compression: str | None = None
    """How the kernel proper is compressed inside the file; None when it is not."""
    pvh_entry: int | None = None
    """Physical address of the PVH entry, for an ELF kernel that has the note."""
    build: str | None = None
    """Number and time of its build, as `uname -v` prints them; None when the file does not carry them in the open."""


def inspect(path: Path) -> KernelImage:
    """Return what the kernel file at `path` is.

    Raises InputError when it cannot be read, is no kernel, or is shorter than its own header says.
    """
    with _mapped(path) as data:
        return _inspect(path, data)


def extract_vmlinux(path: Path, out: Path) -> KernelImage:
    """Write the uncompressed kernel in `path` to `out` and return what it is: an ELF vmlinux or an Image.

    A kernel that is not compressed is copied. Raises InputError like `inspect`, and when the payload is damaged.
    """
    image = inspect(path)
    if image.kind is ImageKind.ARM_ZIMAGE:
        raise InputError(f"{path}: an arm zImage does not say where its kernel is; kernel.symbols names its vmlinux")
    if image.compression is None:
        if image.kind in (ImageKind.BZIMAGE, ImageKind.OTHER):
            raise InputError(f"{path}: the {image.arch} kernel's payload has no compression known here")
        shutil.copyfile(path, out)
    else:
        with _mapped(path) as data:
            kernel = _unpack(image, image.compression, data)
        out.write_bytes(kernel)
    return inspect(out)


def zimage_size(data: _Bytes) -> int | None:
    """Return the bytes of an arm zImage as its own header has it; None for what is none."""
    if data[_ZIMAGE_MAGIC_AT : _ZIMAGE_MAGIC_AT + 4] != _ZIMAGE_MAGIC:
        return None
    start, end = struct.unpack_from("<II", data, _ZIMAGE_MAGIC_AT + 4)
    return int(end - start)


def expect_arch(image: KernelImage, arch: str) -> None:
    """Raise InputError, naming both, unless `image` is a kernel for `arch` (`x86_64`, `aarch64`, ...)."""
    if image.arch != arch:
        raise InputError(
            f"{image.path}: kernel for {image.arch}, the machine is {arch}",
            hint="machine.type virt is arm64 (aarch64), and riscv64 with machine.architecture; "
            "microvm, q35 and pc are x86_64; orangepi-pc is armv7",
        )


def expect_loadable(image: KernelImage) -> None:
    """Raise InputError for a kernel that some bootloaders unpack, and QEMU, which is one for `virt`, and booti do not.

    For riscv64 QEMU puts a file's bytes where an Image runs, whatever they are (hw/riscv/boot.c, riscv_load_kernel);
    an arm64 Image it unpacks.
    """
    if image.arch == "riscv64" and image.kind is not ImageKind.RISCV64_IMAGE:
        raise InputError(
            f"{image.path}: a riscv64 kernel is started as a plain Image only, and this is {image.kind.value}",
            hint="arch/riscv/boot/Image of its build is one; unpack a compressed one, and flash.compression packs it",
        )


@contextmanager
def _mapped(path: Path) -> Iterator[mmap.mmap]:
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError as error:
        raise InputError(f"{path}: empty file, expected a kernel") from error
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}, expected a kernel") from error
    try:
        with data:
            yield data
    except (struct.error, OverflowError) as error:
        raise InputError(f"{path}: truncated kernel: a table of its header lies behind its end") from error


def _inspect(path: Path, data: _Bytes) -> KernelImage:
    for claims, read in _READERS:
        if claims(data):
            return read(path, data)
    compression = _compression(data[:8])
    if compression is not None:
        return _inspect_compressed(path, data, compression)
    if len(data) < _SETUP_HEADER_END:
        raise InputError(f"{path}: not a Linux kernel, or one cut off in its header ({len(data)} bytes)")
    raise InputError(
        f"{path}: not a Linux kernel", hint="expected a bzImage, an ELF vmlinux, or an arm64 or riscv64 Image"
    )


def _inspect_bzimage(path: Path, data: _Bytes) -> KernelImage:
    (protocol,) = struct.unpack_from("<H", data, 0x206)
    if protocol < _OLDEST_PROTOCOL:
        raise InputError(
            f"{path}: x86 boot protocol {protocol >> 8}.{protocol & 0xFF:02}, at least 2.12 (Linux 3.8) is needed"
        )
    start, length = _payload_place(data)
    sectors = (data[0x1F1] or 4) + 1
    (paragraphs,) = struct.unpack_from("<I", data, 0x1F4)
    end = max(start + length, sectors * 512 + paragraphs * 16)
    if end > len(data):
        raise _truncated(path, end, len(data))
    (xloadflags,) = struct.unpack_from("<H", data, 0x236)
    (version_at,) = struct.unpack_from("<H", data, 0x20E)
    # RELEASE (USER@HOST) BUILD, arch/x86/boot/version.c
    banner = data[version_at + 0x200 : version_at + 0x300].split(b"\0", 1)[0] if version_at else b""
    release, _, rest = banner.decode("ascii", "replace").partition(" ")
    return KernelImage(
        path,
        "x86_64" if xloadflags & _XLF_KERNEL_64 else "i386",
        ImageKind.BZIMAGE,
        version=release or None,
        compression=_compression(data[start : start + 8]),
        build=rest.partition(") ")[2] or None,
    )


def _payload_place(data: _Bytes) -> tuple[int, int]:
    offset, length = struct.unpack_from("<II", data, 0x248)
    return ((data[0x1F1] or 4) + 1) * 512 + offset, length


def _inspect_elf(path: Path, data: _Bytes) -> KernelImage:
    (kind, machine) = struct.unpack_from("<HH" if data[5] != 2 else ">HH", data, 16)
    arch = _ELF_MACHINES.get(machine, f"ELF machine {machine}")
    if arch not in _ELF_KERNELS or data[4:6] != b"\x02\x01":
        return KernelImage(path, arch, ImageKind.OTHER)
    if kind not in (_ELF_EXECUTABLE, _ELF_SHARED):
        raise InputError(f"{path}: an ELF object or kernel module, not a kernel")
    segments = list(_segments(data))
    if not any(kind == _PT_LOAD and address >= _KERNEL_HALF for kind, _, address, _ in segments):
        raise InputError(f"{path}: an ELF program, not a Linux kernel: nothing of it lives in the kernel's addresses")
    end = max(offset + size for _, offset, _, size in segments)
    if end > len(data):
        raise _truncated(path, end, len(data))
    notes = b"".join(data[offset : offset + size] for kind, offset, _, size in segments if kind == _PT_NOTE)
    entry = _pvh_entry(notes) if arch == "x86_64" else None
    version, build = _banner(data)
    return KernelImage(path, arch, ImageKind.ELF, version, pvh_entry=entry, build=build)


def _segments(data: _Bytes) -> Iterator[tuple[int, int, int, int]]:
    # type, file offset, virtual address, size in the file
    (table,) = struct.unpack_from("<Q", data, 32)
    step, count = struct.unpack_from("<HH", data, 54)
    for index in range(count):
        kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, table + index * step)
        yield kind, offset, address, size


def _pvh_entry(notes: bytes) -> int | None:
    at = 0
    while at + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, at)
        name_at, at = at + 12, at + 12 + (name_size + 3 & ~3)
        if kind == _XEN_ELFNOTE_PHYS32_ENTRY and notes[name_at : name_at + name_size] == b"Xen\0":
            return int.from_bytes(notes[at : at + size], "little") or None
        at += size + 3 & ~3
    return None


def _inspect_image(path: Path, data: _Bytes) -> KernelImage:
    arch = "aarch64" if _is_arm64(data) else "riscv64"
    if arch == "riscv64" and struct.unpack_from("<Q", data, 8) == (_RISCV32_TEXT_OFFSET,):
        return KernelImage(path, "riscv32", ImageKind.OTHER)
    # Only the PE header (present with CONFIG_EFI) says how long the file itself is: image_size counts the bss too.
    (pe,) = struct.unpack_from("<I", data, 60)
    if pe and data[pe : pe + 4] == b"PE\0\0":
        (sections,) = struct.unpack_from("<H", data, pe + 6)
        (optional,) = struct.unpack_from("<H", data, pe + 20)
        for index in range(sections):
            size, offset = struct.unpack_from("<II", data, pe + 24 + optional + 40 * index + 16)
            if offset + size > len(data):
                raise _truncated(path, offset + size, len(data))
    elif len(data) < 4096:
        raise _truncated(path, 4096, len(data))
    version, build = _banner(data)
    return KernelImage(path, arch, _PLAIN[arch], version, build=build)


def _inspect_zimage(path: Path, data: _Bytes) -> KernelImage:
    size = zimage_size(data)
    assert size is not None
    if size > len(data):
        raise _truncated(path, size, len(data))
    return KernelImage(path, "armv7", ImageKind.ARM_ZIMAGE)


def _inspect_zboot(path: Path, data: _Bytes) -> KernelImage:
    start, length = struct.unpack_from("<II", data, 8)
    (pe,) = struct.unpack_from("<I", data, 60)
    (machine,) = struct.unpack_from("<H", data, pe + 4)
    arch = _PE_MACHINES.get(machine, f"PE machine {machine:#x}")
    if start + length > len(data):
        raise _truncated(path, start + length, len(data))
    kind = _ZBOOT.get(arch, ImageKind.OTHER)
    return KernelImage(path, arch, kind, compression=_compression(data[start : start + 8]))


def _inspect_compressed(path: Path, data: _Bytes, compression: str) -> KernelImage:
    inside = _decompressed(path, data[:], compression)
    if not _is_image(inside):
        raise InputError(f"{path}: {compression} data, but no arm64 or riscv64 Image inside")
    image = _inspect_image(path, inside)
    kind = _COMPRESSED.get(image.arch, ImageKind.OTHER)
    return KernelImage(path, image.arch, kind, version=image.version, compression=compression)


def _unpack(image: KernelImage, compression: str, data: _Bytes) -> bytes:
    path = image.path
    if image.kind in _COMPRESSED.values():
        return _decompressed(path, data[:], compression)
    if image.kind is not ImageKind.BZIMAGE:
        start, length = struct.unpack_from("<II", data, 8)
        kernel = _decompressed(path, data[start : start + length], compression)
        if image.kind in _ZBOOT.values() and (not _is_image(kernel) or _inspect_image(path, kernel).arch != image.arch):
            raise InputError(f"{path}: the zboot payload is not an Image for {image.arch}")
        return kernel
    start, length = _payload_place(data)
    payload = data[start : start + length]
    # The build appends the unpacked size to every payload; in gzip it is the stream's own last word.
    expected = int.from_bytes(payload[-4:], "little")
    kernel = _decompressed(path, payload if compression == "gzip" else payload[:-4], compression)
    if len(kernel) != expected:
        raise InputError(f"{path}: damaged: the kernel unpacks to {len(kernel)} bytes, the image says {expected}")
    if kernel[:4] != b"\x7fELF":
        raise InputError(f"{path}: the payload of the bzImage is not an ELF kernel")
    return kernel


def _decompressed(path: Path, packed: bytes, compression: str) -> bytes:
    try:
        unpacked = decompress(packed)
    except InputError as error:
        raise InputError(f"{path}: {compression} kernel: {error.message}", hint=error.hint) from error
    if unpacked is None:
        raise InputError(f"{path}: {compression} compression cannot be unpacked here")
    return unpacked[0]


def _compression(head: bytes) -> str | None:
    return next((name for magic, name in _COMPRESSIONS if head.startswith(magic)), None)


def read_banner(path: Path) -> tuple[str | None, str | None]:
    """Return release and build of an uncompressed kernel, as `uname -r` and `-v` print them; None: it does not say."""
    return _banner(path.read_bytes())


def _banner(data: _Bytes) -> tuple[str | None, str | None]:
    at, version = data.find(_BANNER), None
    while at >= 0:
        # The bare words occur elsewhere too, as a printf format, and in Linux 6.1 once without the build's number.
        line = _BANNER_LINE.match(data[at : at + _LONGEST_BANNER])
        if line is not None:
            version = version or line[1].decode("ascii")
            if line[2] is not None:
                return version, line[2].decode("ascii")
        at = data.find(_BANNER, at + 1)
    return version, None


def _truncated(path: Path, promised: int, size: int) -> InputError:
    return InputError(
        f"{path}: truncated kernel: its header promises {promised} bytes, the file has {size}",
        hint="copy or fetch it again",
    )


def _is_bzimage(data: _Bytes) -> bool:
    return data[0x1FE:0x200] == b"\x55\xaa" and data[0x202:0x206] == b"HdrS"


def _is_arm64(data: _Bytes) -> bool:
    return data[56:60] == b"ARM\x64"


def _is_riscv(data: _Bytes) -> bool:
    return data[56:60] == b"RSC\x05" or data[48:53] == b"RISCV"


def _is_image(data: _Bytes) -> bool:
    return _is_arm64(data) or _is_riscv(data)


_PLAIN = {"aarch64": ImageKind.ARM64_IMAGE, "riscv64": ImageKind.RISCV64_IMAGE}
_COMPRESSED = {"aarch64": ImageKind.ARM64_IMAGE_COMPRESSED, "riscv64": ImageKind.RISCV64_IMAGE_COMPRESSED}
_ZBOOT = {"aarch64": ImageKind.ARM64_EFI_ZBOOT, "riscv64": ImageKind.RISCV64_EFI_ZBOOT}
_READERS: tuple[tuple[Callable[[_Bytes], bool], Callable[[Path, _Bytes], KernelImage]], ...] = (
    (lambda data: data[:4] == b"\x7fELF", _inspect_elf),
    (lambda data: data[:2] == b"MZ" and data[4:8] == b"zimg", _inspect_zboot),
    (_is_image, _inspect_image),
    (_is_bzimage, _inspect_bzimage),
    (lambda data: data[_ZIMAGE_MAGIC_AT : _ZIMAGE_MAGIC_AT + 4] == _ZIMAGE_MAGIC, _inspect_zimage),
)
