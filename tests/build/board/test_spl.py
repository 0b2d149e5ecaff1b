"""Code that a patch adds to SPL is built with the place of its plan, whose sum SPL checks."""

import zlib
from pathlib import Path

import pytest

from bootlab.build.board.spl import sealed_plan, with_spl_code
from bootlab.errors import InputError
from bootlab.sources import EXAMPLES
from bootlab.system import read_system

PATCH = Path("new.patch")


def test_spl_is_built_with_the_patch_and_the_sector_of_its_plan() -> None:
    system = read_system(EXAMPLES / "board.toml")
    assert system.bootloader is not None
    bootloader = with_spl_code(system, PATCH, "SPL_NEW", 3 << 20, asked_by="card.new").bootloader
    assert bootloader is not None and bootloader.patches == (*system.bootloader.patches, PATCH)
    assert bootloader.options == {**system.bootloader.options, "SPL_NEW": "y", "SPL_NEW_SECTOR": "0x1800"}


@pytest.mark.parametrize("option", ["SPL_NEW", "SPL_NEW_SECTOR"])
def test_options_that_say_otherwise_are_refused(option: str) -> None:
    system = read_system(EXAMPLES / "board.toml").with_part("bootloader", options={option: "n"})
    with pytest.raises(InputError, match=rf"bootloader\.options\.{option}: card\.new decides it"):
        with_spl_code(system, PATCH, "SPL_NEW", 0, asked_by="card.new")


def test_a_plan_is_a_sector_with_its_sum() -> None:
    sector = sealed_plan(b"what SPL is to do")
    assert len(sector) == 512 and sector[17:21] == zlib.crc32(b"what SPL is to do").to_bytes(4, "little")
