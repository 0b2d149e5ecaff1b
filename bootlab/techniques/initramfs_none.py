"""Leave the initramfs uncompressed."""

from bootlab.system import Compression
from bootlab.techniques.compression import packed
from bootlab.techniques.technique import Source

TECHNIQUE = packed(
    Compression.NONE,
    name="initramfs_none",
    summary="does not compress the initramfs",
    mechanism=(
        "The kernel copies the archive straight into its root file system, while every compressed byte "
        "would first go through a single-threaded decompressor. Where loading is slower than unpacking the "
        "larger file costs more than it saves: the virtual clock does not charge the host for loading."
    ),
    cost="the file that the host loads is two to three times larger",
    sources=(
        Source(
            "-170 ms, -200 KB (BBB, 1.6 MB initramfs)",
            "BL: Bootlin boot-time training slides, bootlin/training-materials 3d3e192",
        ),
        Source("unpack dominates initrd boot (arm)", "FC: firecracker-microvm/firecracker 81b38b9, test_boottime.py"),
    ),
)
