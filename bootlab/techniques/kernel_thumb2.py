"""Compile for Thumb-2."""

from bootlab.techniques.build_options import BOOTLIN_2019, option_technique
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_thumb2",
    options={"THUMB2_KERNEL": "y"},
    arch=("armv7",),
    summary="compiles a 32-bit arm kernel for the shorter Thumb-2 instructions",
    mechanism=(
        "Most instructions take two bytes instead of four, so there is less to read; the compressed "
        "image is hardly smaller, and decoding is no faster."
    ),
    cost="none worth naming; larger after compression on the board",
    risk=Risk.NONE,
    sources=(Source("+5 ms of total boot time, +40 KB of compressed kernel", BOOTLIN_2019),),
)
