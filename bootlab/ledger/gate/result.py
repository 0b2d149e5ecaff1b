"""What a gate found, as a document."""

from enum import StrEnum
from typing import Any, Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.ledger.gate.judging import GateVerdict
from bootlab.timeline.event import Nanoseconds

SCHEMA: Final = "bootlab.gate/1"


class GateFigure(Document):
    """One figure that the gate watches. `what`: `ready`, `phase:NAME` or `timing:NAME`."""

    what: str
    before_ns: Nanoseconds
    """Median over the seeds."""
    after_ns: Nanoseconds
    longer_ns: int
    limit_ns: int
    smallest_ns: int
    """The smallest change that is seen for certain."""
    spread_ns: int
    verdict: GateVerdict
    why: str = ""


class GatePhase(Document):
    """A phase of the median boots of both sides."""

    name: str
    before_ns: Nanoseconds
    after_ns: Nanoseconds


class GrownKind(StrEnum):
    """What may be new or grow, in the order in which it is shown."""

    UNIT = "unit"
    """A file that the init system reads: a unit, a timer, an init script."""
    PROCESS = "process"
    INITCALL = "initcall"
    MODULE = "module"
    FUNCTION = "function"
    WAIT = "wait"
    FILE = "file"


class Grown(Document):
    """Something that a system has now and had not, or that takes more than it did, however little.

    `before`, `after`: bytes of a file or unit, else ns up to ready (of a function its own). `before` None: it is new.
    """

    kind: GrownKind
    name: str
    before: int | None
    after: int

    @property
    def more(self) -> int:
        """How much more it is."""
        return self.after - (self.before or 0)


class GateResult(Document):
    """A system held against what it was."""

    schema_: Literal["bootlab.gate/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    file: str = ""
    """The system file, from the folder where the gate was called; empty in older ones."""
    against: str
    """What it is held against, as it was named."""
    against_commit: str = ""
    """The commit of a ledger's entry."""
    clock: str
    accelerator: str
    ns_per_instruction: int | None
    cpu: str
    seeds: list[int]
    verdict: GateVerdict
    """The worst of all figures."""
    why: str = ""
    broken_run: str = ""
    """Directory of the first boot that was not ready and well."""
    figures: list[GateFigure]
    phases: list[GatePhase] = []
    """Empty where the side before has no boots here."""
    changed: list[str] = []
    """Inputs with another hash, and those that came or went."""
    grown: list[Grown] = []
    """What is new or grew: the new ones of each kind first, then by how much."""
    not_looked_at: list[str] = []
    """What nobody could look at for it, and why."""
    profile: str = ""
    """The run with the profiles that it is known from."""
    marks: dict[str, Nanoseconds] = {}
    """When the median boot after came to each mark, since power-on; empty in older ones."""
    boots_before: int
    boots_after: int
    """Boots that the answer rests on."""
    wrong: float
    """Of changes that do nothing, the share that is stopped, at most."""
    hashes: dict[str, str]
    """Of what was booted after."""
    host: dict[str, Any] = {}
    run: str


ORDER: Final = (
    GateVerdict.BROKEN,
    GateVerdict.LONGER,
    GateVerdict.CANNOT_SAY,
    GateVerdict.UNCHANGED,
    GateVerdict.SHORTER,
)
"""Worst first."""


def worst(verdicts: list[GateVerdict]) -> GateVerdict:
    """Return the verdict that the whole gate has."""
    return min(verdicts, key=ORDER.index)
