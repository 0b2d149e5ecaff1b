"""Activity by phase: what bound it, its devices, interrupts and threads; and what system calls cost."""

from collections.abc import Callable
from typing import Any

import pytest

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import EventKind, ProfileEvent, Space
from bootlab.profile.tables.activity import RULE, Bound, find_activity
from bootlab.profile.tables.block_io import find_requests
from bootlab.profile.tables.syscalls import find_syscalls
from bootlab.profile.waits.critical_path import find_critical_path

FUNCTIONS = ("start_kernel", "schedule", "do_one_initcall", "msleep")
IDLE = "swapper/0-0;start_kernel;do_idle"
TICK = "asm_sysvec_apic_timer_interrupt;sysvec_apic_timer_interrupt"
DEVICE = "asm_common_interrupt;handle_irq_event;__handle_irq_event_percpu"


def finish(writer: Any) -> Profile:
    return parse_profile(writer.end(), writer.functions, 0)


def test_phases_and_what_bound_them(profile_writer: Any) -> None:
    writer = profile_writer
    writer.spend("[firmware]", 50, space=Space.STAGE)
    writer.cut("kernel_entry")
    swapper = writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 100)
    writer.idle(IDLE, 100)
    writer.cut("initcalls_start")
    writer.spend("swapper/0-0;start_kernel", 10)
    writer.event(EventKind.BLOCK_ISSUE, swapper, IDLE, a=1, b=4096 << 8, text="vda")
    writer.event(EventKind.BLOCK_ISSUE, swapper, IDLE, a=2, b=1024 << 8, text="vda")
    writer.idle(IDLE, 60)
    writer.event(EventKind.BLOCK_DONE, swapper, IDLE, a=1, b=4096)
    writer.idle(IDLE, 30)
    writer.cut("init_exec")
    writer.event(EventKind.BLOCK_DONE, swapper, IDLE, a=2, b=1024)
    writer.idle(IDLE, 80)
    writer.spend("swapper/0-0;start_kernel", 5)
    writer.cut("ready")
    marks = {"kernel_entry": 50, "initcalls_start": 250, "init_exec": 350, "ready": 435}
    activity = find_activity(finish(writer), marks)
    assert activity.rule == RULE
    rows = [(p.name, p.busy_ns, p.idle_ns, p.io_ns, p.idle_io_ns, p.bound, p.exact) for p in activity.phases]
    assert rows == [
        ("firmware + decompressor", 50, 0, 0, 0, Bound.CPU, True),
        ("kernel head + kernel core", 100, 100, 0, 0, Bound.CPU, True),
        ("initcalls + before init", 10, 90, 90, 90, Bound.IO, True),
        ("exec of init + user space", 5, 80, 0, 0, Bound.WAIT, True),
    ]
    assert [(d.disk, d.operation, d.requests, d.bytes, d.in_flight_ns) for d in activity.phases[2].devices] == [
        ("vda", "read", 2, 5120, 90)
    ]
    assert all(phase.instructions == phase.busy_ns for phase in activity.phases)


def test_a_boot_that_was_never_ready_is_cut_into_phases_up_to_its_end(profile_writer: Any) -> None:
    """A hang is what comes after the last mark."""
    writer = profile_writer
    writer.spend("[firmware]", 50, space=Space.STAGE)
    writer.cut("image_entry")
    writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 400)
    writer.idle(IDLE, 100)
    activity = find_activity(finish(writer), {"image_entry": 50})
    rows = [(p.name, p.start_ns, p.end_ns, p.idle_ns, p.bound) for p in activity.phases]
    assert rows == [
        ("firmware", 0, 50, 0, Bound.CPU),
        ("decompressor, not finished", 50, 550, 100, Bound.CPU),
    ]


def test_interrupts_handlers_softirqs_and_threads(profile_writer: Any) -> None:
    writer = profile_writer
    swapper = writer.task("swapper/0", 0)
    kthreadd = writer.task("kthreadd", 2, swapper)
    worker, disk = writer.task("kworker/0:1", 3, kthreadd), writer.task("jbd2/vda-8", 4, kthreadd)
    work = "kworker/0:1-3;ret_from_fork;kthread;worker_thread;process_one_work"
    writer.spend("swapper/0-0;start_kernel", 1000)
    # Each frame is entered where it begins; what is below it was entered from there.
    entry, _, inner = TICK.partition(";")
    writer.spend(f"swapper/0-0;start_kernel;{entry}", 10, calls=2)
    writer.spend(f"swapper/0-0;start_kernel;{entry};{inner}", 20, calls=2)
    writer.spend(f"swapper/0-0;start_kernel;{TICK};__do_softirq", 4, calls=2)
    writer.spend(f"swapper/0-0;start_kernel;{TICK};__do_softirq;_raw_spin_lock", 1)
    writer.spend(f"swapper/0-0;start_kernel;{TICK};__do_softirq;run_timer_softirq", 20)
    writer.spend(f"swapper/0-0;start_kernel;{TICK};__do_softirq;__run_timers", 7)
    nested = f"swapper/0-0;start_kernel;{TICK};__do_softirq;run_timer_softirq;"
    writer.spend(nested + DEVICE.partition(";")[0], 2)
    writer.spend(nested + DEVICE + ";vring_interrupt", 7)
    writer.spend(nested + DEVICE + ";vring_interrupt;virtblk_done", 6)
    writer.spend("swapper/0-0;start_kernel;asm_exc_page_fault", 11)
    writer.switch(swapper, worker, IDLE, 0)
    writer.spend(work, 3)
    writer.spend(work + ";_raw_spin_unlock_irq", 2)
    writer.spend(work + ";ftrace_check_work_func", 40)
    writer.spend(work + f";ftrace_check_work_func;{TICK}", 8)
    writer.spend(work + ";async_run_entry_fn;do_populate_rootfs", 50)
    writer.switch(worker, disk, work)
    writer.spend("jbd2/vda-8-4;kthread;kjournald2", 12)
    writer.switch(disk, swapper, "jbd2/vda-8-4;kthread;kjournald2;schedule")
    phase = find_activity(finish(writer), {"ready": writer.t_ns}).phases[0]

    def rows(shares: Any) -> list[tuple[str, int, int]]:
        return [(share.name, share.count, share.instructions) for share in shares]

    assert rows(phase.interrupts) == [("asm_sysvec_apic_timer_interrupt", 2, 70), ("asm_common_interrupt", 1, 15)]
    assert rows(phase.handlers) == [("vring_interrupt", 1, 13)]
    assert rows(phase.softirqs) == [("run_timer_softirq", 1, 27)], "its last act was to jump to __run_timers()"
    assert rows(phase.exceptions) == [("asm_exc_page_fault", 1, 11)]
    assert rows(phase.works) == [("do_populate_rootfs", 1, 50), ("ftrace_check_work_func", 1, 40)]
    total = profile_writer.instructions
    assert phase.interrupts[0].share == 70 / total and phase.interrupts[0].per_second == 2e9 / writer.t_ns
    threads = {thread.name: thread for thread in phase.threads}
    assert [thread.name for thread in phase.threads][0] == "swapper/0-0"
    assert threads["kworker/0:1-3"].work == ("do_populate_rootfs", "ftrace_check_work_func")
    assert (threads["kworker/0:1-3"].instructions, threads["kworker/0:1-3"].borrowed_instructions) == (103, 8)
    assert threads["jbd2/vda-8-4"].is_kernel_thread and not threads["swapper/0-0"].is_kernel_thread
    assert sum(thread.share for thread in phase.threads) == pytest.approx(1)


def test_riscv64_has_one_entry_for_interrupts_exceptions_and_system_calls(profile_writer: Any) -> None:
    writer = profile_writer
    writer.task("swapper/0", 0)
    entry = "swapper/0-0;start_kernel;handle_exception"
    writer.spend(entry, 9, calls=3)
    writer.spend(entry + ";do_irq;call_on_irq_stack;handle_percpu_devid_irq;riscv_timer_interrupt", 20)
    writer.spend(entry + ";do_irq;call_on_irq_stack;handle_percpu_devid_irq;riscv_intc_irq_eoi", 1)
    writer.spend(entry + ";do_page_fault;handle_mm_fault", 7)
    writer.spend(entry + ";do_trap_break;report_bug", 3)
    writer.spend(entry + ";do_trap_ecall_u;__riscv_sys_read", 5)
    phase = find_activity(finish(writer), {"ready": writer.t_ns}).phases[0]
    assert [(share.name, share.instructions) for share in phase.interrupts] == [("do_irq", 21)]
    assert [(share.name, share.instructions) for share in phase.handlers] == [("riscv_timer_interrupt", 20)]
    found = [(share.name, share.instructions) for share in phase.exceptions]
    assert found == [("do_page_fault", 7), ("do_trap_break", 3)]


def test_a_mark_without_a_cut_says_so(profile_writer: Any) -> None:
    profile_writer.task("swapper/0", 0)
    profile_writer.spend("swapper/0-0;start_kernel", 100)
    profile = finish(profile_writer)
    assert not find_activity(profile, {"ready": 60}).phases[0].exact
    assert find_activity(profile, {"ready": 100}).phases[0].exact


def event(t_ns: int, kind: EventKind, a: int, b: int = 0, text: str = "") -> ProfileEvent:
    return ProfileEvent(t_ns, t_ns, a, b, 0, 0, kind, 0, text)


def test_requests_in_parts_again_and_without_end() -> None:
    requests = find_requests(
        [
            event(1, EventKind.BLOCK_ISSUE, 0xA, 8192 << 8 | 1, "vda"),
            event(2, EventKind.BLOCK_ISSUE, 0xB, 0 << 8 | 2, "vda"),
            event(3, EventKind.BLOCK_DONE, 0xA, 4096),
            event(4, EventKind.BLOCK_DONE, 0xB, 0),
            event(5, EventKind.BLOCK_DONE, 0xA, 4096),
            event(6, EventKind.BLOCK_DONE, 0xA, 4096),
            event(7, EventKind.BLOCK_ISSUE, 0xA, 512 << 8, "sda"),
            event(8, EventKind.BLOCK_ISSUE, 0xA, 512 << 8, "sda"),
            event(9, EventKind.BLOCK_ISSUE, 0xC, 512 << 8 | 99, "sda"),
        ]
    )
    assert [(r.disk, r.operation, r.bytes, r.issued_ns, r.done_ns) for r in requests] == [
        ("vda", "write", 8192, 1, 5),
        ("vda", "flush", 0, 2, 4),
        ("sda", "read", 512, 7, None),
        ("sda", "read", 512, 8, None),
        ("sda", "operation 99", 512, 9, None),
    ]


def test_system_calls_by_process(profile_writer: Any) -> None:
    writer = profile_writer
    init, shell = writer.task("init", 1), writer.task("sh", 8)
    writer.spend("init-1;[user]", 100)
    writer.syscall(shell, "__x64_sys_read", 2, 500, 90)
    writer.syscall(init, "__x64_sys_execve", 1, 300, 300)
    writer.syscall(init, "__x64_sys_write", 4, 40, 40)
    writer.cut("ready")
    writer.syscall(init, "__x64_sys_write", 1, 900, 10)
    profile = finish(writer)
    found = find_syscalls(profile)
    assert [(one.name, one.pid, one.calls, one.elapsed_ns, one.instructions) for one in found] == [
        ("init", 1, 6, 1240, 350),
        ("sh", 8, 2, 500, 90),
    ]
    assert [(call.name, call.calls, call.elapsed_ns) for call in found[0].syscalls] == [
        ("write", 5, 940),
        ("execve", 1, 300),
    ]
    to_ready = find_syscalls(profile, until="ready")
    assert [(call.name, call.calls) for call in to_ready[0].syscalls] == [("execve", 1), ("write", 4)]
    assert find_syscalls(profile, until="never_reached") == found


def test_nothing_ran(profile_writer: Any) -> None:
    profile = finish(profile_writer)
    assert find_activity(profile, {}).phases == () and find_syscalls(profile) == ()


@pytest.mark.parametrize("seed", range(20))
def test_random_boots_add_up(make_boot: Callable[[int], Any], seed: int) -> None:
    profile = parse_profile(make_boot(seed).finish(), FUNCTIONS, 0)
    ends = [piece.end_ns for piece in profile.slices]
    marks = dict(zip(("kernel_entry", "start_kernel", "init_exec"), ends, strict=False)) | {"ready": profile.end_ns}
    phases = find_activity(profile, dict(sorted(marks.items(), key=lambda item: item[1]))).phases
    assert sum(phase.duration_ns for phase in phases) == profile.end_ns
    assert sum(phase.instructions for phase in phases) == profile.end_instructions
    assert sum(phase.idle_ns for phase in phases) == profile.idle_ns
    for phase in phases:
        if phase.exact:
            assert sum(thread.instructions for thread in phase.threads) == phase.instructions
    assert find_critical_path(profile, marks).as_json()["ready"] is True
