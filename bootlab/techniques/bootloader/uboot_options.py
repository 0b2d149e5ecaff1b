"""U-Boot that says less, waits for nobody, leaves a regulator alone and looks at the medium with the kernel only."""

from bootlab.system import MachineType, System
from bootlab.techniques.changes.bootloader import (
    console_changes,
    console_loses,
    not_built,
    options_applies,
    with_bootloader_options,
)
from bootlab.techniques.changes.kernel_options import off
from bootlab.techniques.model.proofs import never_runs
from bootlab.techniques.model.published import BOOTLIN_2019, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_NO_BANNER = {"SPL_BANNER_PRINT": "n"}
_NO_DELAY = {"BOOTDELAY": "0"}
_NO_REGULATOR = off("SY8106A_POWER", "SPL_I2C")
_EVERYWHERE = off("VIDEO", "EFI_LOADER")
_OF_BOARDS = {
    MachineType.ORANGEPI_PC: {
        **off("USB_EHCI_HCD", "USB_OHCI_HCD", "VIDEO_DE2", "NET", "ENV_IS_IN_FAT", "SY8106A_POWER"),
        "NO_NET": "y",
        "ENV_IS_NOWHERE": "y",
        "PREBOOT": "",
    },
    # Its disks and network card are behind PCI, which is not looked at: U-Boot's board file does not compile without
    # their drivers (BOOT_TARGET_DEVICES). The flash chip is read as memory, which needs none.
    MachineType.VIRT: off("PCI_INIT_R", "USB", "MTD_NOR_FLASH"),
}


def _medium_only(system: System) -> dict[str, str]:
    board = system.board
    assert board is not None
    return {**_EVERYWHERE, **_OF_BOARDS[system.machine.type], "BOOTCOMMAND": board.boot_command}


def _no_regulator_behind_spl(system: System) -> str | None:
    if (reason := not_built(system)) is not None:
        return reason
    if system.machine.type is MachineType.ORANGEPI_PC:
        return None
    return f"SPL of {system.machine.type.value} looks for no voltage regulator"


TECHNIQUES = (
    Technique(
        name="bootloader_no_banner",
        text=Text(
            summary="lets SPL start without saying who it is",
            mechanism=(
                "SPL's first line is written before anything is loaded, one character after the other, by "
                "a CPU that waits for the line: 87 microseconds each at 115200 baud."
            ),
            cost="nothing says that SPL started, or which build it is",
            risk=Risk.FUNCTION,
            published=(none_published("U-Boot 2025.01, common/spl/spl.c: preloader_console_init()"),),
        ),
        change=Change(
            Layer.BOOTLOADER,
            "bootloader.options: SPL_BANNER_PRINT=n",
            with_bootloader_options(lambda system: _NO_BANNER),
            options_applies(lambda system: _NO_BANNER, not_built),
        ),
        proof=console_loses(r"(?m)^U-Boot SPL \d"),
    ),
    Technique(
        name="bootloader_no_delay",
        text=Text(
            summary="lets U-Boot boot at once, without counting down for somebody to press a key",
            mechanism=(
                "Before it boots, U-Boot waits BOOTDELAY seconds, two by default, for a key that would "
                "stop it. With 0 it looks once whether one was pressed."
            ),
            cost="to reach U-Boot's prompt a key must be held down while it starts",
            risk=Risk.NONE,
            published=(none_published("U-Boot 2025.01, boot/Kconfig: BOOTDELAY is 2 by default, in seconds"),),
        ),
        change=Change(
            Layer.BOOTLOADER,
            "bootloader.options: BOOTDELAY=0",
            with_bootloader_options(lambda system: _NO_DELAY),
            options_applies(lambda system: _NO_DELAY),
        ),
        proof=console_changes(r"Hit any key to stop autoboot: +(\d+)", "0"),
        removes=Removes("U-Boot's wait for a key", functions=("autoboot_command/udelay [U-Boot]",)),
    ),
    Technique(
        name="bootloader_no_scan",
        text=Text(
            summary=(
                "lets U-Boot boot from its medium at once, without looking for a screen, USB, network or saved settings"
            ),
            mechanism=(
                "U-Boot's default is to find out what there is: it starts the USB hosts and waits for "
                "devices, brings up the network card, waits for a monitor on HDMI, reads its environment "
                "from a file, and tries one place after the other for something to boot. Here it has "
                "drivers for the card or flash chip alone, and one command."
            ),
            cost=(
                "no boot from USB or network, no picture and no keyboard before Linux, no saved settings; "
                "the CPU's voltage stays as it is after reset"
            ),
            risk=Risk.FUNCTION,
            published=(Published("-250 ms, of the environment alone, in SPL (Falcon mode)", BOOTLIN_2019),),
        ),
        change=Change(
            Layer.BOOTLOADER,
            (
                "bootloader.options: "
                + ", ".join(f"{name}={value}" for name, value in _EVERYWHERE.items())
                + "; "
                + "; ".join(
                    f"{kind.value}: {', '.join(f'{name}={value}' for name, value in options.items())}"
                    for kind, options in _OF_BOARDS.items()
                )
                + "; BOOTCOMMAND loads from the board's medium and nothing else"
            ),
            with_bootloader_options(_medium_only),
            options_applies(_medium_only),
        ),
        proof=console_loses(r"(?m)^Net: {3}(?!No ethernet)|starting USB|HDMI PHY init|^No USB controllers|^Flash:"),
        removes=Removes(
            "U-Boot's search for USB devices, a screen, a network and its environment",
            functions=tuple(
                f"{name} [U-Boot]"
                for name in ("usb_init", "sunxi_de2_probe", "eth_initialize", "env_load", "pci_init", "flash_init")
            ),
        ),
    ),
    Technique(
        name="bootloader_no_regulator",
        text=Text(
            summary="lets SPL leave the CPU's voltage regulator alone, and the bus that it is on",
            mechanism=(
                "SPL starts an I2C bus for the one word that tells the regulator which voltage the CPU is to have. "
                "The bus's driver resets its controller and waits for 20 ms (twsi_reset(): `udelay(20000)` below a "
                "comment that says 2 ms), whether or not anybody has a word for the bus. Linux has its own driver."
            ),
            cost="the CPU's voltage stays as it is after reset, which must do for the clock that SPL sets",
            risk=Risk.FUNCTION,
            published=(none_published("U-Boot 2025.01, drivers/i2c/mvtwsi.c: twsi_reset()"),),
        ),
        change=Change(
            Layer.BOOTLOADER,
            f"bootloader.options: {', '.join(f'{name}={value}' for name, value in _NO_REGULATOR.items())}",
            with_bootloader_options(lambda system: _NO_REGULATOR),
            options_applies(lambda system: _NO_REGULATOR, _no_regulator_behind_spl),
        ),
        proof=never_runs("SPL:twsi_i2c_init"),
        removes=Removes("SPL's bus to the CPU's voltage regulator", functions=("twsi_i2c_init [SPL]",)),
    ),
)
