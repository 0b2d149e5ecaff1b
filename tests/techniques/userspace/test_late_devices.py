"""Devices that come back behind the wake: which ones, and what says that they did."""

from collections.abc import Callable

from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, applied
from tests.techniques.changes.test_before_sleep import suspended

Make = Callable[..., Evidence]


def test_each_takes_the_drivers_off_one_class_of_devices_in_a_file_of_its_own() -> None:
    both = applied("userspace_cards_late", applied("userspace_usb_late", suspended()))
    assert both.rootfs is not None
    files = {name: text for name, text in both.rootfs.texts.items() if "sleep.d" in name}
    assert files == {
        "/etc/bootlab/sleep.d/usb-late": "late /sys/bus/pci/devices/* class 0x0c03\n",
        "/etc/bootlab/sleep.d/cards-late": "late /sys/bus/pci/devices/* class 0x02\n",
    }


def test_each_is_proved_by_its_own_devices(evidence: Make) -> None:
    done = "0 written, 0 not taken, 1 late, 0 lines not understood"
    of_usb = {"before_sleep.usb-late": done, "late.usb-late": "0000:00:01.0", "late_back.usb-late": "0000:00:01.0"}
    usb, cards = (ALL[f"userspace_{name}_late"].proof.prove for name in ("usb", "cards"))
    assert usb(evidence(**of_usb), evidence()) is Effect.PROVEN
    assert cards(evidence(**of_usb), evidence()) is Effect.NOT_SHOWN
