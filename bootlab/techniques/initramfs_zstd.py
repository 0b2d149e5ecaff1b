"""Compress the initramfs with zstd."""

from bootlab.system import Compression
from bootlab.techniques.compression import packed
from bootlab.techniques.technique import Source

TECHNIQUE = packed(
    Compression.ZSTD,
    name="initramfs_zstd",
    summary="compresses the initramfs with zstd",
    mechanism=(
        "zstd decodes several symbols at a time from tables, so it unpacks faster than gzip although its "
        "files are smaller."
    ),
    cost="the kernel needs CONFIG_RD_ZSTD and more memory while it unpacks",
    sources=(Source("XZ->zstd -2 s total", "ZSTD: Phoronix, Zstd-V8 kernel patches"),),
)
