"""Compress the kernel image with bzip2."""

from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.image_compression import packed_image
from bootlab.techniques.technique import Source

TECHNIQUE = packed_image(
    "BZIP2",
    name="kernel_image_bzip2",
    summary="compresses the kernel image with bzip2",
    mechanism=(
        "The Burrows-Wheeler transform is undone block by block with memory accesses all over it: the "
        "slowest but one, and no smaller than LZMA."
    ),
    cost="the slowest but one to unpack; kept for comparison",
    sources=(Source(NONE_PUBLISHED, "not in the table of BL19; option of arch/x86 in Linux 6.12"),),
)
