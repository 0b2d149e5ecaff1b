"""The image of a board's flash chip from its parts, the same bytes every time.

The bootloader's image comes first, where SPL looks for it; then the script that U-Boot proper is told to run; then the
kernel, and the initramfs behind it. A flash chip has no files: the script has places and sizes in it, which is why it
is made here and not in U-Boot's configuration. Nothing is found by looking, so nothing else is looked at.

In Falcon mode SPL finds an image tree in the first place, which says the same of OpenSBI, kernel and initramfs, and
there is no script.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.board.fit_image import FitPart, chosen_overlay, fit_tree
from bootlab.build.board.legacy_image import script_image
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.formats.compress import compress
from bootlab.errors import InputError
from bootlab.system import Board, Compression, Flash, FlashLayout

_FORMAT = 1
_ALIGNED = 4096
_HUGE_PAGE = 2 << 20
_WORD = 8
"""Bytes that U-Boot's `cp.q` copies at a time."""
_IMAGE_HEADER = struct.Struct("<8xQQ")
"""Of a riscv64 Image (arch/riscv/include/asm/image.h): text_offset, image_size."""
_HINTS = {
    Compression.NONE: 'flash.compression = "gzip", a smaller kernel ([kernel.build]), or a smaller initramfs',
    Compression.GZIP: "a smaller kernel ([kernel.build]), or a smaller or better compressed initramfs",
}
_UBOOT_ROOM = 16 << 20
"""What U-Boot proper needs at the end of memory: itself, its stack, and a heap of 8 MiB (SYS_MALLOC_LEN)."""


@dataclass(frozen=True, slots=True)
class FlashParts:
    """What the chip's image is composed of, all of it on this host."""

    bootloader: Path
    kernel: Path
    """A riscv64 Image."""
    cmdline: str
    initramfs: Path | None
    memory: range
    """Physical addresses of the board's RAM."""
    opensbi: Path | None = None
    """What SPL starts besides the kernel (Falcon mode); None where it is in the bootloader's image."""
    opensbi_at: int = 0
    """Physical address that it is made for."""

    @property
    def identity(self) -> list[object]:
        """Return what decides the image's bytes, as JSON takes it."""
        files = (self.bootloader, self.kernel, self.initramfs)
        falcon = [] if self.opensbi is None else [file_sha256(self.opensbi), self.opensbi_at]
        hashes = (None if path is None else file_sha256(path) for path in files)
        return [*hashes, self.cmdline, len(self.memory), *falcon]


def compose_flash(flash: Flash, parts: FlashParts, board: Board, cache: Cache) -> Path:
    """Return the image of the flash chip of `board`, which has one, from the cache when it was composed before.

    Shared: boot it with snapshot=on. Raises InputError for what does not fit into the chip or into memory.
    """
    key = json.dumps([_FORMAT, board.image, flash.compression, parts.identity])
    if (opensbi := parts.opensbi) is not None:
        return cache.make("flash", key, lambda out: _compose_falcon(parts, opensbi, board, out))
    return cache.make("flash", key, lambda out: _compose(Compression(flash.compression), parts, board, out))


def expect_flash(path: Path, layout: FlashLayout) -> None:
    """Raise InputError for a finished image that the chip cannot hold."""
    size = path.stat().st_size
    if size != layout.size:
        hint = f"truncate --size={layout.size >> 20}M {path}" if size < layout.size else None
        raise InputError(f"flash.path: {path}: {size:,} bytes; the flash chip has {layout.size:,}", hint=hint)


def _compose(compression: Compression, parts: FlashParts, board: Board, out: Path) -> None:
    layout = board.flash
    assert layout is not None
    bootloader, kernel = parts.bootloader.read_bytes(), parts.kernel.read_bytes()
    archive = parts.initramfs.read_bytes() if parts.initramfs is not None else b""
    if len(bootloader) > layout.script_at:
        raise InputError(
            f"flash: the bootloader is {len(bootloader):,} bytes, and there is room for {layout.script_at:,}",
            hint="bootloader_no_scan leaves out what this board's boot does without",
        )
    stored = compress(kernel, compression)
    archive_at = _aligned(layout.kernel_at + len(stored), _ALIGNED)
    if archive_at + len(archive) > layout.size:
        what = f"the kernel of {len(stored):,} bytes"
        what += f" and the initramfs of {len(archive):,} do" if archive else " does"
        raise InputError(
            f"flash: {what} not fit: behind the bootloader the chip has room for {layout.size - layout.kernel_at:,}",
            hint=_HINTS[compression],
        )
    archive_to = board.kernel_at + _aligned(_memory_of(kernel, parts, board), _HUGE_PAGE)
    _expect_memory(archive_to + len(archive), parts.memory)
    # Put where it is entered, so that U-Boot need not move it again: a kernel cannot run from the chip.
    source = layout.address + layout.kernel_at
    script = [
        f"setenv bootargs {_quoted(parts.cmdline)}",
        _copy(source, board.kernel_at, len(kernel))
        if stored is kernel
        else f"unzip {source:#x} {board.kernel_at:#x} {len(kernel):#x}",
    ]
    if archive:
        script.append(_copy(layout.address + archive_at, archive_to, len(archive)))
    beside = f"{archive_to:#x}:{len(archive):#x}" if archive else "-"
    # The device tree is the one that the machine began with.
    script.append(f"booti {board.kernel_at:#x} {beside} ${{fdtcontroladdr}}")
    content = {
        0: bootloader,
        layout.script_at: script_image("".join(f"{line}\n" for line in script), "riscv64"),
        layout.kernel_at: stored,
        archive_at: archive,
    }
    _write(out, layout, content)


def _compose_falcon(parts: FlashParts, opensbi: Path, board: Board, out: Path) -> None:
    layout = board.flash
    assert layout is not None
    kernel, firmware = parts.kernel.read_bytes(), opensbi.read_bytes()
    archive = parts.initramfs.read_bytes() if parts.initramfs is not None else b""
    initramfs = range(layout.initramfs_address, layout.initramfs_address + len(archive)) if archive else None
    _expect_falcon_memory(board.kernel_at + _memory_of(kernel, parts, board), initramfs, parts.memory, layout)
    overlay = chosen_overlay(parts.cmdline, initramfs)
    at = layout.script_at
    fit: dict[str, FitPart] = {}
    content: dict[int, bytes] = {}
    for name, kind, data, load, system in (
        ("opensbi", "firmware", firmware, parts.opensbi_at, "opensbi"),
        # What comes first of those that Linux is told of gets the device tree.
        ("linux", "standalone", kernel, board.kernel_at, "linux"),
        ("initramfs", "ramdisk", archive, layout.initramfs_address, None),
        ("chosen", "flat_dt", overlay, None, None),
    ):
        if data:
            fit[name] = FitPart(kind, at, len(data), load, system)
            content[at] = data
            at = _aligned(at + len(data), _ALIGNED)
    if at > layout.size:
        raise InputError(
            f"flash: OpenSBI, the kernel of {len(kernel):,} bytes and the initramfs of {len(archive):,} do not fit: "
            f"the chip has room for {layout.size - layout.script_at:,}",
            hint="a smaller kernel ([kernel.build]) or initramfs; U-Boot proper unpacks a kernel: flash.compression",
        )
    _write(out, layout, {0: fit_tree(fit), **content})


def _expect_falcon_memory(kernel_end: int, initramfs: range | None, memory: range, layout: FlashLayout) -> None:
    if kernel_end > layout.spl_data.start:
        raise InputError(
            f"bootloader.falcon: the kernel reaches {kernel_end:#x} in memory, and SPL has its data at "
            f"{layout.spl_data.start:#x}",
            hint="a smaller kernel ([kernel.build]), or U-Boot proper: bootloader.falcon = false",
        )
    if initramfs is not None and initramfs.stop > memory.stop:
        needed = initramfs.stop - memory.start
        raise InputError(
            f"machine.memory_mib: {len(memory) >> 20} are too few: the initramfs lies at {initramfs.start:#x}, and "
            f"{-(-needed >> 20)} are needed with it"
        )


def _write(out: Path, layout: FlashLayout, content: Mapping[int, bytes]) -> None:
    with out.open("wb") as image:
        image.truncate(layout.size)
        for place, part in content.items():
            image.seek(place)
            image.write(part)


def _memory_of(kernel: bytes, parts: FlashParts, board: Board) -> int:
    # With its zeroed data, which is not in the file.
    text_offset, image_size = _IMAGE_HEADER.unpack_from(kernel)
    if parts.memory.start + text_offset != board.kernel_at:
        raise InputError(
            f"flash: {parts.kernel.name} is for {text_offset:#x} above the start of memory, and this board's kernels "
            f"for {board.kernel_at - parts.memory.start:#x}",
            hint="a kernel for riscv64's supervisor mode (CONFIG_RISCV_SBI) is",
        )
    return max(int(image_size), len(kernel))


def _expect_memory(end: int, memory: range) -> None:
    needed = end + _UBOOT_ROOM - memory.start
    if needed > len(memory):
        raise InputError(
            f"machine.memory_mib: {len(memory) >> 20} are too few: the kernel, its initramfs and U-Boot proper beside "
            f"them need {-(-needed >> 20)}"
        )


def _copy(source: int, target: int, size: int) -> str:
    return f"cp.q {source:#x} {target:#x} {-(-size // _WORD):#x}"


def _quoted(text: str) -> str:
    # Between single quotes U-Boot's shell takes all but the quote as it is, and a backslash, which it drops.
    return "'" + text.replace("\\", "\\\\").replace("'", "'\\''") + "'"


def _aligned(value: int, to: int) -> int:
    return -(-value // to) * to
