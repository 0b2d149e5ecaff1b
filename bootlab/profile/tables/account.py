"""The account of a profile: whether what it shows is all there was, and how much of it has a name.

Every instruction that QEMU counted must be in the call tree and every ns of its clock be executed, idle or charged, at
ready, at each mark before it and at the end. What does not add up is said in words; nothing is rounded away.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Integers, Records, Space
from bootlab.profile.tables.plain_data import Result
from bootlab.profile.tree.call_tree import PRUNED, CallTree
from bootlab.timeline.marks import READY


@dataclass(frozen=True, slots=True)
class Balance(Result):
    """The account from power-on up to one moment. Shares are of 1; None where there was nothing to have a share of.

    `instructions`, `virtual_ns`: QEMU's own count and clock there. `attributed_instructions`: those in the call tree.
    `idle_ns`: sum of the stretches in which none ran. `charged_ns`: what was added to the clock for events.
    `named_kernel_share`: of the kernel's instructions, modules included, those in a function with a name.
    `mismatched_return_share`: of all returns, those that fit no frame. `outside_task_share`, `outside_function_share`:
    of all instructions, those under no task or stage, and those in no function with a name (in a stage or a file of
    user space, the place is name enough). `pruned_share`: left out of the tree that is shown.
    """

    at: str
    instructions: int
    attributed_instructions: int
    idle_ns: int
    virtual_ns: int
    named_kernel_share: float | None
    mismatched_return_share: float | None
    outside_task_share: float | None
    outside_function_share: float | None
    pruned_share: float
    shift: int
    charged_ns: int = 0

    @property
    def closed(self) -> bool:
        """Whether executed, idle and charged time are all of it, to the instruction and the ns."""
        spent_ns = (self.instructions << self.shift) + self.idle_ns + self.charged_ns
        return self.attributed_instructions == self.instructions and spent_ns == self.virtual_ns

    @property
    def outside_share(self) -> float | None:
        """Share of the instructions outside a named task, function or stage, what was pruned included.

        None where nothing was executed.
        """
        if self.outside_function_share is None or self.outside_task_share is None:
            return None
        return max(self.outside_function_share, self.outside_task_share) + self.pruned_share

    def as_json(self) -> dict[str, Any]:
        """Return the account as the profile's JSON has it."""
        return {
            "instructions": self.instructions,
            "attributed_instructions": self.attributed_instructions,
            "idle_ns": self.idle_ns,
            "virtual_ns": self.virtual_ns,
            "named_kernel_share": self.named_kernel_share,
            "mismatched_return_share": self.mismatched_return_share,
            "at": self.at,
            "closed": self.closed,
            "outside_share": self.outside_share,
            "outside_task_share": self.outside_task_share,
            "outside_function_share": self.outside_function_share,
            "pruned_share": self.pruned_share,
            **({"charged_ns": self.charged_ns} if self.charged_ns else {}),
        }


@dataclass(frozen=True, slots=True)
class Account(Result):
    """The balance at ready and at the profile's end (the same where the boot was never ready), and what is off."""

    ready: Balance
    end: Balance
    faults: tuple[str, ...]
    """What does not add up, a sentence each; empty for a sound profile."""
    complete: bool
    """The profile has its end; one that was cut off has at least that fault."""

    @property
    def closed(self) -> bool:
        """Whether both balances close and nothing in between is off."""
        return self.ready.closed and self.end.closed and not self.faults

    @property
    def verdict(self) -> str:
        """Return in words whether it closes, the same on every page."""
        if self.closed:
            return "closed: every instruction and every ns is in it"
        # When the end was is not known of one that was cut off, so its ns cannot be compared.
        whole = all(one.attributed_instructions == one.instructions for one in (self.ready, self.end))
        if not self.complete and whole:
            return "cut off: every instruction that was saved is in it"
        return "does not add up"

    def as_json(self) -> dict[str, Any]:
        """Return the balance at ready, the one at the end as `whole`, and the faults: with any, it is not closed."""
        return {
            **self.ready.as_json(), "closed": self.closed, "whole": self.end.as_json(), "faults": list(self.faults)
        }  # fmt: skip


def make_account(profile: Profile, shown: CallTree | None = None) -> Account:
    """Return the account of a profile. `shown`: the tree up to ready as a user sees it, perhaps pruned."""
    own = [_own_instructions(profile, number) for number in range(len(profile.slices))]
    outside_function, outside_task, kernel, unnamed_kernel = _masks(profile)

    def balance(slices: range, pruned: float) -> Balance:
        last = profile.slices[slices[-1]] if slices else None
        instructions = last.end_instructions if last else 0
        virtual_ns = last.end_ns if last else 0
        spent = sum((own[number] for number in slices), start=np.zeros(len(profile.nodes), dtype=np.int64))
        # The root's own weight belongs to nothing.
        attributed = int(spent[1:].sum())
        return Balance(
            at=last.name if last else "power_on",
            instructions=instructions,
            attributed_instructions=attributed,
            idle_ns=_lasted_ns(profile.idles, virtual_ns),
            charged_ns=_lasted_ns(profile.charges, virtual_ns),
            virtual_ns=virtual_ns,
            named_kernel_share=_share(int(spent[kernel & ~unnamed_kernel].sum()), int(spent[kernel].sum())),
            mismatched_return_share=_mismatched(profile, slices),
            outside_task_share=_share(int(spent[outside_task].sum()), attributed),
            outside_function_share=_share(int(spent[outside_function].sum()), attributed),
            pruned_share=pruned,
            shift=profile.shift,
        )

    whole = range(len(profile.slices))
    ready = balance(profile.up_to(READY), pruned_share(shown) if shown is not None else 0.0)
    return Account(ready, balance(whole, 0.0), tuple(_faults(profile, own)), profile.complete)


def pruned_share(tree: CallTree) -> float:
    """Return the share of a tree's instructions that its `[pruned]` leaves hold."""
    pruned = int(tree.self_instructions[tree.function == tree.leaf(PRUNED)].sum())
    return _share(pruned, int(tree.total_instructions[0])) or 0.0


def _faults(profile: Profile, own: list[Integers]) -> Iterator[str]:
    if not profile.complete:
        yield "the profile was cut off: QEMU or the plugin did not end it"
    if profile.dropped:
        yield f"{profile.dropped} records refer to what the file did not get to"
    for number, piece in enumerate(profile.slices):
        executed = piece.end_instructions - piece.start_instructions
        missing = executed - int(own[number][1:].sum())
        told = np.concatenate([profile.idles, profile.charges])
        told_ns = _lasted_ns(told, piece.end_ns) - _lasted_ns(told, piece.start_ns)
        unaccounted_ns = piece.end_ns - piece.start_ns - (executed << profile.shift) - told_ns
        if missing:
            yield f"up to {piece.name}: {missing} of {executed} instructions are in no task or stage"
        # Only the end's own time is QEMU's to choose when it was cut off.
        if unaccounted_ns and (profile.complete or number < len(profile.slices) - 1):
            lasted_ns = piece.end_ns - piece.start_ns
            yield f"up to {piece.name}: {unaccounted_ns} of {lasted_ns} ns are neither executed nor idle nor charged"
    listed_ns = _lasted_ns(profile.idles, profile.end_ns)
    if profile.complete and profile.idle_ns != listed_ns:
        yield f"the idle stretches add up to {listed_ns} ns, the plugin counted {profile.idle_ns} ns"


def _own_instructions(profile: Profile, number: int) -> Integers:
    weights = profile.slices[number].weights
    own = np.zeros(len(profile.nodes), dtype=np.int64)
    np.add.at(own, weights["node"], weights["instructions"])
    return own


def _masks(profile: Profile) -> tuple[np.ndarray[Any, np.dtype[np.bool_]], ...]:
    # Per node: in no function with a name; under no task or stage; the kernel's; the kernel's without a name.
    # A stage is not always the top: riscv64's firmware is also beneath the kernel, in the stack of whom it works for.
    shape = profile.shape
    space = profile.spaces[profile.nodes["function"]]
    top = space[shape.top]
    in_stage = space == Space.STAGE
    for level in shape.levels[1:]:
        in_stage[level] |= in_stage[shape.parent[level]]
    nowhere = ~in_stage & (top != Space.TASK)
    user = np.array([name == "[user]" for name in profile.names])[profile.nodes["function"]]
    unnamed = (space == Space.OTHER) | (~in_stage & ((space == Space.CODE) | (space == Space.TASK)))
    kernel = ~in_stage & (space != Space.USER) & ~user
    return unnamed, nowhere, kernel, kernel & unnamed


def _lasted_ns(stretches: Records, until_ns: int) -> int:
    return int(np.maximum(np.minimum(stretches["end_ns"], until_ns) - stretches["start_ns"], 0).sum())


def _mismatched(profile: Profile, slices: range) -> float | None:
    counts = profile.counts[profile.counts["slice"] <= (slices[-1] if slices else -1)]
    return _share(int(counts["mismatched_returns"][-1]), int(counts["returns"][-1])) if len(counts) else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
