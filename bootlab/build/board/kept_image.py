"""What a board's SPL finds in RAM that has outlived the power, and the sector of its card that says so: the plan.

In the region lie the kernel as it is on the card, with its initramfs in it, and behind it the args; in the last 4 KiB a
header as of a root in kept RAM (build/root/kept_region.py). SPL writes both, bootlab only the plan; its reader is
patches/u-boot/kept-ram.patch. The SHA-256 of what lies there is its generation: the card names the one that is taken.
"""

import hashlib
import struct
import zlib

from bootlab.build.board.spl import sealed_plan, with_spl_code
from bootlab.errors import InputError
from bootlab.sources import PATCHES
from bootlab.system import KeptRam, System

PATCH = PATCHES / "u-boot" / "kept-ram.patch"
NODE = "bootlab-kept"
"""The region in the device tree, below /reserved-memory: the kernel stays off it, guest/kept/board.c finds it."""
_BLOCK = 4096
_WORD = 4
_MAGIC = b"bootlab-kept-spl"
_PLAN = struct.Struct("<16s7I64s")
_VERIFY = {"header": 0, "all": 1}


def with_kept_ram(system: System) -> System:
    """Return the system with an SPL that knows kept RAM; the same system when its card has none.

    Raises InputError for options of a bootloader that say otherwise.
    """
    if not system.kept_by_loader:
        return system
    assert system.board is not None and system.board.card is not None
    return with_spl_code(system, PATCH, "SPL_KEPT_RAM", system.board.card.kept_at, asked_by="card.kept_ram")


def padded_kernel(kernel: bytes) -> bytes:
    """Return a kernel in whole blocks, as SPL is to load it: all that is kept is copied by words."""
    return kernel.ljust(-(-len(kernel) // _BLOCK) * _BLOCK, b"\0")


def make_plan(kept: KeptRam, kernel: bytes, args: bytes, kernel_to: int) -> bytes:
    """Return the sector that says what is kept of a padded `kernel`, which is entered at `kernel_to`, and its args.

    Raises InputError for what does not fit into the region, and for a kernel that would be entered in it.
    """
    if kernel_to < kept.start + kept.size and kept.start < kernel_to + len(kernel):
        raise InputError(
            f"card.load_address: a kernel of {len(kernel):,} bytes from {kernel_to:#x} would lie over card.kept_ram, "
            f"{kept.start:#x} to {kept.start + kept.size:#x}",
            hint="another place for one of them",
        )
    image = kernel + args.ljust(-(-len(args) // _WORD) * _WORD, b"\0")
    if len(image) > kept.size - _BLOCK:
        raise InputError(
            f"card.kept_ram.size_mib: {kept.size_mib} MiB do not hold this kernel: with its device tree and the header "
            f"it takes {(len(image) + _BLOCK) / (1 << 20):.2f} MiB"
        )
    words = (kept.start, kept.size, len(image), len(kernel), kernel_to, _VERIFY[kept.verify], zlib.crc32(image))
    return sealed_plan(_PLAN.pack(_MAGIC, *words, hashlib.sha256(image).hexdigest().encode()))
