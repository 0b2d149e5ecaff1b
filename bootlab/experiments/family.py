"""A family: the boots of one system that differ only in what cannot matter.

On the virtual clock: the same seeds on both sides of a comparison, plus null changes (a meaningless command-line word),
plus fresh boots once a difference was seen. On the wall clock: repeats, interleaved with the other side's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from typing import Final

from bootlab.errors import BootFailed
from bootlab.experiments.verdict import Judgement, Times, virtual_verdict, wall_verdict
from bootlab.measure.line_and_card_cost import modelled_load_ns
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.statistics.series import median_ns

NULL: Final = "-null"
"""In the label of a null change."""
FRESH: Final = "-fresh"
"""In the label of a fresh boot."""

DEFAULT_NULLS: Final = 5
"""Null changes that a trial measures the spread with: docs/measuring.md says how often that many are fooled."""


@dataclass(frozen=True, slots=True)
class Family:
    """Boots of one system. `null` and `fresh` ones count for the spread, not for the median.

    Its times are `BootRecord.total_ns`: power-on to ready, with the load before it when there is a storage model.
    """

    members: tuple[BootRecord, ...]
    """With the seeds that the other side has as well."""
    null: tuple[BootRecord, ...] = ()
    """With null changes."""
    kernel_config: Path | None = None
    """The configuration of the kernel that they booted, when it is known."""
    fresh: tuple[BootRecord, ...] = ()
    """With seeds and null changes that no other boot had, to confirm a difference."""
    label: str = ""
    """How the labels of its boots begin; empty for boots on record, which nobody can add to."""
    known_ns: int = 0
    """How far the system moved elsewhere in the same trial."""

    @property
    def boots(self) -> tuple[BootRecord, ...]:
        return (*self.members, *self.null, *self.fresh)

    @property
    def failed(self) -> BootRecord | None:
        """Return the first boot that was not ready and well, if any."""
        return next((record for record in self.boots if record.outcome is not Outcome.READY), None)

    @property
    def times_ns(self) -> list[int]:
        """Return the times of its members."""
        return times(self.members)

    @property
    def unchanged_ns(self) -> list[int]:
        """Return the times of its members and its null changes: what a difference is first seen against."""
        return times((*self.members, *self.null))

    @property
    def median(self) -> BootRecord:
        """Return the boot in the middle; of two middles the shorter one, so that it is always a real boot."""
        wanted = median_low(self.times_ns)
        return next(record for record in self.members if record.total_ns == wanted)


def judgement(before: Family, after: Family, *, wall: bool) -> Judgement:
    """Return what the boots of both say of the change between them; every one of them was ready."""
    if wall:
        return wall_verdict(before.times_ns, after.times_ns, seed=1)
    sides = [Times(one.times_ns, times(one.null), times(one.fresh)) for one in (before, after)]
    return virtual_verdict(*sides, known_ns=before.known_ns)


def execution_judgement(before: Family, after: Family) -> Judgement | None:
    """Return the same without the time of loading, which a model put there; None without a model, and on a noisy clock.

    What a smaller file saves depends on the storage, what its instructions save does not: the two may differ in sign.
    """
    every = (*before.boots, *after.boots)
    if any(modelled_load_ns(record) is None or record.clock != "virtual" for record in every):
        return None
    sides = [
        Times(*(_without_load(records) for records in (one.members, one.null, one.fresh))) for one in (before, after)
    ]
    return virtual_verdict(*sides, known_ns=before.known_ns)


def wanted_boots(before: Family, after: Family) -> tuple[int, int]:
    """Return how many fresh boots the verdict on a change still takes, before and after (virtual clock).

    None where a boot failed: that is a verdict.
    """
    if before.failed is not None or after.failed is not None:
        return 0, 0
    judged = [judgement(before, after, wall=False), execution_judgement(before, after)]
    wants = [one.wants for one in judged if one is not None]
    return max(own for own, _ in wants), max(other for _, other in wants)


def expect_none_killed(family: Family) -> None:
    """Raise BootFailed when the first boot that failed was killed from outside: that says nothing about the system."""
    if family.failed is not None:
        expect_not_killed(family.failed)


def expect_not_killed(record: BootRecord) -> None:
    """Raise BootFailed for a machine that was killed from outside, most likely."""
    if record.outcome is Outcome.TARGET_DIED:
        raise BootFailed(f"{record.run}: {record.detail}", hint="go on with --resume: this boot alone is run again")


def times(records: Sequence[BootRecord]) -> list[int]:
    """Return ns to ready, load included, of the boots that were ready."""
    return [record.total_ns for record in records if record.total_ns is not None]


def timings_of(records: Sequence[BootRecord]) -> dict[str, list[int]]:
    """Return the system's `[timings]` by name, of the boots that have both marks of one: of none an empty list."""
    names = dict.fromkeys(name for record in records for name in record.timings_ns)
    every = {name: [record.timings_ns.get(name) for record in records] for name in names}
    return {name: [ns for ns in found if ns is not None] for name, found in every.items()}


def median_timings(records: Sequence[BootRecord]) -> dict[str, int | None]:
    """Return their medians; None where no boot has both marks."""
    return {name: median_ns(found) if found else None for name, found in timings_of(records).items()}


def _without_load(records: Sequence[BootRecord]) -> list[int]:
    return [record.total_ns - (modelled_load_ns(record) or 0) for record in records if record.total_ns is not None]
