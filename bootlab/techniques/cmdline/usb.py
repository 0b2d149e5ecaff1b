"""Disks on USB, which are looked at only some time after they are found, where modprobe or udev loads their driver."""

from typing import Final

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.initramfs.usb import DELAY, LOOKED_AT_SOONER
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.subjects import NO_USB_DELAY
from bootlab.techniques.model.technique import Technique

_WORD: Final = "usb_storage.delay_use=0"


def _waits(system: System, measured: Measured) -> str | None:
    delay = measured.facts.get(DELAY)
    if delay is None:
        return "the baseline boot has no usb-storage"
    # Where a plan loads the driver (initramfs.coldplug) the boot will show that the word did nothing.
    return "the driver does not wait already" if delay == "0" else None


TECHNIQUES = (
    Technique(
        name="cmdline_usb_delay_none",
        text=NO_USB_DELAY,
        change=kernel_words(_WORD, _waits),
        proof=LOOKED_AT_SOONER,
    ),
)
