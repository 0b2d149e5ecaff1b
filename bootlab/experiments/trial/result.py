"""TryResult: what `bootlab try` found on one system. The report, `--json` and the store share this one shape.

Written once when a trial ends and never changed; the JSON's shape is documented in docs/formats.md and carries a
version. Times are integer ns on `clock`; a saving is positive when the boot got shorter.

`ready_ns` counts from power-on. With a storage model (`storage`) the time to load kernel and initramfs comes before it,
as a term of its own (`load_ns`), and savings, spreads, ratios and verdicts are of the two together (`total_ns`).
"""

from enum import StrEnum
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from bootlab.measure.record import PhaseRecord
from bootlab.system import BoardModel, Storage
from bootlab.techniques.model.evidence import Effect
from bootlab.techniques.model.verdict import Verdict

SCHEMA: Final = "bootlab.try/1"


class StackName(StrEnum):
    RECOMMENDED = "recommended"
    WITH_RISKS = "with risks"
    LADDER = "ladder"
    """The one stack of a plan that keeps every step."""


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


class _Loaded(_Frozen):
    """What a row says of its files. Empty in older results."""

    sizes: dict[str, int] = {}
    """Bytes of kernel, initramfs, rootfs and disks: one per input that there is."""
    load_ns: int = 0
    """Time to load kernel and initramfs by the storage model; 0 without one."""
    user_space_ns: int | None = None
    """Power-on to the first instruction in user space (its exec where that is not seen), of the median member."""


class Baseline(_Loaded):
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
    """The phases of the median member."""

    @property
    def total_ns(self) -> int:
        return self.load_ns + self.ready_ns


class Judged(_Loaded):
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
    proof: Effect | Literal[""]
    """Empty when no boot was there to show anything."""
    detail: str
    """One line for a reader: what broke, why it does not apply, what the proof rests on; may be empty."""
    members: list[Member]
    phases: list[PhaseRecord]
    """The phases of the median member; empty when there is none."""

    @property
    def total_ns(self) -> int | None:
        return None if self.ready_ns is None else self.load_ns + self.ready_ns


class Step(Judged):
    """One technique put on a stack; `saved_ns` is against the step before it."""

    stack: StackName
    total_saved_ns: int
    """What the stack so far saves against the baseline."""
    retried: bool
    """Whether it failed or did nothing alone, and was tried again on the stack."""


class Ablated(Judged):
    """One technique taken out of a finished stack, all others left in.

    `saved_ns` is what the technique saves there: the stack without it minus the stack with it; `verdict` and `proof`
    are of putting it back. `ready_ns`, sizes, members and phases are those of the stack without it.
    """

    stack: StackName
    alone_ns: int | None
    """What it saved alone, against the baseline."""


class TrialCost(_Frozen):
    """What the trial cost on this host, in the call that ended it; no figure about the guest."""

    built: int
    """Kernels built; one found in the cache does not count."""
    build_s: float
    """Host seconds spent on building them."""
    boots: int
    """Boots run; a resumed trial does not repeat those it has."""
    qemu_s: float
    """Sum of what each boot took from start to end."""
    booting_s: float
    """Host seconds in which boots ran, `parallel` at a time."""
    parallel: int
    elapsed_s: float
    per_qemu: float | None = None
    """`elapsed_s` without `build_s`, over `qemu_s`: what a second of booting costs in all; None without a boot."""


class Finished(_Loaded):
    """Where a stack ended."""

    ready_ns: int
    ratio: float
    """Baseline over it, load times included. On the virtual clock: "instructions + idle", not speed."""
    techniques: list[str]
    """Every technique in the finished stack, in the order it was put there."""
    run: str
    """Directory of the median boot of the finished stack."""

    @property
    def total_ns(self) -> int:
        return self.load_ns + self.ready_ns


class TryResult(_Frozen):
    """Techniques tried on one system: each alone, then stacked, and on request left out of the finished stacks."""

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
    """The finished stacks, by name."""
    ablation: list[Ablated] = []
    """Leave-one-out from each finished stack; empty unless it was asked for."""
    storage: Storage | None = None
    """The model that load times come from."""
    board_model: BoardModel | None = None
    """What a board's card, line and camera take, in every time here. None in older results."""
    cost: TrialCost | None = None
    hashes: dict[str, str]
    """sha256 of kernel, initramfs, qemu, firmware, plugin; one per input that there is."""
    host: dict[str, Any]
    baseline_run: str
    """Directory of the baseline's median boot."""
    run: str
    """Directory of this trial."""
