"""What the boot needs of a slow root is read ahead, in the order that the disk likes best, beside init.

A boot learns first what the system reads up to its goal, and the pack goes into the same image. The proof is that the
booted system says how much it read ahead; its check says that it still works.
"""

from typing import Literal

from bootlab.build.root.readahead import PACKS
from bootlab.system import ReadAhead, System
from bootlab.techniques.changes.learned_pack import boot_that_learns, expect_slow_root
from bootlab.techniques.changes.root_image import recipe_of
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import fact_is
from bootlab.techniques.model.published import Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text


def _waits_for_its_disk(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is not None and recipe.readahead is not None:
        return "the root reads ahead already"
    return expect_slow_root(system)


def _reads_ahead(system: System, measured: Measured) -> System:
    recipe = recipe_of(system)
    model = recipe.model if recipe is not None else None
    order: Literal["block", "need"] | None = None
    if model is not None:
        order = "block" if model.kind == "head" else "need"
    return system.with_part("rootfs", readahead=ReadAhead(text=PACKS.of_facts(measured.facts), order=order))


TECHNIQUES = (
    Technique(
        name="rootfs_readahead",
        text=Text(
            summary="reads ahead what the boot will need of its root, beside init",
            mechanism=(
                "A boot asks for one small piece after the other and waits for each. What it will ask for is known "
                "from an earlier boot: read in the order of the platters, or early and several at once, most of it is "
                "in memory when it is asked for."
            ),
            cost="the pack must be learned again when packages change; what is read and not needed takes memory",
            risk=Risk.NONE,
            published=(
                Published(
                    "29 s to 26 s in all, 27.5 s to 21 s to the login",
                    'F. Crozat, "Improving boot time on a general Linux distribution", 2008 (with other changes)',
                ),
            ),
        ),
        change=Change(
            Layer.ROOTFS,
            "[rootfs.readahead] with the pack of a boot with record = true",
            _reads_ahead,
            _waits_for_its_disk,
            learning=boot_that_learns,
            learns_places=True,
        ),
        proof=fact_is(f"{PACKS.facts}bytes", r"^[1-9]"),
    ),
)
