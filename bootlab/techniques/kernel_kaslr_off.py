"""Build without a random kernel address."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Evidence, Proof, Removes, Risk, Source


def _no_slide(after: Evidence, before: Evidence) -> Proof:
    if after.kaslr_slide is None or before.kaslr_slide is None:
        return Proof.NOT_SHOWN
    if after.kaslr_slide:
        return Proof.NO_EFFECT
    return Proof.PROVEN if before.kaslr_slide else Proof.NOT_SHOWN


TECHNIQUE = option_technique(
    name="kernel_kaslr_off",
    options=off("RANDOMIZE_BASE"),
    summary="builds a kernel that lies where it was linked to",
    mechanism=(
        "The decompressor need not draw a random address, search memory for it and relocate every "
        "pointer of the image; nor are the regions of physical memory moved about."
    ),
    cost="an attacker knows where the kernel lies",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, arch/x86/Kconfig; moot for a kernel booted through PVH"),),
    shows=_no_slide,
    removes=Removes("randomised memory regions", functions=("kernel_randomize_memory",), shortens=("[decompressor]",)),
)
