"""What a gate found, as a document."""

from typing import Any, Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.ledger.gate.judging import GateVerdict
from bootlab.timeline.event import Nanoseconds

SCHEMA: Final = "bootlab.gate/1"


class GateFigure(Document):
    """One figure that the gate watches. `what`: `ready`, or `phase:NAME`."""

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
