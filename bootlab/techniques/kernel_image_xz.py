"""Compress the kernel image with XZ."""

from bootlab.techniques.build_options import BOOTLIN_2019
from bootlab.techniques.image_compression import packed_image
from bootlab.techniques.technique import Source

TECHNIQUE = packed_image(
    "XZ",
    name="kernel_image_xz",
    summary="compresses the kernel image with XZ",
    mechanism=(
        "LZMA with a filter for the architecture's jumps: the smallest image and long to unpack. It pays "
        "only where reading the image takes most of the time."
    ),
    cost="several times the unpacking of gzip; for storage that is slow enough",
    sources=(
        Source(
            (
                "copy, unpack and boot 1.999 s to user space, 1720120 bytes; gzip 1.451 s, 2350336 bytes "
                "(AM335x, 1 GHz, SD card)"
            ),
            BOOTLIN_2019,
        ),
    ),
)
