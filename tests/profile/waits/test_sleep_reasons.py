"""Why stacks sleep, and why they wake: real ones of Debian's kernels, as call chains of their source."""

import pytest

from bootlab.profile.waits.sleep_reasons import WaitKind, bare, find_cause, syscall_name
from tests.profile.waits.stacks import SYSCALL, THREAD, words

ARM_SYSCALL = (
    "[busybox] el0t_64_sync el0t_64_sync_handler el0_svc do_el0_svc el0_svc_common.constprop.0 invoke_syscall "
)


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
