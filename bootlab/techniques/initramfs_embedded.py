"""Build the initramfs into the kernel, not compressed on its own."""

from bootlab.system import System
from bootlab.techniques.build_options import BOOTLIN_2019, NOT_BUILT
from bootlab.techniques.technique import Evidence, Layer, Measured, Proof, Risk, Source, Technique

_OPTION = "INITRAMFS_SOURCE"


def _applies(system: System, measured: Measured) -> str | None:
    if system.initramfs is None:
        return "the system has no initramfs"
    if system.kernel.build is None:
        return NOT_BUILT
    return "the initramfs is inside the kernel already" if system.initramfs.embedded else None


def _prove(after: Evidence, before: Evidence) -> Proof:
    inside, was = (bool(side.kernel_config.get(_OPTION)) for side in (after, before))
    if not after.kernel_config or not before.kernel_config:
        return Proof.NOT_SHOWN
    if not inside:
        return Proof.NO_EFFECT
    return Proof.NOT_SHOWN if was else Proof.PROVEN


TECHNIQUE = Technique(
    name="initramfs_embedded",
    layer=Layer.INITRAMFS,
    summary="builds the initramfs into the kernel, where only the kernel's own compression is over it",
    mechanism=(
        "One file is loaded instead of two, and the archive is not unpacked a second time: what the kernel's "
        "decompressor has laid into memory is copied from there."
    ),
    knob="initramfs.embedded = true (CONFIG_INITRAMFS_SOURCE, CONFIG_INITRAMFS_COMPRESSION_NONE)",
    cost="each change of a file builds the kernel again",
    risk=Risk.NONE,
    sources=(Source("-170 ms, -200 KB (BBB, 1.6 MB initramfs)", BOOTLIN_2019),),
    apply=lambda system, measured: system.with_part("initramfs", embedded=True),
    prove=_prove,
    applies=_applies,
)
