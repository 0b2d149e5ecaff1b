"""Compress the kernel image with LZMA."""

from bootlab.techniques.build_options import BOOTLIN_2019
from bootlab.techniques.image_compression import packed_image
from bootlab.techniques.technique import Source

TECHNIQUE = packed_image(
    "LZMA",
    name="kernel_image_lzma",
    summary="compresses the kernel image with LZMA",
    mechanism=(
        "A range coder decides bit by bit: the image is a quarter smaller than with gzip and takes "
        "several times as long to unpack."
    ),
    cost="several times the unpacking of gzip; for storage that is slow enough",
    sources=(
        Source(
            (
                "copy, unpack and boot 2.167 s to user space, 1777000 bytes; gzip 1.451 s, 2350336 bytes "
                "(AM335x, 1 GHz, SD card)"
            ),
            BOOTLIN_2019,
        ),
    ),
)
