"""Compress the kernel image with gzip."""

from bootlab.techniques.build_options import BOOTLIN_2019
from bootlab.techniques.image_compression import packed_image
from bootlab.techniques.technique import Source

TECHNIQUE = packed_image(
    "GZIP",
    name="kernel_image_gzip",
    summary="compresses the kernel image with gzip",
    mechanism=(
        "Inflate needs Huffman decoding, two to three times the work of LZ4; the image is some 10 to 15 "
        "% smaller than with LZ4. The usual default."
    ),
    cost="none worth naming; the image is larger than with XZ",
    sources=(
        Source(
            (
                "copy, unpack and boot 1.451 s to user space, 2350336 bytes; gzip 1.451 s, 2350336 bytes "
                "(AM335x, 1 GHz, SD card)"
            ),
            BOOTLIN_2019,
        ),
    ),
)
