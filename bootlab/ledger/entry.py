"""An entry of a ledger: what one system took at one commit, built from the boots of a run or a recording.

It holds what a later entry is compared with, and nothing that only this machine can read: a ledger lives in a
repository, the runs that it was made from do not.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from bootlab.document import Document
from bootlab.errors import InputError
from bootlab.experiments.family import Family, median_timings, times
from bootlab.experiments.verdict import Times
from bootlab.ledger.commit import Commit
from bootlab.measure.price import judged_view
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.statistics.series import median_ns, spread_ns
from bootlab.timeline.event import Nanoseconds

SCHEMA: Final = "bootlab.ledger/1"


def _date(words: str) -> str:
    # Entries are sorted by it: words that are no date would be the last entry for ever.
    if words:
        datetime.fromisoformat(words)
    return words


_Time = Annotated[Nanoseconds, Field(ge=0)]
_Seed = Annotated[int, Field(ge=0, lt=1 << 31)]
_Date = Annotated[str, AfterValidator(_date)]
MOST_BOOTS: Final = 10_000
"""Of one entry; `bootlab measure` makes no longer series."""
LONGEST_NAME: Final = 200
"""Letters of what names a state: a hash has 40, or 64."""


class EntryPhase(Document):
    """A phase of the median boot."""

    name: str
    duration_ns: Nanoseconds


class LedgerEntry(Document):
    """One line of a ledger. Times are ns from power-on to ready, load included."""

    schema_: Literal["bootlab.ledger/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    commit: Annotated[str, Field(max_length=LONGEST_NAME)] = ""
    """The whole hash, or whatever names this state of the system; empty where it has no name."""
    commit_time: _Date = ""
    """ISO 8601, UTC; empty where the commit has none."""
    dirty: bool = False
    """Whether files differed from the commit's when it was measured."""
    measured: Annotated[_Date, Field(min_length=10)]
    """When its first boot started: ISO 8601, UTC."""
    origin: str
    """What it was made from: the kind of a run, or the format of a recording."""
    clock: str
    """`virtual`, `wall` or `console`, or `recorded` for what another tool has measured."""
    accelerator: str = ""
    ns_per_instruction: int | None = None
    cpu: str = ""
    models: str = ""
    """Which storage or board model the times are of; empty for none."""
    inputs: dict[str, str] = {}
    """sha256 of what was booted: one for each input that there is."""
    outcome: str = Outcome.READY.value
    detail: str = ""
    """Why it is not `ready`."""
    seeds: Annotated[list[_Seed], Field(max_length=MOST_BOOTS)] = []
    seeds_ns: list[_Time] = []
    """With each of the seeds."""
    null_ns: Annotated[list[_Time], Field(max_length=MOST_BOOTS)] = []
    """With changes that mean nothing."""
    fresh_ns: Annotated[list[_Time], Field(max_length=MOST_BOOTS)] = []
    """With other seeds and other changes that mean nothing."""
    ticks_moved_ns: list[_Time] = Field(default=[], exclude_if=lambda value: not value)
    """With each of the seeds, how far the kernel's ticks were moved (`clock.tick_us`); empty where they were not."""
    phases: list[EntryPhase] = []
    instructions: int | None = None
    idle_ns: Nanoseconds | None = None
    events: dict[str, int] = Field(default={}, exclude_if=lambda value: not value)
    """Exits and first touches of memory up to ready, by class, where a host model counts them."""
    timings_ns: dict[str, _Time | None] = Field(default={}, exclude_if=lambda value: not value)
    """The system's `[timings]`: medians over the seeds; None where no boot had both marks."""
    load_ns: Nanoseconds = 0
    """Of the median boot, what loading takes by the storage model."""
    sizes: dict[str, int] = {}
    """Bytes of each input that has a size."""
    issues_ns: dict[str, Nanoseconds] = {}
    """Known issue -> what it cost in a profile of this commit."""
    host: dict[str, Any] = {}
    """Facts of the machine; where the clock is the host's, times of two machines do not compare."""
    note: str = ""

    @model_validator(mode="after")
    def _times_of_its_seeds(self) -> Self:
        if len(self.seeds) != len(self.seeds_ns):
            raise ValueError("seeds, seeds_ns: not one time for each seed")
        if self.outcome == Outcome.READY.value and not self.seeds_ns:
            raise ValueError("outcome: ready, and no seed has a time")
        return self

    @property
    def ready_ns(self) -> int | None:
        """Return the median over the seeds; None where a boot was not ready and well."""
        return median_ns(self.seeds_ns) if self.seeds_ns and self.outcome == Outcome.READY.value else None

    @property
    def spread_ns(self) -> int | None:
        """Return how far the system moved for no reason; None where nobody measured that."""
        every = [*self.seeds_ns, *self.null_ns, *self.fresh_ns]
        return spread_ns(every) if len(every) > 1 else None

    @property
    def times(self) -> Times:
        return Times(self.seeds_ns, self.null_ns, self.fresh_ns)

    @property
    def key(self) -> str:
        """Return the hash of all that decides its figures: two entries with one key measured the same."""
        said = [self.system, self.commit, self.dirty, self.clock, self.accelerator, self.ns_per_instruction, self.cpu,
                self.models, sorted(self.inputs.items())]  # fmt: skip
        if self.ticks_moved_ns:
            said.append(self.ticks_moved_ns)
        if not self.inputs or self.clock != "virtual":
            # Two boots on a noisy clock are two measurements, and what another tool recorded has no inputs.
            said.append(self.measured)
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()

    @property
    def order(self) -> tuple[str, str]:
        """Return what entries are sorted by: the commit's time, then when they were measured.

        Entries that this does not tell apart stay as they were added.
        """
        return (self.commit_time or self.measured, self.measured)


def entry_of(
    family: Family, commit: Commit, origin: str, *, issues_ns: Mapping[str, int] | None = None, note: str = ""
) -> LedgerEntry:
    """Return the entry that a family's boots make; one that was not ready makes an entry that says so."""
    failed = family.failed
    record = failed if failed is not None else family.median
    ready = failed is None
    noisy = record.clock != "virtual"
    moved = [one.ticks_moved_ns for one in family.members]
    return LedgerEntry(
        system=record.system,
        commit=commit.name,
        commit_time=commit.time,
        dirty=commit.dirty,
        measured=min(one.started for one in family.boots),
        origin=origin,
        clock=record.clock,
        accelerator=record.accelerator,
        ns_per_instruction=record.ns_per_instruction,
        cpu=record.cpu,
        models=_models(record),
        inputs=record.hashes,
        outcome=record.outcome.value,
        detail=record.detail if failed is not None else "",
        seeds=[one.seed for one in family.members] if ready else [],
        seeds_ns=family.times_ns if ready else [],
        null_ns=times(family.null) if ready else [],
        fresh_ns=times(family.fresh) if ready else [],
        ticks_moved_ns=moved if ready and any(moved) else [],
        phases=[EntryPhase(name=one.name, duration_ns=one.duration_ns) for one in judged_view(record).phases]
        if ready
        else [],
        instructions=record.instructions if ready else None,
        idle_ns=record.idle_ns if ready else None,
        events={name: one.count for name, one in record.charges.items()} if ready else {},
        timings_ns=median_timings(family.members) if ready else {},
        load_ns=record.load_ns,
        sizes=record.sizes,
        issues_ns=dict(issues_ns or {}),
        host=record.host if noisy else {},
        note=note,
    )


def expect_comparable(before: LedgerEntry, after: LedgerEntry) -> None:
    """Raise InputError where figures of two entries cannot be held against each other, and say why."""
    for what, one, other in (
        ("clock", before.clock, after.clock),
        ("ns an instruction", before.ns_per_instruction, after.ns_per_instruction),
        ("CPU model", before.cpu, after.cpu),
        ("accelerator", before.accelerator, after.accelerator),
        ("storage or board model", before.models, after.models),
        ("place of the kernel's ticks (clock.tick_us)", bool(before.ticks_moved_ns), bool(after.ticks_moved_ns)),
    ):
        if one != other:
            raise InputError(
                f"{before.system}: entries of another {what} do not compare: {one or 'none'} and {other or 'none'}",
                hint="measure both alike",
            )


def _models(record: BootRecord) -> str:
    storage = "" if record.storage is None else f"storage {record.storage.model_dump_json()}"
    board = "" if record.board_model is None else f"board {record.board_model_label}"
    return ", ".join(one for one in (storage, board) if one)
