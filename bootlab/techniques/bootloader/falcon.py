"""Falcon mode: the bootloader's first stage starts the kernel, without U-Boot proper."""

from bootlab.sources import PATCHES
from bootlab.system import System
from bootlab.techniques.changes.bootloader import not_built
from bootlab.techniques.changes.kernel_options import NOT_BUILT
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import BOOTLIN_2019, Published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text
from bootlab.timeline import marks as m

PATCH = PATCHES / "u-boot" / "sunxi-falcon.patch"


def _can_start_the_kernel(system: System, measured: Measured) -> str | None:
    if (reason := not_built(system)) is not None:
        return reason
    assert system.bootloader is not None and system.board is not None
    if system.bootloader.falcon:
        return "bootloader.falcon is true already"
    if system.flash is not None:
        return None if system.flash.compression == "none" else "SPL unpacks no kernel (flash.compression)"
    if _initramfs_beside(system) and system.kernel.build is None:
        return f"SPL loads no initramfs beside a kernel (initramfs.embedded), and {NOT_BUILT}"
    return None


def _initramfs_beside(system: System) -> bool:
    return system.initramfs is not None and not system.initramfs.embedded


def _in_falcon_mode(system: System, measured: Measured) -> System:
    assert system.bootloader is not None
    if system.flash is not None:
        return system.with_part("bootloader", falcon=True)
    patches = system.bootloader.patches
    if PATCH.name not in [path.name for path in patches]:
        patches = (*patches, PATCH)
    if _initramfs_beside(system):
        system = system.with_part("initramfs", embedded=True)
    return system.with_part("bootloader", falcon=True, patches=patches)


def _uboot_never_runs(after: Evidence, before: Evidence) -> Effect:
    if m.UBOOT_ENTRY in after.marks:
        return Effect.NONE
    return Effect.PROVEN if m.SPL_ENTRY in after.marks and m.UBOOT_ENTRY in before.marks else Effect.NOT_SHOWN


TECHNIQUES = (
    Technique(
        name="bootloader_falcon",
        text=Text(
            summary="lets SPL load and start the kernel, so that U-Boot proper never runs (Falcon mode)",
            mechanism=(
                "SPL loads the kernel and its device tree from raw sectors of the card and jumps. U-Boot "
                "proper is neither loaded nor relocated; it sets up no devices, reads no environment, "
                "mounts no file system, patches no device tree. What it would have put into the tree is "
                "put there when the card is composed. SPL loads one file, so an initramfs that lay beside "
                "the kernel is built into it. From a flash chip SPL loads OpenSBI, kernel and initramfs, and lays "
                "the command line over the machine's own device tree."
            ),
            cost=(
                "no boot menu, no choice of kernel, no initramfs beside the kernel, so that each change of "
                "a file in it builds the kernel again; an update must write raw sectors; on this board no "
                "PSCI, so one CPU; the way back is a key on the serial line"
            ),
            risk=Risk.FUNCTION,
            published=(Published("-479 ms to user space, -478 ms to ffmpeg", BOOTLIN_2019),),
        ),
        change=Change(
            Layer.BOOTLOADER,
            (
                f"bootloader.falcon = true (SPL_OS_BOOT), with patches/u-boot/{PATCH.name}; of an initramfs "
                "beside the kernel initramfs.embedded = true; on riscv64 SPL_LOAD_FIT_OPENSBI_OS_BOOT alone"
            ),
            _in_falcon_mode,
            _can_start_the_kernel,
        ),
        proof=Proof(_uboot_never_runs),
        removes=Removes("U-Boot proper", stages=("[U-Boot]",), replaced=True),
    ),
)
