"""Tells from a sleeping task's stack what it waits for, by the kernel's own names from 5.10 to 6.12, innermost first.

A stack ends in plumbing (`schedule`, `__schedule`), above which come the functions that wait on behalf of others
(`wait_for_completion`, `msleep`, `synchronize_rcu`); the first one above those is who really waited. Which of them a
stock kernel has inlined differs, so every name may be missing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bootlab.profile.tables.plain_data import Result


class WaitKind(StrEnum):
    """What a task waits for."""

    SLEEP = "sleep"
    """A time that the code asked for: msleep(), usleep_range(), nanosleep(2)."""
    TIMER = "timer"
    """An event or a time limit, whichever is first: schedule_timeout()."""
    COMPLETION = "completion"
    """Another task says that something is done."""
    RCU = "rcu"
    """A grace period: synchronize_rcu(), rcu_barrier()."""
    LOCK = "lock"
    """A mutex or semaphore that another task holds."""
    WORK = "work"
    """Work that was queued: flush_work(), async_synchronize_full(), wait_for_device_probe()."""
    IO = "io"
    """A device's request."""
    CHILD = "child"
    """A process of its own: wait4(2), vfork(2)."""
    EVENT = "event"
    """Something that is announced on a wait queue: poll(2), futex(2), reading what is not there; wait_event()."""
    IDLE = "idle"
    """Nothing to do: the loop of a kernel thread. Not a wait."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class WaitCause(Result):
    """Why a stack sleeps.

    `function`: the outermost one that waits for others, such as `msleep`; "" where the caller went to sleep by itself.
    `caller`: who called it. `context`: what that was done for; `context_kind` says what it is: `initcall`, `work`,
    `async`, `thread` (a kernel thread's function), `syscall`, `fault` (of a page), or "" for the outermost function
    known.
    """

    kind: WaitKind
    function: str
    caller: str
    context: str
    context_kind: str


_SUFFIX = re.compile(r"\.(?:isra|constprop|part|cold|llvm|lto_priv)\b.*$")
_PLACE = re.compile(r" \[[^]]*\]$")
_SYSCALL = re.compile(
    r"^(?:__(?:x64|ia32|arm64|riscv|se|do|x32)_(?:compat_)?sys_|__arm64_compat_sys_"
    # 32-bit arm has no prefix, and a few functions of drivers look the same.
    r"|sys_(?!(?:off|dmi|set_trip|get_curr)_|fillrect$|copyarea$|imageblit$))(\w+?)(?:_wrapper)?$"
)


def bare(name: str) -> str:
    """Return a function's name in the source: without its module or file and without what a compiler added."""
    # Of 150,000 names few have either.
    if name.endswith("]"):
        name = _PLACE.sub("", name)
    return _SUFFIX.sub("", name) if "." in name else name


def syscall_name(name: str) -> str | None:
    """Return the name of the system call that a kernel function implements; None for any other function."""
    match = _SYSCALL.match(bare(name))
    return match[1] if match else None


_SCHEDULER: Final = frozenset(
    """__switch_to __switch_to_asm cpu_switch_to context_switch __schedule __schedule_loop schedule
    schedule_preempt_disabled rt_mutex_schedule schedule_rtlock""".split()
)
_TIMEOUT: Final = re.compile(r"schedule_(?:hr)?timeout(?:_range(?:_clock)?)?")
_SLEEP_TIMEOUT: Final = re.compile(r"schedule_timeout_(?:idle|interruptible|killable|uninterruptible)")

# Each may have any ending its pattern allows; the first that matches says what the function waits for. None: it waits
# for whatever the function below it waits for.
_WAITERS: Final[tuple[tuple[WaitKind | None, str], ...]] = (
    (WaitKind.TIMER, _TIMEOUT.pattern),
    (WaitKind.SLEEP, _SLEEP_TIMEOUT.pattern),
    (WaitKind.SLEEP, r"msleep(?:_interruptible)?|usleep_range(?:_state)?|[sf]sleep|__usleep_range_state"),
    (WaitKind.SLEEP, r"do_nanosleep|hrtimer_nanosleep(?:_restart)?|common_nsleep(?:_timens)?"),
    (WaitKind.IO, r"wait_for_completion_io(?:_timeout)?|io_schedule(?:_timeout)?|bit_wait_io(?:_timeout)?"),
    (WaitKind.IO, r"__wait_on_buffer|folio_wait_\w+|__?folio_lock\w*|folio_lock|wait_on_page_\w+|submit_bio_wait"),
    (WaitKind.IO, r"__sync_dirty_buffer|sync_dirty_buffer|__bread_slow|blk_execute_rq|rq_qos_wait|blk_mq_get_tag"),
    (WaitKind.COMPLETION, r"(?:__|do_)?wait_for_com(?:mon|pletion)\w*"),
    (WaitKind.COMPLETION, r"_?_?kthread_create_(?:on_node|on_cpu|worker\w*)|kthread_(?:stop(?:_put)?|park|unpark)"),
    (
        WaitKind.COMPLETION,
        r"call_usermodehelper(?:_exec)?|__request_module|devtmpfs_(?:submit_req|(?:create|delete)_node)",
    ),
    (
        WaitKind.RCU,
        r"_?_?synchronize_s?rcu\w*|synchronize_net|__?wait_rcu_gp|rcu_barrier\w*|s?rcu_barrier|exp_funnel_lock",
    ),
    (WaitKind.RCU, r"cond_synchronize_\w+|kvfree_rcu_barrier|synchronize_rcu_expedited_wait\w*"),
    (
        WaitKind.LOCK,
        r"(?:__)?(?:ww_|rt_)?mutex_(?:lock|slowlock)\w*|(?:__)?down(?:_\w+)?|rwsem_down_\w+|lock_sock_nested",
    ),
    (WaitKind.LOCK, r"__lock_sock|(?:__)?percpu_down_\w+|percpu_rwsem_wait|cpus_(?:read|write)_lock"),
    (
        WaitKind.WORK,
        r"(?:__)?flush_(?:work|works|workqueue|delayed_work|rcu_work)|drain_workqueue|schedule_on_each_cpu",
    ),
    (WaitKind.WORK, r"(?:__)?cancel_(?:delayed_)?work(?:_sync|_timer)|work_on_cpu\w*|wait_for_device_probe"),
    (WaitKind.WORK, r"async_synchronize_\w+|kthread_(?:flush|cancel)_\w+|wait_for_initramfs"),
    (WaitKind.CHILD, r"(?:__)?do_wait|kernel_wait(?:4|id)?|wait_for_vfork_done|kernel_clone"),
    (
        WaitKind.EVENT,
        r"poll_schedule_timeout|do_poll|do_sys_poll|do_select|core_sys_select|(?:kern|do_p)?select|do_pselect",
    ),
    (
        WaitKind.EVENT,
        r"ep_poll|do_epoll_p?wait|(?:__)?futex_wait\w*|do_futex|sigsuspend|do_sigtimedwait|do_signal_stop",
    ),
    (
        WaitKind.EVENT,
        r"pipe_(?:read|write|wait_\w+)|wait_on_pipe|wait_woken|wait_for_partner|eventfd_read|timerfd_read",
    ),
    (
        WaitKind.EVENT,
        r"__skb_wait_for_more_packets|sk_wait_data|inet_csk_accept|unix_stream_(?:read_generic|data_wait)",
    ),
    (None, r"(?:out_of_line_)?_?_?wait_on_bit(?:_lock|_timeout)*|bit_wait(?:_timeout)?|do_wait_intr(?:_irq)?"),
)
_WAITER: Final = tuple((kind, re.compile(rf"(?:{pattern})")) for kind, pattern in _WAITERS)

# What a system call waits for when the functions below it do not say.
_SYSCALL_KIND: Final = (
    (WaitKind.SLEEP, re.compile(r"(?:clock_)?nanosleep(?:_time32)?")),
    (WaitKind.CHILD, re.compile(r"wait4|waitid|vfork|clone3?")),
    (WaitKind.IO, re.compile(r"f(?:data)?sync|sync(?:fs)?|readahead|swapon")),
    (
        WaitKind.EVENT,
        re.compile(
            r"p?poll|p?select6?|epoll_p?wait2?|futex\w*|pause|rt_sig(?:suspend|timedwait)|p?read(?:v2?|64)?|p?write(?:v2?|64)?"
            r"|recv\w*|send\w*|accept4?|connect|ioctl|syslog|splice|flock|fcntl|msgrcv|semop|semtimedop|io_getevents"
        ),
    ),
)

# A kernel thread that waits here has nothing to do. Most such loops wait in the thread's own function, which needs no
# name.
_IDLE_LOOPS: Final = frozenset(
    """worker_thread rescuer_thread kthreadd smpboot_thread_fn kthread kthread_worker_fn __kthread_parkme irq_thread
    irq_wait_for_interrupt kswapd_try_to_sleep kcompactd ksm_scan_thread khugepaged_wait_work khugepaged oom_reaper
    devtmpfsd devtmpfs_work_loop rcu_gp_kthread rcu_gp_fqs_loop rcu_gp_init rcu_tasks_kthread rcu_tasks_one_gp
    rcu_nocb_gp_kthread rcu_nocb_cb_kthread nocb_gp_wait nocb_cb_wait rcu_boost_kthread rcu_exp_gp_kthread
    kauditd_thread kjournald2 hwrng_fillfn scsi_error_handler watchdog kprobe_optimizer svc_recv io_wq_worker
    io_sq_thread cpu_idle_poll do_idle loop_process_work usb_stor_control_thread hub_thread mmc_blk_mq_poll
    psi_rtpoll_worker damon_kthread""".split()
)
# A system call's function may go on as another: its last act is a jump to that one, which then has its place.
_DISPATCHERS: Final = frozenset({"do_syscall_64", "x64_sys_call", "invoke_syscall", "do_trap_ecall_u"})
_SYSCALL_PART: Final = re.compile(r"^(?:(?:__)?do_sys_|k?sys_|ksys_|__sys_|kernel_|do_|vfs_)")
HALLS: Final = frozenset(
    """ret_from_fork ret_from_fork_asm kthread kernel_init kernel_init_freeable do_basic_setup do_initcalls
    do_initcall_level do_one_initcall do_pre_smp_initcalls worker_thread process_one_work process_scheduled_works
    async_run_entry_fn smpboot_thread_fn entry_SYSCALL_64 entry_SYSCALL_64_after_hwframe do_syscall_64 x64_sys_call
    el0t_64_sync el0t_64_sync_handler el0_svc do_el0_svc el0_svc_common invoke_syscall x86_64_start_kernel
    x86_64_start_reservations start_kernel secondary_startup_64_no_verify secondary_startup_64 startup_64 rest_init
    arch_call_rest_init __primary_switched primary_entry common_startup_64 syscall_enter_from_user_mode vector_swi
    syscall_exit_to_user_mode handle_exception do_trap_ecall_u ret_from_fork_kernel ret_from_fork_user
    _start_kernel""".split()
)
"""Functions that only lead to what matters: a stack is explained by what is below them."""
_CONTEXTS: Final = {
    "do_one_initcall": "initcall",
    "process_one_work": "work",
    "async_run_entry_fn": "async",
    "kthread": "thread",
}
_FAULTS: Final = frozenset(
    {"asm_exc_page_fault", "exc_page_fault", "do_mem_abort", "do_user_addr_fault", "do_page_fault", "do_DataAbort"}
)


def find_cause(path: Sequence[str]) -> WaitCause:
    """Return why a task with this stack sleeps: names from the outermost function inwards, without the task itself."""
    names = [bare(name) for name in path]
    end = len(names)
    while end and names[end - 1] in _SCHEDULER:
        end -= 1
    first = end
    kind: WaitKind | None = None
    while first and (match := _waits_for(names[first - 1])) is not None:
        kind = match[0] or kind
        first -= 1
    function = names[first] if first < end else ""
    caller = path[first - 1] if first else function
    context, context_kind = _context(path, names, first)
    syscall = syscall_name(caller)
    if _is_idle(names, first, end):
        kind = WaitKind.IDLE
    elif kind in (None, WaitKind.TIMER) and context_kind == "syscall":
        kind = _syscall_kind(context) or kind
    if kind is None and caller:
        # wait_event() is a macro: all that is left of it on a stack is the call of schedule().
        kind = WaitKind.EVENT
    if context_kind == "syscall" and (syscall or caller in ("do_syscall_64", "invoke_syscall", "el0_svc_common")):
        caller = context
    return WaitCause(kind or WaitKind.OTHER, function, caller, context, context_kind)


def _waits_for(name: str) -> tuple[WaitKind | None] | None:
    return next(((kind,) for kind, pattern in _WAITER if pattern.fullmatch(name)), None)


def _syscall_kind(name: str) -> WaitKind | None:
    return next((kind for kind, pattern in _SYSCALL_KIND if pattern.fullmatch(name)), None)


def _is_idle(names: Sequence[str], first: int, end: int) -> bool:
    # Only a bare schedule() or a time limit on it: a thread that calls msleep() or waits for a completion means it.
    for name in names[first:end]:
        if not (_TIMEOUT.fullmatch(name) or _SLEEP_TIMEOUT.fullmatch(name)):
            return False
    if not first:
        return False
    if names[first - 1] in _IDLE_LOOPS:
        return True
    return first >= 2 and names[first - 2] == "kthread"


def find_context(path: Sequence[str]) -> tuple[str, str]:
    """Return what a stack (without the task itself) was there for, and its kind: as in `WaitCause`."""
    return _context(path, [bare(name) for name in path], len(path))


def _context(path: Sequence[str], names: Sequence[str], first: int) -> tuple[str, str]:
    for index in range(first - 1, -1, -1):
        syscall = syscall_name(names[index])
        if syscall:
            return syscall, "syscall"
        if names[index] in _FAULTS:
            return "page fault", "fault"
        if index and names[index - 1] in _CONTEXTS:
            return path[index], _CONTEXTS[names[index - 1]]
        if index and names[index - 1] in _DISPATCHERS and names[index] not in HALLS:
            return _SYSCALL_PART.sub("", names[index]), "syscall"
    outer = next((index for index in range(first) if names[index] not in HALLS), None)
    return ("" if outer is None else path[outer]), ""
