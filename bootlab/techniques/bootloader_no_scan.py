"""Look at nothing but the medium with the kernel: no USB, no network, no screen, no environment."""

from bootlab.system import MachineType, System
from bootlab.techniques.bootloader import console_loses, options_applies, with_bootloader_options
from bootlab.techniques.build_options import BOOTLIN_2019, off
from bootlab.techniques.technique import Layer, Removes, Risk, Source, Technique

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


def _options(system: System) -> dict[str, str]:
    board = system.board
    assert board is not None
    return {**_EVERYWHERE, **_OF_BOARDS[system.machine.type], "BOOTCOMMAND": board.boot_command}


TECHNIQUE = Technique(
    name="bootloader_no_scan",
    layer=Layer.BOOTLOADER,
    summary="lets U-Boot boot from its medium at once, without looking for a screen, USB, network or saved settings",
    mechanism=(
        "U-Boot's default is to find out what there is: it starts the USB hosts and waits for devices, brings up the "
        "network card, waits for a monitor on HDMI, reads its environment from a file, and tries one place after the "
        "other for something to boot. Here it has drivers for the card or flash chip alone, and one command."
    ),
    knob=(
        "bootloader.options: "
        + ", ".join(f"{name}={value}" for name, value in _EVERYWHERE.items())
        + "; "
        + "; ".join(
            f"{kind.value}: {', '.join(f'{name}={value}' for name, value in options.items())}"
            for kind, options in _OF_BOARDS.items()
        )
        + "; BOOTCOMMAND loads from the board's medium and nothing else"
    ),
    cost=(
        "no boot from USB or network, no picture and no keyboard before Linux, no saved settings; the CPU's voltage "
        "stays as it is after reset"
    ),
    risk=Risk.FUNCTION,
    sources=(Source("-250 ms, of the environment alone, in SPL (Falcon mode)", BOOTLIN_2019),),
    apply=with_bootloader_options(_options),
    prove=console_loses(r"(?m)^Net: {3}(?!No ethernet)|starting USB|HDMI PHY init|^No USB controllers|^Flash:"),
    applies=options_applies(_options),
    removes=Removes(
        "U-Boot's search for USB devices, a screen, a network and its environment",
        functions=tuple(
            f"{name} [U-Boot]"
            for name in ("usb_init", "sunxi_de2_probe", "eth_initialize", "env_load", "pci_init", "flash_init")
        ),
    ),
)
