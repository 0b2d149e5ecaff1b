"""Which file system the root is, and whether it keeps a journal or compresses.

The proof is the kernel's own line about the root that it mounted, a function that only this file system has, or the
image's size. Where an initramfs mounts the root, the kernel's line is missing and the others serve.
"""

from bootlab.system import Compression, FileSystem, System
from bootlab.techniques.changes.root_image import (
    image_grows,
    image_shrinks,
    lacks,
    no_recipe,
    options_for,
    recipe_of,
    with_image,
)
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import any_of, fact_is, if_shown, line_appears, never_runs, now_runs
from bootlab.techniques.model.published import BOOTLIN_TRAINING, Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_LOADS = "jbd2_journal_load"
_UNPACK = ("squashfs_decompress", "z_erofs_decompress_queue")


_FILLS = {FileSystem.SQUASHFS: "squashfs_fill_super", FileSystem.EROFS: "erofs_fc_fill_super"}


def _read_only(
    filesystem: FileSystem,
    compression: Compression = Compression.LZ4,
    *,
    summary: str,
    mechanism: str,
    published: tuple[Published, ...],
) -> Technique:
    packed = "" if compression is Compression.LZ4 else f"_{compression.value}"

    def applies(system: System, measured: Measured) -> str | None:
        recipe = recipe_of(system)
        if recipe is None:
            return no_recipe(system)
        if recipe.filesystem is filesystem and (not packed or recipe.compression is compression):
            return f"the root is {filesystem.value}{packed and f' with {compression.value}'} already"
        if "rw" in system.kernel.cmdline.split():
            return "rw on the command line: the system writes to its root, and this one is read-only"
        return lacks(system, measured, options_for(filesystem, compression), filesystem.value)

    cost = "the root is read-only: whatever is written needs a file system of its own"
    mounted = rf"VFS: Mounted root \({filesystem.value} filesystem\)"
    return Technique(
        name=f"rootfs_{filesystem.value}{packed}",
        text=Text(summary, mechanism, cost, Risk.FUNCTION, published),
        change=Change(
            Layer.ROOTFS,
            f'rootfs.filesystem = "{filesystem.value}", rootfs.compression = "{compression.value}"',
            lambda system, measured: with_image(system, filesystem, compression),
            applies,
        ),
        # That the kernel does not say so shows nothing: an initramfs may mount. Of another compression the size tells.
        proof=any_of(
            if_shown(line_appears(mounted)),
            now_runs(_FILLS[filesystem]),
            if_shown(fact_is("disk_mounts", rf"(^| ){filesystem.value}:/")),
            if_shown(image_shrinks()),
        ),
    )


def _has_a_journal(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    if recipe.filesystem is not FileSystem.EXT4:
        return f"the root is {recipe.filesystem.value}, which has no journal"
    return None if recipe.journal else "the root has no journal already"


def _is_compressed(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    return "the root is not compressed already" if recipe.compression is Compression.NONE else None


TECHNIQUES = (
    _read_only(
        FileSystem.EROFS,
        summary="packs the root file system as a read-only erofs",
        mechanism=(
            "As squashfs, it has nothing to replay or check and fewer bytes to read; it unpacks in "
            "place, in clusters of the page's size, so that a small read unpacks little."
        ),
        published=(Published("9.795 s in all; ext4 9.862 s, squashfs 9.721 s", BOOTLIN_TRAINING),),
    ),
    _read_only(
        FileSystem.SQUASHFS,
        summary="packs the root file system as a read-only squashfs",
        mechanism=(
            "A read-only file system has no journal to look at and no allocation tables to check, and "
            "fewer bytes are read from the disk; each block that is read is unpacked first, so slow "
            "disks gain and fast ones may lose."
        ),
        published=(Published("9.721 s in all; ext4 9.862 s, initramfs 9.660 s", BOOTLIN_TRAINING),),
    ),
    _read_only(
        FileSystem.SQUASHFS,
        Compression.ZSTD,
        summary="packs the root file system as a read-only squashfs, compressed with zstd",
        mechanism=(
            "zstd packs a fifth tighter than LZ4 and takes several times as many instructions to unpack: the slower "
            "the disk is against the processor, the more it saves, and on a fast one it loses."
        ),
        published=(Published("9.721 s in all; ext4 9.862 s", f"{BOOTLIN_TRAINING}; its compression is not said"),),
    ),
    Technique(
        name="rootfs_no_journal",
        text=Text(
            summary="leaves the journal out of an ext4 root",
            mechanism=(
                "With a journal, mounting reads its superblock, starts a thread for it, and writes when "
                "the root is writable. Without one none of that happens."
            ),
            cost="after a crash the file system must be checked as a whole before it is written to",
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "ext2 9.704 s in all, ext4 9.862 s",
                    f"{BOOTLIN_TRAINING}: two file systems that differ in more than the journal",
                ),
            ),
        ),
        change=Change(
            Layer.ROOTFS,
            "rootfs.journal = false",
            lambda system, measured: system.with_part("rootfs", journal=False),
            _has_a_journal,
        ),
        proof=any_of(
            never_runs(_LOADS),
            line_appears(r"EXT4-fs \(\w+\): mounted filesystem .*without journal"),
            # An image of a size that was asked for is as large without one.
            if_shown(image_shrinks()),
        ),
    ),
    Technique(
        name="rootfs_uncompressed",
        text=Text(
            summary="stores the files of a squashfs or erofs root uncompressed",
            mechanism=(
                "Each block of a compressed root is unpacked by the CPU when it is first read. From a disk "
                "that reads faster than the CPU unpacks, plain blocks are there sooner."
            ),
            cost="the image is two to three times larger",
            risk=Risk.NONE,
            published=(
                Published(
                    "uncompressed initramfs: -170 ms (BBB)",
                    f"{BOOTLIN_TRAINING}; of an initramfs, none published of a root",
                ),
            ),
        ),
        change=Change(
            Layer.ROOTFS,
            'rootfs.compression = "none"',
            lambda system, measured: system.with_part("rootfs", compression=Compression.NONE),
            _is_compressed,
        ),
        proof=any_of(never_runs(*_UNPACK), image_grows()),
    ),
)
