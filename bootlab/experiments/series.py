"""A series: boots of one system, what they took, and whether they agree; the boots that a run has on record."""

from collections.abc import Sequence
from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.errors import InputError
from bootlab.experiments.chance import Chance, chances_by_seed
from bootlab.experiments.family import FRESH, NULL, Family
from bootlab.experiments.store import Run, RunKind
from bootlab.measure.launch import boot_parts
from bootlab.measure.record import BootRecord
from bootlab.measure.record_files import read_record
from bootlab.measure.statistics.series import Summary, humps, summarize
from bootlab.targets.target import WARM_UP

SCHEMA: Final = "bootlab.series/1"


class HumpRecord(Document):
    """Some of a series' values, with nothing between them and the others."""

    n: int
    median_ns: int


class PartRecord(Document):
    """One part of a series of boots, from the start of the VMM's process on."""

    name: str
    times_ns: list[int]
    """Of each boot that was ready."""
    humps: list[HumpRecord] = Field(default=[], exclude_if=lambda value: not value)
    """Two, where the values fall into two groups: their median then describes neither."""


def part_records(records: Sequence[BootRecord]) -> list[PartRecord]:
    """Return the parts of a series, the whole last; empty where no VMM was started for it."""
    found = []
    for part in boot_parts(records):
        two = humps(part.times_ns)
        named = [] if two is None else [HumpRecord(n=one.n, median_ns=one.median_ns) for one in (two.low, two.high)]
        found.append(PartRecord(name=part.name, times_ns=list(part.times_ns), humps=named))
    return found


class SeriesResult(Document):
    """The boots of one system, and what they have in common."""

    schema_: Literal["bootlab.series/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    clock: str
    ready: Summary | None
    """Power-on to ready, of the boots that were; None when none was."""
    identical: bool
    """Whether the boots agree in every count, every mark and the console up to ready."""
    parts: list[PartRecord] = Field(default=[], exclude_if=lambda value: not value)
    """From the VMM's start to ready; none where the host's time counts nothing."""
    boots: list[BootRecord]
    chances: list[Chance] = Field(default=[], exclude_if=lambda value: not value)
    """Steps that take another time with every seed, by what the boots said; on the virtual clock."""
    run: str


def series_of(run: Run, records: Sequence[BootRecord]) -> SeriesResult:
    """Return the series that the boots of a run are; at least one."""
    times = [record.ready_ns for record in records if record.ready_ns is not None]
    return SeriesResult(
        system=records[0].system,
        clock=records[0].clock,
        ready=summarize(times) if times else None,
        identical=are_identical(records),
        parts=part_records(records),
        boots=list(records),
        chances=chances_by_seed(records),
        run=str(run.path),
    )


def read_series(run: Run) -> SeriesResult:
    """Return the series that a run has on record, of the boots that ended. Raises InputError when none did."""
    return series_of(run, recorded_boots(run).members)


def read_boot(run: Run) -> BootRecord:
    """Return the one boot of a run. Raises InputError when it did not end."""
    return recorded_boots(run).members[0]


def recorded_boots(run: Run) -> Family:
    """Return the finished boots of a run, in the order of their labels; of a trial, its baseline.

    A warm-up boot is on record and does not count. Raises InputError when there is no finished boot.
    """
    directories = [path for path in run.records() if not path.name.endswith(WARM_UP)]
    if run.kind is RunKind.TRY:
        directories = [path for path in directories if path.name.startswith("baseline-")]
    elif run.kind in (RunKind.COMPARE, RunKind.GATE, RunKind.BISECT):
        raise InputError(f"{run.path}: is a comparison; name one of the runs or systems that it compared")
    elif run.kind is RunKind.LIVES:
        raise InputError(
            f"{run.path}: has boots of several lives, which are no series of one system",
            hint="image.life in a system file names one life, and bootlab measure boots it",
        )
    kinds: dict[str, list[BootRecord]] = {"": [], NULL: [], FRESH: []}
    for path in directories:
        kind = next((kind for kind in (NULL, FRESH) if kind in path.name), "")
        kinds[kind].append(read_record(path))
    if not kinds[""]:
        raise InputError(f"{run.path}: holds no finished boot")
    return Family(tuple(kinds[""]), tuple(kinds[NULL]), fresh=tuple(kinds[FRESH]))


def are_identical(records: Sequence[BootRecord]) -> bool:
    """Return whether the boots agree in every count, every mark, the console up to ready, every frame and picture."""
    seen = {
        (
            record.outcome,
            record.instructions,
            record.idle_ns,
            tuple(record.marks.items()),
            record.console_sha256,
            _screen(record),
        )
        for record in records
    }
    return len(seen) == 1


def _screen(record: BootRecord) -> tuple[object, ...]:
    if record.screen is None:
        return ()
    pictures = ((one.mark, one.t_ns, one.pixels_sha256) for one in record.screen.pictures)
    return (tuple(record.screen.frames_up_to.items()), *pictures)
