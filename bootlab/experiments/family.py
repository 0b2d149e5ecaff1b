"""A family: the boots of one system that differ only in what cannot matter.

On the virtual clock: the same seeds on both sides of a comparison, plus null changes (a meaningless command-line word).
On the wall clock: repeats, interleaved with the other side's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

from bootlab.measure.record import BootRecord, Outcome

NULL_WORD = "bootlab.null"
"""A kernel ignores words with a dot whose module it does not have, yet its boot is re-rolled by them."""

DEFAULT_NULLS = 5
"""Null changes that a trial measures the spread with: `verdict.virtual_verdict` says how often that many are fooled."""


@dataclass(frozen=True, slots=True)
class Family:
    """Boots of one system. `null` are its null changes; they count for the spread, not for the median."""

    members: tuple[BootRecord, ...]
    null: tuple[BootRecord, ...] = ()

    @property
    def failed(self) -> BootRecord | None:
        """Return the first boot that was not ready and well, if any."""
        return next((record for record in (*self.members, *self.null) if record.outcome is not Outcome.READY), None)

    @property
    def ready_ns(self) -> list[int]:
        return ready_times(self.members)

    @property
    def null_ns(self) -> list[int]:
        """Return the times of every boot that differs from the others for no reason: what the spread is taken over."""
        return ready_times((*self.members, *self.null))

    @property
    def median(self) -> BootRecord:
        """Return the boot in the middle; of two middles the faster one, so that it is always a real boot."""
        wanted = median_low(self.ready_ns)
        return next(record for record in self.members if record.ready_ns == wanted)


def ready_times(records: Sequence[BootRecord]) -> list[int]:
    """Return ns to ready of the boots that were ready."""
    return [record.ready_ns for record in records if record.ready_ns is not None]
