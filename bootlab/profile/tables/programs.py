"""Which program executed what before the kernel: drivers of UEFI, loaders and what they loaded, a board's stages.

Code of a program without symbols has a name of the form `DxeCore@0x1a40`: the program, and how far into it (see
plugin/profile_format.h). What a program calls in another one counts for that one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Integers, Space
from bootlab.profile.tables.plain_data import Result

_OF_PROGRAM: Final = re.compile(r"(?P<program>.+)@0x[0-9a-f]+|\[(?P<stage>.+)\]|.* \[(?P<of_stage>.+)\]")


@dataclass(frozen=True, slots=True)
class ProgramShare(Result):
    """What a program executed itself. `functions`: how many of it ran; `share`: of all instructions of the phase."""

    name: str
    functions: int
    instructions: int
    share: float


class ProgramCosts:
    """The programs of a profile's nodes ahead of its kernel, found once."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        space = profile.spaces[profile.nodes["function"]]
        inside = (space == Space.STAGE) | (space == Space.CODE)
        numbers = np.unique(profile.nodes["function"][inside]).tolist()
        named = {number: program_of(profile.names[number]) for number in numbers}
        self.names: list[str] = sorted({name for name in named.values() if name})
        places = {name: place for place, name in enumerate(self.names)}
        by_function = np.full(len(profile.names), -1, dtype=np.int64)
        for number, name in named.items():
            by_function[number] = places.get(name, -1)
        self._program: Integers = by_function[profile.nodes["function"]]

    def shares(self, slices: Sequence[int]) -> tuple[ProgramShare, ...]:
        """Return what each program executed in the slices with these indexes, most instructions first."""
        cost = np.zeros(len(self.names), dtype=np.int64)
        functions: list[set[int]] = [set() for _ in self.names]
        total = 0
        for index in slices:
            weights = self._profile.slices[index].weights
            total += int(weights["instructions"].sum())
            weights = weights[self._program[weights["node"]] >= 0]
            np.add.at(cost, self._program[weights["node"]], weights["instructions"])
            ran = np.unique(weights["node"])
            for node in ran.tolist():
                functions[self._program[node]].add(int(self._profile.nodes["function"][node]))
        rows = [
            ProgramShare(self.names[place], len(functions[place]), int(cost[place]), int(cost[place]) / total)
            for place in np.flatnonzero(cost).tolist()
        ]
        return tuple(sorted(rows, key=lambda row: (-row.instructions, row.name)))


def program_of(name: str) -> str:
    """Return the program, or else the stage, whose code a function of a stage is; empty for a name of another form."""
    found = _OF_PROGRAM.fullmatch(name)
    return "" if found is None else found["program"] or found["stage"] or found["of_stage"]
