"""Finds busy waits: loops on a clock or a device, which count as instructions and which no faster CPU shortens.

A bootloader has no other way to wait; a kernel waits so for what is too short to sleep. A loop is known by the name of
its function, and what it waits for by that and by who called it. Interrupts that come meanwhile do work, and are not
counted.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Integers, Space
from bootlab.profile.tables.interrupts import InterruptCosts
from bootlab.profile.tables.plain_data import Result
from bootlab.profile.waits.sleep_reasons import bare, find_context

SHORTEST_BUSY_NS: Final = 10_000
"""Places that waited less are not worth a row."""


class BusyWaitKind(StrEnum):
    """What is waited for."""

    DELAY = "delay"
    """A time that the code asked for: udelay(), mdelay()."""
    COUNTDOWN = "countdown"
    """U-Boot's BOOTDELAY: a key that would stop it."""
    CARD = "card"
    """The transfer of a card or flash chip whose rate is modelled ([board_model])."""
    LINE = "line"
    """The same of a serial line."""
    POLL = "poll"
    """A device's register."""


@dataclass(frozen=True, slots=True)
class BusyWait(Result):
    """One place that waits, over all its calls. `who`: a task, or a stage such as `[SPL]`.

    `function`: the loop, or the outermost of those that only lead to it; `caller`: who called that; `context`: what
    that was done for, as in a wait's cause. `times`: it was called.
    """

    kind: BusyWaitKind
    who: str
    function: str
    caller: str
    context: str
    ns: int
    times: int


_DELAY: Final = re.compile(r"(?:__)?(?:const_)?[mun]delay|__delay|__(?:timer|loop)_delay|delay_(?:tsc|loop|halt\w*)")
# Of a bootloader alone: elsewhere something else may be called so.
_STAGE_WAIT: Final = re.compile(
    r"wait_until|board_model_(?:uart_putc|storage_wait|chip_wait)|wait_for_bit_\w+|mctl_await_completion|mmc_rint_wait"
)
_STORAGE_WAITS: Final = frozenset({"board_model_storage_wait", "board_model_chip_wait"})
_COUNTDOWN: Final = frozenset({"abortboot", "abortboot_single_key", "abortboot_key_sequence", "autoboot_command"})


class BusyWaits:
    """The busy waits of one profile, found once."""

    def __init__(self, profile: Profile, costs: InterruptCosts) -> None:
        self.profile = profile
        self.costs = costs

    @cached_property
    def _heads(self) -> Integers:
        # For each node the one where its busy wait began: itself or an ancestor; 0 for no busy wait.
        profile = self.profile
        functions = profile.nodes["function"]
        used = np.unique(functions)
        waits = np.zeros(len(profile.names), dtype=np.bool_)
        waits[used] = [_waits(profile.names[number], int(profile.spaces[number])) for number in used.tolist()]
        mine = waits[functions]
        interrupts = self.costs.interrupt.begins
        heads = np.zeros(len(functions), dtype=np.int64)
        for level in profile.shape.levels[1:]:
            above = np.where(interrupts[level], 0, heads[profile.shape.parent[level]])
            heads[level] = np.where(above != 0, above, np.where(mine[level], level, 0))
        return heads

    @cached_property
    def _is_card(self) -> NDArray[np.bool_]:
        # For each node whether its busy wait is for a card.
        cards = [head for head in np.unique(self._heads).tolist() if head and self._kind(head) is BusyWaitKind.CARD]
        return np.isin(self._heads, cards)

    def spent_ns(self, slices: Sequence[int]) -> tuple[int, int]:
        """Return what busy waits took in some slices, and how much of that was for a card."""
        instructions = for_cards = 0
        for number in slices:
            weights = self.profile.slices[number].weights
            waiting = self._heads[weights["node"]] != 0
            instructions += int(weights["instructions"][waiting].sum())
            for_cards += int(weights["instructions"][self._is_card[weights["node"]]].sum())
        return instructions << self.profile.shift, for_cards << self.profile.shift

    def list_waits(self, slices: Sequence[int]) -> tuple[BusyWait, ...]:
        """Return the busy waits in some slices by place, longest first."""
        instructions: Counter[int] = Counter()
        times: Counter[int] = Counter()
        for number in slices:
            weights = self.profile.slices[number].weights
            heads = self._heads[weights["node"]]
            rows = zip(heads.tolist(), weights["node"].tolist(), weights["instructions"].tolist(),
                       weights["calls"].tolist(), strict=True)  # fmt: skip
            for head, node, count, calls in rows:
                if head:
                    instructions[head] += count
                    times[head] += calls if node == head else 0
        found: Counter[tuple[BusyWaitKind, str, str, str, str]] = Counter()
        called: Counter[tuple[BusyWaitKind, str, str, str, str]] = Counter()
        for head, count in instructions.items():
            place = (self._kind(head), *self._place(head))
            found[place] += count
            called[place] += times[head]
        waits = [BusyWait(*place, count << self.profile.shift, called[place]) for place, count in found.items()]
        return tuple(sorted(waits, key=lambda one: (-one.ns, one.who, one.caller, one.function)))

    def _place(self, head: int) -> tuple[str, str, str, str]:
        path = self.profile.path(head)
        who, above = path[0], path[1:-1]
        context = "" if who.startswith("[") else find_context(above)[0]
        return who, bare(path[-1]), bare(above[-1]) if above else "", context

    def _kind(self, head: int) -> BusyWaitKind:
        path = [bare(name) for name in self.profile.path(head)]
        name, callers = path[-1], path[:-1]
        if _DELAY.fullmatch(name):
            return BusyWaitKind.COUNTDOWN if not _COUNTDOWN.isdisjoint(callers[-2:]) else BusyWaitKind.DELAY
        if name in _STORAGE_WAITS or (name == "wait_until" and any("mmc" in one for one in callers)):
            return BusyWaitKind.CARD
        return BusyWaitKind.LINE if name in ("board_model_uart_putc", "wait_until") else BusyWaitKind.POLL


def _waits(name: str, space: int) -> bool:
    plain = bare(name)
    if space == Space.CODE and _STAGE_WAIT.fullmatch(plain):
        return True
    return space in (Space.CODE, Space.KERNEL) and _DELAY.fullmatch(plain) is not None
