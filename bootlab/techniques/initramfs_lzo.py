"""Compress the initramfs with LZO."""

from bootlab.system import Compression
from bootlab.techniques.compression import packed
from bootlab.techniques.technique import Source

TECHNIQUE = packed(
    Compression.LZO,
    name="initramfs_lzo",
    summary="compresses the initramfs with LZO",
    mechanism=(
        "LZO decodes by copying, as LZ4 does, from a slightly denser code: between LZ4 and gzip both in size and in "
        "the time to unpack."
    ),
    cost="the file is some 10 % larger than with gzip; the kernel needs CONFIG_RD_LZO, and this host lzop to pack it",
    sources=(
        Source(
            "AM335x to userspace: lzo 1.416, gzip 1.451, lz4 1.462, xz 1.999, lzma 2.167 s (copy+decompress+boot)",
            "BL: Bootlin boot-time training slides, bootlin/training-materials 3d3e192; of the kernel image",
        ),
    ),
)
