"""The files that a system boots from: which of them a machine writes to."""

from pathlib import Path

from bootlab.system import BootFiles


def test_a_machine_writes_to_its_disks_and_a_board_to_its_card() -> None:
    disks = (Path("root.img"), Path("swap.img"))
    assert BootFiles(kernel=Path("bzImage"), disks=disks).written == disks
    assert BootFiles(kernel=Path("zImage"), card=Path("card.img")).written == (Path("card.img"),)
