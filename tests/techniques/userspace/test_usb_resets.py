"""Devices on USB that are reset as a machine wakes: what the kernel is told of them, and what it says."""

from collections.abc import Callable
from dataclasses import replace

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
    assert ALL[name].proof.prove(evidence(**told), evidence()) is Effect.NOT_SHOWN
    assert ALL[name].proof.prove(evidence(), evidence()) is Effect.NOT_SHOWN


def taken(make: Make, file: str, *log: str, **wakes_ms: int) -> Evidence:
    told = {f"before_sleep.{file}": "2 written, 0 not taken, 0 late, 0 lines not understood"}
    wakes_ns = {"usb 1-1": wakes_ms.get("keyboard", 0) * 1_000_000, "usb usb1": 143_000_000}
    return replace(make(*log, **told), wakes_ns=wakes_ns if wakes_ms else {})


def test_without_persist_a_device_is_let_go_and_none_is_reset(evidence: Make) -> None:
    """As Debian 12's kernel said and noted it, as a machine woke with a keyboard and a tablet."""
    prove = ALL["userspace_usb_persist_none"].proof.prove
    reset = "usb 1-1: reset high-speed USB device number 2 using xhci_hcd"
    before = replace(evidence(reset), wakes_ns={"usb 1-1": 296_118_000, "usb usb1": 143_666_000})
    gone = "usb 1-1: USB disconnect, device number 2"
    assert prove(taken(evidence, "usb-persist", gone, keyboard=296), before) is Effect.PROVEN
    assert prove(taken(evidence, "usb-persist", keyboard=0), before) is Effect.PROVEN
    assert prove(taken(evidence, "usb-persist", reset, keyboard=296), before) is Effect.NONE
    assert prove(taken(evidence, "usb-persist", reset), before) is Effect.NOT_SHOWN, "the log tells neither"


@pytest.mark.parametrize(
    ("name", "file", "keyboard_ms"),
    [
        ("userspace_usb_one_reset", "usb-one-reset", 168),
        ("userspace_usb_short_recovery", "usb-short-recovery", 200),
    ],
)
def test_resets_that_are_shorter_are_proved_by_each_devices_own_time(
    evidence: Make, name: str, file: str, keyboard_ms: int
) -> None:
    prove = ALL[name].proof.prove
    before = replace(evidence(), wakes_ns={"usb 1-1": 296_118_000, "usb usb1": 143_666_000})
    assert prove(taken(evidence, file, keyboard=keyboard_ms), before) is Effect.PROVEN
    assert prove(taken(evidence, file, keyboard=297), before) is Effect.NONE
