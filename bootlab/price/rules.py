"""Rule sets: which traps leave a guest of KVM, and in which class of exit. Data in rule_sets/, each with its sources.

[[rule]]                        # the first that fits a trap decides; none that fits: it does not exit
class = "pio_kvm"
traps = ["in", "out"]
numbers = ["20-21", "a0-a1"]    # hexadecimal; without the key: all
machines = ["q35", "pc"]        # what decides with which devices KVM is asked to help; without the key: any
why = "..."
source = "..."
"""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator

from bootlab.price.classes import CLASSES, NO_EXIT
from bootlab.price.traps import CACHES_OFF, TrapKind

_FOLDER: Final = Path(__file__).parent / "rule_sets"
_HIGHEST: Final = (1 << 64) - 1
MACHINES: Final = ("q35", "pc", "microvm", "firecracker")
"""Machines of x86-64, by shape where one has a shape, that differ in what KVM does for them."""
_WORDS: Final = {kind.word: kind for kind in TrapKind if kind is not TrapKind.LOST}


class _RuleTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rule(_RuleTable):
    """One rule. `changes`: only where one of these bits of the control register changes; 0: always.

    `time_bound`: how often it comes follows from how long other things take, as with a poll or a tick.
    `machines`: of these alone.
    """

    exit_class: Annotated[str, Field(alias="class")]
    traps: tuple[str, ...]
    numbers: tuple[tuple[int, int], ...] = ((0, _HIGHEST),)
    machines: tuple[Literal["q35", "pc", "microvm", "firecracker"], ...] = MACHINES
    changes: int = 0
    caches_off: bool = False
    time_bound: bool = False
    why: str
    source: str

    @field_validator("exit_class")
    @classmethod
    def _is_class(cls, value: str) -> str:
        if value != NO_EXIT and value not in CLASSES:
            raise ValueError(f"{value!r} is no class of exit: {', '.join([*CLASSES, NO_EXIT])}")
        return value

    @field_validator("traps")
    @classmethod
    def _are_traps(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for word in value:
            if word not in _WORDS:
                raise ValueError(f"{word!r} is no kind of trap: {', '.join(_WORDS)}")
        return value

    @field_validator("numbers", mode="before")
    @classmethod
    def _read_ranges(cls, value: Any) -> Any:
        ranges = []
        for text in value:
            low, _, high = str(text).partition("-")
            ranges.append((int(low, 16), int(high or low, 16)))
        return tuple(ranges)


class RuleSet(_RuleTable):
    """The rules of one kind of processor. `proved`: compared with a real KVM, as `how` says."""

    name: str
    words: str
    proved: bool
    how: str
    not_followed: tuple[str, ...]
    """What is known to differ from a real KVM, each in a sentence."""
    rules: Annotated[tuple[Rule, ...], Field(alias="rule")]

    def on(self, machine: str, shape: str | None = None) -> "RuleSet":
        """Return the rules that hold for a machine of QEMU's, or of the shape that it has."""
        kept = tuple(rule for rule in self.rules if (shape or machine) in rule.machines)
        return self.model_copy(update={"rules": kept})


@dataclass(frozen=True, slots=True)
class Exits:
    """The exit of each of many traps. `exit_class`: index into `names`; -1 for a trap that is no exit."""

    names: tuple[str, ...]
    exit_class: NDArray[np.int64]
    time_bound: NDArray[np.bool_]


RuleSetName = Literal["svm", "vmx"]
RULE_SETS: Final[tuple[RuleSetName, ...]] = ("svm", "vmx")


@lru_cache
def read_rule_set(name: RuleSetName) -> RuleSet:
    """Return one of the rule sets that come with bootlab."""
    return RuleSet.model_validate(tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8")))


def find_exits(rules: RuleSet, traps: NDArray[np.void]) -> Exits:
    """Return which of the traps exit; `traps` has the fields kind, state, number and changes.

    `rules`: those that hold on the machine.
    """
    names = tuple(CLASSES)
    exit_class = np.full(len(traps), -1, dtype=np.int64)
    time_bound = np.zeros(len(traps), dtype=np.bool_)
    # The first that fits decides, so it is laid over all others.
    for rule in reversed(rules.rules):
        fits = np.isin(traps["kind"], [int(_WORDS[word]) for word in rule.traps])
        within = np.zeros(len(traps), dtype=np.bool_)
        for low, high in rule.numbers:
            within |= (traps["number"] >= np.uint64(low)) & (traps["number"] <= np.uint64(high))
        fits &= within
        if rule.changes:
            fits &= (traps["changes"] & np.uint32(rule.changes)) != 0
        if rule.caches_off:
            fits &= (traps["state"] & CACHES_OFF) != 0
        exit_class[fits] = -1 if rule.exit_class == NO_EXIT else names.index(rule.exit_class)
        time_bound[fits] = rule.time_bound
    return Exits(names, exit_class, time_bound)


def price_lines(rules: RuleSet, ns: dict[str, int]) -> list[str]:
    """Return the plugin's lines (plugin/trace_format.h) that charge each exit; `ns`: class -> what it takes."""
    lines = []
    for rule in rules.rules:
        name, cost = (NO_EXIT, 0) if rule.exit_class == NO_EXIT else (rule.exit_class, ns[rule.exit_class])
        state = CACHES_OFF if rule.caches_off else 0
        lines += [
            f"price {name} {word} {low:x} {high:x} {rule.changes:x} {state} {cost}"
            for word in rule.traps
            for low, high in rule.numbers
        ]
    return lines
