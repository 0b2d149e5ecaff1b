"""Build without block devices."""

from bootlab.system import System
from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _no_disk(system: System, measured: Measured) -> str | None:
    return "the system has disks" if system.disks or system.rootfs is not None else None


TECHNIQUE = option_technique(
    name="kernel_block_off",
    options=off("BLOCK"),
    gates={"EXPERT": "y"},
    summary="builds without disks, and the file systems on them",
    mechanism=(
        "Queues, schedulers, partitions and the drivers of disks are not set up; with an initramfs as "
        "root nothing misses them."
    ),
    cost="no disk works, of whatever kind",
    risk=Risk.FUNCTION,
    sources=(Source("-20 ms in all with an initramfs, -610 KB with MMC (initramfs alone: +300 ms)", BOOTLIN_2019),),
    applies=_no_disk,
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
)
