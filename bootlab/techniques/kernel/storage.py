"""Where files come from: disks, and an initramfs."""

from bootlab.system import System
from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import initcalls_gone
from bootlab.techniques.model.published import BOOTLIN_2019, LINUX_612, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text


def _no_disk(system: System, measured: Measured) -> str | None:
    return "the system has disks" if system.disks or system.rootfs is not None else None


def _no_initramfs(system: System, measured: Measured) -> str | None:
    return None if system.initramfs is None else "the system has an initramfs"


TECHNIQUES = (
    rebuilt_kernel(
        "kernel_block_off",
        Text(
            summary="builds without disks, and the file systems on them",
            mechanism=(
                "Queues, schedulers, partitions and the drivers of disks are not set up; with an initramfs "
                "as root nothing misses them."
            ),
            cost="no disk works, of whatever kind",
            risk=Risk.FUNCTION,
            published=(
                Published("-20 ms in all with an initramfs, -610 KB with MMC (initramfs alone: +300 ms)", BOOTLIN_2019),
            ),
        ),
        WantedOptions(off("BLOCK"), gates={"EXPERT": "y"}, applies=_no_disk),
        shows=initcalls_gone("genhd_device_init"),
        removes=Removes(
            "block devices and their file systems",
            functions=(
                "genhd_device_init",
                "blk_ioc_init",
                "init_bio",
                "blk_mq_init",
                "loop_init",
                "init_scsi",
                "init_sd",
                "ext4_init_fs",
                "virtio_blk_init",
            ),
        ),
    ),
    rebuilt_kernel(
        "kernel_initrd_off",
        Text(
            summary="builds without the unpacking of an initramfs and its decompressors",
            mechanism=(
                "Up to seven decompressors leave the image, and in place of the built-in archive, empty but "
                "unpacked all the same, three entries are made (/dev, /dev/console, /root)."
            ),
            cost="an initramfs cannot be used",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, init/Kconfig"),),
        ),
        WantedOptions(off("BLK_DEV_INITRD"), applies=_no_initramfs),
        shows=initcalls_gone("populate_rootfs"),
        removes=Removes("unpacking of an initramfs", functions=("populate_rootfs",)),
    ),
)
