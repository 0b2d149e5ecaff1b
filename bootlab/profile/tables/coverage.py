"""Which of the kernel's functions a boot executed, and when: what a kernel needs, and what it could do without.

Exact, not sampled: a function that ran one instruction is in. What the plugin sees through (retpolines, return thunks,
static calls) is not a function here.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import CallKind, Integers, Space
from bootlab.profile.tables.plain_data import Result
from bootlab.symbols.roles import Role
from bootlab.timeline.marks import INIT_EXEC, INITCALLS_START, READY

SCHEMA: Final = "bootlab.coverage/1"

Names = tuple[str, ...]

# What the plugin sees through is never on a stack.
_NO_FUNCTIONS: Final = frozenset({Role.THUNK, Role.RETURN, Role.TRAMPOLINE, Role.END})


@dataclass(frozen=True, slots=True)
class Coverage(Result):
    """Names of the kernel functions that were executed, modules' as `function [module]`, each list sorted.

    `up_to_ready`: from power-on to ready, or as far as the boot came. `check`: after that. The others are parts of
    `up_to_ready`: `before_initcalls`, up to the first initcall; `in_initcalls_only`, never but inside of an initcall;
    `after_init_exec`, from when the kernel was about to execute init (empty when it never was).
    """

    up_to_ready: Names
    check: Names
    before_initcalls: Names
    in_initcalls_only: Names
    after_init_exec: Names
    known: int
    """Functions that the kernel image has, executed or not."""

    def as_json(self) -> dict[str, Any]:
        """Return the lists, for a file of its own: schema bootlab.coverage/1."""
        lists: Mapping[str, Names] = {
            "up_to_ready": self.up_to_ready,
            "check": self.check,
            "before_initcalls": self.before_initcalls,
            "in_initcalls_only": self.in_initcalls_only,
            "after_init_exec": self.after_init_exec,
        }
        return {"schema": SCHEMA, "known": self.known, **{name: list(names) for name, names in lists.items()}}


def find_coverage(profile: Profile, roles: Sequence[str] = ()) -> Coverage:
    """Return which functions the boot executed. `roles`: those of the functions file's lines (symbols.roles.Role)."""
    functions = itertools.zip_longest(profile.names[: profile.kernel_functions], roles, fillvalue=str(Role.PLAIN))
    up_to_ready = profile.up_to(READY)
    check = range(len(up_to_ready), len(profile.slices))
    first_initcall, init_exec = profile.slice_index(INITCALLS_START), profile.slice_index(INIT_EXEC)
    before = up_to_ready if first_initcall is None else range(min(first_initcall + 1, len(up_to_ready)))
    after = range(len(up_to_ready) if init_exec is None else init_exec + 1, len(up_to_ready))
    inside = nodes_in_initcalls(profile)
    ran = _executed(profile, up_to_ready)
    in_initcalls = _functions(profile, ran & inside) - _functions(profile, ran & ~inside)
    return Coverage(
        up_to_ready=_names(profile, _functions(profile, ran)),
        check=_names(profile, _functions(profile, _executed(profile, check))),
        before_initcalls=_names(profile, _functions(profile, _executed(profile, before))),
        in_initcalls_only=_names(profile, in_initcalls),
        after_init_exec=_names(profile, _functions(profile, _executed(profile, after))),
        known=len({name for name, role in functions if name and role not in _NO_FUNCTIONS}),
    )


def _executed(profile: Profile, slices: Iterable[int]) -> NDArray[np.bool_]:
    # The nodes that ran in any of the slices.
    ran = np.zeros(len(profile.nodes), dtype=np.bool_)
    for number in slices:
        weights = profile.slices[number].weights
        ran[weights["node"][(weights["instructions"] != 0) | (weights["calls"] != 0)]] = True
    return ran


def nodes_in_initcalls(profile: Profile) -> NDArray[np.bool_]:
    """Return which nodes are initcalls or below one."""
    inside = np.zeros(len(profile.nodes), dtype=np.bool_)
    inside[[call.node for call in profile.calls if call.kind == CallKind.INITCALL]] = True
    for level in profile.shape.levels[1:]:
        inside[level] |= inside[profile.shape.parent[level]]
    return inside


def _functions(profile: Profile, nodes: NDArray[np.bool_]) -> set[int]:
    # The kernel's functions among those of the nodes; the root of all has none.
    function: Integers = profile.nodes["function"][nodes & (profile.nodes["parent"] < len(profile.nodes))]
    space = profile.spaces[function]
    return set(np.unique(function[(space == Space.KERNEL) | (space == Space.MODULE)]).tolist())


def _names(profile: Profile, functions: set[int]) -> Names:
    return tuple(sorted({profile.names[number] for number in functions}))
