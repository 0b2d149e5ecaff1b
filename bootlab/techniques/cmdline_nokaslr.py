"""Do not randomise kernel addresses."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.technique import Evidence, Proof, Risk, Source


def _slide_is_gone(after: Evidence, before: Evidence) -> Proof:
    if after.kaslr_slide is None:
        return Proof.NOT_SHOWN
    if after.kaslr_slide != 0:
        return Proof.NO_EFFECT
    return Proof.PROVEN if before.kaslr_slide else Proof.NOT_SHOWN


TECHNIQUE = kernel_words(
    name="cmdline_nokaslr",
    words="nokaslr",
    summary="does not move the kernel to a random address",
    mechanism=(
        "The decompressor otherwise gathers entropy, parses the memory map for free slots, and after "
        "decompressing applies every relocation of the kernel; later the direct map and vmalloc areas are "
        "randomised too."
    ),
    cost="an attacker knows where the kernel is: exploits need no address leak",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, "K612: Linux 6.12.117 source; moot for an uncompressed vmlinux"),),
    prove=_slide_is_gone,
)
