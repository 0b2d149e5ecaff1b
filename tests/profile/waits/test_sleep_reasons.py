"""Why stacks sleep, and why they wake: real ones of Debian's kernels, as call chains of their source."""

import re

import pytest

from bootlab.profile.waits.sleep_reasons import WaitKind, bare, find_cause, syscall_name
from bootlab.profile.waits.wake_reasons import WakeKind, find_wake_cause, runs_in_interrupt

THREAD = "ret_from_fork_asm ret_from_fork kthread "
SYSCALL = "main@busybox entry_SYSCALL_64_after_hwframe do_syscall_64 "
ARM_SYSCALL = (
    "[busybox] el0t_64_sync el0t_64_sync_handler el0_svc do_el0_svc el0_svc_common.constprop.0 invoke_syscall "
)


def words(text: str) -> list[str]:
    """Split a stack into names; `function@place` is one of a module or program."""
    return [re.sub("@(.*)", r" [\1]", word) for word in text.split()]


@pytest.mark.parametrize(
    ("stack", "kind", "function", "caller", "context", "context_kind"),
    [
        (
            "kernel_init kernel_init_freeable do_one_initcall crypto_algapi_init crypto_wait_for_test "
            "wait_for_completion_killable schedule_timeout schedule __schedule",
            WaitKind.COMPLETION,
            "wait_for_completion_killable",
            "crypto_wait_for_test",
            "crypto_algapi_init",
            "initcall",
        ),
        (
            "kernel_init do_one_initcall netdev_init register_netdevice_notifier synchronize_net synchronize_rcu "
            "synchronize_rcu.part.0 __wait_rcu_gp wait_for_completion schedule_timeout schedule __schedule __switch_to",
            WaitKind.RCU,
            "synchronize_net",
            "register_netdevice_notifier",
            "netdev_init",
            "initcall",
        ),
        (
            THREAD + "worker_thread process_one_work hub_event msleep schedule_timeout_uninterruptible "
            "schedule_timeout schedule __schedule",
            WaitKind.SLEEP,
            "msleep",
            "hub_event",
            "hub_event",
            "work",
        ),
        (
            THREAD + "burn@truth usleep_range_state schedule_hrtimeout_range schedule_hrtimeout_range_clock schedule",
            WaitKind.SLEEP,
            "usleep_range_state",
            "burn [truth]",
            "burn [truth]",
            "thread",
        ),
        (
            "kernel_init do_one_initcall pci_init pci_bus_add mutex_lock __mutex_lock_slowpath "
            "__mutex_lock.constprop.0 schedule_preempt_disabled schedule",
            WaitKind.LOCK,
            "mutex_lock",
            "pci_bus_add",
            "pci_init",
            "initcall",
        ),
        (
            "kernel_init do_one_initcall driver_probe_init async_synchronize_full "
            "async_synchronize_cookie_domain schedule",
            WaitKind.WORK,
            "async_synchronize_full",
            "driver_probe_init",
            "driver_probe_init",
            "initcall",
        ),
        (
            THREAD + "worker_thread process_one_work async_run_entry_fn do_scan blk_execute_rq "
            "wait_for_completion_io_timeout io_schedule_timeout schedule_timeout schedule",
            WaitKind.IO,
            "blk_execute_rq",
            "do_scan",
            "do_scan",
            "async",
        ),
        (
            SYSCALL + "__x64_sys_clock_nanosleep common_nsleep hrtimer_nanosleep do_nanosleep schedule __schedule",
            WaitKind.SLEEP,
            "common_nsleep",
            "clock_nanosleep",
            "clock_nanosleep",
            "syscall",
        ),
        (
            SYSCALL + "__do_sys_wait4 kernel_wait4 do_wait schedule",
            WaitKind.CHILD,
            "kernel_wait4",
            "wait4",
            "wait4",
            "syscall",
        ),
        (
            SYSCALL + "__x64_sys_poll do_sys_poll do_poll.constprop.0 poll_schedule_timeout.constprop.0 "
            "schedule_hrtimeout_range schedule_hrtimeout_range_clock schedule",
            WaitKind.EVENT,
            "do_sys_poll",
            "poll",
            "poll",
            "syscall",
        ),
        (
            SYSCALL + "__x64_sys_futex do_futex futex_wait __futex_wait futex_wait_queue schedule",
            WaitKind.EVENT,
            "do_futex",
            "futex",
            "futex",
            "syscall",
        ),
        (
            ARM_SYSCALL + "__arm64_sys_read ksys_read vfs_read n_tty_read wait_woken schedule_timeout schedule",
            WaitKind.EVENT,
            "wait_woken",
            "n_tty_read",
            "read",
            "syscall",
        ),
        (
            SYSCALL + "__x64_sys_vfork kernel_clone wait_for_completion_killable schedule_timeout schedule",
            WaitKind.CHILD,
            "kernel_clone",
            "vfork",
            "vfork",
            "syscall",
        ),
        (
            SYSCALL + "__x64_sys_finit_module idempotent_init_module load_module do_init_module do_one_initcall "
            "virtio_blk_init@virtio_blk msleep schedule_timeout schedule",
            WaitKind.SLEEP,
            "msleep",
            "virtio_blk_init [virtio_blk]",
            "virtio_blk_init [virtio_blk]",
            "initcall",
        ),
        (
            "[busybox] asm_exc_page_fault exc_page_fault handle_mm_fault filemap_fault folio_wait_bit_common "
            "io_schedule schedule",
            WaitKind.IO,
            "folio_wait_bit_common",
            "filemap_fault",
            "page fault",
            "fault",
        ),
        (SYSCALL + "__x64_sys_pause schedule", WaitKind.EVENT, "", "pause", "pause", "syscall"),
        (THREAD + "worker_thread schedule __schedule", WaitKind.IDLE, "", "worker_thread", "worker_thread", "thread"),
        ("ret_from_fork kthreadd schedule", WaitKind.IDLE, "", "kthreadd", "kthreadd", ""),
        (
            THREAD + "kcompactd schedule_timeout schedule",
            WaitKind.IDLE,
            "schedule_timeout",
            "kcompactd",
            "kcompactd",
            "thread",
        ),
        (THREAD + "my_driver_thread schedule", WaitKind.IDLE, "", "my_driver_thread", "my_driver_thread", "thread"),
        (THREAD + "kswapd kswapd_try_to_sleep schedule", WaitKind.IDLE, "", "kswapd_try_to_sleep", "kswapd", "thread"),
        (
            THREAD + "rcu_gp_kthread rcu_gp_fqs_loop schedule_timeout schedule",
            WaitKind.IDLE,
            "schedule_timeout",
            "rcu_gp_fqs_loop",
            "rcu_gp_kthread",
            "thread",
        ),
        (
            THREAD + "my_thread wait_for_completion schedule_timeout schedule",
            WaitKind.COMPLETION,
            "wait_for_completion",
            "my_thread",
            "my_thread",
            "thread",
        ),
        ("kernel_init some_function schedule", WaitKind.EVENT, "", "some_function", "some_function", ""),
        ("schedule", WaitKind.OTHER, "", "", "", ""),
        ("", WaitKind.OTHER, "", "", "", ""),
    ],
)  # fmt: skip
def test_why_a_stack_sleeps(
    stack: str, kind: WaitKind, function: str, caller: str, context: str, context_kind: str
) -> None:
    cause = find_cause(words(stack))
    assert (cause.kind, cause.function, cause.caller, cause.context, cause.context_kind) == (
        kind, function, caller, context, context_kind
    )  # fmt: skip


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


def test_names_without_what_a_compiler_added() -> None:
    assert [bare(name) for name in ("a.isra.0", "b.part.0.cold", "c.constprop.0 [mod]", "d [ext4]", "[user]")] == [
        "a", "b", "c", "d", "[user]"
    ]  # fmt: skip


def test_system_calls_on_every_architecture() -> None:
    names = (
        "__x64_sys_read",
        "__arm64_sys_read",
        "__se_sys_read",
        "__do_sys_read",
        "__arm64_compat_sys_read",
        "__riscv_sys_read",
        "ksys_read",
    )
    assert [syscall_name(name) for name in names] == ["read"] * 6 + [None]
    arm = ("sys_read", "sys_sigreturn_wrapper", "sys_dmi_field_show", "sys_fillrect", "ksys_read")
    assert [syscall_name(name) for name in arm] == ["read", "sigreturn", None, None, None]


def test_stacks_of_interrupts() -> None:
    assert runs_in_interrupt(["kthread", "asm_common_interrupt", "common_interrupt"])
    assert runs_in_interrupt(["el1h_64_irq"])
    assert runs_in_interrupt(["kthread", "handle_exception", "do_irq"])
    assert not runs_in_interrupt(["handle_exception", "do_trap_ecall_u"])
    assert not runs_in_interrupt(["kthread", "asm_exc_page_fault"])
