"""Emulated boards: what their hardware has, what they boot from, and what cannot be."""

import re
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import InputError
from bootlab.system import BOARDS, MachineType, System
from tests.system.files import _read_board, board_system


def test_a_board_has_what_its_hardware_has(tmp_path: Path) -> None:
    machine = board_system(tmp_path).machine
    assert (machine.arch, machine.cpu, machine.memory_mib, machine.vcpus) == ("armv7", "cortex-a7", 1024, 4)
    with pytest.raises(InputError, match="vcpus of machine.type 'orangepi-pc' is 4: the board has no other"):
        board_system(tmp_path).with_part("machine", vcpus=1)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"without": "card"}, "boots from its SD card: .card. composes one, or card.path names a finished one"),
        ({"without": "bootloader"}, "boots by U-Boot: .bootloader. says which, or card.path names a finished card"),
        ({"more": "[network]"}, "machine.type 'orangepi-pc' has no network"),
        ({"more": '[initramfs]\ninit = "init"', "falcon": True}, "no initramfs beside them: initramfs.embedded = true"),
        ({"card": "size_mib = 48"}, "card: size_mib must be a power of two"),
        ({"card": 'path = "none.img"'}, "card.path: no such file: .*/none.img"),
        (
            {"card": 'path = "k"\nload_address = 4'},
            "card: path names a finished card; size_mib, dtb, load_address, device",
        ),
        (
            {"card": 'path = "k"\ndevice_tree = "appended"'},
            "device_tree, kept_ram and swap_mib are of one to be composed",
        ),
        ({"card": 'device_tree = "none"'}, "card.device_tree: input should be 'separate' or 'appended', got 'none'"),
    ],
)
def test_a_board_that_cannot_be_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        board_system(tmp_path, **change)


def test_an_appended_tree_needs_a_kernel_that_looks_for_it(tmp_path: Path) -> None:
    assert board_system(tmp_path).appended_tree_options == ()
    appended = board_system(tmp_path, card='device_tree = "appended"')
    assert appended.appended_tree_options == ("ARM_APPENDED_DTB", "ARM_ATAG_DTB_COMPAT")
    falcon = board_system(tmp_path, card='device_tree = "appended"', falcon=True)
    assert falcon.appended_tree_options == ("ARM_APPENDED_DTB",)


def test_a_document_says_where_the_tree_is_only_where_that_was_asked(tmp_path: Path) -> None:
    separate, appended = (board_system(tmp_path, card=f'device_tree = "{one}"') for one in ("separate", "appended"))
    assert "device_tree" not in separate.model_dump()["card"]
    assert appended.model_dump()["card"]["device_tree"] == "appended"


RISCV_BOARD = """
[machine]
type = "virt"
architecture = "{architecture}"
memory_mib = {memory_mib}
{machine}
[kernel]
image = "k"
[bootloader]
package = "u-boot"
{bootloader}
[flash]
{flash}
[booted]
mark = "ready"
{more}
"""


def riscv_board(tmp_path: Path, *, without: tuple[str, ...] = (), memory_mib: int = 128, **words: str) -> System:
    filled = {"architecture": "riscv64", "machine": "", "bootloader": "", "flash": "", "more": "", **words}
    text = RISCV_BOARD.format(memory_mib=memory_mib, **filled)
    for part in without:
        text = re.sub(rf"(?m)^\[{part}\]\n([^\[]*\n)?", "", text)
    (tmp_path / "k").write_text("")
    return _read_board(tmp_path, text)


def test_the_virt_machine_is_a_board_if_it_boots_from_its_flash_chip(tmp_path: Path) -> None:
    system = riscv_board(tmp_path)
    assert system.board is BOARDS[MachineType.VIRT, "riscv64"]
    assert system.memory == range(0x80000000, 0x88000000)
    assert system.kernel_places == (0x80200000,)
    plain = riscv_board(tmp_path, without=("bootloader", "flash"))
    assert plain.board is None and plain.kernel_places == () and plain.memory is None
    # It is one by its bootloader alone: other devices are a matter of the machine.
    riscv_board(tmp_path, more="[board_model]\nstorage_mib_s = 9")
    riscv_board(tmp_path, machine='devices = ["usb-kbd"]', more="[network]\n[[disks]]\nsize_mib = 1")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"without": ("flash",)}, r"boots by \[bootloader\] from its flash chip: \[flash\] composes an image of it"),
        ({"without": ("bootloader",)}, r"boots from \[flash\] by U-Boot, whose SPL is not in it: \[bootloader\]"),
        ({"more": "[card]"}, r"boots from its flash chip and has no SD card: \[flash\], not \[card\]"),
        ({"more": "[card]", "without": ("bootloader", "flash")}, r"has no SD card: \[flash\], not \[card\]"),
        ({"bootloader": "falcon = true", "flash": 'compression = "gzip"'}, "bootloader.falcon: SPL unpacks no kernel"),
        ({"bootloader": 'opensbi = "none.bin"'}, "bootloader.opensbi: no such file: .*/none.bin"),
        ({"flash": 'path = "none.img"'}, "flash.path: no such file: .*/none.img"),
        ({"flash": 'path = "k"\ncompression = "gzip"'}, "flash: path names a finished image; compression is of one to"),
        ({"machine": 'firmware = "k"'}, r"boots by \[bootloader\]: there is no machine.firmware beside it"),
        ({"memory_mib": 64}, "machine.memory_mib is 64: U-Boot's SPL on machine.type 'virt' needs 128"),
        ({"more": "[storage]\nmb_s = 20"}, "has no storage model: its bootloader loads the kernel"),
        (
            {"more": "[board_model]\ncamera_ms = 5"},
            "board_model.camera_ms and camera_power are of a board with a camera",
        ),
        ({"more": '[board_model]\ncamera_power = "spl"'}, "are of a board with a camera; machine.type 'virt' has none"),
        ({"more": "[board_model]\nuart_baud = 9600"}, "board_model is in the kernel's drivers, by patches: it needs"),
        ({"more": "[board_model]\nstorage_mib_s = 9", "flash": 'path = "k"'}, "the one of flash.path is finished"),
    ],
)
def test_a_riscv64_board_that_cannot_be_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        riscv_board(tmp_path, **change)


def test_a_flash_chip_is_of_a_board_that_has_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"boots from its SD card and has no flash chip: \[card\], not \[flash\]"):
        board_system(tmp_path, more="[flash]")
    with pytest.raises(InputError, match=r"\[flash\] is of a board; machine.type 'virt' \(aarch64\) is none"):
        riscv_board(tmp_path, without=("bootloader",), architecture="aarch64")
    with pytest.raises(InputError, match="bootloader.opensbi is a firmware of riscv64; .* is armv7"):
        board_system(tmp_path).with_part("bootloader", opensbi=Path("k"))
