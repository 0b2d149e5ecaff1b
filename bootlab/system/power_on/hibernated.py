"""A machine that goes on from an image of its memory, held against the rest of a system file; what may restore it."""

from typing import TYPE_CHECKING

from bootlab.system.content import FileSystem, Initramfs
from bootlab.system.kernel import Kernel
from bootlab.system.part import Part
from bootlab.system.power_on.power_on import Fault, PowerOnKind

if TYPE_CHECKING:
    from bootlab.system.value import System

_KIND = 'power_on.kind = "hibernated"'


SLEEP_WORD = "bootlab.sleep="
"""How a word of a kernel's command line begins that puts its machine to sleep (guest/sleep/main.c)."""


class Restorer(Part):
    """A kernel and an initramfs that restore the image of another kernel's memory, on the same machine and disks.

    Where there is no image, or one that is refused, they start the system's own kernel and initramfs by kexec, out of
    /boot of the root file system, where a recipe of [rootfs] then has them.
    """

    kernel: Kernel
    initramfs: Initramfs


def sleep_word(system: "System") -> str:
    """Return the word of its kernel's command line that has a machine hibernate once it is ready."""
    return f"{SLEEP_WORD}disk:{system.swap_device}"


def expect_hibernated(system: "System") -> None:
    """Raise ValueError, which names the key, for a system that could neither be hibernated nor restored as it says."""
    if system.restorer is not None:
        _expect_restorer(system, system.restorer)
    if system.hibernated_by_loader:
        _expect_of_board(system)
        return
    if system.power_on is None or system.power_on.kind is not PowerOnKind.HIBERNATED:
        return
    if system.board is not None and system.board.card is not None:
        raise ValueError(f"{_KIND} needs a swap area on the card, from which SPL goes on: card.swap_mib")
    if system.power_on.fault is Fault.OLD_IMAGE:
        raise ValueError('power_on.fault = "old-image" is of a board; of a root on a disk it is "root-changed"')
    if system.machine.arch != "x86_64" or system.machine.type.is_real:
        raise ValueError(f"{_KIND} is for x86-64, and this machine is {system.machine.arch}")
    if system.swap_device is None:
        raise ValueError(f'{_KIND} needs a disk to lie on: [[disks]] filesystem = "swap"')
    if system.restorer is None:
        _expect_resume(system, "", system.kernel, system.initramfs)
    elif system.marks or system.clock.charges or system.clock.tick_us is not None:
        key = "marks" if system.marks else "clock.charges" if system.clock.charges else "clock.tick_us"
        raise ValueError(f"{key}: symbols are of one kernel, and a power-on with a [restorer] has two")
    if system.rootfs is not None and system.rootfs.device not in ("virtio-blk", "nvme", "scsi"):
        raise ValueError(f'{_KIND} goes with no rootfs.device = "{system.rootfs.device}"')
    if system.power_on.fault is Fault.ROOT_CHANGED and (
        system.rootfs is None or system.rootfs.filesystem is not FileSystem.EXT4
    ):
        raise ValueError(
            'power_on.fault = "root-changed" mounts the [rootfs] elsewhere and writes to it: rootfs.filesystem = "ext4"'
        )


def _expect_of_board(system: "System") -> None:
    asleep = system.power_on is not None and system.power_on.kind is PowerOnKind.HIBERNATED
    if asleep and system.clock.tick_us is not None:
        raise ValueError("clock.tick_us: SPL takes an image, and no kernel boots whose ticks could be moved")
    if system.bootloader is None or not system.bootloader.falcon:
        raise ValueError("card.swap_mib: SPL goes on from an image in Falcon mode: bootloader.falcon = true")
    if system.kept_by_loader:
        raise ValueError("card.swap_mib and card.kept_ram: SPL has room for one of the two")
    if system.kernel.build is None:
        raise ValueError("card.swap_mib: SPL is told places in the kernel, by its symbols: kernel.build")
    if said := [word for word in system.kernel.cmdline.split() if word.startswith("resume=")]:
        raise ValueError(f"kernel.cmdline: {said[0]}, and of card.swap_mib SPL takes the image, not the kernel")
    if system.initramfs is None or not system.initramfs.sleep_agent:
        raise ValueError(
            "card.swap_mib: /sbin/bootlab-sleep puts the board to sleep, once it is ready: initramfs.sleep_agent = true"
        )
    if system.power_on is not None and system.power_on.fault is Fault.ROOT_CHANGED:
        raise ValueError(
            'power_on.fault = "root-changed" is of a root on a disk; of a board, whose root is in its kernel, '
            '"old-image"'
        )
    if system.power_on is not None and system.power_on.fault is Fault.IMAGE_TAKEN:
        raise ValueError(
            'power_on.fault = "image-taken" is of a kernel that takes the image; of a board SPL does, which has the '
            "card keep that before it reads on"
        )


def _expect_resume(system: "System", before: str, kernel: Kernel, initramfs: Initramfs | None) -> None:
    if initramfs is None or not initramfs.sleep_agent:
        raise ValueError(f"{_KIND}: the initramfs takes up the image: {before}initramfs.sleep_agent = true")
    if initramfs.mount_root and f"resume={system.swap_device}" not in kernel.cmdline.split():
        raise ValueError(f"{before}kernel.cmdline: {_KIND} needs resume={system.swap_device}")


def _expect_restorer(system: "System", restorer: Restorer) -> None:
    if system.machine.arch != "x86_64" or system.machine.type.is_real or system.image is not None:
        raise ValueError("restorer: one kernel restores another's image on an emulated x86-64 machine without [image]")
    if system.rootfs is None or system.swap_device is None:
        raise ValueError(
            'restorer: it needs [[disks]] filesystem = "swap" to take an image from, and a [rootfs] whose /boot has '
            "the kernel of a cold start"
        )
    if not restorer.initramfs.mount_root or restorer.initramfs.path is not None:
        raise ValueError("restorer.initramfs: what looks at the image is in it: mount_root = true")
    _expect_resume(system, "restorer.", restorer.kernel, restorer.initramfs)
    if restorer.kernel.installed or system.kernel.installed:
        raise ValueError("restorer: it knows the kernel whose image it takes: neither kernel is installed = true")
    if restorer.kernel.entry is not system.kernel.entry:
        raise ValueError(
            f'restorer.kernel.entry is "{restorer.kernel.entry.value}": the two ways of entry tell a kernel of memory '
            f'in other words, and it takes no image of another memory map: "{system.kernel.entry.value}"'
        )
