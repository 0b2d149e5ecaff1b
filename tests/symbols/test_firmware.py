"""A bootloader's functions out of its ELF file and its image."""

import subprocess
from pathlib import Path

from bootlab.symbols.firmware import Firmware, functions_of_image
from bootlab.symbols.functions import Function
from bootlab.symbols.roles import Role
from tests.symbols.arm_programs import BOOTLOADER, PREFIX, link, wants_assembler

pytestmark = wants_assembler


def test_a_bootloader_s_functions(tmp_path: Path) -> None:
    path = link(tmp_path, BOOTLOADER, "-Ttext=0x4a000000", "--section-start=.secure_text=0x44000", "-e", "_start")
    assert Firmware(path).functions == (
        Function(0x44000, Role.PLAIN, "psci_cpu_on"),
        Function(0x44004, Role.END, "end"),
        Function(0x4A000000, Role.PLAIN, "_start"),
        Function(0x4A000004, Role.PLAIN, "reset"),
        Function(0x4A000010, Role.PLAIN, "board_init_r"),
        Function(0x4A000014, Role.PLAIN, "decompress_kernel"),
        Function(0x4A000015, Role.END, "end"),
    )


def test_an_image_has_the_functions_of_its_own_elf_file_alone(tmp_path: Path) -> None:
    path = link(tmp_path, BOOTLOADER.replace('.section .secure_text, "ax"', ".text"), "-Ttext=0", "-e", "_start")
    subprocess.run([f"{PREFIX}objcopy", "-O", "binary", path, tmp_path / "image"], check=True)
    image = (tmp_path / "image").read_bytes()
    found = functions_of_image(path, image, 0x80100000)
    assert [one._replace(address=one.address - 0x80100000) for one in found] == list(Firmware(path).functions)
    assert functions_of_image(path, b"\0" + image[1:], 0x80100000) == ()
    assert functions_of_image(tmp_path / "image", image, 0x80100000) == ()
    assert functions_of_image(tmp_path / "none.elf", image, 0x80100000) == ()
    subprocess.run([f"{PREFIX}strip", path], check=True)
    assert functions_of_image(path, image, 0x80100000) == ()
