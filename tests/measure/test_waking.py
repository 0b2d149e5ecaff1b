"""The record of a machine that wakes: counted from the wake, without what was before; and one that never woke."""

from bootlab.measure.waking import counted_from_wake, marks_of_waking, phases_of_waking, untold_of, wakes_of
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


def test_a_boot_that_was_not_suspended_is_counted_from_power_on() -> None:
    trace = parse_trace(BEFORE)
    assert counted_from_wake(trace, SUSPENDED) is trace
    cold = System.model_validate(SYSTEM)
    woken = parse_trace(WOKEN)
    assert counted_from_wake(woken, cold) is woken and counted_from_wake(None, SUSPENDED) is None


def test_phases_end_where_it_came_to() -> None:
    marks = {"power_on": 0, "wake": 0, "kernel_wakes": 10, "woke": 40, "ready": 50}
    assert "power_on" not in marks_of_waking(marks)
    assert [(one.name, one.duration_ns) for one in phases_of_waking(marks)] == [
        ("firmware", 10),
        ("kernel and devices", 30),
        ("application", 10),
    ]
    idle = {"wake": 0, "woke": 40}
    assert [(one.name, one.duration_ns) for one in phases_of_waking(idle)] == [("firmware, kernel and devices", 40)]
    assert marks_of_waking({"power_on": 0, "start_kernel": 10}) == {"power_on": 0, "start_kernel": 10}


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
