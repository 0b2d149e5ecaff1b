"""Compress the initramfs with gzip."""

from bootlab.system import Compression
from bootlab.techniques.compression import packed
from bootlab.techniques.technique import Source

TECHNIQUE = packed(
    Compression.GZIP,
    name="initramfs_gzip",
    summary="compresses the initramfs with gzip",
    mechanism=(
        "gzip decodes bit by bit, so it unpacks more slowly than LZ4 and faster than xz; every kernel can "
        "read it, and it is what distributions shipped for decades."
    ),
    cost="slower to unpack than lz4, larger than zstd",
    sources=(Source("none published", "BL: Bootlin boot-time training slides, bootlin/training-materials 3d3e192"),),
)
