"""What a board cannot become: nothing is built or booted for a technique that would not reach it."""

from pathlib import Path

import pytest

from bootlab.experiments.changing import board_lacks
from bootlab.system import Booted, Bootloader, Card, Flash, Initramfs, Kernel, Machine, MachineType, System

CARD = System(
    name="board",
    machine=Machine(type=MachineType.ORANGEPI_PC),
    kernel=Kernel(image=Path("zImage")),
    initramfs=Initramfs(init=Path("init")),
    bootloader=Bootloader(package="u-boot"),
    card=Card(),
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


@pytest.mark.parametrize(("part", "key"), [("card", "card.path"), ("flash", "flash.path")])
def test_what_lies_in_a_finished_image_cannot_change(part: str, key: str) -> None:
    composed = CARD if part == "card" else CHIP
    assert board_lacks(composed, composed.with_cmdline("quiet")) is None
    finished = composed.with_part(part, path=Path("finished.img"))
    for changed in (finished.with_cmdline("quiet"), finished.with_part("kernel", image=Path("other"))):
        assert key in (board_lacks(finished, changed) or "")
    assert board_lacks(finished, finished) is None
    assert board_lacks(finished, finished.with_seed(2)) is None


def test_an_initramfs_lies_on_the_card_too() -> None:
    finished = CARD.with_part("card", path=Path("finished.img"))
    assert "card.path" in (board_lacks(finished, finished.with_part("initramfs", init=Path("other"))) or "")
