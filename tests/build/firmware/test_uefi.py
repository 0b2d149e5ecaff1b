"""The firmware of a system by UEFI: built, with an entry of the image's own; what is refused by its package's name."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.firmware.uefi import UefiFirmware, find_uefi, with_own_entry
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import System
from tests.build.firmware.test_edk2 import make_tree
from tests.techniques.bootloader.test_image_loader import image_system


def system(**machine: object) -> System:
    return image_system().with_part("machine", **machine)


def test_one_that_is_built_goes_before_a_packages(tmp_path: Path) -> None:
    built = system(firmware_build={"source": make_tree(tmp_path / "tree")})
    firmware = find_uefi(Workshop(Cache(tmp_path / "cache")), built)
    assert firmware.code is not None and firmware.code.name == "code.fd"
    assert firmware.variables is not None and firmware.variables.read_text() == "variables\n"


def test_a_suite_that_is_none_is_told_by_its_key(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"machine\.firmware_suite"):
        find_uefi(Workshop(Cache(tmp_path / "cache")), system(firmware_suite="no such suite"))


def test_variables_that_hold_no_store_take_no_entry(tmp_path: Path) -> None:
    variables = tmp_path / "variables.fd"
    variables.write_bytes(bytes(4096))
    with pytest.raises(InputError):
        with_own_entry(Workshop(Cache(tmp_path / "cache")), UefiFirmware(None, variables), b"entry")
    assert variables.read_bytes() == bytes(4096)
