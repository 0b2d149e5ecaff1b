"""Keep busybox of the root's packages, and nothing else."""

from bootlab.system import System
from bootlab.techniques.root_images import image_shrinks, no_recipe, recipe_of
from bootlab.techniques.technique import Layer, Measured, Risk, Source, Technique


def _applies(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    if not recipe.packages:
        return "the root has no packages"
    if recipe.init is None:
        return "init is one of the packages: with rootfs.init they can be left out"
    return None


TECHNIQUE = Technique(
    name="rootfs_busybox",
    layer=Layer.ROOTFS,
    summary="leaves the packages out of the root and takes the tools of one static busybox instead",
    mechanism=(
        "A static program needs no dynamic linker: no libraries are opened, mapped and relocated for each command. The "
        "image has a tenth of the bytes, and few of its blocks are read."
    ),
    knob="rootfs.packages = [], rootfs.busybox = true",
    cost="programs of the packages are gone; busybox's have fewer options",
    risk=Risk.FUNCTION,
    sources=(
        Source("busybox with what one script needs: 682 to 86 KB; static: -20 ms", "BL: Bootlin boot-time slides"),
    ),
    apply=lambda system, measured: system.with_part("rootfs", packages=(), scripts=False, run=(), busybox=True),
    prove=image_shrinks,
    applies=_applies,
)
