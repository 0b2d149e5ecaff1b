"""Append the device tree to the kernel."""

from bootlab.techniques.build_options import BOOTLIN_2019, option_technique
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_appended_dtb",
    options={"ARM_APPENDED_DTB": "y", "ARM_ATAG_DTB_COMPAT": "y"},
    arch=("armv7",),
    summary="lets a 32-bit arm kernel find its device tree right behind the image",
    mechanism=(
        "The boot loader opens and reads one file instead of two, all at the full speed of the storage; "
        "the image file is zImage with the .dtb behind it."
    ),
    cost="one image a board",
    risk=Risk.NONE,
    sources=(Source("-26 ms to the kernel's start and to user space", BOOTLIN_2019),),
)
