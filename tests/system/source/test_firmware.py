"""Firmware that is built: what its part of a system file says, and with what it cannot go."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import System, read_system

SYSTEM = """
[machine]
type = "{type}"
firmware = "{firmware}"
{more}
[machine.firmware_build]
{build}
[image]
path = "disk.img"
[booted]
console = "login:"
"""


def read(tmp_path: Path, build: str, *, type: str = "q35", firmware: str = "ovmf", more: str = "") -> System:
    (tmp_path / "disk.img").touch()
    (tmp_path / "one.patch").touch()
    path = tmp_path / "system.toml"
    path.write_text(SYSTEM.format(type=type, firmware=firmware, more=more, build=build))
    return read_system(path)


def test_macros_are_words_of_edk2s_build_and_paths_are_the_files(tmp_path: Path) -> None:
    text = 'package = "edk2"\npatches = ["one.patch"]\n'
    system = read(tmp_path, text + "defines = { NETWORK_ENABLE = false, FD_SIZE_IN_KB = 16384 }")
    build = system.machine.firmware_build
    assert build is not None and build.defines == {"NETWORK_ENABLE": "FALSE", "FD_SIZE_IN_KB": "16384"}
    assert build.patches == (tmp_path / "one.patch",)


@pytest.mark.parametrize(
    ("build", "more", "said"),
    [
        ("defines = {}", {}, r"exactly one of source \(a tree or tarball\) and package"),
        ('package = "edk2"\nsource = "tree"', {}, r"machine\.firmware_build\.source: no such file"),
        ('package = "edk2"\ndefines = { "A B" = "1" }', {}, "no name of a macro"),
        ('package = "edk2"\ndefines = { A = "x; rm" }', {}, "no value of a macro"),
        ('package = "edk2"', {"firmware": "default"}, 'firmware_build is of firmware = "ovmf" on "q35"'),
        ('package = "edk2"', {"type": "virt"}, 'firmware_build is of firmware = "ovmf" on "q35"'),
        ('package = "edk2"', {"more": 'firmware_suite = "trixie"'}, "built without Secure Boot, and of no package"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, build: str, more: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, build, **more)
