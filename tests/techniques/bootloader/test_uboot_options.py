"""U-Boot with other options: which board has one to change, and what its console proves."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.system import System, read_system
from bootlab.techniques.model.evidence import Effect, Measured
from tests.techniques.asking import ALL
from tests.techniques.board_evidence import PC, evidence

SERIAL_BOARD = System.model_validate(
    {
        "name": "real",
        "machine": {"type": "armv7-board"},
        "target": {"kind": "serial", "port": "/dev/ttyUSB0", "power_on": "true", "power_off": "true"},
        "booted": {"console": "login:"},
    }
)
COUNTDOWN = "Net:   eth0\r\nHit any key to stop autoboot:  2 \b\b\b 1 \b\b\b 0 \r\n"


@pytest.mark.parametrize(
    "name",
    [
        "bootloader_falcon",
        "bootloader_no_banner",
        "bootloader_no_delay",
        "bootloader_no_regulator",
        "bootloader_no_scan",
    ],
)
def test_only_a_board_has_a_bootloader_to_change(board: System, name: str, measured: Measured) -> None:
    assert ALL[name].change.applies(PC, measured) == "machine.type 'q35' has no bootloader"
    assert ALL[name].change.applies(board, measured) is None
    assert (
        ALL[name].change.applies(SERIAL_BOARD, measured)
        == "bootlab does not build this board's bootloader (armv7-board)"
    )
    finished = board.with_part("card", path=Path("card.img"))
    assert ALL[name].change.applies(finished, measured) == "what the board boots from is finished (card.path)"


def test_what_uboot_proper_does_matters_only_where_it_runs(board: System, measured: Measured) -> None:
    falcon = ALL["bootloader_falcon"].change.apply(board, measured)
    assert ALL["bootloader_no_delay"].change.applies(falcon, measured) == "in Falcon mode U-Boot proper never runs"
    changed = ALL["bootloader_no_delay"].change.apply(board, measured)
    assert ALL["bootloader_no_delay"].change.applies(changed, measured) == "bootloader.options say so already"
    assert ALL["bootloader_no_scan"].change.applies(changed, measured) is None


def test_a_board_with_a_flash_chip_is_looked_at_nowhere_else(riscv_board: System, measured: Measured) -> None:
    scan = ALL["bootloader_no_scan"]
    assert scan.change.applies(riscv_board, measured) is None
    changed = scan.change.apply(riscv_board, measured)
    assert changed.bootloader is not None and changed.board is not None
    assert changed.bootloader.options["BOOTCOMMAND"] == changed.board.boot_command == "source 0x22200000"
    assert changed.bootloader.options["PCI_INIT_R"] == "n" and "SY8106A_POWER" not in changed.bootloader.options
    assert scan.change.applies(changed, measured) == "bootloader.options say so already"
    finished = riscv_board.with_part("flash", path=Path("flash.img"))
    assert scan.change.applies(finished, measured) == "what the board boots from is finished (flash.path)"
    # Its machine is QEMU's own, whose CPUs and memory are a choice.
    assert ALL["machine_two_vcpus"].change.applies(riscv_board, measured) is None


def test_the_console_proves_what_uboot_proper_left_out() -> None:
    delay, scan = (ALL[name].proof.prove for name in ("bootloader_no_delay", "bootloader_no_scan"))
    short = evidence("Hit any key to stop autoboot:  0 \r\n")
    assert delay(short, evidence(COUNTDOWN)) is Effect.PROVEN
    assert delay(evidence(COUNTDOWN), evidence(COUNTDOWN)) is Effect.NONE
    assert delay(evidence(""), evidence(COUNTDOWN)) is Effect.NOT_SHOWN
    assert scan(short, evidence(COUNTDOWN)) is Effect.PROVEN
    assert scan(evidence(COUNTDOWN), evidence(COUNTDOWN)) is Effect.NONE


def test_spl_says_nothing_in_falcon_mode_too(board: System, measured: Measured) -> None:
    one = ALL["bootloader_no_banner"]
    falcon = board.with_part("bootloader", falcon=True)
    assert one.change.applies(falcon, measured) is None
    changed = one.change.apply(falcon, measured)
    assert changed.bootloader is not None and changed.bootloader.options == {"SPL_BANNER_PRINT": "n"}
    assert one.change.applies(changed, measured) == "bootloader.options say so already"
    loud = evidence("\r\nU-Boot SPL 2025.01 (Jan 06 2025 - 15:37:40 +0000)\r\n")
    assert one.proof.prove(evidence("Starting kernel"), loud) is Effect.PROVEN
    assert one.proof.prove(loud, loud) is Effect.NONE
    assert one.proof.prove(evidence(), evidence()) is Effect.NOT_SHOWN


def test_spl_starts_no_bus_for_a_regulator_that_it_leaves_alone(
    board: System, riscv_board: System, measured: Measured
) -> None:
    one = ALL["bootloader_no_regulator"]
    changed = one.change.apply(board.with_part("bootloader", falcon=True), measured)
    assert changed.bootloader is not None
    assert changed.bootloader.options == {"SY8106A_POWER": "n", "SPL_I2C": "n"}
    assert one.change.applies(changed, measured) == "bootloader.options say so already"
    assert one.change.applies(riscv_board, measured) == "SPL of virt looks for no voltage regulator"
    assert one.proof.watch == ("SPL:twsi_i2c_init",)
    asked, silent = (replace(evidence(), marks=marks) for marks in ({"watch:SPL:twsi_i2c_init": 9}, {}))
    assert one.proof.prove(silent, asked) is Effect.PROVEN
    assert one.proof.prove(asked, asked) is Effect.NONE
    assert one.proof.prove(silent, silent) is Effect.NOT_SHOWN


def test_the_trimmed_camera_board_is_what_two_techniques_make(measured: Measured) -> None:
    examples = Path(__file__).parents[3] / "examples"
    made = read_system(examples / "camera-board.toml")
    for name in ("bootloader_no_delay", "bootloader_no_scan"):
        made = ALL[name].change.apply(made, measured)
    trimmed = read_system(examples / "camera-board-trimmed.toml")
    assert trimmed == made.model_copy(update={"name": trimmed.name, "description": trimmed.description})
