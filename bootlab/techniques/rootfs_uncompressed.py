"""Store a squashfs or erofs root without compression."""

from bootlab.system import Compression, System
from bootlab.techniques.evidence import any_of, never_runs
from bootlab.techniques.root_images import image_grows, no_recipe, recipe_of
from bootlab.techniques.technique import Layer, Measured, Risk, Source, Technique

_UNPACK = ("squashfs_decompress", "z_erofs_decompress_queue")


def _applies(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    return "the root is not compressed already" if recipe.compression is Compression.NONE else None


TECHNIQUE = Technique(
    name="rootfs_uncompressed",
    layer=Layer.ROOTFS,
    summary="stores the files of a squashfs or erofs root uncompressed",
    mechanism=(
        "Each block of a compressed root is unpacked by the CPU when it is first read. From a disk that reads faster "
        "than the CPU unpacks, plain blocks are there sooner."
    ),
    knob='rootfs.compression = "none"',
    cost="the image is two to three times larger",
    risk=Risk.NONE,
    sources=(
        Source(
            "uncompressed initramfs: -170 ms (BBB)",
            "BL: Bootlin boot-time training slides; of an initramfs, none published of a root",
        ),
    ),
    apply=lambda system, measured: system.with_part("rootfs", compression=Compression.NONE),
    prove=any_of(never_runs(*_UNPACK), image_grows),
    applies=_applies,
    watch=_UNPACK,
)
