"""Falcon mode: when it applies, what it changes, and what proves it."""

from pathlib import Path

from bootlab.system import System
from bootlab.techniques.bootloader.falcon import PATCH
from bootlab.techniques.model.evidence import Effect, Measured
from tests.techniques.asking import ALL
from tests.techniques.board_evidence import STANDARD, evidence


def test_falcon_mode_brings_its_patch_once(board: System, measured: Measured) -> None:
    falcon = ALL["bootloader_falcon"]
    changed = falcon.change.apply(board, measured)
    assert changed.bootloader is not None and changed.bootloader.falcon
    assert changed.bootloader.patches == (PATCH,) and PATCH.is_file()
    assert falcon.change.applies(changed, measured) == "bootloader.falcon is true already"
    carried = falcon.change.apply(board.with_part("bootloader", patches=(Path("mine") / PATCH.name,)), measured)
    assert carried.bootloader is not None and carried.bootloader.patches == (Path("mine") / PATCH.name,)


def test_falcon_mode_takes_an_initramfs_into_the_kernel(camera: System, measured: Measured) -> None:
    falcon = ALL["bootloader_falcon"]
    assert camera.initramfs is not None and not camera.initramfs.embedded
    assert falcon.change.applies(camera, measured) is None
    changed = falcon.change.apply(camera, measured)
    assert changed.bootloader is not None and changed.bootloader.falcon
    assert changed.initramfs == camera.initramfs.model_copy(update={"embedded": True})
    assert changed.kernel == camera.kernel and changed.card == camera.card and changed.check == camera.check


def test_falcon_mode_loads_no_initramfs_beside_a_kernel_that_is_not_built(board: System, measured: Measured) -> None:
    packaged = board.with_part("initramfs", embedded=False).with_part("kernel", build=None, package="linux-image-armmp")
    reason = ALL["bootloader_falcon"].change.applies(packaged, measured)
    assert reason is not None and reason.startswith("SPL loads no initramfs beside a kernel (initramfs.embedded), and ")
    assert "the kernel is not built from source (kernel.build)" in reason
    without = packaged.model_copy(update={"initramfs": None})
    assert ALL["bootloader_falcon"].change.applies(without, measured) is None


def test_falcon_mode_from_a_flash_chip_needs_no_patch(riscv_board: System, measured: Measured) -> None:
    falcon = ALL["bootloader_falcon"]
    assert falcon.change.applies(riscv_board, measured) is None
    changed = falcon.change.apply(riscv_board, measured)
    assert changed == riscv_board.with_part("bootloader", falcon=True)
    assert falcon.change.applies(changed, measured) == "bootloader.falcon is true already"
    packed = riscv_board.with_part("flash", compression="gzip")
    assert falcon.change.applies(packed, measured) == "SPL unpacks no kernel (flash.compression)"


def test_falcon_mode_is_proved_by_uboot_proper_that_never_runs() -> None:
    prove = ALL["bootloader_falcon"].proof.prove
    without = {name: t_ns for name, t_ns in STANDARD.items() if name != "uboot_entry"}
    assert prove(evidence(marks=without), evidence()) is Effect.PROVEN
    assert prove(evidence(), evidence()) is Effect.NONE
    # A wall clock sees no marks of the bootloader: nothing is shown.
    assert prove(evidence(marks={"ready": 1}), evidence(marks={"ready": 2})) is Effect.NOT_SHOWN
