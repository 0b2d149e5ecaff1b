"""The device tree behind the kernel: where it can be, and what proves it."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import Booted, Machine, MachineType, System
from bootlab.techniques.model.evidence import Effect, Measured
from tests.techniques.asking import ALL
from tests.techniques.board_evidence import PC, STANDARD, evidence


def test_the_device_tree_is_appended_wherever_it_is_separate(camera: System) -> None:
    appended = ALL["kernel_appended_dtb"]
    # Its kernel has both options on already (sunxi_defconfig); its card has a tree of its own all the same.
    on = Measured({}, {}, {}, "", {"ARM_APPENDED_DTB": "y", "ARM_ATAG_DTB_COMPAT": "y"})
    for known, asked in ((on, {}), (Measured({}, {}, {}, "", {"SMP": "y"}), dict(on.kernel_config))):
        assert appended.change.applies(camera, known) is None
        changed = appended.change.apply(camera, known)
        assert changed.card is not None and changed.card.device_tree == "appended"
        assert changed.kernel.build is not None and changed.kernel.build.options == asked
        assert (
            appended.change.applies(changed, known) == "the device tree is behind the kernel already (card.device_tree)"
        )
    refused = camera.with_options(ARM_APPENDED_DTB="n")
    build = appended.change.apply(refused, on).kernel.build
    assert build is not None and build.options == {"ARM_APPENDED_DTB": "y"}


def test_in_falcon_mode_nobody_passes_atags(board: System, measured: Measured) -> None:
    falcon, appended = ALL["bootloader_falcon"], ALL["kernel_appended_dtb"]
    build = appended.change.apply(falcon.change.apply(board, measured), measured).kernel.build
    assert build is not None and build.options == {"ARM_APPENDED_DTB": "y"}
    assert falcon.change.applies(appended.change.apply(board, measured), measured) is None


def test_where_no_device_tree_can_be_appended(board: System, riscv_board: System, measured: Measured) -> None:
    applies = ALL["kernel_appended_dtb"].change.applies
    finished = board.with_part("card", path=Path("card.img"))
    assert applies(finished, measured) == "what the board boots from is finished (card.path)"
    arm64 = System(
        name="arm64", machine=Machine(type=MachineType.VIRT), kernel=board.kernel, booted=Booted(mark="ready")
    )
    for system, arch in ((arm64, "aarch64"), (riscv_board, "riscv64")):
        reason = f"only 32-bit arm, whose zImage looks behind itself; this system is {arch}"
        assert applies(system, measured) == reason
    assert applies(PC, measured) == "the kernel is not built from source (kernel.build)"


def test_an_appended_tree_is_proved_by_one_that_nobody_hands_over() -> None:
    prove = ALL["kernel_appended_dtb"].proof.prove
    handed = evidence("## Flattened Device Tree blob at 43000000\r\n   Booting using the fdt blob at 0x43000000\r\n")
    assert prove(evidence("Starting kernel ..."), handed) is Effect.PROVEN
    assert prove(handed, handed) is Effect.NONE
    assert prove(evidence(), evidence()) is Effect.NOT_SHOWN
    falcon = {name: t_ns for name, t_ns in STANDARD.items() if name != "uboot_entry"}
    args, sector = (evidence(marks=falcon, loaded=2_500_000 + more) for more in (66_000, 30_000))
    assert prove(sector, args) is Effect.PROVEN
    assert prove(args, args) is Effect.NONE
    assert prove(sector, handed) is Effect.NOT_SHOWN
    assert prove(evidence(marks=falcon), args) is Effect.NOT_SHOWN


def test_the_tree_is_pruned_of_what_a_kernel_without_modules_cannot_drive(
    camera: System, riscv_board: System, measured: Measured
) -> None:
    pruned = ALL["kernel_device_tree_pruned"]
    whole = Measured({}, {}, {}, "", {"SMP": "y"})
    changed = pruned.change.apply(camera, whole)
    assert pruned.change.applies(camera, whole) is None
    assert changed.card is not None and changed.card.device_tree_pruned
    assert pruned.change.applies(changed, whole) == "card.device_tree_pruned is true already"
    loads = Measured({}, {}, {}, "", {"MODULES": "y"})
    assert "kernel_modules_off" in (pruned.change.applies(camera, loads) or "")
    assert pruned.change.applies(camera.with_options(MODULES="n"), loads) is None
    assert "[card]" in (pruned.change.applies(riscv_board, whole) or "")
    given = camera.with_part("card", dtb=Path("mine.dtb"))
    assert pruned.change.applies(given, whole) == "the device tree is given (card.dtb)"
    finished = camera.with_part("card", path=Path("card.img"))
    assert pruned.change.applies(finished, whole) == "what the board boots from is finished (card.path)"
    before, after = (replace(evidence(), facts={"platform_devices": count}) for count in ("58", "20"))
    assert pruned.proof.prove(after, before) is Effect.PROVEN
    assert pruned.proof.prove(before, before) is Effect.NONE
    assert pruned.proof.prove(evidence(), before) is Effect.NOT_SHOWN


def test_a_tree_is_pruned_for_a_kernel_whose_drivers_can_be_seen(camera: System) -> None:
    for card in ({"dtb": Path("mine.dtb")}, {"path": Path("card.img")}):
        with pytest.raises(InputError, match="device_tree_pruned"):
            camera.with_part("card", device_tree_pruned=True, **card)
