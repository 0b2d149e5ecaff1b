"""Compile for size."""

from bootlab.techniques.build_options import BOOTLIN_2019, choice, option_technique
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_optimize_size",
    options=choice("CC_OPTIMIZE_FOR_SIZE", ("CC_OPTIMIZE_FOR_SIZE", "CC_OPTIMIZE_FOR_PERFORMANCE")),
    summary="compiles the kernel with -Os instead of -O2",
    mechanism=(
        "A smaller kernel is read and unpacked sooner and fits caches better; the code itself takes more "
        "instructions, so a boot that does not wait for storage gets longer."
    ),
    cost="the whole system runs slower",
    risk=Risk.NONE,
    sources=(
        Source(
            "-4 ms to user space, -5.7 % of kernel; SAMA5D3 (3.10): -44 ms to init, +1.815 s to login", BOOTLIN_2019
        ),
        Source("net +57 ms on BeagleBone", "BL: Bootlin boot-time training slides, bootlin/training-materials 3d3e192"),
    ),
)
