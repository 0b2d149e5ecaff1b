"""A kernel from nothing, and the ladder of the board that ends with it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bootlab.experiments.trial.plan import PLANS
from bootlab.system import System, read_system
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING

Make = Callable[..., Evidence]
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_the_kernel_is_built_from_what_the_job_needs(camera: System, evidence: Make) -> None:
    technique = ALL["kernel_reduced"]
    stepped = camera.with_options(SMP="n", KERNEL_LZO="y")
    changed = technique.change.apply(stepped, NOTHING).kernel.build
    was = camera.kernel.build
    assert changed is not None and was is not None
    assert (changed.base, changed.fragments, changed.options) == ("allnoconfig", was.reduced, {})
    assert (changed.package, changed.suite, changed.patches) == (was.package, was.suite, was.patches)
    assert "already" in (technique.change.applies(technique.change.apply(camera, NOTHING), NOTHING) or "")
    unsaid = camera.with_part("kernel", build={**dict(was), "reduced": ()})
    assert "kernel.build.reduced" in (technique.change.applies(unsaid, NOTHING) or "")
    many, few = (replace(evidence(), kernel_config={str(n): "y" for n in range(count)}) for count in (1000, 300))
    assert technique.proof.prove(few, many) is Effect.PROVEN
    assert technique.proof.prove(many, many) is Effect.NONE
    assert technique.proof.prove(evidence(), many) is Effect.NOT_SHOWN


def test_the_ladder_of_the_camera_board_comes_to_the_fast_one_and_ends_behind_it(camera: System) -> None:
    fast = read_system(EXAMPLES / "camera-board-fast.toml")
    names = PLANS["camera-2019"].techniques or ()
    behind = names[names.index("kernel_reduced") + 1 :]
    assert set(behind) == {
        "bootloader_no_regulator",
        "cmdline_mem",
        "kernel_blake2s_assembly",
        "kernel_device_tree_pruned",
    }
    for name in names[: -len(behind)]:
        if ALL[name].change.applies(camera, NOTHING) is None:
            camera = ALL[name].change.apply(camera, NOTHING)
    for part in ("machine", "clock", "board_model"):
        assert getattr(camera, part) == getattr(fast, part)
    assert camera.card is not None and camera.card.device_tree == "appended"
    build, wanted = camera.kernel.build, fast.kernel.build
    assert build is not None and wanted is not None
    assert (build.base, build.fragments) == (wanted.base, wanted.fragments)
    assert build.options == {**wanted.options, "ARM_APPENDED_DTB": "y"}
    assert camera.initramfs is not None and fast.initramfs is not None
    assert camera.initramfs.model_copy(update={"compression": fast.initramfs.compression}) == fast.initramfs
    assert camera.bootloader is not None and fast.bootloader is not None
    patches, those = ([path.resolve() for path in one.patches] for one in (camera.bootloader, fast.bootloader))
    assert camera.bootloader.falcon and patches == those
    assert fast.bootloader.options.items() <= camera.bootloader.options.items()
    assert "rdinit" not in camera.kernel.cmdline
