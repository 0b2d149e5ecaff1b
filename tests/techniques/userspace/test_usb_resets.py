"""Devices on USB that are reset as a machine wakes: what the kernel is told of them, and what it says."""

from collections.abc import Callable

import pytest

from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, applied
from tests.techniques.changes.test_before_sleep import suspended

Make = Callable[..., Evidence]


@pytest.mark.parametrize(
    ("name", "file", "line"),
    [
        ("userspace_usb_persist_none", "usb-persist", "write /sys/bus/usb/devices/*/power/persist 0\n"),
        ("userspace_usb_one_reset", "usb-one-reset", "write /sys/module/usbcore/parameters/old_scheme_first Y\n"),
        ("userspace_usb_short_recovery", "usb-short-recovery", "write /sys/bus/usb/devices/*/*-port*/quirks 2\n"),
    ],
)
def test_each_writes_a_setting_of_the_kernel(evidence: Make, name: str, file: str, line: str) -> None:
    changed = applied(name, suspended())
    assert changed.rootfs is not None and changed.rootfs.texts[f"/etc/bootlab/sleep.d/{file}"] == line
    told = {f"before_sleep.{file}": "3 written, 0 not taken, 0 late, 0 lines not understood"}
    assert ALL[name].proof.prove(evidence(**told), evidence()) is Effect.PROVEN
    assert ALL[name].proof.prove(evidence(), evidence()) is Effect.NOT_SHOWN
