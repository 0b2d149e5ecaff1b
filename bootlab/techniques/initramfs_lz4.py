"""Compress the initramfs with LZ4."""

from bootlab.system import Compression
from bootlab.techniques.compression import packed
from bootlab.techniques.technique import Source

TECHNIQUE = packed(
    Compression.LZ4,
    name="initramfs_lz4",
    summary="compresses the initramfs with LZ4",
    mechanism=(
        "LZ4 decodes by copying: no bit stream and no entropy code, so an archive unpacks at nearly the "
        "speed of memory. The file is larger than with gzip."
    ),
    cost="the file is some 15 % larger than with gzip; the kernel needs CONFIG_RD_LZ4",
    sources=(
        Source(
            "AM335x to userspace: lzo 1.416, gzip 1.451, lz4 1.462, xz 1.999, lzma 2.167 s (copy+decompress+boot)",
            "BL: Bootlin boot-time training slides, bootlin/training-materials 3d3e192; of the kernel image",
        ),
    ),
)
