"""Boots side by side: phases of several boots aligned on the marks that all of them have.

A change can remove a mark (an uncompressed kernel has no decompressor), so phases are cut anew at the common marks:
no time is dropped, each side's phases still add up to its whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bootlab.measure.record import PhaseRecord
from bootlab.timeline.phases import cut


@dataclass(frozen=True, slots=True)
class Side:
    """One boot to be shown beside others. `kind` is its colour: baseline, recommended or risks."""

    title: str
    kind: str
    ready_ns: int | None
    phases: Sequence[PhaseRecord]


@dataclass(frozen=True, slots=True)
class PhaseRow:
    """One phase on every side, as (start, end) in ns since power-on."""

    name: str
    spans: tuple[tuple[int, int], ...]

    def durations_ns(self) -> tuple[int, ...]:
        """Return how long the phase took on each side."""
        return tuple(end - start for start, end in self.spans)


def align(sides: Sequence[Side]) -> list[PhaseRow]:
    """Return the phases that the sides have in common, earliest first; empty when they share fewer than two marks."""
    if len(sides) == 1:
        return [
            PhaseRow(phase.name, ((phase.start_ns, phase.start_ns + phase.duration_ns),)) for phase in sides[0].phases
        ]
    marks = [_marks(side.phases) for side in sides]
    common = set(marks[0]).intersection(*marks[1:])
    cuts = [cut({name: times[name] for name in common}) for times in marks]
    return [
        PhaseRow(same[0].name, tuple((phase.start_ns, phase.end_ns) for phase in same))
        for same in zip(*cuts, strict=True)
    ]


def largest_change(before: Sequence[PhaseRecord], after: Sequence[PhaseRecord]) -> tuple[str, int] | None:
    """Return the phase that changed most and its change in ns (negative is shorter); None without common phases."""
    rows = align([Side("", "", None, before), Side("", "", None, after)])
    changes = [(row.name, row.durations_ns()[1] - row.durations_ns()[0]) for row in rows]
    return max(changes, key=lambda change: abs(change[1]), default=None)


def _marks(phases: Sequence[PhaseRecord]) -> dict[str, int]:
    marks: dict[str, int] = {}
    for phase in phases:
        marks[phase.start] = phase.start_ns
        marks[phase.end] = phase.start_ns + phase.duration_ns
    return marks
