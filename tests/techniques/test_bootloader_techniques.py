"""Techniques of a board's bootloader: when they apply, what they change, and what proves them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from bootlab.system import (
    Booted,
    Bootloader,
    Card,
    Flash,
    Initramfs,
    Kernel,
    KernelBuild,
    Machine,
    MachineType,
    System,
    read_system,
)
from bootlab.techniques.bootloader_falcon import PATCH
from bootlab.techniques.catalogue import find_techniques, load_catalogue
from bootlab.techniques.technique import Evidence, Measured, Proof, Technique

BOARD = System(
    name="board",
    machine=Machine(type=MachineType.ORANGEPI_PC),
    kernel=Kernel(build=KernelBuild(package="linux-source-6.12")),
    bootloader=Bootloader(package="u-boot", suite="trixie"),
    card=Card(),
    initramfs=Initramfs(init=Path("init"), embedded=True),
    booted=Booted(mark="ready"),
)
PC = System(
    name="pc",
    machine=Machine(type=MachineType.Q35),
    kernel=Kernel(image=Path("vmlinuz")),
    booted=Booted(mark="ready"),
)
SERIAL_BOARD = System.model_validate(
    {
        "name": "real",
        "machine": {"type": "armv7-board"},
        "target": {"kind": "serial", "port": "/dev/ttyUSB0", "power_on": "true", "power_off": "true"},
        "booted": {"console": "login:"},
    }
)
RISCV_BOARD = System(
    name="riscv-board",
    machine=Machine(type=MachineType.VIRT, architecture="riscv64"),
    kernel=Kernel(build=KernelBuild(package="linux-source-6.12")),
    bootloader=Bootloader(package="u-boot", suite="trixie"),
    flash=Flash(),
    booted=Booted(mark="ready"),
)
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
STANDARD = {"power_on": 0, "spl_entry": 2, "uboot_entry": 40, "kernel_load": 60, "image_entry": 90}
COUNTDOWN = "Net:   eth0\r\nHit any key to stop autoboot:  2 \b\b\b 1 \b\b\b 0 \r\n"


def technique(name: str) -> Technique:
    return find_techniques(load_catalogue(), [name])[0]


def evidence(console: str = "", marks: Mapping[str, int] = STANDARD, loaded: int | None = None) -> Evidence:
    read = {} if loaded is None else {"kernel load": loaded}
    return Evidence({}, {}, marks, console, None, sizes={"kernel": 2_500_000}, read_bytes=read)


@pytest.mark.parametrize(
    "name", ["bootloader_falcon", "bootloader_no_banner", "bootloader_no_delay", "bootloader_no_scan"]
)
def test_only_a_board_has_a_bootloader_to_change(name: str, measured: Measured) -> None:
    assert technique(name).applies(PC, measured) == "machine.type 'q35' has no bootloader"
    assert technique(name).applies(BOARD, measured) is None
    assert (
        technique(name).applies(SERIAL_BOARD, measured)
        == "bootlab does not build this board's bootloader (armv7-board)"
    )
    finished = BOARD.with_part("card", path=Path("card.img"))
    assert technique(name).applies(finished, measured) == "what the board boots from is finished (card.path)"


def test_falcon_mode_brings_its_patch_once(measured: Measured) -> None:
    falcon = technique("bootloader_falcon")
    changed = falcon.apply(BOARD, measured)
    assert changed.bootloader is not None and changed.bootloader.falcon
    assert changed.bootloader.patches == (PATCH,) and PATCH.is_file()
    assert falcon.applies(changed, measured) == "bootloader.falcon is true already"
    carried = falcon.apply(BOARD.with_part("bootloader", patches=(Path("mine") / PATCH.name,)), measured)
    assert carried.bootloader is not None and carried.bootloader.patches == (Path("mine") / PATCH.name,)


def test_falcon_mode_takes_an_initramfs_into_the_kernel(measured: Measured) -> None:
    falcon = technique("bootloader_falcon")
    camera = read_system(EXAMPLES / "camera-board.toml")
    assert camera.initramfs is not None and not camera.initramfs.embedded
    assert falcon.applies(camera, measured) is None
    changed = falcon.apply(camera, measured)
    assert changed.bootloader is not None and changed.bootloader.falcon
    assert changed.initramfs == camera.initramfs.model_copy(update={"embedded": True})
    assert changed.kernel == camera.kernel and changed.card == camera.card and changed.check == camera.check


def test_falcon_mode_loads_no_initramfs_beside_a_kernel_that_is_not_built(measured: Measured) -> None:
    packaged = BOARD.with_part("initramfs", embedded=False).with_part("kernel", build=None, package="linux-image-armmp")
    reason = technique("bootloader_falcon").applies(packaged, measured)
    assert reason is not None and reason.startswith("SPL loads no initramfs beside a kernel (initramfs.embedded), and ")
    assert "the kernel is not built from source (kernel.build)" in reason
    without = packaged.model_copy(update={"initramfs": None})
    assert technique("bootloader_falcon").applies(without, measured) is None


def test_the_device_tree_is_appended_wherever_it_is_separate() -> None:
    appended, camera = technique("kernel_appended_dtb"), read_system(EXAMPLES / "camera-board.toml")
    # Its kernel has both options on already (sunxi_defconfig); its card has a tree of its own all the same.
    on = Measured({}, {}, {}, "", {"ARM_APPENDED_DTB": "y", "ARM_ATAG_DTB_COMPAT": "y"})
    for known, asked in ((on, {}), (Measured({}, {}, {}, "", {"SMP": "y"}), dict(on.kernel_config))):
        assert appended.applies(camera, known) is None
        changed = appended.apply(camera, known)
        assert changed.card is not None and changed.card.device_tree == "appended"
        assert changed.kernel.build is not None and changed.kernel.build.options == asked
        assert appended.applies(changed, known) == "the device tree is behind the kernel already (card.device_tree)"
    refused = camera.with_options(ARM_APPENDED_DTB="n")
    build = appended.apply(refused, on).kernel.build
    assert build is not None and build.options == {"ARM_APPENDED_DTB": "y"}


def test_in_falcon_mode_nobody_passes_atags(measured: Measured) -> None:
    falcon, appended = technique("bootloader_falcon"), technique("kernel_appended_dtb")
    build = appended.apply(falcon.apply(BOARD, measured), measured).kernel.build
    assert build is not None and build.options == {"ARM_APPENDED_DTB": "y"}
    assert falcon.applies(appended.apply(BOARD, measured), measured) is None


def test_where_no_device_tree_can_be_appended(measured: Measured) -> None:
    applies = technique("kernel_appended_dtb").applies
    finished = BOARD.with_part("card", path=Path("card.img"))
    assert applies(finished, measured) == "what the board boots from is finished (card.path)"
    arm64 = System(
        name="arm64", machine=Machine(type=MachineType.VIRT), kernel=BOARD.kernel, booted=Booted(mark="ready")
    )
    for system, arch in ((arm64, "aarch64"), (RISCV_BOARD, "riscv64")):
        reason = f"only 32-bit arm, whose zImage looks behind itself; this system is {arch}"
        assert applies(system, measured) == reason
    assert applies(PC, measured) == "the kernel is not built from source (kernel.build)"


def test_an_appended_tree_is_proved_by_one_that_nobody_hands_over() -> None:
    prove = technique("kernel_appended_dtb").prove
    handed = evidence("## Flattened Device Tree blob at 43000000\r\n   Booting using the fdt blob at 0x43000000\r\n")
    assert prove(evidence("Starting kernel ..."), handed) is Proof.PROVEN
    assert prove(handed, handed) is Proof.NO_EFFECT
    assert prove(evidence(), evidence()) is Proof.NOT_SHOWN
    falcon = {name: t_ns for name, t_ns in STANDARD.items() if name != "uboot_entry"}
    args, sector = (evidence(marks=falcon, loaded=2_500_000 + more) for more in (66_000, 30_000))
    assert prove(sector, args) is Proof.PROVEN
    assert prove(args, args) is Proof.NO_EFFECT
    assert prove(sector, handed) is Proof.NOT_SHOWN
    assert prove(evidence(marks=falcon), args) is Proof.NOT_SHOWN


def test_what_uboot_proper_does_matters_only_where_it_runs(measured: Measured) -> None:
    falcon = technique("bootloader_falcon").apply(BOARD, measured)
    assert technique("bootloader_no_delay").applies(falcon, measured) == "in Falcon mode U-Boot proper never runs"
    changed = technique("bootloader_no_delay").apply(BOARD, measured)
    assert technique("bootloader_no_delay").applies(changed, measured) == "bootloader.options say so already"
    assert technique("bootloader_no_scan").applies(changed, measured) is None


def test_a_board_with_a_flash_chip_is_looked_at_nowhere_else(measured: Measured) -> None:
    scan, falcon = technique("bootloader_no_scan"), technique("bootloader_falcon")
    assert scan.applies(RISCV_BOARD, measured) is None
    changed = scan.apply(RISCV_BOARD, measured)
    assert changed.bootloader is not None and changed.board is not None
    assert changed.bootloader.options["BOOTCOMMAND"] == changed.board.boot_command == "source 0x22200000"
    assert changed.bootloader.options["PCI_INIT_R"] == "n" and "SY8106A_POWER" not in changed.bootloader.options
    assert scan.applies(changed, measured) == "bootloader.options say so already"
    reason = "SPL of this board starts OpenSBI, which starts U-Boot proper (bootloader.falcon)"
    assert falcon.applies(RISCV_BOARD, measured) == reason
    finished = RISCV_BOARD.with_part("flash", path=Path("flash.img"))
    assert scan.applies(finished, measured) == "what the board boots from is finished (flash.path)"
    # Its machine is QEMU's own, whose CPUs and memory are a choice.
    assert technique("machine_two_vcpus").applies(RISCV_BOARD, measured) is None


def test_falcon_mode_is_proved_by_uboot_proper_that_never_runs() -> None:
    prove = technique("bootloader_falcon").prove
    without = {name: t_ns for name, t_ns in STANDARD.items() if name != "uboot_entry"}
    assert prove(evidence(marks=without), evidence()) is Proof.PROVEN
    assert prove(evidence(), evidence()) is Proof.NO_EFFECT
    # A wall clock sees no marks of the bootloader: nothing is shown.
    assert prove(evidence(marks={"ready": 1}), evidence(marks={"ready": 2})) is Proof.NOT_SHOWN


def test_the_console_proves_what_uboot_proper_left_out() -> None:
    delay, scan = (technique(name).prove for name in ("bootloader_no_delay", "bootloader_no_scan"))
    short = evidence("Hit any key to stop autoboot:  0 \r\n")
    assert delay(short, evidence(COUNTDOWN)) is Proof.PROVEN
    assert delay(evidence(COUNTDOWN), evidence(COUNTDOWN)) is Proof.NO_EFFECT
    assert delay(evidence(""), evidence(COUNTDOWN)) is Proof.NOT_SHOWN
    assert scan(short, evidence(COUNTDOWN)) is Proof.PROVEN
    assert scan(evidence(COUNTDOWN), evidence(COUNTDOWN)) is Proof.NO_EFFECT


@pytest.mark.parametrize("name", ["machine_one_vcpu", "machine_two_vcpus", "machine_memory_half"])
def test_a_boards_cpus_and_memory_are_what_they_are(name: str, measured: Measured) -> None:
    assert technique(name).applies(BOARD, measured) == "orangepi-pc is a board, which has what it has"


def test_spl_says_nothing_in_falcon_mode_too(measured: Measured) -> None:
    one = technique("bootloader_no_banner")
    falcon = BOARD.with_part("bootloader", falcon=True)
    assert one.applies(falcon, measured) is None
    changed = one.apply(falcon, measured)
    assert changed.bootloader is not None and changed.bootloader.options == {"SPL_BANNER_PRINT": "n"}
    assert one.applies(changed, measured) == "bootloader.options say so already"
    loud = evidence("\r\nU-Boot SPL 2025.01 (Jan 06 2025 - 15:37:40 +0000)\r\n")
    assert one.prove(evidence("Starting kernel"), loud) is Proof.PROVEN
    assert one.prove(loud, loud) is Proof.NO_EFFECT
    assert one.prove(evidence(), evidence()) is Proof.NOT_SHOWN
