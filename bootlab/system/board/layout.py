"""Boards: emulated machines that boot as real ones do, by a bootloader that loads the kernel from a medium of theirs.

What is fixed by a board's hardware, by its boot ROM and by U-Boot's own map of its memory is here, once. A board has
one medium: an SD card, which is read block by block, or a flash chip, which is read as memory is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from bootlab.system.machine import MachineType

SECTOR = 512
_USUAL_KERNEL = 8 << 20
"""U-Boot's own SYS_BOOTM_LEN."""
_LARGE_KERNEL = 32 << 20


@dataclass(frozen=True, slots=True)
class CardLayout:
    """What lies where on an SD card; places and sizes are in bytes."""

    dtb: str
    """The board's device tree, as the kernel's sources name it: it lies on the card beside the kernel."""
    image_at: int
    """Where the boot ROM looks for the bootloader's image."""
    args_address: int
    """Where in memory the device tree goes that the kernel gets: SPL's args (Falcon mode), U-Boot's fdt_addr_r."""
    far_args_address: int
    """Where it goes instead for a kernel that would lie over it: one with a large initramfs inside."""
    args_at: int
    args_size: int
    kernel_at: int
    """Where the kernel lies that SPL loads (Falcon mode)."""
    kept_at: int
    """Where one sector says what is to be kept in RAM (Falcon mode)."""
    hibernation_at: int
    """Where one sector says which hibernation image is taken (Falcon mode)."""
    files_at: int
    """Where the first partition begins: the kernel that SPL loads must end before it."""
    swap_device: str
    """How Linux calls the second partition, a swap area, where there is one."""
    most_kernel: int = _USUAL_KERNEL
    """Bytes of a kernel that SPL takes at most (SYS_BOOTM_LEN)."""

    @property
    def options(self) -> dict[str, str]:
        """Return what U-Boot is asked for, for kernels larger than it takes by itself."""
        return {} if self.most_kernel == _USUAL_KERNEL else {"SYS_BOOTM_LEN": hex(self.most_kernel)}


@dataclass(frozen=True, slots=True)
class FlashLayout:
    """What lies where in a flash chip; places are in bytes from its start, where the bootloader's image is."""

    address: int
    """Physical address of its first byte."""
    size: int
    unit: int
    """Which of the machine's chips it is, as QEMU counts them."""
    script_at: int
    """Where the script lies that says where kernel and initramfs are."""
    kernel_at: int
    """Where the kernel lies; the initramfs follows it."""
    spl_data: range
    """Physical addresses that SPL has its data at: nothing that it loads lies there (Falcon mode)."""
    args_address: int
    """Where in memory the device tree goes that the kernel gets (Falcon mode)."""
    initramfs_address: int
    """The same of the initramfs."""

    @property
    def falcon_options(self) -> dict[str, str]:
        """Return what Falcon mode asks of U-Boot: OpenSBI starts Linux, with what the image says laid over its tree."""
        return {
            "SPL_LOAD_FIT_OPENSBI_OS_BOOT": "y",
            "SPL_LOAD_FIT_APPLY_OVERLAY": "y",
            "SPL_PAYLOAD_ARGS_ADDR": hex(self.args_address),
        }


@dataclass(frozen=True, slots=True)
class Board:
    """A board, its medium, and where things are in its memory. Exactly one of `card` and `flash` is given."""

    base: str
    """U-Boot's configuration for it."""
    options: Mapping[str, str]
    """Options of U-Boot's that QEMU's model of it, or its medium, asks for."""
    image: str
    """What U-Boot's build makes for the medium: all of the bootloader that is read from it, in one file."""
    falcon_image: str
    """The same in Falcon mode. Of a flash chip bootlab makes another, with a kernel in it."""
    boot_command: str
    """The command by which U-Boot proper boots from the medium, without looking at anything else."""
    memory_at: int
    """Physical address of its RAM."""
    kernel_at: int
    """Where a kernel is entered: U-Boot proper's kernel_addr_r, or what the kernel's own header asks for."""
    card: CardLayout | None = None
    flash: FlashLayout | None = None
    opensbi: bool = False
    """SPL starts OpenSBI, which stays beneath all that follows (riscv64)."""
    extensible: bool = False
    """It is a board by its bootloader alone: its machine takes disks, a network card and other devices."""
    least_memory_mib: int = 0
    """What U-Boot's own map of its memory needs."""
    loader_memory: range = range(0)
    """What of its memory SPL needs while it puts a hibernation image into its place: the kernel stays off it."""
    kept_memory: range = range(0)
    """What of its memory nobody but a kept region's owner writes to: neither boot ROM nor any part of U-Boot."""

    def with_room_for(self, kernel_bytes: int, at: int | None) -> Self:
        """Return the board with room for a kernel that is loaded to `at`, or where it is entered.

        Its device tree is out of the way of that, and SPL takes one so large.
        """
        card = self.card
        if card is None:
            return self
        # A device tree may lie behind it.
        whole = kernel_bytes + card.args_size
        if whole > card.most_kernel:
            card = replace(card, most_kernel=_LARGE_KERNEL)
        begin = self.kernel_at if at is None else at
        if begin < card.args_address + card.args_size and card.args_address < begin + whole:
            card = replace(card, args_address=card.far_args_address)
        return self if card == self.card else replace(self, card=card)


_FLASH = FlashLayout(
    # QEMU, hw/riscv/virt.c: two chips of 32 MiB, of which the first is for what runs before the kernel in their place.
    address=0x22000000,
    size=32 << 20,
    unit=1,
    script_at=2 << 20,
    kernel_at=(2 << 20) + (64 << 10),
    # Its .bss (SPL_BSS_START_ADDR) and a heap of 1 MiB behind it (SPL_SYS_MALLOC_SIZE).
    spl_data=range(0x84000000, 0x84400000),
    args_address=0x84400000,
    initramfs_address=0x84600000,
)
_SOURCE_FLASH = f"source {_FLASH.address + _FLASH.script_at:#x}"

BOARDS: Mapping[tuple[MachineType, str], Board] = {
    (MachineType.ORANGEPI_PC, "armv7"): Board(
        base="orangepi_pc_defconfig",
        # Of the generic timer, which U-Boot tells the kernel: QEMU's H3 leaves the Cortex-A7's counter at its default;
        # real ones count 24 MHz.
        options={"COUNTER_FREQUENCY": "62500000"},
        image="u-boot-sunxi-with-spl.bin",
        falcon_image="u-boot-sunxi-with-spl.bin",
        boot_command="load mmc 0:1 ${scriptaddr} boot.scr; source ${scriptaddr}",
        memory_at=0x40000000,
        kernel_at=0x42000000,
        card=CardLayout(
            dtb="sun8i-h3-orangepi-pc.dtb",
            image_at=8 << 10,
            args_address=0x43000000,
            # Above a kernel of 28 MiB, the most that fits before the files, and what it unpacks to; below the 160 MiB
            # that U-Boot lets a kernel see of a device tree (bootm_size).
            far_args_address=0x48000000,
            args_at=3 << 20,
            args_size=64 << 10,
            kernel_at=4 << 20,
            kept_at=(3 << 20) + (512 << 10),
            hibernation_at=(3 << 20) + (576 << 10),
            files_at=32 << 20,
            swap_device="/dev/mmcblk0p2",
        ),
        # SPL's heap and stack end at SPL_STACK_R_ADDR, 2 MiB before the end, its data begin at SPL_BSS_START_ADDR; and
        # below them it has what it reads of the image.
        loader_memory=range(0x4F800000, 0x50000000),
        # Below, kernels are loaded, and SPL has its stack and data (SPL_BSS_START_ADDR). At the end is U-Boot
        # proper, with 33 MiB for a picture, a heap of 64 and 16 for its stack: from 0x78f5b000 on, its `bdinfo` says.
        kept_memory=range(0x50000000, 0x78000000),
    ),
    (MachineType.VIRT, "riscv64"): Board(
        base="qemu-riscv64_spl_defconfig",
        # U-Boot's own default is a debugger that has put its image into memory, and nothing of it looks into the flash.
        options={"SPL_LOAD_FIT_ADDRESS": f"{_FLASH.address:#x}", "BOOTCOMMAND": _SOURCE_FLASH},
        image="u-boot.itb",
        falcon_image="linux.itb",
        boot_command=_SOURCE_FLASH,
        memory_at=0x80000000,
        kernel_at=0x80200000,
        flash=_FLASH,
        opensbi=True,
        extensible=True,
        # SPL keeps its data at 64 MiB (SPL_BSS_START_ADDR), and a heap above it.
        least_memory_mib=128,
    ),
}
"""Machine type and architecture -> the board. One with a flash chip is a board only if it is told to boot from that."""
