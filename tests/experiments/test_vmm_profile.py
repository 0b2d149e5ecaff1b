"""What is made of traces of a VMM: series of its requests, and advice that names the host's setting."""

from bootlab.experiments.vmm_profile import advice, request_series
from bootlab.importers.reading.tally import Tally
from bootlab.importers.vmm.strace import Calls, parse
from bootlab.measure.host.kvm_settings import KvmSettings
from bootlab.measure.host.process_use import ProcessUse

SLOW_HOST = KvmSettings("/sys/fs/cgroup", favordynmods=False, nx_huge_pages="Y", huge_pages="never")
FAST_HOST = KvmSettings("/sys/fs/cgroup", favordynmods=True, nx_huge_pages="never", huge_pages="always")


def trace(create_ms: int) -> Calls:
    """Return the trace of a VMM whose VM took so long."""
    rows = [
        f"7 100.000000000 ioctl(3</dev/kvm>, KVM_CREATE_VM, 0) = 8<anon_inode:kvm-vm> <0.{create_ms:03}000000>",
        "7 100.100000000 ioctl(8<anon_inode:kvm-vm>, KVM_SET_USER_MEMORY_REGION, {slot=0}) = 0 <0.002000000>",
        "7 100.110000000 ioctl(9<anon_inode:kvm-vcpu:0>, KVM_RUN, 0) = 0 <0.001000000>",
    ]
    return parse(rows, Tally())


def test_a_vm_that_takes_long_to_make_has_the_host_settings_beside_it() -> None:
    making, slots, exits, faults = advice([trace(30)] * 3, ProcessUse(0, 0, 4000, 2), 128, SLOW_HOST)
    assert "30.000 ms" in making and "mount -o remount,favordynmods /sys/fs/cgroup" in making
    assert "kvm.nx_huge_pages is Y" in making
    assert "changed 1 times, for 2.000 ms" in slots and "firmware" not in slots and "1 times (KVM_RUN)" in exits
    assert "4002 page faults" in faults and "32768 pages" in faults and "are never here" in faults


def test_two_humps_are_named() -> None:
    traces = [trace(1)] * 10 + [trace(30)] * 10
    making = advice(traces, None, 128, SLOW_HOST)[0]
    assert "two humps around 1.000 and 30.000 ms" in making


def test_where_nothing_is_long_nothing_is_advised() -> None:
    making, _, _, faults = advice([trace(1)] * 3, ProcessUse(0, 0, 10, 0), 128, FAST_HOST)
    assert "nothing holds it up here" in making and "sysctl" not in faults
    assert "No setting" in advice([trace(30)], None, 128, FAST_HOST)[0]


def test_series_are_of_several_boots_and_leave_the_guest_out() -> None:
    assert request_series([trace(1)]) == ()
    found = {one.name: one.values for one in request_series([trace(1), trace(30)])}
    assert found == {"KVM_CREATE_VM": (1e6, 30e6), "KVM_SET_USER_MEMORY_REGION": (2e6, 2e6)}


def test_a_mitigation_that_is_off_leaves_the_thread_that_is_moved() -> None:
    host = KvmSettings("/sys/fs/cgroup", favordynmods=True, nx_huge_pages="N", huge_pages="always")
    assert "kvm.nx_huge_pages is N" in advice([trace(30)], None, 128, host)[0]


def test_memory_slots_count_by_either_request_and_many_are_firmwares() -> None:
    names = ["KVM_SET_USER_MEMORY_REGION2", "_IOC(_IOC_WRITE, 0xae, 0x49, 0xa0)"] * 3
    rows = [
        f"7 100.{at:09} ioctl(8<anon_inode:kvm-vm>, {name}, 0x7ffd) = 0 <0.001000000>" for at, name in enumerate(names)
    ]
    slots = advice([parse(rows, Tally())], None, 128, FAST_HOST)[1]
    assert "changed 6 times, for 6.000 ms" in slots and "firmware" in slots
