"""Compress the kernel image with Zstandard."""

from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.image_compression import packed_image
from bootlab.techniques.technique import Source

TECHNIQUE = packed_image(
    "ZSTD",
    name="kernel_image_zstd",
    summary="compresses the kernel image with Zstandard",
    mechanism="Table-driven entropy decoding gives nearly the size of XZ at a speed above gzip.",
    cost="the build needs zstd; not on 32-bit arm",
    sources=(Source(NONE_PUBLISHED, "not in the table of BL19; option of arch/x86 in Linux 6.12"),),
)
