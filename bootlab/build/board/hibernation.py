"""A hibernation image that a board's SPL goes on from: the swap area on its card, and the sector that says all of it.

The sector, the plan, has what a kernel that reads its own image knows of itself: where it is entered as it wakes, what
of it is in no image, what the note beside the image has to say. Its reader is patches/u-boot/hibernation-image.patch.
The note names the card by the SHA-256 of kernel and device tree, which the kernel is told of in its tree.
"""

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.build.board.spl import sealed_plan, with_spl_code
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.kernel.image import read_banner
from bootlab.build.root.left_disks import NOTE_BYTES, make_swap
from bootlab.build.source.config_text import read_config
from bootlab.errors import InputError
from bootlab.sources import PATCHES
from bootlab.symbols.table import read_symbols
from bootlab.system import SECTOR, SLEEP_WORD, Board, System

PATCH: Final = PATCHES / "u-boot" / "hibernation-image.patch"
NODE: Final = "bootlab-loader"
"""What SPL needs of the memory, in the device tree, below /reserved-memory: the kernel leaves it alone."""
PROPERTY: Final = "bootlab,card"
"""The generation of the card, in the device tree's /chosen; guest/sleep/board.h puts it into the note."""
_MAGIC: Final = b"bootlab-hib-spl"
_PLAN: Final = struct.Struct("<16s9I352s")
_NOTE: Final = 352
_ENTRY, _NOSAVE, _NOSAVE_END = "cpu_resume_arm", "__nosave_begin", "__nosave_end"
"""Of Linux' arch/arm/kernel: sleep.S, vmlinux.lds.S."""


@dataclass(frozen=True, slots=True)
class HibernationParts:
    """What a card with a swap area is composed of besides. Addresses are physical."""

    swap: Path
    """The swap area as it is at first, with room for a note behind it."""
    kernel: str
    """Release and version of the kernel, as its `uname` says them."""
    resume_to: int
    """Where the kernel is entered as it wakes."""
    nosave: range
    """What of it is in no image; in a kernel that takes one these are zeros."""

    @property
    def identity(self) -> list[object]:
        """Return what decides the card's bytes, as JSON takes it."""
        return [file_sha256(self.swap), self.kernel, self.resume_to, self.nosave.start, self.nosave.stop]


def with_hibernation(system: System) -> System:
    """Return the system with an SPL that goes on from an image; the same system when its card has no swap area.

    Raises InputError for options of a bootloader that say otherwise.
    """
    if not system.hibernated_by_loader:
        return system
    assert system.board is not None and system.board.card is not None
    return with_spl_code(system, PATCH, "SPL_HIBERNATED", system.board.card.hibernation_at, asked_by="card.swap_mib")


def hibernation_parts(
    system: System, vmlinux: Path | None, config: Path | None, cache: Cache
) -> HibernationParts | None:
    """Return what the card of `system` has for hibernation, None where it has no swap area; the kernel is its own.

    Raises InputError for a kernel that does not say what SPL has to know, MissingTool (mkswap).
    """
    board, card = system.board, system.card
    if not system.hibernated_by_loader or board is None or card is None or card.swap_mib is None:
        return None
    assert vmlinux is not None and config is not None  # the system's own check: the kernel is built
    (release, build), symbols = read_banner(vmlinux), read_symbols(vmlinux)
    page_offset = int(read_config(config).get("PAGE_OFFSET", "0"), 16)
    places = [symbols.address(name) for name in (_ENTRY, _NOSAVE, _NOSAVE_END)]
    if release is None or build is None or not page_offset or None in places:
        raise InputError(
            "card.swap_mib: this kernel does not say its release and build, or where it is entered as it wakes",
            hint="kernel.build.options: HIBERNATION = true, SUSPEND = true",
        )
    entry, begin, end = (place - page_offset + board.memory_at for place in places if place is not None)
    return HibernationParts(
        swap=make_swap(card.swap_mib, cache),
        kernel=f"{release} {build}",
        resume_to=entry,
        nosave=range(begin, end),
    )


def generation(kernel: bytes, tree: bytes) -> str:
    """Return the SHA-256 of all that a card boots from, by which a note names it."""
    return hashlib.sha256(kernel + tree).hexdigest()


def without_sleep(cmdline: str) -> str:
    """Return a kernel's command line without what puts its board to sleep once."""
    return " ".join(word for word in cmdline.split(" ") if not word.startswith(SLEEP_WORD))


def make_plan(parts: HibernationParts, card: str, board: Board, memory: range, swap_at: int) -> bytes:
    """Return the sector that says what SPL goes on from. `card`: its generation; `swap_at`: in bytes, of the area.

    Raises InputError for a kernel whose name leaves no room.
    """
    note = f"kernel {parts.kernel}\ncard {card}\n".encode()
    if len(note) >= _NOTE:
        raise InputError(f"card.swap_mib: the kernel's name is too long: {parts.kernel}")
    note_at, own = swap_at + parts.swap.stat().st_size - NOTE_BYTES, board.loader_memory
    plan = _PLAN.pack(
        _MAGIC,
        swap_at // SECTOR,
        note_at // SECTOR,
        parts.resume_to,
        *(parts.nosave.start, len(parts.nosave)),
        *(memory.start, len(memory)),
        *(own.start, len(own)),
        note,
    )
    return sealed_plan(plan)
