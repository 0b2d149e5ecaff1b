"""The units of a system as bootlab-init understands them, read from the system's files without booting it.

bootlab-init's own readers do it, compiled for this host (guest/init/check.c): what is said here is what happens there.
"""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.build.cache import Cache
from bootlab.build.programs import guest
from bootlab.errors import BootlabError, InputError
from bootlab.process import run

AT_START: Final = 1
AT_STOP: Final = 2

_ESCAPE = re.compile(r"%([0-9A-F]{2})")


@dataclass(frozen=True, slots=True)
class PlannedUnit:
    """One unit. `origin`: unit, lsb, systemd, builtin or facility."""

    name: str
    path: str
    origin: str
    enabled: bool
    wanted: bool
    """Enabled, or brought along by one that is: it is started at boot."""
    goal: bool
    """The goal, or on the way to it."""
    broken: bool
    """It cannot be started, and why is among the problems."""
    commands: tuple[tuple[str, ...], ...]
    """Each begins with its phase: pre, start, post, stop."""

    @property
    def is_work(self) -> bool:
        """Whether it is more than a name for others."""
        return self.origin not in ("facility", "builtin")


@dataclass(frozen=True, slots=True)
class PlannedEdge:
    """`waiting` waits for `awaited` (indices of units)."""

    waiting: int
    awaited: int
    relation: str
    """needs, wants, after or member."""
    when: int
    """AT_START, AT_STOP or both."""
    line: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a file, at a line; line 0 is the whole file."""

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class InitPlan:
    """What bootlab-init makes of a system's files. Cycles have been opened: the edges that are left can be ordered."""

    units: tuple[PlannedUnit, ...]
    edges: tuple[PlannedEdge, ...]
    problems: tuple[Problem, ...]

    def waits(self, when: int = AT_START, *, wanted_only: bool = True) -> dict[int, set[int]]:
        """Return for each unit the units it waits for, among those that are started."""
        waits: dict[int, set[int]] = {
            index: set() for index, unit in enumerate(self.units) if unit.wanted or not wanted_only
        }
        for edge in self.edges:
            if edge.when & when and edge.waiting in waits and edge.awaited in waits:
                waits[edge.waiting].add(edge.awaited)
        return waits

    def closure(self, names: Collection[str]) -> frozenset[str]:
        """Return the units of these names and all that they wait for, near and far."""
        waits = self.waits()
        found, left = set[int](), [index for index in waits if self.units[index].name in names]
        while left:
            index = left.pop()
            if index not in found:
                found.add(index)
                left += waits[index]
        return frozenset(self.units[index].name for index in found)

    def longest_chain(self, cost_ns: Mapping[str, int] | None = None) -> tuple[list[str], int]:
        """Return the units of the longest way to the goal (without one: to the last unit), first to last, and its cost.

        `cost_ns`: what each unit takes from its start to ready, 0 where it is not told. Without it each unit of work
        counts 1.
        """
        waits = self.waits()
        length: dict[int, int] = {}
        before: dict[int, int | None] = {}
        for index in _in_order(waits):
            unit = self.units[index]
            own = cost_ns.get(unit.name, 0) if cost_ns is not None else int(unit.is_work)
            last = max(sorted(waits[index]), key=lambda other: length[other], default=None)
            before[index] = last
            length[index] = own + (length[last] if last is not None else 0)
        ends = [index for index in length if self.units[index].goal] or list(length)
        if not ends:
            return [], 0
        end: int | None = max(ends, key=lambda index: length[index])
        total, chain = length[end] if end is not None else 0, []
        while end is not None:
            chain.append(end)
            end = before[end]
        return [self.units[index].name for index in reversed(chain) if self.units[index].is_work], total


def _in_order(waits: Mapping[int, set[int]]) -> Iterable[int]:
    done: set[int] = set()
    left = dict(waits)
    while left:
        ready = [index for index, others in left.items() if others <= done]
        if not ready:
            raise BootlabError("bootlab-init-check left a cycle in its graph", hint="please report the units")
        yield from ready
        done.update(ready)
        for index in ready:
            del left[index]


def read_plan(root: Path, cache: Cache, goals: Sequence[str] = ()) -> InitPlan:
    """Return the plan of the system whose root folder is `root`; `goals` take the place of the system's own.

    Raises InputError when that is no folder, MissingTool or ProgramFailed when the reader cannot be compiled.
    """
    if not root.is_dir():
        raise InputError(f"{root}: not a folder", hint="DIR is the root of a system: the folder that holds etc/")
    return parse_plan(run([guest.compile_init_check(cache), os.path.abspath(root), *goals]).text, os.path.abspath(root))


def parse_plan(text: str, root: str = "") -> InitPlan:
    """Return the plan that bootlab-init-check printed for `root`; paths become those of the system."""
    units: list[PlannedUnit] = []
    commands: dict[int, list[tuple[str, ...]]] = {}
    edges, problems = [], []
    for row in text.splitlines():
        kind, *words = (_unescaped(word) for word in row.split("\t"))
        if kind == "unit":
            index, origin, flags, _, name, path = words
            commands[int(index)] = []
            held = ("e" in flags, "w" in flags, "g" in flags, "b" in flags)
            units.append(PlannedUnit(name, path.removeprefix(root), origin, *held, commands=()))
        elif kind == "command":
            commands[int(words[0])].append(tuple(words[1:]))
        elif kind == "edge":
            edges.append(PlannedEdge(int(words[0]), int(words[1]), words[2], int(words[3]), int(words[4])))
        elif kind == "problem":
            problems.append(Problem(words[0].removeprefix(root), int(words[1]), words[2].replace(f"{root}/", "/")))
    full = (
        PlannedUnit(
            unit.name, unit.path, unit.origin, unit.enabled, unit.wanted, unit.goal, unit.broken, tuple(commands[index])
        )
        for index, unit in enumerate(units)
    )
    return InitPlan(tuple(full), tuple(edges), tuple(problems))


def _unescaped(word: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), word)
