"""What a board's bootloader did that was not asked of it."""

from pathlib import Path

from bootlab.measure.causes.board import board_remarks, find_board_cause
from bootlab.system import Booted, Bootloader, Card, Flash, Kernel, Machine, MachineType, System

BOARD = System(
    name="board",
    machine=Machine(type=MachineType.ORANGEPI_PC),
    kernel=Kernel(image=Path("zImage")),
    bootloader=Bootloader(package="u-boot", falcon=True),
    card=Card(load_address=0x4FF00000),
    booted=Booted(mark="ready"),
)
CHIP = System(
    name="riscv-board",
    machine=Machine(type=MachineType.VIRT, architecture="riscv64"),
    kernel=Kernel(image=Path("Image")),
    bootloader=Bootloader(package="u-boot"),
    flash=Flash(),
    booted=Booted(mark="ready"),
)
SPL = {"power_on", "spl_entry", "kernel_load"}


def test_spl_that_falls_back_to_uboot_is_told_with_the_reason() -> None:
    said = "Trying to boot from MMC1\r\nSPL: no device tree in the args sectors. Starting U-Boot\r\n"
    (remark,) = board_remarks(BOARD, SPL | {"uboot_entry"}, said)
    assert remark.startswith(
        "bootloader.falcon: SPL did not start the kernel, and U-Boot proper ran: the args are missing"
    )
    (remark,) = board_remarks(BOARD, SPL | {"uboot_entry"}, "U-Boot 2025.01")
    assert remark.endswith("its own words on the console may say why")


def test_what_went_as_asked_is_no_remark() -> None:
    assert board_remarks(BOARD, SPL | {"image_entry", "ready"}, "") == []
    assert board_remarks(BOARD.with_part("bootloader", falcon=False), SPL | {"uboot_entry"}, "") == []


def test_a_kernel_that_is_never_entered_is_named() -> None:
    cause = find_board_cause(BOARD, SPL | {"kernel_jump"})
    assert cause is not None
    assert cause.startswith("the bootloader entered the kernel, but no instruction of it was ever executed")
    assert "card.load_address = 0x4ff00000" in cause
    cause = find_board_cause(BOARD, SPL)
    assert cause is not None and cause.startswith("SPL began to load the kernel and never came to its end")


def test_uboot_that_stays_at_its_prompt_is_named() -> None:
    cause = find_board_cause(BOARD, SPL | {"uboot_entry"})
    assert cause is not None and cause.startswith("U-Boot proper ran and never started the kernel")


def test_a_first_stage_that_starts_nothing_is_named() -> None:
    cause = find_board_cause(CHIP, {"power_on", "spl_entry"})
    assert cause == "SPL ran and started nothing"
    finished = CHIP.with_part("flash", path=Path("flash.img"))
    cause = find_board_cause(finished, {"power_on", "spl_entry"})
    assert cause is not None and cause.endswith("is a bootloader where SPL looks for it in flash.path, flash.img?")
    opensbi = {"power_on", "spl_entry", "opensbi_entry"}
    assert find_board_cause(CHIP, opensbi) == "SPL started OpenSBI, and that never started U-Boot proper"
    own = CHIP.with_part("bootloader", opensbi=Path("fw.bin"))
    assert "is bootloader.opensbi the fw_dynamic.bin" in (find_board_cause(own, opensbi) or "")


def test_a_card_without_a_bootloader_is_named() -> None:
    finished = BOARD.with_part("card", path=Path("blank.img"), load_address=None)
    cause = find_board_cause(finished, {"power_on"}, silent=True)
    assert cause is not None and "on card.path, blank.img, at 8,192 bytes" in cause
    assert find_board_cause(finished, {"power_on"}) is None, "a bootloader that bootlab has no symbols of has spoken"
    assert find_board_cause(finished, {"power_on", "kernel_entry"}, silent=True) is None
    assert find_board_cause(BOARD, {"power_on"}, silent=True) is None, "bootlab put it there"


def test_a_finished_image_with_another_kernel_is_told() -> None:
    finished = CHIP.with_part("flash", path=Path("flash.img"))
    seen, looked_for = SPL | {"kernel_jump", "image_entry", "ready"}, {"image_entry", "kernel_entry"}
    (remark,) = board_remarks(finished, seen, "", looked_for)
    assert remark.startswith("flash.path: the kernel of [kernel] was not seen to run")
    assert board_remarks(finished, seen | {"kernel_entry"}, "", looked_for) == []
    assert board_remarks(finished, seen, "", {"image_entry"}) == [], "of this kernel nothing else is known"
    assert board_remarks(CHIP, seen, "", looked_for) == []


def test_a_flash_chip_has_no_address_to_choose() -> None:
    reached = SPL | {"opensbi_entry", "uboot_entry", "kernel_jump"}
    entered = "the bootloader entered the kernel, but no instruction of it was ever executed"
    assert find_board_cause(CHIP, reached) == entered
    cause = find_board_cause(CHIP.with_part("flash", path=Path("flash.img")), reached)
    assert cause is not None and "is the image on flash.img loaded" in cause and cause.endswith("0x80200000 is one")


def test_a_kernel_that_began_has_other_causes() -> None:
    assert find_board_cause(BOARD, SPL | {"kernel_jump", "image_entry"}) is None
    assert find_board_cause(BOARD, {"power_on"}) is None
