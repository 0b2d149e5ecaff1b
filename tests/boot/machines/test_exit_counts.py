"""How counts of exits are read and compared: a ring buffer, what an exit was, a difference without a name."""

import struct

import pytest

from bootlab.price.rules import read_rule_set
from tests.boot.machines.nested_kvm.comparison import Named, compare, table
from tests.boot.machines.nested_kvm.exits import OUTSIDE, Counted, KernelFunctions, count_traced
from tests.boot.machines.nested_kvm.ring_buffer import PAGE, Event, Format, read_events

FORMAT = """name: kvm_exit
ID: 77
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;
\tfield:unsigned long guest_rip;\toffset:16;\tsize:8;\tsigned:0;
\tfield:u64 info1;\toffset:24;\tsize:8;\tsigned:0;

print fmt: "whatever"
"""
SVM = read_rule_set("svm")
FUNCTIONS = KernelFunctions([(0xFFFFFFFF81000000, "text", "startup"), (0xFFFFFFFF81000100, "text", "outb_it")])


def record(pid: int, reason: int, rip: int, info1: int = 0, number: int = 77) -> bytes:
    return struct.pack("<HHiIIQQ", number, 0, pid, reason, 0, rip, info1)


def page(t: int, body: bytes, flags: int = 0) -> bytes:
    return (struct.pack("<QQ", t, len(body) | flags) + body).ljust(PAGE, b"\0")


def short(delta: int, data: bytes) -> bytes:
    return struct.pack("<I", len(data) // 4 | delta << 5) + data


def test_records_of_all_forms_are_read() -> None:
    one, two, three, other = (record(5, reason, 0x10, 3) for reason in (1, 2, 3, 4))
    long_form = struct.pack("<II", 3 << 5, len(two) + 4) + two
    extended = struct.pack("<II", 30 | 1 << 5, 2)
    padding = struct.pack("<II", 29 | 1 << 5, 8) + bytes(4)
    foreign = short(9, record(5, 9, 0, number=78))
    body = short(10, one) + long_form + extended + foreign + padding + short(4, three) + struct.pack("<I", 29)
    second = page(50, short(0, other))
    events = read_events([page(100, body), second], [Format.parse(FORMAT)])
    assert [(event.t, event.fields["exit_reason"]) for event in events] == [
        (50, 4), (110, 1), (113, 2), (113 + 1 + (2 << 27) + 9 + 1 + 4, 3),
    ]  # fmt: skip
    assert (events[0].task, events[0].fields["guest_rip"], events[0].fields["info1"]) == (5, 0x10, 3)


def test_lost_events_are_refused() -> None:
    with pytest.raises(ValueError, match="page 1 of a trace: events were lost"):
        read_events([page(1, short(1, record(5, 1, 0))) + page(2, b"", 1 << 31)], [Format.parse(FORMAT)])


def exit_of(reason: int, rip: int, info1: int = 0, info2: int = 0, task: int = 1) -> Event:
    return Event(0, "kvm_exit", task, {"exit_reason": reason, "guest_rip": rip, "info1": info1, "info2": info2})


def test_an_exit_is_what_kvm_did_with_it() -> None:
    """A port is the VMM's where that was asked, not signalled; a fault is a register's where somebody emulated one."""
    asked = Event(0, "kvm_userspace_exit", 1, {"reason": 2, "errno": 0})
    signalled = Event(0, "kvm_userspace_exit", 1, {"reason": 10, "errno": -4})
    mmio = Event(0, "kvm_mmio", 1, {"type": 1})
    out, inside = 0xFFFFFFFF81000104, 0x1000004
    events = [
        exit_of(0x7B, out, 0x3F8 << 16), asked,
        exit_of(0x7B, out, 0x80 << 16), asked,
        exit_of(0x7B, out, 0x20 << 16), signalled,
        exit_of(0x7B, out, 0x43 << 16),
        exit_of(0x400, out, 2, 0x5000),
        exit_of(0x400, inside, 2, 0x6000), exit_of(0x400, out, 2, 0x6000),
        exit_of(0x400, out, 2, 0xFEC00010), mmio,
        exit_of(0x400, out, 2, 0xFEC00010), mmio, asked,
        exit_of(0x400, 0x400000, 2, 0xFEE00020), mmio,
        exit_of(0x14, out), exit_of(0x60, out), exit_of(0x5F, out),
        exit_of(0x8D, out), exit_of(0x400, inside, 2, 0x7000),
    ]  # fmt: skip
    counted = count_traced(events, FUNCTIONS, SVM)
    assert counted.exits == {
        ("serial", "outb_it"): 1, ("pio_vmm", "outb_it"): 1, ("pio_kvm", "outb_it"): 1,
        ("mmio_ioapic", "outb_it"): 1, ("mmio_vmm", "outb_it"): 1, ("mmio_lapic", OUTSIDE): 1, ("cr4", "outb_it"): 1,
        ("xsetbv", "outb_it"): 1,
    }  # fmt: skip
    assert counted.by_time == {("pio_kvm", "outb_it"): 1}
    assert (counted.pages, counted.faults) == ({5: "outb_it", 6: "startup", 7: OUTSIDE}, 4)
    assert counted.host == {"interrupt": 1, "reason 0x5f": 1}


def counted(pages: int = 100, **exits: int) -> Counted:
    made = Counted(pages=dict.fromkeys(range(pages), "clear_page"))
    for name, count in exits.items():
        made.add(name, "start", 0, count, by_time=False)
    return made


def test_a_difference_without_a_name_is_told() -> None:
    predicted, real = counted(cpuid=10, cr4=3, serial=1000), counted(cpuid=19, cr4=3, serial=1015)
    named = Named("cpuid", ("start",), 9, "topoext")
    assert all(row.good for row in compare(predicted, real, [named]))
    assert "| cpuid | 10 | 19 | +9 | topoext |" in table("a boot", compare(predicted, real, [named]))
    for wrong in ([], [Named("cpuid", ("start",), 8, "too few")], [Named("cpuid", ("other",), 9, "elsewhere")]):
        rows = {row.name: row for row in compare(predicted, real, wrong)}
        assert rows["cpuid"].unnamed == (("start", 9),)
        assert rows["cr4"].good and rows["serial"].good


def test_a_loop_may_have_as_many_rounds_more_as_it_looked_at_its_clock() -> None:
    """How many is up to how long an exit takes there; with another number of looks it is no such loop."""
    predicted, real = counted(mmio_vmm=115), counted(mmio_vmm=298)
    named = Named("mmio_vmm", ("start",), 0, "calibration", rounds=True)
    for looks, good in ((297, True), (296, False)):
        for one, number in ((predicted, 114), (real, looks)):
            one.by_time.clear()
            one.add("mmio_vmm", "start", 0xF0, number, by_time=True)
        assert compare(predicted, real, [named])[0].good is good


def test_serial_and_pages_may_differ_by_2_percent_and_no_more() -> None:
    for serial, good in ((1020, True), (1040, False)):
        rows = compare(counted(serial=1000), counted(serial=serial), [])
        assert rows[0].good is good
    other = counted()
    other.pages = {number + (97 if number < 3 else 0) * 1000: "clear_page" for number in other.pages}
    assert not compare(other, counted(), [])[-1].good
