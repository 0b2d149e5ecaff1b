"""What is done before a machine sleeps: which systems take it, what they say, and what that proves."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bootlab.sources import EXAMPLES
from bootlab.system import PowerOn, PowerOnKind, System, read_system
from bootlab.techniques.changes.before_sleep import (
    before_hibernation,
    before_sleep,
    devices_came_late,
    memory_shrinks,
    page_cache_grows,
    settings_taken,
    usb_devices_wake_sooner,
)
from bootlab.techniques.model.evidence import Effect, Evidence
from bootlab.techniques.model.technique import Layer
from tests.techniques.asking import NOTHING

Make = Callable[..., Evidence]
CHANGE = before_sleep("it", "write /sys/power/pm_async 0", "late /sys/bus/pci/devices/*")


def suspended(kind: PowerOnKind = PowerOnKind.SUSPENDED) -> System:
    system = read_system(EXAMPLES / "persistence/late-devices.toml")
    return system.model_copy(update={"power_on": PowerOn(kind=kind)})


def hibernated() -> System:
    system = read_system(EXAMPLES / "persistence/hibernated.toml")
    return system.model_copy(update={"power_on": PowerOn(kind=PowerOnKind.HIBERNATED)})


@pytest.mark.parametrize("kind", [PowerOnKind.SUSPENDED, PowerOnKind.S2IDLE])
def test_a_machine_that_is_suspended_takes_a_file_of_lines(kind: PowerOnKind) -> None:
    # A keyboard on USB would take the key that wakes a machine which idles.
    system = suspended(kind).with_part("machine", devices=("qemu-xhci", "e1000e"))
    assert CHANGE.layer is Layer.USERSPACE and CHANGE.applies(system, NOTHING) is None
    changed = CHANGE.apply(system, NOTHING)
    assert changed.rootfs is not None
    assert changed.rootfs.texts["/etc/bootlab/sleep.d/it"] == (
        "write /sys/power/pm_async 0\nlate /sys/bus/pci/devices/*\n"
    )
    assert changed.rootfs.texts["/etc/day"] == "86400\n", "what the system file has stays"
    assert CHANGE.applies(changed, NOTHING) is not None


def test_who_is_not_suspended_by_bootlab_sleep_is_told_so() -> None:
    cold = read_system(EXAMPLES / "persistence/late-devices.toml")
    hibernated = cold.model_copy(update={"power_on": PowerOn(kind=PowerOnKind.HIBERNATED)})
    for system in (cold, hibernated):
        assert "is not suspended" in (CHANGE.applies(system, NOTHING) or "")
    other = suspended().with_part("initramfs", sleep_agent=True).with_part("rootfs", sleep_agent=False)
    assert "rootfs.sleep_agent = true" in (CHANGE.applies(other, NOTHING) or "")
    bare = read_system(EXAMPLES / "persistence/suspended-devices.toml")
    assert CHANGE.applies(bare, NOTHING) == "the system has no root file system"


def test_what_is_done_before_an_image_is_made_is_for_machines_that_make_one() -> None:
    change = before_hibernation("it", "keep caches")
    assert change.applies(hibernated(), NOTHING) is None and "is not suspended" in (
        CHANGE.applies(hibernated(), NOTHING) or ""
    )
    changed = change.apply(hibernated(), NOTHING)
    assert changed.rootfs is not None and changed.rootfs.texts["/etc/bootlab/sleep.d/it"] == "keep caches\n"
    assert "no image of the memory is made" in (change.applies(suspended(), NOTHING) or "")
    other = hibernated().with_part("rootfs", sleep_agent=False)
    assert "rootfs.sleep_agent = true" in (change.applies(other, NOTHING) or "")


def test_what_an_image_holds_is_proved_by_what_the_machine_says_as_it_wakes(evidence: Make) -> None:
    small, large = (evidence(image_page_cache_kib=kib, image_swapped_kib="0") for kib in ("10", "20"))
    assert memory_shrinks().prove(small, large) is page_cache_grows().prove(large, small) is Effect.PROVEN
    assert memory_shrinks().prove(large, small) is page_cache_grows().prove(small, large) is Effect.NONE


def said(make: Make, written: int, refused: int, wrong: int = 0) -> Evidence:
    told = f"{written} written, {refused} not taken, 0 late, {wrong} lines not understood"
    return make(**{"before_sleep.it": told})


def woken(boot: Evidence, **wakes_ms: float) -> Evidence:
    names = {"hub": "usb usb1", "keyboard": "usb 1-1", "tablet": "usb 1-2.4", "card": "e1000e 0000:00:02.0"}
    return replace(boot, wakes_ns={names[one]: round(ms * 1e6) for one, ms in wakes_ms.items()})


def test_settings_that_no_kernel_took_did_nothing_and_taken_ones_prove_nothing_alone(evidence: Make) -> None:
    prove, before = settings_taken("it", usb_devices_wake_sooner(to_percent=80)).prove, evidence()
    assert prove(said(evidence, 2, 1), before) is Effect.NOT_SHOWN, "taken, and nothing tells what it did"
    assert prove(said(evidence, 0, 0), before) is prove(said(evidence, 0, 3), before) is Effect.NONE
    assert prove(said(evidence, 1, 0, wrong=1), before) is Effect.NONE
    assert prove(before, before) is prove(said(evidence, 1, 0), said(evidence, 1, 0)) is Effect.NOT_SHOWN


def test_devices_that_took_as_long_as_before_overrule_what_the_kernel_took(evidence: Make) -> None:
    prove = settings_taken("it", usb_devices_wake_sooner(to_percent=80)).prove
    before, taken = woken(evidence(), keyboard=296, tablet=296), said(evidence, 1, 0)
    assert prove(woken(taken, keyboard=168, tablet=168), before) is Effect.PROVEN
    assert prove(woken(taken, keyboard=296, tablet=296), before) is Effect.NONE
    # No kernel took anything: that devices were quicker is then not its doing.
    assert prove(woken(said(evidence, 0, 1), keyboard=168), before) is Effect.NONE


def test_devices_on_usb_are_told_from_their_controllers_hubs_and_from_others(evidence: Make) -> None:
    prove, before = usb_devices_wake_sooner(to_percent=50).prove, woken(evidence(), hub=214, keyboard=296, tablet=296)
    assert prove(woken(evidence(), hub=214, card=63), before) is Effect.PROVEN, "less than 0.1 ms is not told"
    assert prove(woken(evidence(), keyboard=200, tablet=100), before) is Effect.NOT_SHOWN, "less, and not by as much"
    assert prove(woken(evidence(), hub=1, keyboard=296, tablet=296), before) is Effect.NONE
    # Nobody asked for them, or there were none.
    assert prove(evidence(), before) is prove(before, evidence()) is Effect.NOT_SHOWN
    assert prove(before, woken(evidence(), hub=214, card=63)) is Effect.NOT_SHOWN


def test_late_devices_are_proved_by_those_that_come_back(evidence: Make) -> None:
    prove, before = devices_came_late("it").prove, evidence()
    told = {"before_sleep.it": "0 written, 0 not taken, 1 late, 0 lines not understood", "late.it": "0000:00:01.0"}
    back = evidence(**told, **{"late_back.it": "0000:00:01.0"})
    assert prove(back, before) is Effect.PROVEN
    assert prove(evidence(**told), before) is Effect.NOT_SHOWN, "it may have ended before they came back"
    assert prove(said(evidence, 0, 0), before) is Effect.NONE, "there was no such device"
    assert prove(before, before) is prove(back, back) is Effect.NOT_SHOWN
