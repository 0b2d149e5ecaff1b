"""Devices that a machine which wakes need not wait for: their drivers are taken off before it sleeps, and come back."""

from typing import Final

from bootlab.techniques.changes.before_sleep import before_sleep, devices_came_late
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Risk, Technique, Text

_LATE: Final = "late /sys/bus/pci/devices/* class"
_HOW: Final = (
    "No program runs before the last driver's resume callback has ended (dpm_resume() waits for all of them). A driver "
    "that is taken off has none, and is bound again once the machine has been idle for half a second."
)
_SOURCE: Final = none_published("Linux 6.12 source: drivers/base/power/main.c, drivers/usb/core/hub.c")

TECHNIQUES = (
    Technique(
        name="userspace_usb_late",
        text=Text(
            summary="wakes USB after the system is ready: its controllers have no driver while the machine sleeps",
            mechanism=(
                f"{_HOW} Of USB that is the waiting for each hub's ports, and for each device of a controller that has "
                "forgotten its state, one after another: they are reset twice, with pauses of 50 and 60 ms."
            ),
            cost=(
                "keyboards, cards and disks on USB are gone until then, and come back as new devices, at least half a "
                "second after ready: programs that had them open must open them again; what is on such a disk must not "
                "be mounted, and a controller that a disk hangs on is left alone; a key on USB does not wake the "
                "machine; falling asleep takes longer"
            ),
            risk=Risk.FUNCTION,
            published=(_SOURCE,),
        ),
        change=before_sleep("usb-late", f"{_LATE} 0x0c03"),
        proof=devices_came_late("usb-late"),
    ),
    Technique(
        name="userspace_cards_late",
        text=Text(
            summary="wakes network cards after the system is ready: they have no driver while the machine sleeps",
            mechanism=f"{_HOW} A network card's callback resets the card and sets its link up, with pauses.",
            cost=(
                "there is no network until then, at least half a second after ready, and each interface comes back as "
                "a new one: without its addresses, until udev, ifupdown or a network manager sets it up again; "
                "connections are lost; a packet does not wake the machine; falling asleep takes longer"
            ),
            risk=Risk.FUNCTION,
            published=(_SOURCE,),
        ),
        change=before_sleep("cards-late", f"{_LATE} 0x02"),
        proof=devices_came_late("cards-late"),
    ),
)
