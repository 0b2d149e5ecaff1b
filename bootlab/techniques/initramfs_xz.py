"""Compress the initramfs with xz."""

from bootlab.system import Compression
from bootlab.techniques.compression import packed
from bootlab.techniques.technique import Source

TECHNIQUE = packed(
    Compression.XZ,
    name="initramfs_xz",
    summary="compresses the initramfs with xz",
    mechanism=(
        "xz packs tightest and decodes slowest, one bit at a time through an adaptive model. It can only "
        "pay where loading each byte is slow, as on boards with slow flash."
    ),
    cost="unpacking takes several times as long as with gzip",
    sources=(
        Source("xz 26 MB unpack 1.8 s", "IRFS: lkml 2021-03-13, msg2512012"),
        Source("xz instead of gzip: -4.8 s (12.8 %) on slow cRIO media", "NI: ni/linux pull request 266"),
    ),
)
