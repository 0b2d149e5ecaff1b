"""Look at nothing but the card: no USB, no network, no screen, no environment."""

from bootlab.techniques.bootloader import console_loses, options_applies, with_bootloader_options
from bootlab.techniques.build_options import BOOTLIN_2019, off
from bootlab.techniques.technique import Layer, Removes, Risk, Source, Technique

_OPTIONS = {
    **off("USB_EHCI_HCD", "USB_OHCI_HCD", "VIDEO_DE2", "VIDEO", "NET", "EFI_LOADER", "ENV_IS_IN_FAT", "SY8106A_POWER"),
    "NO_NET": "y",
    "ENV_IS_NOWHERE": "y",
    "PREBOOT": "",
    "BOOTCOMMAND": "load mmc 0:1 ${scriptaddr} boot.scr; source ${scriptaddr}",
}

TECHNIQUE = Technique(
    name="bootloader_no_scan",
    layer=Layer.BOOTLOADER,
    summary="lets U-Boot boot from the card at once, without looking for a screen, USB, network or saved settings",
    mechanism=(
        "U-Boot's default is to find out what there is: it starts the USB hosts and waits for devices, brings up the "
        "network card, waits for a monitor on HDMI, reads its environment from a file, and tries one place after the "
        "other for something to boot. Here it has drivers for the card alone, and one command."
    ),
    knob="bootloader.options: " + ", ".join(f"{name}={value}" for name, value in _OPTIONS.items()),
    cost=(
        "no boot from USB or network, no picture and no keyboard before Linux, no saved settings; the CPU's voltage "
        "stays as it is after reset"
    ),
    risk=Risk.FUNCTION,
    sources=(Source("-250 ms, of the environment alone, in SPL (Falcon mode)", BOOTLIN_2019),),
    apply=with_bootloader_options(_OPTIONS),
    prove=console_loses(r"(?m)^Net:|starting USB|HDMI PHY init"),
    applies=options_applies(_OPTIONS),
    removes=Removes(
        "U-Boot's search for USB devices, a screen, a network and its environment",
        functions=tuple(f"{name} [U-Boot]" for name in ("usb_init", "sunxi_de2_probe", "eth_initialize", "env_load")),
    ),
)
