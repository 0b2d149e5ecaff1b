"""The board model: what it asks of kernel and bootloader, what identifies it, and its terms in a record's facts."""

from pathlib import Path

import pytest

from bootlab.build.board.model import CARD_DRIVERS, FLASH_DRIVERS, with_board_model
from bootlab.errors import InputError
from bootlab.system import BoardModel, System, read_system

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture
def camera() -> System:
    return read_system(EXAMPLES / "camera-board.toml")


def test_a_model_is_words_for_the_kernel_and_options_of_the_bootloader(camera: System) -> None:
    changed = with_board_model(camera)
    words = changed.kernel.cmdline.removeprefix(camera.kernel.cmdline).split()
    assert words == [
        "board_model.uart_baud=115200",
        "board_model.storage_kib_s=15258",
        "board_model.loader_notes=0x1f00104",
    ]
    assert changed.kernel.build is not None and changed.bootloader is not None and camera.bootloader is not None
    assert changed.kernel.build.patches == CARD_DRIVERS.kernel
    assert changed.bootloader.patches == (*camera.bootloader.patches, *CARD_DRIVERS.bootloader)
    assert changed.bootloader.options == {
        "BOARD_MODEL": "y",
        "BOARD_MODEL_UART_BAUD": "115200",
        "BOARD_MODEL_STORAGE_KIB_S": "15258",
        "BOARD_MODEL_STORAGE_LATENCY_US": "0",
        "BOARD_MODEL_CAMERA_POWER": "n",
    }


def test_a_camera_takes_time_from_its_power_on(camera: System) -> None:
    slow = with_board_model(camera.with_part("board_model", camera_ms=1200, camera_power="spl"))
    assert "board_model.camera_ms=1200 board_model.camera_power=0x1f00100 " in slow.kernel.cmdline
    assert slow.bootloader is not None and slow.bootloader.options["BOARD_MODEL_CAMERA_POWER"] == "y"


def test_a_kernel_that_spl_wakes_counts_from_there_on_and_no_other_does(camera: System) -> None:
    woken = with_board_model(read_system(EXAMPLES / "persistence/hibernated-camera.toml"))
    added = CARD_DRIVERS.kernel + CARD_DRIVERS.woken
    assert woken.kernel.build is not None and woken.kernel.build.patches[-len(added) :] == added
    kept = with_board_model(read_system(EXAMPLES / "persistence/kept-camera.toml"))
    assert kept.kernel.build is not None and kept.kernel.build.patches == CARD_DRIVERS.kernel
    assert CARD_DRIVERS.woken and not FLASH_DRIVERS.woken


def test_of_a_flash_chip_the_kernel_is_told_of_the_line_alone() -> None:
    system = read_system(EXAMPLES / "riscv-board" / "modelled.toml")
    changed = with_board_model(system)
    words = changed.kernel.cmdline.removeprefix(system.kernel.cmdline).split()
    assert words == ["board_model.uart_baud=115200", "board_model.loader_notes=0x101008"]
    assert changed.kernel.build is not None and changed.bootloader is not None
    assert changed.kernel.build.patches == FLASH_DRIVERS.kernel
    assert changed.bootloader.patches == FLASH_DRIVERS.bootloader
    assert changed.bootloader.options == {
        "BOARD_MODEL": "y",
        "BOARD_MODEL_UART_BAUD": "115200",
        "BOARD_MODEL_STORAGE_KIB_S": "24412",
        "BOARD_MODEL_STORAGE_LATENCY_US": "0",
    }


def test_without_a_model_nothing_changes(camera: System) -> None:
    plain = camera.model_copy(update={"board_model": None})
    assert with_board_model(plain) is plain


def test_the_figures_decide_its_identity_and_who_powers_the_camera_does_not() -> None:
    one = BoardModel(storage_mib_s=14.9, uart_baud=115200, camera_ms=1200)
    assert one.identity == one.model_copy(update={"camera_power": "spl"}).identity
    others = [one.model_copy(update={key: 1}) for key in ("storage_mib_s", "storage_latency_us", "uart_baud")]
    assert len({one.identity, *(other.identity for other in others)}) == 4
    assert one.words == "storage 14.9 MiB/s, UART 115200 baud, camera 1200 ms from power"


def test_the_example_with_a_usb_camera_differs_by_that_alone() -> None:
    fast, usb = (read_system(EXAMPLES / f"camera-board-{name}.toml") for name in ("fast", "usb"))
    named = {"name": usb.name, "description": usb.description}
    assert usb == fast.with_part("board_model", camera_ms=1200).model_copy(update=named)
    assert usb.board_model is not None and usb.board_model.identity == "be38d75062f5"


def test_both_examples_have_one_model(camera: System) -> None:
    fast = read_system(EXAMPLES / "camera-board-fast.toml")
    assert camera.board_model is not None and fast.board_model is not None
    assert camera.board_model.identity == fast.board_model.identity


@pytest.mark.parametrize(
    ("part", "changes", "says"),
    [
        ("kernel", {"cmdline": "earlycon"}, "earlycon writes past the modelled line"),
        ("kernel", {"build": None, "image": Path("zImage")}, "it needs kernel.build"),
    ],
)
def test_what_a_model_cannot_be_in_is_refused(part: str, changes: dict[str, object], says: str, camera: System) -> None:
    with pytest.raises(InputError, match=says):
        camera.with_part(part, **changes)


def test_every_patch_says_what_it_is_for_and_of_which_licence() -> None:
    drivers = (CARD_DRIVERS, FLASH_DRIVERS)
    for path in {path for one in drivers for path in (*one.kernel, *one.woken, *one.bootloader)}:
        head = path.read_text(encoding="utf-8").splitlines()
        assert head[0].startswith("SPDX-License-Identifier: GPL-2.0")
        assert any(line.startswith(("For Linux", "For U-Boot")) for line in head[:20])
