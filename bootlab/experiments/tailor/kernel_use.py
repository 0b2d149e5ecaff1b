"""Tells which objects of a kernel one boot and its check used, and when they last ran.

"Never ran" says too little, for every driver that is built in runs its initcall. So what ran is told apart by the last
phase in which it did: only within initcalls, only before the kernel executed init, or after that. And what ran then is
the job only if the job asked for it: half a kernel is called whenever any task ends, and for every device that appears.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bootlab.build.kernel.objects import KernelObjects
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Records, Space
from bootlab.profile.tables.coverage import nodes_in_initcalls
from bootlab.profile.waits.schedule import find_kernel_threads
from bootlab.timeline.marks import INIT_EXEC


class Use(IntEnum):
    """When something ran, the most telling last."""

    NEVER = 0
    INITCALL = 1
    """Only within initcalls."""
    EARLY = 2
    """Only before the kernel was about to execute init."""
    ASIDE = 3
    """After that too, but only in kernel threads of its own, or where tasks come and go and devices are announced."""
    JOB = 4
    """After that, up to ready or during the check."""


_RAN: Final = (Use.INITCALL, Use.EARLY, Use.ASIDE, Use.JOB)
_COMING_AND_GOING: Final = frozenset(
    """copy_process do_exit do_group_exit release_task exit_mmap __put_task_struct delayed_put_task_struct mmdrop
    __mmdrop put_task_struct_rcu_user notifier_call_chain raw_notifier_call_chain blocking_notifier_call_chain
    srcu_notifier_call_chain call_netdevice_notifiers call_netdevice_notifiers_info sched_tick scheduler_tick""".split()
)
"""Functions that call whoever wants to know: of tasks, of devices and addresses, of every tick."""
_SERVING: Final = re.compile(r"swapper|ksoftirqd|irq/")
"""Kernel threads that finish what an interrupt began, for whoever waits: what runs there may well be the job's."""


@dataclass(frozen=True, slots=True)
class FunctionUse:
    """A kernel function that ran. `instructions`: its own, without what it called, in the whole record."""

    name: str
    index: int
    """Where its object is in KernelObjects."""
    use: Use
    instructions: int


@dataclass(frozen=True)
class KernelUse:
    """What one record used of a kernel."""

    objects: KernelObjects
    functions: tuple[FunctionUse, ...]
    """Sorted by instructions, most first."""
    uses: tuple[Use, ...]
    """The use of each of `objects.objects`, in their order."""
    instructions: tuple[int, ...]
    """What each of them executed."""
    outside: int
    """Instructions of the kernel that no object could be found for."""

    def example(self, index: int) -> FunctionUse | None:
        """Return the function that decides an object's use: the one that ran most in the object's latest phase.

        None for an object of which nothing ran.
        """
        mine = (one for one in self.functions if one.index == index and one.use == self.uses[index])
        return next(mine, None)


def find_use(profile: Profile, addresses: Sequence[int], objects: KernelObjects) -> KernelUse:
    """Return what a profiled boot used. `addresses`: those of the functions file's lines, as they were linked."""
    kernel = profile.kernel_functions
    weights = {use: np.zeros(kernel, dtype=np.int64) for use in Use}
    ran = {use: np.zeros(kernel, dtype=np.bool_) for use in Use}
    inside, aside = nodes_in_initcalls(profile), _nodes_aside(profile)
    init_exec = profile.slice_index(INIT_EXEC)
    function = profile.nodes["function"]
    for number, piece in enumerate(profile.slices):
        active = _active(piece.weights)
        nodes = active["node"]
        mine = function[nodes] < kernel
        nodes, counts = nodes[mine], active["instructions"][mine]
        job = init_exec is not None and number > init_exec
        for use, chosen in (
            ((Use.ASIDE, aside[nodes]), (Use.JOB, ~aside[nodes]))
            if job
            else ((Use.INITCALL, inside[nodes]), (Use.EARLY, ~inside[nodes]))
        ):
            np.add.at(weights[use], function[nodes[chosen]], counts[chosen].astype(np.int64))
            ran[use][function[nodes[chosen]]] = True
    return _by_object(profile.names, addresses[:kernel], weights, ran, objects)


def nodes_in_job(profile: Profile) -> NDArray[np.bool_]:
    """Return which nodes ran in the job."""
    ran = np.zeros(len(profile.nodes), dtype=np.bool_)
    init_exec = profile.slice_index(INIT_EXEC)
    for piece in profile.slices[len(profile.slices) if init_exec is None else init_exec + 1 :]:
        ran[_active(piece.weights)["node"]] = True
    return ran & ~_nodes_aside(profile)


def _active(weights: Records) -> Records:
    active: Records = weights[(weights["instructions"] != 0) | (weights["calls"] != 0)]
    return active


def _by_object(
    names: Sequence[str],
    addresses: Sequence[int],
    weights: Mapping[Use, NDArray[np.int64]],
    ran: Mapping[Use, NDArray[np.bool_]],
    objects: KernelObjects,
) -> KernelUse:
    uses = [Use.NEVER] * len(objects.objects)
    instructions = [0] * len(objects.objects)
    functions, outside = list[FunctionUse](), 0
    for number in np.flatnonzero(np.logical_or.reduce([ran[use] for use in _RAN])).tolist():
        own = sum(int(weights[use][number]) for use in _RAN)
        index = objects.at(addresses[number])
        if index is None:
            outside += own
            continue
        use = max(one for one in _RAN if ran[one][number])
        uses[index] = max(uses[index], use)
        instructions[index] += own
        functions.append(FunctionUse(names[number], index, use, own))
    functions.sort(key=lambda one: (-one.instructions, one.name))
    return KernelUse(objects, tuple(functions), tuple(uses), tuple(instructions), outside)


def _nodes_aside(profile: Profile) -> NDArray[np.bool_]:
    """Return which nodes are of kernel threads with work of their own, or called where something comes or goes."""
    functions = np.array([name.split(".")[0] in _COMING_AND_GOING for name in profile.names], dtype=np.bool_)
    labels = {profile.tasks[number].label for number in find_kernel_threads(profile)}
    labels = {label for label in labels if not _SERVING.match(label)}
    is_task = profile.spaces == Space.TASK
    functions |= is_task & np.array([name in labels for name in profile.names], dtype=np.bool_)
    aside: NDArray[np.bool_] = functions[profile.nodes["function"]]
    aside[0] = False
    for level in profile.shape.levels[1:]:
        aside[level] |= aside[profile.shape.parent[level]]
    return aside
