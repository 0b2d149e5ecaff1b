"""A family: the boots of one system that differ only in what cannot matter.

On the virtual clock: the same seeds on both sides of a comparison, plus null changes (a meaningless command-line word).
On the wall clock: repeats, interleaved with the other side's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low

from bootlab.errors import BootFailed
from bootlab.measure.record import BootRecord, Outcome

NULL_WORD = "bootlab.null"
"""A kernel ignores words with a dot whose module it does not have, yet its boot is re-rolled by them."""

DEFAULT_NULLS = 5
"""Null changes that a trial measures the spread with: `verdict.virtual_verdict` says how often that many are fooled."""


@dataclass(frozen=True, slots=True)
class Family:
    """Boots of one system. `null` are its null changes; they count for the spread, not for the median.

    Its times are `BootRecord.total_ns`: power-on to ready, with the load before it when there is a storage model.
    """

    members: tuple[BootRecord, ...]
    null: tuple[BootRecord, ...] = ()
    kernel_config: Path | None = None
    """The configuration of the kernel that they booted, when it is known."""

    @property
    def failed(self) -> BootRecord | None:
        """Return the first boot that was not ready and well, if any."""
        return next((record for record in (*self.members, *self.null) if record.outcome is not Outcome.READY), None)

    @property
    def times_ns(self) -> list[int]:
        return times(self.members)

    @property
    def null_ns(self) -> list[int]:
        """Return the times of every boot that differs from the others for no reason: what the spread is taken over."""
        return times((*self.members, *self.null))

    @property
    def median(self) -> BootRecord:
        """Return the boot in the middle; of two middles the faster one, so that it is always a real boot."""
        wanted = median_low(self.times_ns)
        return next(record for record in self.members if record.total_ns == wanted)


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
