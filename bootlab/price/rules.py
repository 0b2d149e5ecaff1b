"""Rule sets: which traps leave a guest of KVM, and in which class of exit. Data in rule_sets/, each with its sources.

[[rule]]                        # the first that fits a trap decides; none that fits: it does not exit
class = "pio_kvm"
traps = ["in", "out"]
numbers = ["20-21", "a0-a1"]    # hexadecimal, or a system register of arm64, "S3_0_C0_C1_0"; without the key: all
machines = ["q35", "pc"]        # what decides with which devices KVM is asked to help; without the key: any
why = "..."
source = "..."
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from bootlab.price.classes import CLASSES_OF, NO_EXIT, Arch
from bootlab.price.traps import CACHES_OFF, TRAPS_OF, TrapKind

_FOLDER: Final = Path(__file__).parent / "rule_sets"
_HIGHEST: Final = (1 << 64) - 1
MACHINES: Final[Mapping[Arch, tuple[str, ...]]] = {
    "x86_64": ("q35", "pc", "microvm", "firecracker"),
    "aarch64": ("virt",),
}
"""Architecture -> machines, by shape where one has a shape, that differ in what KVM does for them."""
_SYSTEM_REGISTER: Final = re.compile(r"S([0-3])_([0-7])_C(\d{1,2})_C(\d{1,2})_([0-7])")
_WORDS: Final = {kind.word: kind for kind in TrapKind if kind is not TrapKind.LOST}


class _RuleTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rule(_RuleTable):
    """One rule. `changes`: only where one of these bits of the control register changes; 0: always.

    `time_bound`: how often it comes follows from how long other things take, as with a poll or a tick.
    `machines`: of these alone; None: of any.
    """

    exit_class: Annotated[str, Field(alias="class")]
    traps: tuple[str, ...]
    numbers: tuple[tuple[int, int], ...] = ((0, _HIGHEST),)
    machines: tuple[str, ...] | None = None
    changes: int = 0
    caches_off: bool = False
    time_bound: bool = False
    why: str
    source: str

    @field_validator("numbers", mode="before")
    @classmethod
    def _read_ranges(cls, value: Any) -> Any:
        ranges = []
        for text in value:
            low, _, high = str(text).partition("-")
            ranges.append((_number(low), _number(high or low)))
        return tuple(ranges)


def _number(text: str) -> int:
    """Return a number of a trap. A system register's is the plugin's (plugin/profile_format.h), as KVM has it."""
    found = _SYSTEM_REGISTER.fullmatch(text)
    if found is None:
        return int(text, 16)
    op0, op1, crn, crm, op2 = map(int, found.groups())
    if crn > 15 or crm > 15:
        raise ValueError(f"{text!r}: registers C0 to C15")
    return op0 << 14 | op1 << 11 | crn << 7 | crm << 3 | op2


class RuleSet(_RuleTable):
    """The rules of one kind of processor. `proved`: compared with a real KVM, as `how` says."""

    name: str
    arch: Arch
    words: str
    proved: bool
    how: str
    not_followed: tuple[str, ...]
    """What is known to differ from a real KVM, each in a sentence."""
    rules: Annotated[tuple[Rule, ...], Field(alias="rule")]

    @model_validator(mode="after")
    def _are_of_the_architecture(self) -> Self:
        words = [kind.word for kind in TRAPS_OF[self.arch]]
        for rule in self.rules:
            if rule.exit_class != NO_EXIT and rule.exit_class not in self.classes:
                raise ValueError(f"{rule.exit_class!r} is no class of exit: {', '.join([*self.classes, NO_EXIT])}")
            if wrong := next((word for word in rule.traps if word not in words), None):
                raise ValueError(f"{wrong!r} is no kind of trap: {', '.join(words)}")
            machines = MACHINES[self.arch]
            if wrong := next((one for one in rule.machines or () if one not in machines), None):
                raise ValueError(f"{wrong!r} is no machine: {', '.join(machines)}")
        return self

    @property
    def classes(self) -> Mapping[str, str]:
        """Return its classes of exits -> what each is, in words."""
        return CLASSES_OF[self.arch]

    def on(self, machine: str, shape: str | None = None) -> "RuleSet":
        """Return the rules that hold for a machine of QEMU's, or of the shape that it has."""
        kept = tuple(rule for rule in self.rules if rule.machines is None or (shape or machine) in rule.machines)
        return self.model_copy(update={"rules": kept})


@dataclass(frozen=True, slots=True)
class Exits:
    """The exit of each of many traps. `exit_class`: index into `names`; -1 for a trap that is no exit."""

    names: tuple[str, ...]
    exit_class: NDArray[np.int64]
    time_bound: NDArray[np.bool_]


RuleSetName = Literal["svm", "vmx", "arm64"]
RULE_SETS: Final[tuple[RuleSetName, ...]] = ("svm", "vmx", "arm64")
DEFAULT_RULES: Final[Mapping[str, RuleSetName]] = {"x86_64": "svm", "aarch64": "arm64"}
"""Architecture -> the rules by which a boot's exits are told where no host model says which."""


@lru_cache
def read_rule_set(name: RuleSetName) -> RuleSet:
    """Return one of the rule sets that come with bootlab."""
    return RuleSet.model_validate(tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8")))


def find_exits(rules: RuleSet, traps: NDArray[np.void]) -> Exits:
    """Return which of the traps exit; `traps` has the fields kind, state, number and changes.

    `rules`: those that hold on the machine.
    """
    names = tuple(rules.classes)
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
