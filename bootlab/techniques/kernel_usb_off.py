"""Build without USB."""

from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_usb_off",
    options=off("USB_SUPPORT"),
    summary="builds a kernel without USB",
    mechanism=(
        "The core registers its bus, file system and thread, and the host controllers reset their "
        "hardware and wait for ports to settle."
    ),
    cost="no USB device works",
    risk=Risk.FUNCTION,
    sources=(Source("82 ms in am335x_child_init, not removed", BOOTLIN_2019),),
    shows=initcalls_gone("usb_init"),
    removes=Removes(
        "USB",
        functions=(
            "usb_init",
            "usb_common_init",
            "ehci_hcd_init",
            "ohci_hcd_mod_init",
            "uhci_hcd_init",
            "xhci_hcd_init",
            "xhci_pci_init",
            "usb_storage_driver_init",
        ),
    ),
)
