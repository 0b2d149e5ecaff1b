"""Interrupts with their handlers, softirqs and threads."""

from typing import Any

import pytest

from bootlab.profile.tables.activity import find_activity
from tests.profile.tables.finished import IDLE, finish

TICK = "asm_sysvec_apic_timer_interrupt;sysvec_apic_timer_interrupt"
DEVICE = "asm_common_interrupt;handle_irq_event;__handle_irq_event_percpu"


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
