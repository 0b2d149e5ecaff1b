"""Compress the kernel image with LZO."""

from bootlab.techniques.build_options import BOOTLIN_2019
from bootlab.techniques.image_compression import packed_image
from bootlab.techniques.technique import Source

TECHNIQUE = packed_image(
    "LZO",
    name="kernel_image_lzo",
    summary="compresses the kernel image with LZO",
    mechanism=(
        "Decoding is copying with a few branches; the image is some 8 % larger than with gzip. It was "
        "the best choice on the board, before LZ4."
    ),
    cost="the image is some 8 % larger than with gzip",
    sources=(
        Source(
            (
                "copy, unpack and boot 1.416 s to user space, 2533872 bytes; gzip 1.451 s, 2350336 bytes "
                "(AM335x, 1 GHz, SD card)"
            ),
            BOOTLIN_2019,
        ),
    ),
)
