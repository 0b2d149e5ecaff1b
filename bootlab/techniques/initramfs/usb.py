"""Disks on USB, which are looked at only some time after they are found: that time shared, or not waited."""

from typing import Final

from bootlab.system import System
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import gap_shrinks, line_comes_earlier
from bootlab.techniques.model.published import CROZAT_2008, Published
from bootlab.techniques.model.subjects import NO_USB_DELAY
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

STORAGE: Final = "usb_storage"
DELAY: Final = "parameter.usb_storage.delay_use"
"""The fact that says how many seconds the driver waits before it looks at a new device."""
_HOSTS: Final = ("xhci_pci", "ehci_pci", "ohci_pci", "uhci_hcd", "xhci_plat_hcd", "dwc3", "dwc2")
LOOKED_AT_SOONER: Final = gap_shrinks(r"scsi host\d+: usb-storage", r"scsi \d+:0:0:\d+: ")
"""The first disk is asked what it is soon behind the moment its host is there; the setting alone would show nothing."""
_REGISTERED: Final = "usbcore: registered new interface driver usb-storage"


def _loaded(measured: Measured) -> list[str]:
    return [name.replace("-", "_") for name in measured.facts.get("modules", "").split()]


def _loads_the_driver(system: System, measured: Measured) -> str | None:
    if system.initramfs is None or system.initramfs.coldplug is None:
        return "the initramfs has no plan of modules (initramfs.coldplug)"
    if STORAGE not in _loaded(measured):
        return f"the baseline boot did not load {STORAGE}"
    return None


def _waits(system: System, measured: Measured) -> str | None:
    if (why := _loads_the_driver(system, measured)) is not None:
        return why
    assert system.initramfs is not None and system.initramfs.coldplug is not None
    if STORAGE in system.initramfs.coldplug.parameters:
        return f"initramfs.coldplug.parameters has those of {STORAGE} already"
    return None if measured.facts.get(DELAY, "1") != "0" else "the driver does not wait already"


def _is_late(system: System, measured: Measured) -> str | None:
    if (why := _loads_the_driver(system, measured)) is not None:
        return why
    assert system.initramfs is not None and system.initramfs.coldplug is not None
    return f"initramfs.coldplug.first has {STORAGE} already" if STORAGE in system.initramfs.coldplug.first else None


def _without_delay(system: System, measured: Measured) -> System:
    assert system.initramfs is not None and system.initramfs.coldplug is not None
    plan = system.initramfs.coldplug
    return _with_plan(system, parameters={**plan.parameters, STORAGE: "delay_use=0"})


def _first(system: System, measured: Measured) -> System:
    assert system.initramfs is not None and system.initramfs.coldplug is not None
    hosts = [name for name in _HOSTS if name in _loaded(measured)]
    return _with_plan(system, first=tuple(dict.fromkeys((*hosts, STORAGE, *system.initramfs.coldplug.first))))


def _with_plan(system: System, **changes: object) -> System:
    assert system.initramfs is not None and system.initramfs.coldplug is not None
    plan = system.initramfs.coldplug.model_dump() | changes
    return system.with_part("initramfs", coldplug=plan)


TECHNIQUES = (
    Technique(
        name="initramfs_usb_first",
        text=Text(
            summary="loads the drivers of disks on USB first, so that their wait passes while the rest is loaded",
            mechanism=(
                "A disk on USB is enumerated, and then left alone for a second before it is asked what it is "
                "(usb-storage's delay_use; five seconds until 2.6.27, and 15 for some devices). Begun first, that "
                "second is one in which all other modules are loaded."
            ),
            cost="the other devices come a little later, by what these drivers execute",
            risk=Risk.NONE,
            published=(Published("3 s of the 5 on average, usb-storage loaded before udev begins", CROZAT_2008),),
        ),
        change=Change(
            Layer.INITRAMFS,
            'initramfs.coldplug.first = ["xhci_pci", "usb_storage", ...]',
            _first,
            _is_late,
        ),
        proof=line_comes_earlier(_REGISTERED),
    ),
    Technique(
        name="initramfs_usb_delay_none",
        text=NO_USB_DELAY,
        change=Change(
            Layer.INITRAMFS,
            'initramfs.coldplug.parameters.usb_storage = "delay_use=0"',
            _without_delay,
            _waits,
        ),
        proof=LOOKED_AT_SOONER,
    ),
)
