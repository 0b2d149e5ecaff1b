"""A system's bootloader: which machines boot by one."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from tests.system.files import board_system


def test_a_bootloader_is_of_a_board(tmp_path: Path) -> None:
    system = board_system(tmp_path)
    boards = r"machine.type 'q35' \(x86_64\) is none: 'orangepi-pc' \(armv7\), 'virt' \(riscv64\)"
    with pytest.raises(InputError, match=rf"\[bootloader\] is of a board; {boards}"):
        system.with_part("machine", type="q35")
