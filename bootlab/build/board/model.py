"""Puts a board model into a system: the patched drivers, and their figures, for kernel and bootloader.

An emulated card, flash chip and serial line are infinitely fast. QEMU's plugins cannot add time to an
instruction-counting clock (10.0), and a device that answers late is in QEMU only; so the drivers wait, on the guest's
own counter, as they would for the real devices.
"""

from dataclasses import dataclass
from pathlib import Path

from bootlab.build.board.bootloader import BuiltBootloader
from bootlab.errors import InputError
from bootlab.sources import PATCHES
from bootlab.system import BoardModel, Bootloader, System

_LINUX, _UBOOT = PATCHES / "linux", PATCHES / "u-boot"
_NO_BOOT_PRINTS = 1
"""SBI_SCRATCH_NO_BOOT_PRINTS (OpenSBI, include/sbi/sbi_scratch.h): a bit of what SPL tells OpenSBI."""


@dataclass(frozen=True, slots=True)
class ModelDrivers:
    """The drivers that keep a model on boards with one medium, and where in memory they tell each other what they did.

    The patches are applied in their order.
    """

    kernel: tuple[Path, ...]
    bootloader: tuple[Path, ...]
    counts_at: int
    """Physical address of two registers, in which the bootloader leaves how long it has waited for line and storage."""
    camera_at: int | None = None
    """The same of one, in which it leaves when it powered the camera; None for a board without one."""
    kernel_storage: bool = False
    """The kernel's own reading of the medium is modelled, too."""
    woken: tuple[Path, ...] = ()
    """Patches besides of a kernel that SPL wakes out of an image: its counts are those of that power-on."""


CARD_DRIVERS = ModelDrivers(
    kernel=tuple(_LINUX / f"board-model-{what}.patch" for what in ("serial", "card", "camera")),
    bootloader=(_UBOOT / "board-model.patch",),
    # Of the H3: general-purpose registers of its RTC.
    counts_at=0x01F00104,
    camera_at=0x01F00100,
    kernel_storage=True,
    woken=(_LINUX / "board-model-wake.patch",),
)
FLASH_DRIVERS = ModelDrivers(
    kernel=(_LINUX / "board-model-serial.patch", _LINUX / "riscv64" / "board-model-serial.patch"),
    bootloader=(_UBOOT / "board-model.patch", _UBOOT / "riscv64" / "board-model.patch"),
    # Of QEMU's virt: the alarm registers of its RTC.
    counts_at=0x00101008,
)


def with_board_model(system: System) -> System:
    """Return the system with its board model in kernel and bootloader; the same system when it has none."""
    model = system.board_model
    if model is None:
        return system
    drivers = _drivers(system)
    reads = drivers.kernel_storage
    words = [
        f"board_model.uart_baud={model.uart_baud}" if model.uart_baud else "",
        f"board_model.storage_kib_s={model.storage_kib_s}" if reads and model.storage_kib_s else "",
        f"board_model.storage_latency_us={model.storage_latency_us}" if reads and model.storage_latency_us else "",
        f"board_model.camera_ms={model.camera_ms}" if model.camera_ms else "",
        f"board_model.camera_power={drivers.camera_at:#x}" if model.camera_power == "spl" else "",
        f"board_model.loader_notes={drivers.counts_at:#x}" if system.bootloader is not None else "",
    ]
    changed = system.with_cmdline(*(word for word in words if word))
    if changed.kernel.build is not None:
        patches = (*changed.kernel.build.patches, *drivers.kernel)
        if system.hibernated_by_loader:
            patches += drivers.woken
        changed = changed.with_part("kernel", build={**dict(changed.kernel.build), "patches": patches})
    if changed.bootloader is not None:
        changed = changed.with_part("bootloader", **_bootloader(changed.bootloader, model, drivers))
    return changed


def expect_silent_opensbi(built: BuiltBootloader, model: BoardModel | None) -> None:
    """Raise InputError for an OpenSBI that prints, whose driver has no model: its characters would take no time."""
    told = built.options.get("SPL_OPENSBI_SCRATCH_OPTIONS")
    if told is not None and model is not None and model.uart_baud and int(told, 0) != _NO_BOOT_PRINTS:
        raise InputError(
            f"board_model.uart_baud: SPL_OPENSBI_SCRATCH_OPTIONS={told} has OpenSBI print, which writes past the "
            "modelled line",
            hint=f"bootloader.options: leave it at U-Boot's {_NO_BOOT_PRINTS:#x}",
        )


def _drivers(system: System) -> ModelDrivers:
    board = system.board
    assert board is not None  # a model is of a board
    return CARD_DRIVERS if board.flash is None else FLASH_DRIVERS


def _bootloader(bootloader: Bootloader, model: BoardModel, drivers: ModelDrivers) -> dict[str, object]:
    options = {
        "BOARD_MODEL": "y",
        "BOARD_MODEL_UART_BAUD": str(model.uart_baud),
        "BOARD_MODEL_STORAGE_KIB_S": str(model.storage_kib_s),
        "BOARD_MODEL_STORAGE_LATENCY_US": str(model.storage_latency_us),
    }
    if drivers.camera_at is not None:
        options["BOARD_MODEL_CAMERA_POWER"] = "y" if model.camera_power == "spl" else "n"
    return {
        "patches": (*bootloader.patches, *drivers.bootloader),
        "options": {**bootloader.options, **options},
    }
