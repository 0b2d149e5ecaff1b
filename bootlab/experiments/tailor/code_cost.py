"""Computes what some code cost a boot: what it executed, all that it called, and what other tasks did for it.

And how the job came to that code. Where those who call it name it in their own code, the kernel's source does without
the call when the option is off. Where they come through a pointer, the code had offered itself to whoever asks, and the
job asked: a file system's operations, a driver's, a system call.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bootlab.build.kernel.calls import NamedCalls
from bootlab.build.kernel.ifdefs import SYSCALL_NAMES
from bootlab.build.kernel.objects import KernelObjects
from bootlab.experiments.tailor.ifdef_use import Guarded
from bootlab.experiments.tailor.kernel_use import nodes_in_job
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Integers
from bootlab.profile.tree.caused_work import CausedWork
from bootlab.profile.waits.sleeps import WaitTable
from bootlab.timeline.marks import READY

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CodeCost:
    """What some code cost, and how the job came to it."""

    instructions: int
    """Instructions up to ready: the code's own, those of all that it called, and those of other tasks because of it."""
    by_name: int
    """How many ways there were in the job into that code by a call that names it."""
    by_pointer: int
    """How many by a pointer or a system call."""
    example: str
    """The function of it that cost most, or nothing."""


def is_passed_through(by_name: int, by_pointer: int) -> bool:
    """Return whether the job came to some code mostly by name, or never: so it did not ask for it."""
    return by_name > by_pointer or by_pointer == 0


class CodeCosts:
    """The costs of one record. `addresses`: those of the functions file's lines, as they were linked."""

    def __init__(
        self, profile: Profile, addresses: Sequence[int], objects: KernelObjects, named_calls: NamedCalls
    ) -> None:
        self._profile = profile
        self._addresses = addresses[: profile.kernel_functions]
        self._named_calls = named_calls
        self._objects = objects
        self._function: Integers = profile.nodes["function"].astype(np.int64)
        self._parent: Integers = profile.shape.parent
        self._own = np.zeros(len(profile.nodes), dtype=np.int64)
        for number in profile.up_to(READY):
            weights = profile.slices[number].weights
            np.add.at(self._own, weights["node"], weights["instructions"].astype(np.int64))
        self._of_object = defaultdict[int, list[int]](list)
        self._by_name = defaultdict[tuple[int, str], list[int]](list)
        for number, address in enumerate(self._addresses):
            if (index := objects.at(address)) is not None:
                self._of_object[index].append(number)
                self._by_name[index, profile.names[number].split(".")[0]].append(number)

    @property
    def total(self) -> int:
        """Instructions up to ready."""
        return int(self._own.sum())

    def executed(self) -> dict[tuple[str, str], int]:
        """Return the own instructions of each function up to ready, by its object's path and its name in the source."""
        own = np.bincount(self._function, weights=self._own, minlength=len(self._profile.names)).astype(np.int64)
        return {
            (self._objects.objects[index].path, name): int(own[numbers].sum())
            for (index, name), numbers in self._by_name.items()
        }

    def of(self, objects: Collection[int], guarded: Collection[Guarded]) -> CodeCost:
        """Return the cost of whole objects, by their indexes, and of what stands under options in files that stay."""
        mine = self._code(objects, guarded)
        begun = mine | self._calls(guarded)
        inside = begun.copy()
        for level in self._profile.shape.levels[1:]:
            inside[level] |= inside[self._parent[level]]
        by_name, by_pointer = self._ways(mine)
        return CodeCost(
            int(self._own[inside].sum()) + self._caused(inside), by_name, by_pointer, self._example(begun, inside)
        )

    def ways(self, objects: Collection[int], guarded: Collection[Guarded]) -> tuple[int, int]:
        """Return how many ways there were in the job into such code: by name, and by a pointer or a system call."""
        return self._ways(self._code(objects, guarded))

    def _code(self, objects: Collection[int], guarded: Collection[Guarded]) -> Mask:
        removed = np.zeros(len(self._profile.names), dtype=np.bool_)
        for index in objects:
            removed[self._of_object[index]] = True
        for key in {key for one in guarded for key in one.names}:
            removed[self._by_name[key]] = True
        mine: Mask = removed[self._function]
        mine[0] = False
        return mine

    @cached_property
    def _in_job(self) -> Mask:
        return nodes_in_job(self._profile)

    @cached_property
    def _work(self) -> CausedWork:
        return CausedWork(WaitTable(self._profile))

    @cached_property
    def _end_ns(self) -> int:
        index = self._profile.slice_index(READY)
        return self._profile.end_ns if index is None else self._profile.slices[index].end_ns

    def _calls(self, guarded: Collection[Guarded]) -> Mask:
        # The callee may be anything that others call too: only below that one function it is the option's.
        found = np.zeros(len(self._function), dtype=np.bool_)
        for index, caller, callee in {call for one in guarded for call in one.calls}:
            for function in self._by_name.get((index, caller), ()):
                below = np.flatnonzero(self._function[self._parent] == function)
                names = (self._profile.names[self._function[node]].split(".")[0] for node in below)
                found[[node for node, name in zip(below.tolist(), names, strict=True) if name == callee]] = True
        return found

    def _caused(self, inside: Mask) -> int:
        return self._work.beyond(inside, self._end_ns) >> self._profile.shift

    def _ways(self, mine: Mask) -> tuple[int, int]:
        entries = np.flatnonzero(mine & self._in_job & ~mine[self._parent])
        pairs = set(zip(self._function[self._parent[entries]].tolist(), self._function[entries].tolist(), strict=True))
        named = sum(self._is_named(caller, callee) for caller, callee in pairs)
        return named, len(pairs) - named

    def _is_named(self, caller: int, callee: int) -> bool:
        # A kernel may reach its system calls by name: whoever makes one asks for it all the same.
        if caller >= len(self._addresses) or self._profile.names[callee].startswith(SYSCALL_NAMES):
            return False
        return self._named_calls.has(self._addresses[caller], self._addresses[callee])

    def _example(self, begun: Mask, inside: Mask) -> str:
        totals = self._profile.shape.totals(np.where(inside, self._own, 0))
        heads = np.flatnonzero(begun & ~inside[self._parent])
        if not len(heads):
            return ""
        return str(self._profile.names[self._function[int(heads[np.argmax(totals[heads])])]])
