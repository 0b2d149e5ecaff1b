"""Tells where a board's bootloader did not do what was asked of it, from its marks and its words on the console."""

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

# One of these is in every boot of the very kernel whose code the plugin looks for there.
_KERNEL_BEGINS = {m.IMAGE_ENTRY, m.KERNEL_ENTRY, m.START_KERNEL}


def board_remarks(system: System, marks: Set[str], console: str, looked_for: Set[str] = frozenset()) -> list[str]:
    """Return remarks on a boot, whatever its outcome: that something else ran than was asked for, and why.

    `looked_for`: marks that the plugin knew code for.
    """
    return [*_other_kernel(system, marks, looked_for), *_no_falcon(system, marks, console)]


def _other_kernel(system: System, marks: Set[str], looked_for: Set[str]) -> list[str]:
    finished = system.finished_medium
    if finished is None or m.READY not in marks or not looked_for & _KERNEL_BEGINS - marks:
        return []
    key, _ = finished
    return [
        f"{key}: the kernel of [kernel] was not seen to run, so the image has another one, or enters it elsewhere: "
        "beside a finished image [kernel] and [initramfs] only say what is in it"
    ]


def _no_falcon(system: System, marks: Set[str], console: str) -> list[str]:
    bootloader = system.bootloader
    if bootloader is None or not bootloader.falcon or m.UBOOT_ENTRY not in marks:
        return []
    why = next((meaning for words, meaning in _FALLBACKS if words in console), None)
    said = why or "its own words on the console may say why"
    return [f"bootloader.falcon: SPL did not start the kernel, and U-Boot proper ran: {said}"]


def find_board_cause(system: System, marks: Set[str], *, silent: bool = False) -> str | None:
    """Return why a kernel that a bootloader was to start never began, for a reader, or None when that is not it.

    `silent`: the console said nothing at all.
    """
    if system.board is None or marks & _KERNEL_BEGINS:
        return None
    if m.SPL_ENTRY not in marks:
        return _no_bootloader(system) if silent and not marks - {m.POWER_ON} else None
    if m.KERNEL_JUMP in marks:
        return f"the bootloader entered the kernel, but no instruction of it was ever executed{_where(system)}"
    if m.KERNEL_LOAD in marks and m.UBOOT_ENTRY not in marks:
        return f"SPL began to load the kernel and never came to its end{_where(system)}"
    if m.UBOOT_ENTRY in marks:
        return "U-Boot proper ran and never started the kernel: its own words at the end of the console may say why"
    if m.OPENSBI_ENTRY in marks:
        own = system.bootloader is not None and system.bootloader.opensbi is not None
        asked = ": is bootloader.opensbi the fw_dynamic.bin of an OpenSBI for this machine?" if own else ""
        return f"SPL started OpenSBI, and that never started U-Boot proper{asked}"
    finished = ", ".join(map(str, system.finished_medium or ()))
    where = f": is a bootloader where SPL looks for it in {finished}?" if finished else ""
    return f"SPL ran and started nothing{where}"


def _no_bootloader(system: System) -> str | None:
    # SPL that bootlab did not build has no mark, but a first word: of one that says nothing either, nothing is there.
    if system.board is None or system.board.card is None or system.finished_medium is None:
        return None
    key, finished = system.finished_medium
    return (
        f"nothing on the card was seen to run: is a bootloader of this board on {key}, {finished}, at "
        f"{system.board.card.image_at:,} bytes, where the boot ROM starts it ({system.board.image})?"
    )


def _where(system: System) -> str:
    card, board = system.card, system.board
    assert board is not None
    if system.finished_medium is not None:
        _, finished = system.finished_medium
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
