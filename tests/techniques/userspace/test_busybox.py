"""BusyBox with the applets that are used: which recipes change, and what proves it."""

from collections.abc import Mapping

import pytest

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING

TECHNIQUE = ALL["userspace_busybox_used"]


def test_the_recipe_asks_for_the_applets_that_are_used(camera: System) -> None:
    assert TECHNIQUE.change.applies(camera, NOTHING) is None
    changed = TECHNIQUE.change.apply(camera, NOTHING)
    assert changed.initramfs is not None and changed.initramfs.busybox_applets == "used"
    assert changed.with_part("initramfs", busybox_applets=None) == camera
    assert "says already which" in (TECHNIQUE.change.applies(changed, NOTHING) or "")


def test_says_why_not(camera: System) -> None:
    without = camera.with_part("initramfs", busybox=False)
    assert "no recipe of the system puts busybox" in (TECHNIQUE.change.applies(without, NOTHING) or "")


@pytest.mark.parametrize(
    ("after", "before", "effect"),
    [
        ({"initramfs": 8, "kernel": 9}, {"initramfs": 9, "kernel": 9}, Effect.PROVEN),
        ({"initramfs": 9}, {"initramfs": 9}, Effect.NONE),
        ({"kernel": 8}, {"kernel": 9}, Effect.PROVEN),  # the archive is inside
        ({"initramfs": 9, "rootfs": 5}, {"initramfs": 9, "rootfs": 6}, Effect.PROVEN),
        ({"kernel": 8}, {"initramfs": 9, "kernel": 9}, Effect.NOT_SHOWN),
    ],
)
def test_the_archive_that_booted_is_smaller(
    after: Mapping[str, int], before: Mapping[str, int], effect: Effect
) -> None:
    new, old = (Evidence({}, {}, {}, "", None, sizes=sizes) for sizes in (after, before))
    assert TECHNIQUE.proof.prove(new, old) is effect
