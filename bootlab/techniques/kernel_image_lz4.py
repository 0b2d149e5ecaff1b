"""Compress the kernel image with LZ4."""

from bootlab.techniques.build_options import BOOTLIN_2019
from bootlab.techniques.image_compression import packed_image
from bootlab.techniques.technique import Source

TECHNIQUE = packed_image(
    "LZ4",
    name="kernel_image_lz4",
    summary="compresses the kernel image with LZ4",
    mechanism=(
        "Decoding is copying: no bit stream and no entropy code, so the image unpacks at nearly the "
        "speed of memory; it is some 16 % larger than with gzip."
    ),
    cost="the image is some 16 % larger than with gzip",
    sources=(
        Source(
            (
                "copy, unpack and boot 1.462 s to user space, 2716752 bytes; gzip 1.451 s, 2350336 bytes "
                "(AM335x, 1 GHz, SD card)"
            ),
            BOOTLIN_2019,
        ),
    ),
)
