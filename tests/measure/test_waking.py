"""The record of a machine that wakes: counted from the wake, without what was before; and one that never woke."""

from bootlab.measure.waking import counted_from_wake, marks_of_waking, phases_of_waking
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
