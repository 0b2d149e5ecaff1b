"""TryResult: what `bootlab try` found on one system. The report, `--json` and the store share this one shape.

Written once when a trial ends and never changed; the JSON's shape is documented in docs/formats.md and carries a
version. Times are integer ns on `clock`; a saving is positive when the boot got shorter.
"""

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from bootlab.measure.record import PhaseRecord

SCHEMA: Final = "bootlab.try/1"

Verdict = Literal["faster", "slower", "no difference shown", "broke it", "does not apply"]
ProofWord = Literal["proven", "not shown", "no effect", ""]
"""As `bootlab.techniques.technique.Proof`; empty when no boot was there to show anything."""
StackName = Literal["recommended", "with risks"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)


class Member(_Frozen):
    """One boot of a family. The times are None when it was not ready, and on a clock that does not count them."""

    seed: int
    ready_ns: int | None
    instructions: int | None
    idle_ns: int | None
    outcome: str
    run: str
    """Directory of this boot."""
    change: str = ""
    """Empty, or the meaningless word that makes this boot a null change."""


class Baseline(_Frozen):
    """The unchanged system: what every saving is measured against."""

    ready_ns: int
    """Median of the members."""
    instructions: int | None
    idle_ns: int | None
    spread_ns: int
    """How far the system moves for no reason: over its seeds and its null changes."""
    members: list[Member]
    null_members: list[Member]
    phases: list[PhaseRecord]
    """Of the median member."""


class Judged(_Frozen):
    """One technique, measured against what stood before it."""

    technique: str
    layer: str
    risk: str
    ready_ns: int | None
    """Median of the members; None when it broke the boot or does not apply."""
    saved_ns: int | None
    """Negative is slower."""
    spread_ns: int
    """A saving inside it is no difference shown."""
    verdict: Verdict
    proof: ProofWord
    detail: str
    """One line for a reader: what broke, why it does not apply, what the proof rests on; may be empty."""
    members: list[Member]
    phases: list[PhaseRecord]
    """Of the median member; empty when there is none."""


class Step(Judged):
    """One technique put on a stack; `saved_ns` is against the step before it."""

    stack: StackName
    total_saved_ns: int
    """Of the stack so far, against the baseline."""
    retried: bool
    """It failed or did nothing alone and was tried again on the stack."""


class Finished(_Frozen):
    """Where a stack ended."""

    ready_ns: int
    ratio: float
    """Baseline over `ready_ns`. On the virtual clock: "instructions + idle", not speed."""
    techniques: list[str]
    """Every technique in the finished stack, in the order it was put there."""
    run: str
    """Directory of the median boot of the finished stack."""


class TryResult(_Frozen):
    """Techniques tried on one system: each alone, then stacked."""

    schema_: Literal["bootlab.try/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    clock: str
    """`virtual` or `wall`."""
    ns_per_instruction: int | None
    cpu: str
    seeds: list[int]
    plan: str
    """Name of the plan that fixed the order of the stack."""
    baseline: Baseline
    alone: list[Judged]
    stack: list[Step]
    """In the order tried; a step that was not kept is here too, and not in `final`."""
    final: dict[str, Finished]
    """By stack name."""
    hashes: dict[str, str]
    """sha256 of kernel, initramfs, qemu, firmware, plugin; one per input that there is."""
    host: dict[str, Any]
    baseline_run: str
    """Directory of the baseline's median boot."""
    run: str
    """Directory of this trial."""
