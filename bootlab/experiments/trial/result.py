"""TryResult: what `bootlab try` found on one system. The report, `--json` and the store share this one shape.

Written once when a trial ends and never changed; the JSON's shape is documented in docs/formats.md and carries a
version. Times are integer ns on `clock`; a saving is positive when the boot got shorter.

`ready_ns` counts from power-on. With a storage model (`storage`) the time to load kernel and initramfs comes before it,
as a term of its own (`load_ns`), and savings, spreads, ratios and verdicts are of the two together (`total_ns`).

Where a host model is charged to the clock (`price`), a row has the price under it (`price_ns`) beside instructions and
idle time (`counted_ns`), and savings, spreads, ratios and verdicts are those of the price: never of a sum of the two.
"""

from enum import StrEnum
from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator

from bootlab.document import Document
from bootlab.experiments.chance import Chance
from bootlab.experiments.from_mark import FromMarkResult
from bootlab.measure.record import PhaseRecord, PriceRecord
from bootlab.system import BoardModel, Storage
from bootlab.techniques.model.evidence import Effect
from bootlab.techniques.model.verdict import Verdict, in_words_of_the_clock

SCHEMA: Final = "bootlab.try/1"
FRESH: Final = "fresh"
"""The change of a boot that another seed and another meaningless word set apart from all boots before it."""


class StackName(StrEnum):
    """The stacks that a trial ends with."""

    RECOMMENDED = "recommended"
    WITH_RISKS = "with risks"
    LADDER = "ladder"
    """The one stack of a plan that keeps every step."""


class Member(Document):
    """One boot of a family. The times are None when it was not ready, and on a clock that does not count them."""

    seed: int
    ready_ns: int | None
    instructions: int | None
    idle_ns: int | None
    outcome: str
    run: str
    """Directory of this boot."""
    price_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Its price up to ready, where a host model is charged."""
    change: str = ""
    """Empty, the meaningless word that makes this boot a null change, or `fresh`."""
    ticks_moved_ns: int = Field(default=0, exclude_if=lambda value: not value)
    """How far its kernel's ticks were moved against its work; no time holds it."""

    @property
    def judged_ns(self) -> int | None:
        """Return its price where it has one, else its time to ready; None when it was not ready."""
        return self.ready_ns if self.price_ns is None else self.price_ns


class _Loaded(Document):
    """What a row says of its files. Empty in older results."""

    sizes: dict[str, int] = {}
    """Bytes of kernel, initramfs, rootfs and disks: one per input that there is."""
    load_ns: int = 0
    """Time to load kernel and initramfs by the storage model; 0 without one."""
    user_space_ns: int | None = None
    """Power-on to the first instruction in user space (its exec where that is not seen), of the median member."""
    price_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """The price up to ready of the median member; None where there is no host model, or no boot was ready."""
    counted_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Its instructions and idle time alone, where it has a price."""
    timings_ns: dict[str, int | None] = Field(default={}, exclude_if=lambda value: not value)
    """The system's `[timings]`: medians of the members with both marks, None: of none. No verdict is on them."""


def _judged_ns(row: _Loaded, ready_ns: int) -> int:
    return row.load_ns + (ready_ns if row.price_ns is None else row.price_ns)


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
    timing_spreads_ns: dict[str, int] = Field(default={}, exclude_if=lambda value: not value)
    """How far each of `timings_ns` moves for no reason, over the same boots."""

    @property
    def total_ns(self) -> int:
        return _judged_ns(self, self.ready_ns)


class Judged(_Loaded):
    """One technique, measured against what stood before it."""

    technique: str
    layer: str
    risk: str
    """The catalogue's, or that of what the kernel lost besides where it is graver."""
    ready_ns: int | None
    """Median of the members; None when it broke the boot or does not apply."""
    saved_ns: int | None
    """Negative is longer. The difference of the members' medians, or, where it was near, of the fresh boots'.

    None like `ready_ns`, and where what stood before it now and then fails by itself: then there is no verdict.
    """
    spread_ns: int
    """How far what stood before it moves for no reason, on the wall clock how far its saving may be off.

    On the virtual clock a saving is seen outside of it; one that fresh boots confirmed may be smaller.
    """
    verdict: Verdict
    proof: Effect | Literal[""]
    """Empty when no boot was there to show anything."""
    detail: str
    """One line for a reader: what broke, why it does not apply, what the proof rests on; may be empty."""
    members: list[Member]
    """With the seeds of the baseline."""
    phases: list[PhaseRecord]
    """The phases of the median member; empty when there is none."""
    fresh_members: list[Member] = []
    """Boots with other seeds and meaningless words, because a difference had been seen: they confirm it or not."""
    fresh_before: list[Member] = []
    """Such boots of what stood before it."""
    load_saved_ns: int | None = None
    """Of `saved_ns`, what loading smaller files saves by the storage or board model; None where there is no model."""
    execution: Verdict | None = None
    """The verdict on the rest: what the storage has no part in. None where there is no model."""
    counted_saved_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Where there is a price: what it saves in instructions + idle, by the members' medians. No verdict is on it."""
    also_changed: dict[str, tuple[str, str]] = {}
    """Options of the kernel that changed with those that it is about: option -> before, after; `n` is off."""
    also_lost: list[str] = []
    """Of those, what matters, the gravest first. Both are empty where no kernel was built, and in older results."""
    same_pictures: dict[str, bool] = Field(default={}, exclude_if=lambda value: not value)
    """Mark of the screen -> whether a boot with it shows there what a boot of before shows. Empty: no such pictures."""

    @property
    def total_ns(self) -> int | None:
        """Return the time to load and to ready; None when it broke the boot or does not apply."""
        return None if self.ready_ns is None else _judged_ns(self, self.ready_ns)


class Step(Judged):
    """One technique put on a stack; `saved_ns` is against the step before it."""

    stack: StackName
    total_saved_ns: int
    """What the stack so far saves against the baseline."""
    retried: bool
    """Whether it failed or did nothing alone, and was tried again on the stack."""

    @classmethod
    def of(cls, judged: Judged, *, stack: StackName, total_saved_ns: int, retried: bool) -> Self:
        """Return a judged technique as a step: all that it says already, and where it stands on its stack."""
        return cls(**_fields_of(judged), stack=stack, total_saved_ns=total_saved_ns, retried=retried)


class Ablated(Judged):
    """One technique taken out of a finished stack, all others left in.

    `saved_ns` is what the technique saves there: the stack without it minus the stack with it; `verdict` and `proof`
    are of putting it back. `ready_ns`, sizes, members and phases are those of the stack without it.
    """

    stack: StackName
    alone_ns: int | None
    """What it saved alone, against the baseline."""

    @classmethod
    def of(cls, judged: Judged, *, stack: StackName, alone_ns: int | None) -> Self:
        """Return a judged technique as one that was taken out of a stack: all that it says already, and of which."""
        return cls(**_fields_of(judged), stack=stack, alone_ns=alone_ns)


def _fields_of(judged: Judged) -> dict[str, Any]:
    # A row that says more is a `Judged` itself, so what is there fits.
    return {name: getattr(judged, name) for name in Judged.model_fields}


class TrialCost(Document):
    """What the trial cost on this host, in the call that ended it; no figure about the guest."""

    built: int
    """Kernels built; one found in the cache does not count."""
    build_s: float
    """Host seconds spent on building them, added up where a cluster built several at a time."""
    boots: int
    """Boots run; a resumed trial does not repeat those it has."""
    qemu_s: float
    """Sum of what each boot took from start to end."""
    booting_s: float
    """Host seconds in which boots ran, `parallel` at a time."""
    parallel: int
    elapsed_s: float
    per_qemu: float | None = None
    """`elapsed_s` but for building, over `qemu_s`: what a second of booting costs in all; None without a boot."""


class Finished(_Loaded):
    """Where a stack ended."""

    ready_ns: int
    ratio: float
    """Baseline over it, load times included. On the virtual clock: "instructions + idle", not speed."""
    techniques: list[str]
    """Every technique in the finished stack, in the order it was put there."""
    run: str
    """Directory of the median boot of the finished stack."""
    unsteady: str = ""
    """Which boot of it failed with a change that means nothing, and how; empty where none did."""

    @property
    def total_ns(self) -> int:
        return _judged_ns(self, self.ready_ns)


class TryResult(Document):
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
    price: PriceRecord | None = Field(default=None, exclude_if=lambda value: value is None)
    """The baseline's price with its parts: under which host model everything here is judged. None: by the clock."""
    board_model: BoardModel | None = None
    """What a board's storage, line and camera take, in every time here. None in older results."""
    cost: TrialCost | None = None
    from_mark: FromMarkResult | None = Field(default=None, exclude_if=lambda value: value is None)
    """How many boots began at a mark instead of at power-on; None where none was to."""
    chances: list[Chance] = Field(default=[], exclude_if=lambda value: not value)
    """Steps of the baseline that take another time with every seed, by what its boots said; on the virtual clock."""
    wrong: float | None = None
    """Of techniques that do nothing, the share that gets a verdict, at most. None in older results: up to 0.1 there."""
    hashes: dict[str, str]
    """sha256 of kernel, initramfs, qemu, firmware, plugin; one per input that there is."""
    host: dict[str, Any]
    baseline_run: str
    """Directory of the baseline's median boot."""
    run: str
    """Directory of this trial."""

    @model_validator(mode="before")
    @classmethod
    def _verdicts_of_the_clock(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        lists = {name: data[name] for name in ("alone", "stack", "ablation") if isinstance(data.get(name), list)}
        clock = data.get("clock")
        return {**data, **{name: [in_words_of_the_clock(row, clock) for row in rows] for name, rows in lists.items()}}
