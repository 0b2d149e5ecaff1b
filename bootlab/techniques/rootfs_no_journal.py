"""Leave the journal out of an ext4 root."""

from bootlab.system import FileSystem, System
from bootlab.techniques.evidence import any_of, line_appears, never_runs
from bootlab.techniques.root_images import image_shrinks, no_recipe, recipe_of
from bootlab.techniques.technique import Evidence, Layer, Measured, Proof, Risk, Source, Technique

_LOADS = "jbd2_journal_load"


def _applies(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    if recipe.filesystem is not FileSystem.EXT4:
        return f"the root is {recipe.filesystem.value}, which has no journal"
    return None if recipe.journal else "the root has no journal already"


def _smaller(after: Evidence, before: Evidence) -> Proof:
    # An image of a size that was asked for is as large without one.
    found = image_shrinks(after, before)
    return Proof.NOT_SHOWN if found is Proof.NO_EFFECT else found


TECHNIQUE = Technique(
    name="rootfs_no_journal",
    layer=Layer.ROOTFS,
    summary="leaves the journal out of an ext4 root",
    mechanism=(
        "With a journal, mounting reads its superblock, starts a thread for it, and writes when the root is writable. "
        "Without one none of that happens."
    ),
    knob="rootfs.journal = false",
    cost="after a crash the file system must be checked as a whole before it is written to",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "ext2 9.704 s in all, ext4 9.862 s",
            "BL: Bootlin boot-time training slides: two file systems that differ in more than the journal",
        ),
    ),
    apply=lambda system, measured: system.with_part("rootfs", journal=False),
    prove=any_of(
        never_runs(_LOADS),
        line_appears(r"EXT4-fs \(\w+\): mounted filesystem .*without journal"),
        _smaller,
    ),
    applies=_applies,
    watch=(_LOADS,),
)
