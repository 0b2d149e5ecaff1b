"""Lays the time up to ready onto the call tree, node by node, so that each part of it is given to one cause only.

Executed instructions as ns, plus idle time at the node whose wait it is blamed on: together exactly the boot's time,
because on the virtual clock either somebody executes or everybody waits.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Integers, Space
from bootlab.profile.tables.initcalls import Initcall
from bootlab.profile.tree.shape import TreeShape
from bootlab.profile.waits.idle_blame import IdleStretch
from bootlab.profile.waits.sleep_reasons import bare

Mask = NDArray[np.bool_]

WAYS: Final = frozenset(
    "secondary_startup_64 secondary_startup_64_no_verify common_startup_64 startup_64 x86_64_start_kernel "
    "x86_64_start_reservations primary_entry __primary_switch __primary_switched start_kernel setup_arch mm_init "
    "mm_core_init rest_init arch_call_rest_init kernel_init kernel_init_freeable do_basic_setup do_initcalls "
    "do_pre_smp_initcalls do_one_initcall console_init kthread ret_from_fork ret_from_fork_asm worker_thread "
    "process_one_work process_scheduled_works async_run_entry_fn cpu_startup_entry do_idle schedule_idle "
    "start_secondary secondary_start_kernel _start_kernel ret_from_fork_kernel ret_from_fork_user".split()
)
"""Functions that only lead to what is done: what they call is a cause, they are not."""
_INITCALL_CALLER: Final = "do_one_initcall"
_KINDS: Final[Mapping[str, str]] = {
    _INITCALL_CALLER: "initcall",
    "console_init": "initcall",
    "process_one_work": "work",
    "async_run_entry_fn": "work",
    "kthread": "thread",
}
"""Who calls it -> what kind of cause it is."""
_IDLE: Final = frozenset({"cpu_startup_entry", "do_idle", "schedule_idle"})
_INTERRUPT = re.compile(
    r"asm_(common_interrupt|sysvec_\w+|spurious_interrupt)|el1h_64_(irq|fiq)\w*|el0t_64_(irq|fiq)\w*|irq_entries_start"
    r"|do_irq"
)


@dataclass(frozen=True)
class Heading:
    """What a node's time is put down to when no technique claims it.

    `kind`: initcall, work (of a kernel worker), thread (of the kernel), process, interrupt, idle, stage, or function.
    """

    kind: str
    name: str


class CostTree:
    """The nodes of a profile with what each cost up to some slice, itself and without its callees.

    `instructions` and `idle_ns` are per node; `cost_ns` is both as ns, and what was charged to the clock for the node.
    Their sum over all nodes is the boot's time. With a host model's `ns_per_instruction` costs are prices
    under it, each node's rounded to the ns; their sum is the boot's price but for that.
    """

    def __init__(
        self,
        profile: Profile,
        slices: Sequence[int],
        idle: Iterable[IdleStretch],
        initcalls: Sequence[Initcall] = (),
        *,
        ns_per_instruction: float | None = None,
    ) -> None:
        self.profile = profile
        self._initcalls = initcalls
        self.shape: TreeShape = profile.shape
        self.function: Integers = profile.nodes["function"].astype(np.int64)
        count = len(self.function)
        self.instructions: Integers = np.zeros(count, dtype=np.int64)
        for number in slices:
            weights = profile.slices[number].weights
            np.add.at(self.instructions, weights["node"], weights["instructions"])
        self.idle_ns: Integers = np.zeros(count, dtype=np.int64)
        end_ns = profile.slices[slices[-1]].end_ns if slices else 0
        self._add_idle(idle, end_ns)
        charged_ns: Integers = np.zeros(count, dtype=np.int64)
        lasted_ns = np.minimum(profile.charges["end_ns"], end_ns) - profile.charges["start_ns"]
        np.add.at(charged_ns, profile.charges["node"], np.maximum(lasted_ns, 0))
        executed_ns: Integers = self.instructions << profile.shift
        if ns_per_instruction is not None:
            executed_ns = np.rint(self.instructions * ns_per_instruction).astype(np.int64)
        self.cost_ns: Integers = executed_ns + self.idle_ns + charged_ns
        # A program's function may be called as a kernel's.
        in_kernel = np.isin(profile.spaces, (Space.KERNEL, Space.MODULE))
        self.plain_names = [
            bare(name) if kernel else name for name, kernel in zip(profile.names, in_kernel.tolist(), strict=True)
        ]

    @property
    def total_ns(self) -> int:
        """Return the sum of all costs: the time from power-on to the end of the last slice."""
        return int(self.cost_ns.sum())

    def _add_idle(self, idle: Iterable[IdleStretch], end_ns: int) -> None:
        for stretch in idle:
            ns = min(stretch.end_ns, end_ns) - stretch.start_ns
            if ns > 0:
                # Where nobody was waiting for anything it stays with whoever halted, which is the idle task.
                self.idle_ns[stretch.node if stretch.wait is None else stretch.wait.node] += ns

    def below(self, functions: Iterable[str], keeps: Iterable[str] = ()) -> Mask:
        """Return which nodes are calls of these functions or below one, without those of `keeps` and below them.

        A name is as the source spells it; `caller/function` is the function called by that caller; `[stage]` a stage,
        `function [stage]` and `caller/function [stage]` what that stage calls so.
        """
        roots, ends = self._calls_of(functions), self._calls_of(keeps)
        if not ends.any():
            return self.shape.at_or_below(roots)
        inside: Mask = roots & ~ends
        for level in self.shape.levels[1:]:
            inside[level] |= inside[self.shape.parent[level]] & ~ends[level]
        return inside

    def _calls_of(self, functions: Iterable[str]) -> Mask:
        found: Mask = np.zeros(len(self.function), dtype=np.bool_)
        for name in functions:
            caller, _, function = name.rpartition("/")
            _, space, stage = function.partition(" ")
            mine = self._named(function)
            if caller:
                mine = mine & self._named(f"{caller}{space}{stage}")[self.shape.parent]
            mine[self._ended_by.get(name, [])] = True
            found |= mine
        return found

    def _named(self, name: str) -> Mask:
        if not (numbers := self.numbers.get(name)):
            return np.zeros(len(self.function), dtype=np.bool_)
        named: Mask = np.zeros(len(self.plain_names), dtype=np.bool_)
        named[numbers] = True
        return named[self.function]

    @cached_property
    def _ended_by(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for node, initcall in self.ended_in.items():
            found.setdefault(initcall, []).append(node)
        return found

    @cached_property
    def numbers(self) -> dict[str, list[int]]:
        """Function numbers by plain name: static functions share names, and copies of one differ in suffix."""
        found: dict[str, list[int]] = {}
        for number, name in enumerate(self.plain_names):
            found.setdefault(name, []).append(number)
        return found

    @cached_property
    def ended_in(self) -> dict[int, str]:
        """Node called by do_one_initcall() that is no initcall -> the initcall that jumped there as its last act.

        A function that ends in a call of another often jumps there, and has no frame of its own from then on. Which one
        it was is known where calls of that node were recorded, and all of them lie in one initcall.
        """
        callers = self._named(_INITCALL_CALLER)[self.shape.parent]
        initcalls = {one.name for one in self._initcalls}
        names = self.plain_names
        odd = {node for node in np.flatnonzero(callers).tolist() if names[self.function[node]] not in initcalls}
        within: dict[int, set[str]] = {}
        spans = self.profile.spans[np.isin(self.profile.spans["node"], list(odd))]
        for span in spans[["start_ns", "end_ns", "node", "task"]].tolist():
            start, end, node, task = span
            within.setdefault(node, set()).update(
                one.name for one in self._initcalls if one.task == task and one.start_ns <= start and end <= one.end_ns
            )
        return {node: next(iter(found)) for node, found in within.items() if len(found) == 1}

    @cached_property
    def heads(self) -> tuple[list[Heading], Integers]:
        """The causes that the tree itself names, and for each node the index of its own."""
        return _Heads(self).found()


class _Heads:
    """Gives every node to the first frame of its stack that says what is being done."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree
        self.heads: dict[Heading, int] = {}
        self.undecided = -1

    def found(self) -> tuple[list[Heading], Integers]:
        shape, function = self.tree.shape, self.tree.function
        of: Integers = np.full(len(function), self.undecided, dtype=np.int64)
        for level in shape.levels[1:]:
            of[level] = of[shape.parent[level]]
            for node in level[of[level] == self.undecided].tolist():
                head = self._decide(node, int(shape.parent[node]))
                if head is not None:
                    of[node] = self._number(head)
        # A frame on the way has a little time of its own.
        for node in np.flatnonzero(of == self.undecided).tolist():
            of[node] = self._number(self._of_way(node))
        return list(self.heads), of

    def _decide(self, node: int, parent: int) -> Heading | None:
        name, caller = self._name(node), self._name(parent)
        if parent == 0:
            if int(self.tree.profile.spaces[self.tree.function[node]]) == Space.STAGE:
                return Heading("stage", name)
            return None
        if _INTERRUPT.fullmatch(name):
            return Heading("interrupt", name)
        if int(self.tree.shape.parent[parent]) == 0 and name not in WAYS and self._is_process(parent):
            return Heading("process", _comm(caller))
        if name in WAYS:
            return None
        if caller == _INITCALL_CALLER:
            name = self.tree.ended_in.get(node, name)
        return Heading("idle" if caller in _IDLE else _KINDS.get(caller, "function"), name)

    def _of_way(self, node: int) -> Heading:
        name = self._name(node)
        if node and int(self.tree.shape.parent[node]) == 0:
            return Heading("process" if self._is_process(node) else "function", _comm(name))
        return Heading("idle" if name in _IDLE else "function", name or "[root]")

    def _is_process(self, task: int) -> bool:
        return task in self._processes

    @cached_property
    def _processes(self) -> frozenset[int]:
        # Tasks in whose stacks user code ran. A kernel thread's stack begins in ret_from_fork and has none.
        spaces = self.tree.profile.spaces[self.tree.function]
        user = (spaces == Space.USER) | np.isin(self.tree.function, self.tree.numbers.get("[user]", []))
        return frozenset(np.unique(self.tree.shape.top[np.flatnonzero(user)]).tolist())

    def _name(self, node: int) -> str:
        return self.tree.plain_names[int(self.tree.function[node])] if node else ""

    def _number(self, head: Heading) -> int:
        return self.heads.setdefault(head, len(self.heads))


def _comm(label: str) -> str:
    # `NAME-PID`, and a name may hold a hyphen itself.
    return label.rpartition("-")[0] or label
