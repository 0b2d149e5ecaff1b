"""What a board's bootloader did that was not asked of it, told from its marks and its words on the console."""

from collections.abc import Set

from bootlab.system import System
from bootlab.timeline import marks as m

# What SPL says (U-Boot 2025.01, common/spl/; the first is of patches/u-boot/sunxi-falcon.patch) -> what that means.
_FALLBACKS = (
    (
        "SPL: no device tree in the args sectors",
        "the args are missing: no device tree lies where SPL looks for them (on a board, spl export and mmc write put "
        "them there)",
    ),
    (
        "Expected image is not found",
        "what lies where SPL looks for the kernel is no legacy image of one (mkimage -T kernel)",
    ),
    (
        "Please implement spl_start_uboot()",
        "this U-Boot has no hook for it on this board: patches/u-boot/sunxi-falcon.patch adds it",
    ),
    ("block read error", "the card could not be read"),
)


def board_remarks(system: System, marks: Set[str], console: str) -> list[str]:
    """Return what a reader should know of a boot whatever became of it: that Falcon mode was left, and why."""
    bootloader = system.bootloader
    if bootloader is None or not bootloader.falcon or m.UBOOT_ENTRY not in marks:
        return []
    why = next((meaning for words, meaning in _FALLBACKS if words in console), None)
    said = why or "its own words on the console may say why"
    return [f"bootloader.falcon: SPL did not start the kernel, and U-Boot proper ran: {said}"]


def find_board_cause(system: System, marks: Set[str]) -> str | None:
    """Return why a kernel that a bootloader was to start never began, for a reader, or None when that is not it."""
    if system.board is None or m.SPL_ENTRY not in marks or marks & {m.IMAGE_ENTRY, m.KERNEL_ENTRY, m.START_KERNEL}:
        return None
    if m.KERNEL_JUMP in marks:
        return f"the bootloader entered the kernel, but no instruction of it was ever executed{_where(system)}"
    if m.KERNEL_LOAD in marks and m.UBOOT_ENTRY not in marks:
        return f"SPL began to load the kernel and never came to its end{_where(system)}"
    if m.UBOOT_ENTRY in marks:
        return "U-Boot proper ran and never started the kernel: its own words at the end of the console may say why"
    return None


def _where(system: System) -> str:
    card, flash, board = system.card, system.flash, system.board
    assert board is not None
    finished = next((one.path for one in (card, flash) if one is not None and one.path is not None), None)
    if finished is not None:
        return (
            f": is the image on {finished} loaded and entered at one address, in memory that the bootloader does not "
            f"use itself? {board.kernel_at:#x} is one{' (mkimage -a and -e)' if card is not None else ''}"
        )
    if card is None or card.load_address is None:
        return ""
    return (
        f": card.load_address = {card.load_address:#x} is memory that the bootloader uses itself; "
        f"{board.kernel_at:#x} is where U-Boot proper would load it"
    )
