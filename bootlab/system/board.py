"""Boards: emulated machines that boot as real ones do, from a card that their first stage reads.

What is fixed by a board's hardware, by its boot ROM and by U-Boot's own map of its memory is here, once.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bootlab.system.machine import MachineType

SECTOR = 512


@dataclass(frozen=True, slots=True)
class Board:
    """A board, and where things are on its card and in its memory."""

    dtb: str
    """Its device tree, as the kernel's sources name it."""
    base: str
    """U-Boot's configuration for it."""
    image: str
    """What U-Boot's build makes for its card: SPL and U-Boot proper in one file."""
    image_at: int
    """Where the boot ROM looks for that on the card, in bytes."""
    memory: range
    """Physical addresses of its RAM."""
    kernel_at: int
    """Where U-Boot proper loads a kernel (its environment's kernel_addr_r) and, unless told otherwise, SPL does."""
    args_at: int
    """Where SPL loads the args, the device tree that the kernel gets."""
    counter_hz: int
    """Of the generic timer in QEMU's model, which U-Boot tells the kernel."""
    card_args_at: int
    """Of the args on the card, in bytes."""
    card_args_size: int
    card_kernel_at: int
    """Of the kernel that SPL loads, in bytes."""
    card_files_at: int
    """Of the first partition, in bytes: the kernel that SPL loads must end before it."""


BOARDS: Mapping[MachineType, Board] = {
    MachineType.ORANGEPI_PC: Board(
        dtb="sun8i-h3-orangepi-pc.dtb",
        base="orangepi_pc_defconfig",
        image="u-boot-sunxi-with-spl.bin",
        image_at=8 << 10,
        memory=range(0x40000000, 0x80000000),
        kernel_at=0x42000000,
        args_at=0x43000000,
        # QEMU's H3 leaves the Cortex-A7's counter at its default; real ones count 24 MHz.
        counter_hz=62_500_000,
        card_args_at=3 << 20,
        card_args_size=64 << 10,
        card_kernel_at=4 << 20,
        card_files_at=32 << 20,
    )
}
