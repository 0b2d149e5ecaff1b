"""Build without initramfs support."""

from bootlab.system import System
from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _no_initramfs(system: System, measured: Measured) -> str | None:
    return None if system.initramfs is None else "the system has an initramfs"


TECHNIQUE = option_technique(
    name="kernel_initrd_off",
    options=off("BLK_DEV_INITRD"),
    summary="builds without the unpacking of an initramfs and its decompressors",
    mechanism="Five or six decompressors leave the image, and only the empty built-in archive is unpacked.",
    cost="an initramfs cannot be used",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, init/Kconfig"),),
    applies=_no_initramfs,
    shows=initcalls_gone("populate_rootfs"),
    removes=Removes("unpacking of an initramfs", functions=("populate_rootfs",)),
)
