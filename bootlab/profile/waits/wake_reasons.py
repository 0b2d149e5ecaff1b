"""Tells from a waker's stack why it woke a task: the function that decided, and its interrupt or timer, if any.

An interrupt borrows whatever task was running, so that task is not to blame; its handler, its device or its timer is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bootlab.profile.tables.plain_data import Result
from bootlab.profile.waits.sleep_reasons import bare


class WakeKind(StrEnum):
    """Who woke."""

    TASK = "task"
    """The current task, in the course of its own work."""
    TIMER = "timer"
    """A timer that expired."""
    RCU = "rcu"
    """The end of a grace period: a callback of RCU."""
    DEVICE = "device"
    """A device's interrupt."""
    INTERRUPT = "interrupt"
    """Any other interrupt: another processor's, as a rule."""


@dataclass(frozen=True, slots=True)
class WakeCause(Result):
    """Why a stack wakes a task. `function`: the first one above the wake-up machinery.

    `handler`: the interrupt's handler, or the function of the timer; "" where a task woke by itself.
    """

    kind: WakeKind
    function: str
    handler: str


# What passes a wake-up on and does not decide on it.
_MACHINERY: Final = re.compile(
    r"try_to_wake_up|wake_up_(?:process|state|q|bit|var|worker|klogd)|wake_(?:bit|page|idle|threads?)_?\w*|__wake_up\w*"
    r"|(?:default|autoremove|woken|var|ep_autoremove)_wake_function|swake_up_\w+|pollwake|ep_poll_callback"
    r"|complete(?:_all|_on_current_cpu|_with_flags)?|rwsem_(?:wake|mark_wake)|(?:__)?up(?:_read|_write)?"
    r"|(?:__)?(?:rt_|ww_)?mutex_unlock\w*|(?:__)?queue_(?:delayed_)?work(?:_on)?|mod_delayed_work_on|schedule_work\w*"
    r"|insert_work|kick_pool|kthread_(?:insert|queue)_work|kthread_unpark|(?:__)?irq_wake_thread|wakeup_softirqd"
    r"|(?:__)?raise_softirq\w*|signal_wake_up_state|complete_signal|(?:__)?send_signal\w*|do_notify_parent"
    r"|futex_wake\w*|sock_def_readable|sk_wake_async|folio_(?:wake_bit|unlock)|unlock_(?:page|buffer)"
)
_INTERRUPT: Final = re.compile(
    r"asm_sysvec_\w+|asm_(?:common|spurious)_interrupt|(?:fred_)?sysvec_\w+|(?:__)?common_interrupt"
    r"|apic_timer_interrupt|el[01][th]_(?:32|64)_(?:irq|fiq)(?:_handler)?|el[01]_(?:irq|interrupt)|do_irq"
)
_SOFTIRQ: Final = frozenset({"__do_softirq", "handle_softirqs"})
_HANDLER_CALLERS: Final = frozenset({"__handle_irq_event_percpu", "handle_irq_event_percpu", "handle_percpu_devid_irq"})
_RCU: Final = frozenset({"rcu_do_batch", "rcu_core", "rcu_core_si"})
_TIMER_CALLERS: Final = frozenset({"call_timer_fn", "expire_timers", "__hrtimer_run_queues", "__run_hrtimer"})
_TIMER: Final = _TIMER_CALLERS | frozenset(
    """hrtimer_interrupt hrtimer_run_queues hrtimer_run_softirq run_timer_softirq __run_timers __run_timer_base
    tick_periodic tick_handle_periodic update_process_times process_timeout hrtimer_wakeup""".split()
)
# What a timer's function goes on as when its last act is a jump to that function.
_TIMER_FUNCTIONS: Final = {"try_to_wake_up": "process_timeout", "__queue_work": "delayed_work_timer_fn"}
_DEVICE_SOFTIRQ: Final = frozenset({"blk_done_softirq", "net_rx_action", "irq_poll_softirq"})
_LOCKS: Final = re.compile(
    r"_raw_\w+|__fentry__|ftrace_\w+|__traceiter_\w+|trace_\w+|__warn\w*|add_interrupt_randomness"
)


def find_wake_cause(path: Sequence[str], *, in_interrupt: bool) -> WakeCause:
    """Return why this stack wakes a task: names from the outermost function inwards, without the task itself."""
    names = [bare(name) for name in path]
    end = len(names)
    while end and _MACHINERY.fullmatch(names[end - 1]):
        end -= 1
    function = path[end - 1] if end else ""
    # Only what is within the interrupt, or within the softirqs that a thread runs for it, speaks of it.
    since = _entry(names) if in_interrupt else -1
    if since < 0:
        since = max((index for index, name in enumerate(names) if name in _SOFTIRQ), default=-1)
    within = names[since:] if since >= 0 else []
    inner = path[since:] if since >= 0 else []
    kind = _kind(within, in_interrupt)
    handler = "" if kind is WakeKind.TASK else _handler(kind, inner, within)
    if kind is WakeKind.TIMER and bare(function) in _TIMER:
        function = handler
    return WakeCause(kind, function, handler)


def _entry(names: Sequence[str]) -> int:
    # The innermost interrupt's first frame: its entry and what that calls have names alike.
    since = max((index for index, name in enumerate(names) if _INTERRUPT.fullmatch(name)), default=-1)
    while since > 0 and _INTERRUPT.fullmatch(names[since - 1]):
        since -= 1
    return since


def _kind(within: Sequence[str], in_interrupt: bool) -> WakeKind:
    there = set(within)
    if there & _RCU:
        return WakeKind.RCU
    if there & _TIMER:
        return WakeKind.TIMER
    if not in_interrupt:
        return WakeKind.TASK
    if there & (_HANDLER_CALLERS | _DEVICE_SOFTIRQ):
        return WakeKind.DEVICE
    return WakeKind.INTERRUPT


def _handler(kind: WakeKind, inner: Sequence[str], within: Sequence[str]) -> str:
    callers = _TIMER_CALLERS if kind is WakeKind.TIMER else _HANDLER_CALLERS
    for index in range(len(within) - 1, 0, -1):
        if within[index - 1] in callers and not _LOCKS.fullmatch(within[index]):
            return _TIMER_FUNCTIONS.get(within[index], inner[index])
    named = _DEVICE_SOFTIRQ | _RCU | _TIMER
    return next((name for name, plain in zip(inner, within, strict=True) if plain in named), inner[0] if inner else "")


def runs_in_interrupt(path: Sequence[str]) -> bool:
    """Say whether a stack is that of an interrupt: its task has been borrowed."""
    return any(_INTERRUPT.fullmatch(bare(name)) for name in path)
