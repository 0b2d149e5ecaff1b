"""Buses and devices that a kernel can be built without, and how they go to sleep."""

from bootlab.system import System
from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.changes.machine import has_pci_devices
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import initcalls_gone
from bootlab.techniques.model.published import (
    BOOTLIN_2019,
    FIRECRACKER,
    LINUX_612,
    VENTURA_2024,
    Published,
    none_published,
)
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import PCI_SEARCH
from bootlab.techniques.model.technique import Risk, Text


def _needs_no_pci(system: System, measured: Measured) -> str | None:
    if has_pci_devices(system):
        return f"the disks and network of {system.machine.type.value} are PCI devices"
    return None


TECHNIQUES = (
    rebuilt_kernel(
        "kernel_pci_off",
        Text(
            summary="builds without the PCI bus and all drivers of its devices",
            mechanism=(
                "Scanning a bus reads the configuration space of 32 slots and sizes every BAR by writing "
                "to it; drivers register by the dozen, and quirks run over every device found."
            ),
            cost="no PCI device works; for machines whose devices sit on virtio-mmio",
            risk=Risk.FUNCTION,
            published=(none_published(f"{VENTURA_2024}, a part of 35.5 -> 9.1 ms"),),
        ),
        WantedOptions(off("PCI"), applies=_needs_no_pci),
        shows=initcalls_gone("pci_subsys_init", "pci_driver_init"),
        removes=PCI_SEARCH.also(
            "pci_driver_init",
            "pcibus_class_init",
            "pci_sysfs_init",
            "pci_proc_init",
            "__pci_register_driver",
            "pci_setup",
            "early_quirks",
            "early_pci_scan_bus",
            what="the search for PCI buses and devices, and drivers of them",
        ),
    ),
    rebuilt_kernel(
        "kernel_usb_off",
        Text(
            summary="builds a kernel without USB",
            mechanism=(
                "The core registers its bus, file system and thread, and the host controllers reset their "
                "hardware and wait for ports to settle."
            ),
            cost="no USB device works",
            risk=Risk.FUNCTION,
            published=(Published("82 ms in am335x_child_init, not removed", BOOTLIN_2019),),
        ),
        WantedOptions(off("USB_SUPPORT")),
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
    ),
    rebuilt_kernel(
        "kernel_input_off",
        Text(
            summary="builds without keyboards, mice, virtual terminals and graphics",
            mechanism=(
                "The i8042 driver resets a controller and waits for ports that do not answer, virtual "
                "terminals allocate screens, and drivers of HID devices and graphics register."
            ),
            cost="no screen, keyboard and mouse; Ctrl-Alt-Del and the power button from the host do nothing",
            risk=Risk.FUNCTION,
            published=(
                Published('i8042: "a few tens of milliseconds"', f"{FIRECRACKER}, docs"),
                Published("about 8 ms", "MVM: tinylabscom/mvm issue 2299"),
            ),
        ),
        WantedOptions(
            off(
                "INPUT",
                "VT",
                "SERIO",
                "SERIO_I8042",
                "KEYBOARD_ATKBD",
                "MOUSE_PS2",
                "INPUT_KEYBOARD",
                "INPUT_MOUSE",
                "HID_SUPPORT",
                "HID",
                "USB_HID",
                "DRM",
                "FB",
                "VGA_CONSOLE",
            ),
            gates={
                "EXPERT": "y",
                **off(
                    "RMI4_CORE",
                    "SURFACE_HID",
                    "SURFACE_KBD",
                    "DRM_I915",
                    "DRM_VIRTIO_GPU",
                    "INPUT_MISC",
                    "INPUT_TABLET",
                    "INPUT_TOUCHSCREEN",
                    "INPUT_JOYSTICK",
                ),
            },
        ),
        shows=initcalls_gone("i8042_init", "input_init", "vtconsole_class_init"),
        removes=Removes(
            "keyboard, mouse, virtual terminals and graphics",
            functions=(
                "i8042_init",
                "input_init",
                "atkbd_init",
                "psmouse_init",
                "mousedev_init",
                "evdev_init",
                "serio_init",
                "hid_init",
                "hid_generic_init",
                "con_init",
                "vty_init",
                "vtconsole_class_init",
                "drm_core_init",
                "i915_init",
                "fbmem_init",
            ),
        ),
    ),
    rebuilt_kernel(
        "kernel_sleep_off",
        Text(
            summary="builds without sleeping states of the whole machine",
            mechanism=(
                "Devices register what they do on the way to sleep, and late in boot a disk is searched "
                "for a saved image."
            ),
            cost="no suspend, no hibernation",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, kernel/power/Kconfig"),),
        ),
        WantedOptions(off("SUSPEND", "HIBERNATION"), gates=off("XEN_DOM0")),
        shows=initcalls_gone("software_resume_initcall", "software_resume"),
        removes=Removes(
            "sleeping states",
            functions=(
                "software_resume_initcall",
                "software_resume",
                "pm_disk_init",
                "acpi_sleep_init",
                "snapshot_device_init",
            ),
        ),
    ),
)
