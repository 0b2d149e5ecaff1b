"""RAM that outlives the power, held against the rest of a system file: what it is of, and what must go with it."""

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from bootlab.system.content import Compression, FileSystem, Rootfs
from bootlab.system.machine import ClockKind, PageSize
from bootlab.system.power_on.power_on import KEEPS_RAM, OF_CHANGES, Fault, KeptRam, PowerOnKind

if TYPE_CHECKING:
    from bootlab.system.value import System


def expect_kept_ram(system: "System") -> None:
    """Raise ValueError, which names the key, for kept RAM that this system cannot have, or has not and asks for."""
    power_on, kept = system.power_on, system.kept_ram
    kind = power_on.kind if power_on is not None else None
    if kind not in (None, PowerOnKind.COLD) and system.clock.kind is not ClockKind.VIRTUAL:
        raise ValueError('power_on: what a boot before leaves is kept on the virtual clock: clock.kind = "virtual"')
    if kind in KEEPS_RAM and kept is None:
        raise ValueError(
            f'power_on.kind = "{kind}" finds a root in kept RAM: rootfs.device = "kept-ram"; or of a board kernel and '
            "root: card.kept_ram"
        )
    if (kept is None or kept.changes_mib is None) and any(disk.filesystem == "changes" for disk in system.disks):
        raise ValueError('disks: filesystem = "changes" is of rootfs.kept_ram.changes_mib, which is missing')
    if kept is None:
        return
    if system.kept_by_loader:
        _expect_of_board(system, kept)
    else:
        _expect_of_root(system, kept)


def _expect_of_root(system: "System", kept: KeptRam) -> None:
    power_on, machine = system.power_on, system.machine
    file = power_on.fault_file if power_on is not None else None
    paths = () if file is None else (PurePosixPath(file), *PurePosixPath(file).parents)
    if left := [one for one in kept.without if PurePosixPath("/", one) in paths]:
        raise ValueError(f"power_on.fault_file: {file} is in no RAM: rootfs.kept_ram.without leaves {left[0]} out")
    if power_on is not None and power_on.fault is Fault.IMAGE_BIT:
        raise ValueError('power_on.fault = "image-bit" is of a board; of a root "file-bit" names a file')
    if machine.type.is_real or system.board is not None or machine.arch not in ("x86_64", "aarch64"):
        raise ValueError(
            f'rootfs.device = "kept-ram": x86-64 is told of it, and arm64 on "virt", and this machine is {machine.arch}'
        )
    if system.initramfs is None or system.initramfs.path is not None:
        raise ValueError(
            'rootfs.device = "kept-ram": what reads it is in an initramfs that a recipe makes: '
            "initramfs.mount_root = true"
        )
    if "rw" in system.kernel.cmdline.split():
        raise ValueError('kernel.cmdline: "rw", and a root in kept RAM is read-only: what is written belongs elsewhere')
    if machine.page_size is not PageSize.AUTO or system.snapshot is not None:
        raise ValueError('rootfs.device = "kept-ram" goes with neither machine.page_size nor [snapshot]')
    if memory_at := system.memory_at:
        if said := [word for word in system.kernel.cmdline.split() if word.startswith("mem=")]:
            raise ValueError(f"kernel.cmdline: {said[0]}, and rootfs.kept_ram decides how much memory the kernel has")
        kept.expect_at_end(memory_at, machine.memory_mib)
    else:
        kept.expect_room(machine.memory_mib)
    _expect_changes(system, kept)
    if kept.dax:
        assert system.rootfs is not None  # it is a root's
        _expect_dax(system.rootfs, kept)


def _expect_changes(system: "System", kept: KeptRam) -> None:
    disks = [disk for disk in system.disks if disk.filesystem == "changes"]
    if kept.changes_mib is None:
        if system.power_on is not None and system.power_on.fault in OF_CHANGES:
            raise ValueError(f'power_on.fault = "{system.power_on.fault}" is of rootfs.kept_ram.changes_mib')
        return
    if len(disks) != 1:
        raise ValueError(
            "rootfs.kept_ram.changes_mib: what is written over the root goes to one disk: [[disks]] size_mib = "
            f'{2 * kept.changes_mib + 1}, filesystem = "changes"; here are {len(disks)}'
        )
    if kept.changes_mib >= (room := system.machine.memory_mib - kept.size_mib):
        raise ValueError(
            f"rootfs.kept_ram.changes_mib: {kept.changes_mib} MiB of memory, and beside the region the machine has "
            f"{room}: fewer, or more machine.memory_mib"
        )
    # Of many small files an archive takes more than they do in memory: the guest says so where it does not fit.
    if (disks[0].size_mib or 0) <= 2 * kept.changes_mib:
        raise ValueError(
            f"rootfs.kept_ram.changes_mib: {kept.changes_mib} MiB are on their disk twice, the older ones until the "
            f"newer ones are whole: its size_mib is more than {2 * kept.changes_mib}"
        )


def _expect_dax(root: Rootfs, kept: KeptRam) -> None:
    if kept.verify == "verity":
        raise ValueError(
            "rootfs.kept_ram.dax: dm-verity reads each block through the page cache, and has no DAX: "
            'verify = "all" compares all of it before it is mounted, "header" nothing'
        )
    if root.filesystem is FileSystem.SQUASHFS or root.compression is not Compression.NONE:
        packed = "" if root.compression is Compression.NONE else f" with {root.compression.value}"
        raise ValueError(
            f"rootfs.kept_ram.dax: files of {root.filesystem.value}{packed} do not lie there as they are: "
            'filesystem = "erofs" with compression = "none", or "ext4"'
        )


def _expect_of_board(system: "System", kept: KeptRam) -> None:
    board, power_on = system.board, system.power_on
    assert board is not None  # a card is of a board: the system's own check
    if system.bootloader is None or not system.bootloader.falcon:
        raise ValueError("card.kept_ram: SPL takes the kernel out of it in Falcon mode: bootloader.falcon = true")
    if kept.verify == "verity":
        raise ValueError(
            'card.kept_ram.verify: SPL verifies all of it before it enters it (verify = "all"), or nothing but the '
            'header ("header")'
        )
    if kept.without:
        raise ValueError("card.kept_ram.without is of a root: a kernel and its initramfs are kept whole")
    if kept.changes_mib is not None:
        raise ValueError("card.kept_ram.changes_mib is of a root: what a board boots from is written over by nobody")
    if kept.dax:
        raise ValueError("card.kept_ram.dax is of a root: a kernel is copied to where it is entered")
    if power_on is not None and power_on.fault in OF_CHANGES:
        raise ValueError(f'power_on.fault = "{power_on.fault}" is of a root, with rootfs.kept_ram.changes_mib')
    if power_on is not None and power_on.fault is Fault.FILE_BIT:
        raise ValueError('power_on.fault = "file-bit" is of a root; of a board "image-bit" turns one of all its bits')
    kept.expect_within(board.kept_memory)
