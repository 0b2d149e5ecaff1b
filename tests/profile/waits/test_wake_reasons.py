"""Why a stack wakes somebody: what came, and who handled it."""

import pytest

from bootlab.profile.waits.wake_reasons import WakeKind, find_wake_cause, runs_in_interrupt
from tests.profile.waits.stacks import SYSCALL, THREAD, words

X86_TIMER = (
    "asm_sysvec_apic_timer_interrupt sysvec_apic_timer_interrupt __sysvec_apic_timer_interrupt hrtimer_interrupt "
)


X86_TICK = "asm_sysvec_apic_timer_interrupt sysvec_apic_timer_interrupt irq_exit_rcu __irq_exit_rcu __do_softirq "


X86_DEVICE = "asm_common_interrupt common_interrupt __common_interrupt handle_edge_irq handle_irq_event "


ARM_TIMER = (
    "el1h_64_irq el1h_64_irq_handler el1_interrupt gic_handle_irq generic_handle_domain_irq handle_percpu_devid_irq "
)


RISCV_TIMER = (
    "handle_exception do_irq call_on_irq_stack handle_riscv_irq riscv_intc_irq generic_handle_domain_irq "
    "handle_percpu_devid_irq "
)


@pytest.mark.parametrize(
    ("stack", "in_interrupt", "kind", "function", "handler"),
    [
        (
            THREAD + "cryptomgr_test alg_test crypto_alg_tested complete_all swake_up_all_locked wake_up_process "
            "try_to_wake_up",
            False,
            WakeKind.TASK,
            "crypto_alg_tested",
            "",
        ),
        (
            "busy_loop " + X86_TIMER + "__hrtimer_run_queues hrtimer_wakeup wake_up_process try_to_wake_up",
            True,
            WakeKind.TIMER,
            "hrtimer_wakeup",
            "hrtimer_wakeup",
        ),
        (
            "busy_loop " + X86_TICK + "run_timer_softirq __run_timers call_timer_fn process_timeout try_to_wake_up",
            True,
            WakeKind.TIMER,
            "process_timeout",
            "process_timeout",
        ),
        (
            "busy_loop " + X86_TICK + "run_timer_softirq call_timer_fn try_to_wake_up",
            True,
            WakeKind.TIMER,
            "process_timeout",
            "process_timeout",
        ),
        (
            "busy_loop "
            + X86_TICK
            + "run_timer_softirq call_timer_fn __queue_work.part.0 wake_up_process try_to_wake_up",
            True,
            WakeKind.TIMER,
            "delayed_work_timer_fn",
            "delayed_work_timer_fn",
        ),
        (
            "busy_loop " + X86_TICK + "run_timer_softirq call_timer_fn delayed_work_timer_fn __queue_work "
            "wake_up_process try_to_wake_up",
            True,
            WakeKind.TIMER,
            "delayed_work_timer_fn",
            "delayed_work_timer_fn",
        ),
        (
            "busy_loop " + X86_TICK + "rcu_core_si rcu_core rcu_do_batch wakeme_after_rcu complete swake_up_locked "
            "wake_up_process try_to_wake_up",
            True,
            WakeKind.RCU,
            "wakeme_after_rcu",
            "rcu_core_si",
        ),
        (
            "busy_loop " + X86_DEVICE + "__handle_irq_event_percpu vring_interrupt virtblk_done [virtio_blk] "
            "blk_mq_complete_request blk_mq_end_request bio_endio end_bio_bh_io_sync folio_unlock folio_wake_bit "
            "__wake_up_locked_key_bookmark __wake_up_common wake_page_function wake_up_state try_to_wake_up",
            True,
            WakeKind.DEVICE,
            "end_bio_bh_io_sync",
            "vring_interrupt",
        ),
        (
            "busy_loop " + ARM_TIMER + "arch_timer_handler_virt hrtimer_interrupt __hrtimer_run_queues hrtimer_wakeup "
            "wake_up_process try_to_wake_up",
            True,
            WakeKind.TIMER,
            "hrtimer_wakeup",
            "hrtimer_wakeup",
        ),
        (
            "busy_loop " + RISCV_TIMER + "riscv_timer_interrupt hrtimer_interrupt __hrtimer_run_queues hrtimer_wakeup "
            "wake_up_process try_to_wake_up",
            True,
            WakeKind.TIMER,
            "hrtimer_wakeup",
            "hrtimer_wakeup",
        ),
        (
            "busy_loop asm_sysvec_irq_work sysvec_irq_work irq_work_run wake_up_klogd_work_func __wake_up "
            "try_to_wake_up",
            True,
            WakeKind.INTERRUPT,
            "wake_up_klogd_work_func",
            "asm_sysvec_irq_work",
        ),
        (
            THREAD + "smpboot_thread_fn run_ksoftirqd __do_softirq run_timer_softirq __run_timers call_timer_fn "
            "process_timeout wake_up_process try_to_wake_up",
            False,
            WakeKind.TIMER,
            "process_timeout",
            "process_timeout",
        ),
        (
            SYSCALL + "__x64_sys_sendto tcp_sendmsg do_softirq.part.0 __do_softirq net_rx_action tcp_v4_rcv "
            "sock_def_readable __wake_up_sync_key try_to_wake_up",
            False,
            WakeKind.TASK,
            "tcp_v4_rcv",
            "",
        ),
        ("", False, WakeKind.TASK, "", ""),
        ("", True, WakeKind.INTERRUPT, "", ""),
    ],
)
def test_why_a_stack_wakes(stack: str, in_interrupt: bool, kind: WakeKind, function: str, handler: str) -> None:
    cause = find_wake_cause(words(stack), in_interrupt=in_interrupt)
    assert (cause.kind, cause.function, cause.handler) == (kind, function, handler)


def test_stacks_of_interrupts() -> None:
    assert runs_in_interrupt(["kthread", "asm_common_interrupt", "common_interrupt"])
    assert runs_in_interrupt(["el1h_64_irq"])
    assert runs_in_interrupt(["kthread", "handle_exception", "do_irq"])
    assert not runs_in_interrupt(["handle_exception", "do_trap_ecall_u"])
    assert not runs_in_interrupt(["kthread", "asm_exc_page_fault"])
