"""What may be said of a wake: who wakes a machine, when, before whom, and which machine cannot be woken so."""

from typing import Any

import pytest
from pydantic import ValidationError

from bootlab.system import System, pressed_ns, sleep_words
from bootlab.system.complaint import complaints

SYSTEM: dict[str, Any] = {
    "name": "sleeper",
    "machine": {"type": "q35"},
    "kernel": {"package": "linux-image-cloud-amd64"},
    "initramfs": {"bootlab_init": True, "sleep_agent": True},
    "booted": {"mark": "ready"},
}
RTC = {"by": "rtc", "at_s": 5, "ignition_s": 8.5}
KEY = {"by": "key", "at_s": 0.25}
CLOCK_S = 1_700_000_000


def read(kind: str, **parts: Any) -> System:
    return System.model_validate({**SYSTEM, "power_on": {"kind": kind}, **parts})


def told(system: System) -> tuple[str, int | None]:
    assert system.power_on is not None
    return sleep_words(system.power_on, system.wake, CLOCK_S), pressed_ns(system.power_on, system.wake)


def test_a_guest_is_told_how_to_sleep_and_by_what_it_is_woken() -> None:
    assert told(read("suspended")) == ("bootlab.sleep=mem", None)
    assert told(read("suspended", wake=RTC)) == ("bootlab.sleep=mem bootlab.sleep.alarm=5", None)
    of_day = told(read("suspended", wake={**RTC, "at": "power_on"}))
    assert of_day == ("bootlab.sleep=mem bootlab.sleep.alarm=@1700000005", None), "at a time that its clock shows"
    assert told(read("suspended", wake=KEY)) == ("bootlab.sleep=mem", 250_000_000)
    assert told(read("s2idle")) == ("bootlab.sleep=idle", 2_000_000_000)
    assert told(read("s2idle", wake=KEY)) == ("bootlab.sleep=idle", 250_000_000)
    assert told(read("s2idle", wake={**KEY, "at": "start_kernel"})) == ("bootlab.sleep=idle", 250_000_000)
    both = System.model_validate({**SYSTEM, "power_on": {"kind": "s2idle", "devices": True}})
    assert told(both)[0] == "bootlab.sleep=idle bootlab.sleep.devices"


def test_a_cold_boot_of_a_system_that_would_be_woken_is_told_nothing() -> None:
    system = read("cold", wake=RTC)
    assert sleep_words(system.power_on, system.wake, CLOCK_S) == "" == sleep_words(None, system.wake, CLOCK_S)
    assert system.wake is not None and system.wake.ignition_ns == 8_500_000_000


@pytest.mark.parametrize(
    ("kind", "parts", "said"),
    [
        ("suspended", {"wake": {**RTC, "at_s": 5.5}}, 'by = "rtc" knows whole seconds'),
        ("suspended", {"wake": {**RTC, "ignition_s": 4}}, "ignition_s is 4, before at_s (5)"),
        ("suspended", {"wake": {**RTC, "at_s": 0}}, "wake.at_s"),
        ("suspended", {"wake": {"by": "rtc"}}, "wake.at_s"),
        ("suspended", {"wake": {**RTC, "at": "asleep"}}, 'by = "rtc" takes "suspending" or "power_on"'),
        ("suspended", {"wake": {**KEY, "at": "power_on"}}, 'behind a mark that is seen, as "start_kernel"'),
        ("suspended", {"wake": {**KEY, "at": "woke"}}, "is made as the machine wakes"),
        ("suspended", {"wake": {**KEY, "at": "no mark"}}, "is no mark's name"),
        ("suspended", {"wake": {**RTC, "by": "lan"}}, "no network card of QEMU tells of a packet"),
        ("suspended", {"wake": {**RTC, "by": "can"}}, "no CAN card of QEMU"),
        ("suspended", {"wake": {**RTC, "by": "door"}}, "wake.by"),
        ("s2idle", {"wake": {**KEY, "at": "asleep"}}, 'wake.at = "asleep" is where a kernel enters S3'),
        ("s2idle", {"wake": RTC}, 'wake.by = "key" wakes it'),
        ("s2idle", {"machine": {"type": "q35", "devices": ["qemu-xhci", "usb-kbd,id=k"]}}, "usb-kbd takes the key"),
        ("s2idle", {"machine": {"type": "microvm"}}, 'machine.type "q35" and "pc"'),
        ("suspended", {"kernel": {"package": "linux-image-cloud-amd64", "entry": "pvh"}}, "outlives it"),
        ("s2idle", {"initramfs": {"bootlab_init": True}}, "sleep_agent = true"),
        ("cold", {"initramfs": {"bootlab_init": True}, "wake": RTC}, "wake is of a machine that sleeps"),
        ("s2idle", {"clock": {"kind": "wall"}}, 'clock.kind = "virtual"'),
    ],
)
def test_what_cannot_wake_is_refused_with_its_key(kind: str, parts: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        read(kind, **parts)
    assert said in complaints(caught.value)[0]


def test_a_machine_that_only_idles_may_have_been_entered_through_pvh() -> None:
    assert read("s2idle", kernel={"package": "linux-image-cloud-amd64", "entry": "pvh"}).power_on is not None
