"""What interrupts, and what they hand on, cost: entries, devices' handlers, softirqs, exceptions, workers' functions.

Shares come from the call tree. An interrupt that interrupts another counts for itself only. Softirqs run on the way out
of an interrupt, or in ksoftirqd; they count for their action wherever they run.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Integers
from bootlab.profile.tables.plain_data import Result
from bootlab.profile.waits.sleep_reasons import bare

_INTERRUPT: Final = re.compile(
    r"asm_sysvec_\w+|asm_(?:common|spurious)_interrupt|el[01][th]_(?:32|64)_(?:irq|fiq)|el[01]_irq|apic_timer_interrupt"
    r"|__(?:irq|fiq)_(?:svc|usr)|do_irq"
)
_EXCEPTION: Final = re.compile(
    r"asm_exc_\w+|el[01]_(?:da|ia|abort|undef|dbg|fpsimd_acc|sve_acc|sme_acc|pc|sp|sys|bti)"
    r"|__(?:dabt|pabt|und)_(?:svc|usr)|do_trap_(?:(?:insn|load|store)_\w+|break|unknown)"
)
# riscv64 has one entry for all, so that what that calls is an exception; elsewhere this is a part of one.
_ONLY_ENTRY: Final = re.compile(r"handle_exception")
_FAULT: Final = re.compile(r"do_page_fault")
_HANDLER_CALLERS: Final = re.compile(r"(?:__)?handle_irq_event_percpu|handle_percpu_(?:devid_)?irq|irq_\w*thread_fn")
_SOFTIRQ: Final = re.compile(r"__do_softirq|handle_softirqs")
_WORK: Final = re.compile(r"process_one_work|async_run_entry_fn")
# What these callers call besides handlers, actions and work.
_SERVANTS: Final = re.compile(
    r"_raw_\w+|__fentry__|__(?:x86|arm64|riscv)_\w+|ftrace_(?:regs_)?(?:caller|stub)|__traceiter_\w+|__SCT__\w+|__warn\w*"
    r"|add_interrupt_\w+|(?:__)?local_bh\w*|rcu_(?:softirq_)?(?:bh|qs)\w*|lockdep_\w+|account_(?:irq|softirq)\w*|vtime_\w+"
    r"|(?:__)?irq_wake_thread|wakeup_softirqd|try_to_wake_up|wake_up_process|kick_pool|pwq_\w+|(?:set|get)_work_\w+"
    r"|pick_get_\w+|move_linked_works|(?:sized_)?strscpy\w*|strlcpy|strnlen|(?:__)?cond_resched|irqtime_\w+|sched_clock\w*"
    r"|(?:__)?list_(?:add|del)\w*|(?:pv_)?native_\w+|gic_\w+|irq_chip_\w+|(?:__)?do_softirq|handle_softirqs"
    r"|(?:__)?handle_irq_event_percpu|async_run_entry_fn|asm_\w+|irq_entries_start|(?:common_interrupt|error)_return|error_entry"
    r"|el[01][ht]_\w+|__(?:irq|fiq|dabt|pabt|und)_(?:svc|usr)|vector_\w+|\[\w+\]"
    r"|handle_exception|ret_from_exception|(?:riscv_intc|plic|imsic|aplic)_\w+"
)
# A function whose last act is to jump to another has that one's name from then on; these are the same action.
_GOES_ON_AS: Final = {
    "rcu_core": "rcu_core_si",
    "__run_timers": "run_timer_softirq",
    "run_timer_base": "run_timer_softirq",
    "__run_timer_base": "run_timer_softirq",
    "tasklet_action_common": "tasklet_action",
    "tmigr_handle_remote": "run_timer_softirq",
    "blk_complete_reqs": "blk_done_softirq",
}


@dataclass(frozen=True, slots=True)
class CpuShare(Result):
    """What a piece of code cost in a phase. `count`: times it was entered; `share`: of all the phase's instructions."""

    name: str
    count: int
    per_second: float
    instructions: int
    share: float


@dataclass(frozen=True, slots=True)
class Label:
    """What each node ran for, as a function number, -1 for nothing; and which nodes are where that began."""

    function: Integers
    begins: NDArray[np.bool_]


class InterruptCosts:
    """The labels of a profile's nodes, each made once when it is first asked for."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    @cached_property
    def _used(self) -> Mapping[int, str]:
        # Function number -> plain name of the functions that ran: a fraction of the kernel's.
        names = self.profile.names
        return {number: bare(names[number]) for number in np.unique(self.profile.nodes["function"]).tolist()}

    def _matching(self, pattern: re.Pattern[str]) -> NDArray[np.bool_]:
        matching = np.zeros(len(self.profile.names), dtype=np.bool_)
        matching[[number for number, name in self._used.items() if pattern.fullmatch(name)]] = True
        by_node: NDArray[np.bool_] = matching[self.profile.nodes["function"]]
        return by_node

    @cached_property
    def _interrupts(self) -> NDArray[np.bool_]:
        return self._matching(_INTERRUPT)

    @cached_property
    def _nothing(self) -> NDArray[np.bool_]:
        return np.zeros(len(self.profile.nodes), dtype=np.bool_)

    @cached_property
    def interrupt(self) -> Label:
        """The interrupt's entry."""
        return self._label(self._interrupts, self._nothing)

    @cached_property
    def exception(self) -> Label:
        """The exception's entry, or its handler on arm64 and riscv64; interrupts do not count."""
        faults = self._matching(_FAULT) & self._matching(_ONLY_ENTRY)[self.profile.shape.parent]
        return self._label(self._matching(_EXCEPTION) | faults, self._interrupts)

    @cached_property
    def handler(self) -> Label:
        """The device's interrupt handler."""
        return self._called_by(_HANDLER_CALLERS)

    @cached_property
    def softirq(self) -> Label:
        """The softirq's action."""
        return self._called_by(_SOFTIRQ)

    @cached_property
    def work(self) -> Label:
        """The work that a worker did; interrupts meanwhile do not count."""
        return self._called_by(_WORK)

    def shares(self, label: Label, slices: Sequence[int], duration_ns: int) -> tuple[CpuShare, ...]:
        """Return what each label cost in the slices with these indexes, most instructions first."""
        names = self.profile.names
        count, cost = (np.zeros(len(names), dtype=np.int64) for _ in range(2))
        total = 0
        for index in slices:
            weights = self.profile.slices[index].weights
            functions = label.function[weights["node"]]
            total += int(weights["instructions"].sum())
            known = np.flatnonzero(functions >= 0)
            functions, weights = functions[known], weights[known]
            np.add.at(cost, functions, weights["instructions"])
            first = label.begins[weights["node"]]
            np.add.at(count, functions[first], weights["calls"][first].astype(np.int64))
        rows = [
            CpuShare(
                names[number],
                int(count[number]),
                int(count[number]) * 1e9 / duration_ns if duration_ns else 0.0,
                int(cost[number]),
                int(cost[number]) / total if total else 0.0,
            )
            for number in np.flatnonzero((count > 0) | (cost > 0)).tolist()
        ]
        return tuple(sorted(rows, key=lambda row: (-row.instructions, -row.count, row.name)))

    def _called_by(self, caller: re.Pattern[str]) -> Label:
        called = self._matching(caller)[self.profile.shape.parent] & ~self._matching(_SERVANTS)
        called[:1] = False
        return self._label(called, self._interrupts)

    def _label(self, begins: NDArray[np.bool_], ends: NDArray[np.bool_]) -> Label:
        # A node has the label of its parent unless one begins or ends there.
        shape, function = self.profile.shape, self.profile.nodes["function"].astype(np.int64)
        goes_on_as = self._goes_on_as[function]
        own = np.where(begins, goes_on_as, -1)
        inherits = ~(begins | ends)
        label = own.copy()
        for level in shape.levels[1:]:
            label[level] = np.where(inherits[level], label[shape.parent[level]], own[level])
        return Label(label, begins & (goes_on_as == function))

    @cached_property
    def _goes_on_as(self) -> Integers:
        same = np.arange(len(self.profile.names), dtype=np.int64)
        numbers = {name: number for number, name in self._used.items()}
        for later, first in _GOES_ON_AS.items():
            if later in numbers and first in numbers:
                same[numbers[later]] = numbers[first]
        return same
