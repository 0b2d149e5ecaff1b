"""What the boot needs of a slow root lies first in it, in the order in which it is asked for.

The same boot that learns for reading ahead says what that is. The proof is the disk's own list of requests: what lies
between the end of one read and the beginning of the next.
"""

from bootlab.build.root.readahead import PACKS
from bootlab.system import System
from bootlab.techniques.changes.learned_pack import boot_that_learns, expect_slow_root
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_ROOT = "rootfs"


def _can_be_laid_out(system: System, measured: Measured) -> str | None:
    if system.rootfs is not None and system.rootfs.laid_out:
        return "the root is laid out by a pack already"
    if system.rootfs is not None and system.rootfs.readahead is not None and not system.rootfs.readahead.record:
        return "the root reads ahead what was learned on its layout of now: lay it out first, then let it learn"
    if system.rootfs is not None and (known := system.rootfs.preload) is not None and (known.habits or known.text):
        return "the root reads for sessions what was learned on its layout of now: lay it out first, then let it learn"
    return expect_slow_root(system)


def _laid_out(system: System, measured: Measured) -> System:
    return system.with_part("rootfs", layout=None, layout_text=PACKS.of_facts(measured.facts))


def _passes_over_less(after: Evidence, before: Evidence) -> Effect:
    new, old = after.passed_bytes.get(_ROOT), before.passed_bytes.get(_ROOT)
    if new is None or not old:
        return Effect.NOT_SHOWN
    if 2 * new <= old:
        return Effect.PROVEN
    return Effect.NONE if new >= old else Effect.NOT_SHOWN


TECHNIQUES = (
    Technique(
        name="rootfs_layout",
        text=Text(
            summary="lays the files that the boot needs first in the root, in the order in which it asks for them",
            mechanism=(
                "An image has its files by name, so that a boot reads here and there. Laid one behind the other in "
                "the order of need, the next one is under the head, or was read along with the last one already."
            ),
            cost=(
                "the order is that of one boot: files that are written anew, as by an upgrade, lie elsewhere, and the "
                "image must be made again"
            ),
            risk=Risk.NONE,
            published=(
                Published(
                    "none alone; \"I'm not convinced by 'defragmentation' speeding boot\"",
                    'F. Crozat, comments to "Improving boot time on a general Linux distribution", 2008',
                ),
            ),
        ),
        change=Change(
            Layer.ROOTFS,
            "rootfs.layout = PACK, that of a boot with rootfs.readahead.record = true",
            _laid_out,
            _can_be_laid_out,
            learning=boot_that_learns,
        ),
        proof=Proof(_passes_over_less),
    ),
)
