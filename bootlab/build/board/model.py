"""Puts a board model into a system: the patched drivers, and their figures, for kernel and bootloader.

An emulated card and serial line are infinitely fast. QEMU's plugins cannot add time to an instruction-counting clock
(10.0), and a device that answers late is in QEMU only; so the drivers wait, on the guest's own counter, as they would
for the real devices.
"""

from bootlab.sources import PATCHES
from bootlab.system import Bootloader, System

KERNEL_PATCHES = tuple(PATCHES / "linux" / f"board-model-{what}.patch" for what in ("serial", "card", "camera"))
BOOTLOADER_PATCH = PATCHES / "u-boot" / "board-model.patch"

_NOTES_AT = 0x01F00100
"""Of the H3: general-purpose registers of its RTC, in which the bootloader leaves when it powered the camera, and how
long it has waited for line and card (patches/u-boot/board-model.patch)."""


def with_board_model(system: System) -> System:
    """Return the system with its board model in kernel and bootloader; the same system when it has none."""
    model = system.board_model
    if model is None:
        return system
    words = [
        f"board_model.uart_baud={model.uart_baud}" if model.uart_baud else "",
        f"board_model.storage_kib_s={model.storage_kib_s}" if model.storage_kib_s else "",
        f"board_model.storage_latency_us={model.storage_latency_us}" if model.storage_latency_us else "",
        f"board_model.camera_ms={model.camera_ms}" if model.camera_ms else "",
        f"board_model.camera_power={_NOTES_AT:#x}" if model.camera_power == "spl" else "",
        f"board_model.loader_notes={_NOTES_AT + 4:#x}" if system.bootloader is not None else "",
    ]
    changed = system.with_cmdline(*(word for word in words if word))
    if changed.kernel.build is not None:
        patches = (*changed.kernel.build.patches, *KERNEL_PATCHES)
        changed = changed.with_part("kernel", build={**dict(changed.kernel.build), "patches": patches})
    if changed.bootloader is not None:
        changed = changed.with_part("bootloader", **_bootloader(changed.bootloader, system))
    return changed


def _bootloader(bootloader: Bootloader, system: System) -> dict[str, object]:
    model = system.board_model
    assert model is not None
    options = {
        "BOARD_MODEL": "y",
        "BOARD_MODEL_UART_BAUD": str(model.uart_baud),
        "BOARD_MODEL_STORAGE_KIB_S": str(model.storage_kib_s),
        "BOARD_MODEL_STORAGE_LATENCY_US": str(model.storage_latency_us),
        "BOARD_MODEL_CAMERA_POWER": "y" if model.camera_power == "spl" else "n",
    }
    return {
        "patches": (*bootloader.patches, BOOTLOADER_PATCH),
        "options": {**bootloader.options, **options},
    }
