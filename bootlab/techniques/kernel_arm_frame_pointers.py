"""Use frame pointers instead of unwind tables."""

from bootlab.techniques.build_options import BOOTLIN_2019, choice, off, option_technique
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_arm_frame_pointers",
    options=choice("UNWINDER_FRAME_POINTER", ("UNWINDER_FRAME_POINTER", "UNWINDER_ARM")),
    gates=off("THUMB2_KERNEL"),
    arch=("armv7",),
    summary="builds a 32-bit arm kernel with frame pointers instead of unwind tables",
    mechanism=(
        "The tables by which a stack is unwound are a few percent of the image, to be read and unpacked; "
        "frame pointers cost an instruction or two a function instead."
    ),
    cost="slightly slower code in every function",
    risk=Risk.NONE,
    sources=(Source("-24 KB (-1.1 %) of compressed kernel, +0.8 ms to user space", BOOTLIN_2019),),
)
