"""The record of a machine that wakes: counted from the wake, without what was before; and one that never woke."""

import pytest

from bootlab.measure.record import EarlyWakeRecord
from bootlab.measure.waking import (
    counted_from_wake,
    early_wake_of,
    marks_of_waking,
    phases_of_waking,
    untold_of,
    wake_ns,
    wakes_of,
    why_unwoken,
)
from bootlab.profile.recorded.trace import parse_trace
from bootlab.system import System

SYSTEM = {
    "name": "sleeper",
    "machine": {"type": "q35"},
    "kernel": {"package": "linux-image-cloud-amd64"},
    "initramfs": {"bootlab_init": True, "sleep_agent": True},
    "booted": {"mark": "ready"},
}
SUSPENDED = System.model_validate({**SYSTEM, "power_on": {"kind": "suspended"}})
IDLED = System.model_validate({**SYSTEM, "power_on": {"kind": "s2idle"}})
BEFORE = "bootlab-trace 1\nclock virtual 0\nmark start_kernel 10 10\nguest suspending 100 90\n"
WOKEN = BEFORE + "mark wake 150 95\nmark kernel_wakes 160 105\nguest woke 190 130\nguest ready 200 140\n"


def test_all_is_counted_from_the_wake() -> None:
    trace = counted_from_wake(parse_trace(WOKEN), SUSPENDED)
    assert trace is not None
    assert {name: (at.t_ns, at.instructions) for name, at in trace.marks.items()} == {
        "wake": (0, 0),
        "kernel_wakes": (10, 10),
    }
    assert {name: at.t_ns for name, at in trace.guest_marks.items()} == {"woke": 40, "ready": 50}
    assert trace.idle_ns(trace.guest_marks["ready"]) == 5
    assert wake_ns(parse_trace(WOKEN), SUSPENDED) == 150
    assert wake_ns(parse_trace(BEFORE), SUSPENDED) == wake_ns(None, SUSPENDED) == 0


def test_a_boot_that_was_not_suspended_is_counted_from_power_on() -> None:
    trace = parse_trace(BEFORE)
    assert counted_from_wake(trace, SUSPENDED) is trace
    cold = System.model_validate(SYSTEM)
    woken = parse_trace(WOKEN)
    assert counted_from_wake(woken, cold) is woken and counted_from_wake(None, SUSPENDED) is None


def test_phases_end_where_it_came_to() -> None:
    marks = {"power_on": 0, "wake": 0, "kernel_wakes": 10, "woke": 40, "ready": 50}
    assert "power_on" not in marks_of_waking(marks)
    assert [(one.name, one.duration_ns) for one in phases_of_waking(marks, SUSPENDED)] == [
        ("firmware", 10),
        ("kernel and devices", 30),
        ("application", 10),
    ]
    unseen = {"wake": 0, "woke": 40}
    names = [[one.name for one in phases_of_waking(unseen, system)] for system in (SUSPENDED, IDLED)]
    assert names == [["firmware, kernel and devices"], ["kernel and devices"]], "no firmware has a part in s2idle"
    assert marks_of_waking({"power_on": 0, "start_kernel": 10}) == {"power_on": 0, "start_kernel": 10}


@pytest.mark.parametrize(
    ("ignition_s", "ignition_ns", "waited_ns", "idle_ns"),
    [(None, None, None, None), (3, 2_999_999_950, 0, 2_999_999_905), (6e-8, 10, 40, 5)],
)
def test_an_early_wake_is_told_with_what_it_saved_and_what_it_costs(
    ignition_s: float | None, ignition_ns: int | None, waited_ns: int | None, idle_ns: int | None
) -> None:
    wake = {"by": "key", "at_s": 5e-8, "ignition_s": ignition_s}
    system = System.model_validate({**SYSTEM, "power_on": {"kind": "suspended"}, "wake": wake})
    whole = parse_trace(WOKEN)
    counted = counted_from_wake(whole, system)
    assert counted is not None
    ready = counted.guest_marks["ready"]
    assert early_wake_of(whole, ready, system) == EarlyWakeRecord(
        by="key",
        at_to_wake_ns=50,
        slept_ns=50,
        ignition_ns=ignition_ns,
        ignition_to_ready_ns=waited_ns,
        idle_awake_ns=idle_ns,
    )
    slept = parse_trace(WOKEN.replace("mark wake", "mark asleep 130 92\nmark wake"))
    found = early_wake_of(slept, ready, system)
    assert found is not None and found.fell_asleep_ns == 30 and found.slept_ns == 50
    assert early_wake_of(whole, ready, SUSPENDED) is None
    assert early_wake_of(parse_trace(BEFORE), None, system) is None and early_wake_of(None, None, system) is None


@pytest.mark.parametrize(("by", "at", "behind_ns"), [("key", "start_kernel", 140), ("rtc", "power_on", 150)])
def test_wake_and_ignition_count_from_the_mark_that_is_named(by: str, at: str, behind_ns: int) -> None:
    wake = {"by": by, "at": at, "at_s": 2, "ignition_s": 3}
    system = System.model_validate({**SYSTEM, "power_on": {"kind": "suspended"}, "wake": wake})
    whole = parse_trace(WOKEN)
    counted = counted_from_wake(whole, system)
    found = early_wake_of(whole, None if counted is None else counted.guest_marks["ready"], system)
    assert found is not None and (found.at, found.at_to_wake_ns, found.slept_ns) == (at, behind_ns, 50)
    assert found.ignition_ns == 3_000_000_000 - behind_ns and found.ignition_to_ready_ns == 0
    never = early_wake_of(parse_trace(WOKEN.replace("start_kernel", "other")), None, system)
    assert never is not None and (never.at_to_wake_ns is None) == (at == "start_kernel")


@pytest.mark.parametrize(
    ("at", "at_s", "said"),
    [
        ("door", 1, "wake.at is door, a mark that it did not make"),
        ("suspending", 2e-8, "the key came 0.000 ms before it was asleep"),
        ("start_kernel", 2e-8, "the key came 0.000 ms before it was asleep"),
        ("asleep", 1e-8, "was not woken in this time"),
    ],
)
def test_why_nothing_woke_a_machine_is_said(at: str, at_s: float, said: str) -> None:
    wake = {"by": "key", "at": at, "at_s": at_s}
    system = System.model_validate({**SYSTEM, "power_on": {"kind": "suspended"}, "wake": wake})
    slept = BEFORE + "mark asleep 130 92\n"
    assert said in why_unwoken(parse_trace(slept), system)
    assert why_unwoken(parse_trace(WOKEN), system) == why_unwoken(parse_trace(slept), SUSPENDED) == ""
    assert why_unwoken(None, system) == ""
    awake = parse_trace(BEFORE.replace("suspending", "awake"))
    assert why_unwoken(awake, system) == "", "it had not begun to fall asleep"


def test_devices_are_told_the_longest_first() -> None:
    facts = {"wake.0": "63190 0000:00:02.0 e1000e", "wake.1": "296120 1-1 usb", "wake.2": "7 serio0 i8042 kbd",
             "wake.3": "soon 1-2 usb", "wake_rest": "187 190"}  # fmt: skip
    assert [(one.device, one.driver, one.duration_ns) for one in wakes_of(facts)] == [
        ("1-1", "usb", 296_120_000),
        ("0000:00:02.0", "e1000e", 63_190_000),
        ("serio0", "i8042 kbd", 7_000),
    ]
    assert wakes_of({}) == []


def test_what_is_not_told_of_devices_is_said() -> None:
    assert untold_of({"wake_rest": "0 0"}) == ""
    assert untold_of({"wake_rest": "187 190"}) == "187 devices more, 0.190 ms together"
    lost = untold_of({"wake_rest": "0 0", "wake_lost": "12 0 3"})
    assert lost == "12 events that the kernel had no room for; 3 lines not understood"
    assert untold_of({"wake_untold": "No such file or directory"}).startswith("the kernel notes no such events")
    assert untold_of({}) == "the machine did not come to tell of them"
