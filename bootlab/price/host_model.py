"""Host models: what a host takes for an instruction, an exit of each class and a fault; named, or in a file.

name = "mine"
rules = "svm"                   # which traps exit: svm; unproved: vmx, and arm64 for arm64 hosts
memory = "4K"                   # what backs the guest's memory: 4K or 2M
[instruction]
ns = 0.33
source = "where the figure comes from"
[exit.pio_vmm]                  # and so on for every class of the rules' architecture (classes.py)
[fault.4K]                      # and fault.2M
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from bootlab.errors import InputError
from bootlab.plain_file import open_plain
from bootlab.price.classes import FAULT_2M, FAULT_4K, Arch
from bootlab.price.memory import Span
from bootlab.price.rules import MACHINES, RuleSet, RuleSetName, price_lines, read_rule_set

_FOLDER: Final = Path(__file__).parent / "host_models"
_LARGEST: Final = 1 << 20
_EXAMPLE: Final = "docs/price.md has a whole model; one that comes with bootlab is a good one to begin with"
NAMED: Final = ("lean", "ibrs", "nested")
"""The models of x86-64 hosts that come with bootlab."""
NAMED_ARM64: Final = ("altra",)
"""Those of arm64 hosts."""
ALL_NAMED: Final = (*NAMED, *NAMED_ARM64)
"""All that come with bootlab."""
_NAMED_OF: Final[Mapping[str, tuple[str, ...]]] = {"x86_64": NAMED, "aarch64": NAMED_ARM64}
MODEL_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$"
"""What a model may be called."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=1000, strip_whitespace=True)]


class _ModelTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PerInstruction(_ModelTable):
    """From 1000 instructions a ns, which no CPU does, to one in 100 ns."""

    ns: float = Field(ge=0.001, le=100, allow_inf_nan=False)
    source: Text


class PerExit(_ModelTable):
    """From 10 ns, in which no CPU comes to its host and back, to 10 ms."""

    ns: int = Field(ge=10, le=10_000_000, strict=True)
    source: Text


class PerFault(_ModelTable):
    """From 10 ns to 100 ms."""

    ns: int = Field(ge=10, le=100_000_000, strict=True)
    source: Text


class Faults(_ModelTable):
    """The first touch of a page, and of a chunk that one huge page of the host backs."""

    small: Annotated[PerFault, Field(alias="4K")]
    huge: Annotated[PerFault, Field(alias="2M")]

    @model_validator(mode="after")
    def _huge_is_no_less(self) -> Self:
        if self.huge.ns < self.small.ns:
            raise ValueError(f"2M: {self.huge.ns} ns, less than a fault of 4K: a host clears 512 times as much for it")
        return self


class HostModel(_ModelTable):
    """What a host takes. Each figure has its source."""

    name: Annotated[str, StringConstraints(pattern=MODEL_NAME)]
    words: Annotated[str, StringConstraints(max_length=200)] = ""
    rules: RuleSetName = "svm"
    memory: Literal["4K", "2M"] = "4K"
    instruction: PerInstruction
    exit: dict[str, PerExit]
    fault: Faults

    @model_validator(mode="after")
    def _has_every_class(self) -> Self:
        classes = read_rule_set(self.rules).classes
        unknown = [name for name in self.exit if name not in classes]
        missing = [name for name in classes if name not in self.exit]
        if unknown:
            raise ValueError(f"exit.{unknown[0]}: no class of exit by the rules {self.rules}: {', '.join(classes)}")
        if missing:
            raise ValueError(f"exit.{missing[0]}: missing ({classes[missing[0]]})")
        return self

    @property
    def arch(self) -> Arch:
        """Return the architecture of its host, which its rules have."""
        return read_rule_set(self.rules).arch

    @cached_property
    def identity(self) -> str:
        """Return a hash of all that decides a boot: the figures and the rules, not names and sources."""
        figures = [self.instruction.ns, {name: one.ns for name, one in sorted(self.exit.items())}]
        faults = [self.fault.small.ns, self.fault.huge.ns, self.memory]
        # The rules by what they come to: new words in them are no new model.
        known = read_rule_set(self.rules)
        ns = dict.fromkeys(known.classes, 1)
        rules = [price_lines(known.on(machine), ns) for machine in MACHINES[known.arch]]
        return hashlib.sha256(json.dumps([figures, faults, self.rules, rules]).encode()).hexdigest()

    @property
    def exit_ns(self) -> dict[str, int]:
        """Return class of exit -> ns."""
        return {name: self.exit[name].ns for name in read_rule_set(self.rules).classes}

    def backed_by(self, page_size: str) -> str:
        """Return what backs the guest's memory, 4K or 2M: `page_size`, where that is not `auto`, else the model's."""
        return self.memory if page_size == "auto" else page_size

    def plugin_lines(self, rules: RuleSet, spans: tuple[Span, ...], memory: str) -> list[str]:
        """Return the plugin's lines (plugin/trace_format.h) that charge the clock by this model.

        `rules`: those that hold on the machine; `spans`: memory that huge pages may back; `memory`: what backs it,
        4K or 2M.
        """
        lines = price_lines(rules, self.exit_ns)
        if memory == "2M":
            lines += [f"touch {FAULT_2M} {low:x} {high:x} 21 {self.fault.huge.ns}" for low, high in spans]
        return [*lines, f"touch {FAULT_4K} 0 ffffffffffffffff 12 {self.fault.small.ns}"]


def read_host_model(name: str, others: Mapping[str, Path] | None = None) -> HostModel:
    """Return a model by its name, or of the TOML file at a path that ends in .toml.

    `others`: models that are not bootlab's own: name -> file (extensions/host_models.py).

    Raises InputError that names file:key for every mistake at once, and for what is neither.
    """
    if name in ALL_NAMED:
        return _parse((_FOLDER / f"{name}.toml").read_bytes(), name)
    known = others or {}
    if not name.endswith(".toml") and name not in known:
        raise InputError(
            f"{ascii(name)[1:-1]}: no host model of this name",
            hint=f"there are {', '.join([*ALL_NAMED, *known])}; one of your own is a file whose name ends in .toml",
        )
    path = known.get(name, Path(name))
    try:
        with open_plain(path) as file:
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{ascii(name)[1:-1]}: {reason}, expected a host model", hint=_EXAMPLE) from error
    if len(data) > _LARGEST:
        raise InputError(f"{path}: more than 1 MiB, expected a host model", hint=_EXAMPLE)
    return _parse(data, str(path))


def expect_arch(model: HostModel, arch: str, system: str) -> None:
    """Raise InputError where a system is of another architecture than the model's hosts, or of none with known exits.

    `system`: what the system is called.
    """
    if arch not in _NAMED_OF:
        raise InputError(
            f"{system} is {arch}: the exits of x86-64 and arm64 guests of KVM are known",
            hint="without a host model it is measured like any other",
        )
    if model.arch != arch:
        raise InputError(
            f"host model {model.name}: is of {model.arch} hosts (rules {model.rules}), and {system} is {arch}",
            hint=f"of {arch} hosts there is {' or '.join(_NAMED_OF[arch])}, or a file of your own",
        )


def _parse(data: bytes, where: str) -> HostModel:
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        reason = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else f"not TOML: {str(error)[:200]}"
        raise InputError(f"{where}: {reason}, expected a host model", hint=_EXAMPLE) from error
    try:
        return HostModel.model_validate(document)
    except ValidationError as error:
        mistakes = [f"{where}:{_complaint(item)}" for item in error.errors()]
        raise InputError("\n".join(mistakes), hint=_EXAMPLE) from error


def _complaint(item: Any) -> str:
    key = ".".join(str(part) for part in item["loc"]) or "(whole file)"
    message = str(item["msg"]).removeprefix("Value error, ")
    if item["type"] == "missing":
        return f"{key}: missing"
    if item["type"] == "extra_forbidden":
        return f"{key}: unknown key"
    message = message[0].lower() + message[1:]
    got = "" if isinstance(item["input"], dict) else f", got {ascii(item['input'])[:80]}"
    return f"{key}: {message}{got}"
