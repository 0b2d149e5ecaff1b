"""Two recordings side by side: phase by phase, and thing by thing of every kind they have in common."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bootlab.errors import InputError
from bootlab.timeline.recording import Recording

_PARTS = {"kernel": ("kernel, to its initcalls", "initcalls", "kernel, to init")}
"""A phase, and the parts that a log with initcall_debug has instead of it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What one thing took in each recording; None where it was not."""

    name: str
    before_ns: int | None
    after_ns: int | None

    @property
    def change_ns(self) -> int:
        """After less before; what is on one side only counts with all it took there."""
        return (self.after_ns or 0) - (self.before_ns or 0)


def expect_comparable(before: Recording, after: Recording) -> None:
    """Raise InputError where a figure of one is not the same thing as a figure of the other."""
    if bool(before.series) != bool(after.series):
        raise InputError(
            "one recording has figures of several boots and the other is of one boot, which cannot be compared",
            hint="--compare takes two series, or two boots",
        )
    units = before.timeline.clock.unit, after.timeline.clock.unit
    if units[0] != units[1]:
        raise InputError(
            f"one recording counts {units[0]} and the other {units[1]}, which cannot be compared",
            hint="--tsc-frequency HZ makes ns of cycles",
        )


def phase_differences(before: Recording, after: Recording) -> list[Difference]:
    """Return the phases of both, in the order of the first, those of the second alone where they come there.

    What one of them has as a whole and the other in parts is compared as a whole.
    """
    ours = {phase.name: phase.duration_ns for phase in before.phases}
    theirs = {phase.name: phase.duration_ns for phase in after.phases}
    ours, theirs = _as_whole(ours, theirs), _as_whole(theirs, ours)
    names = list(ours)
    for index, name in enumerate(theirs):
        if name not in ours:
            earlier = [one for one in list(theirs)[:index] if one in names]
            names.insert(names.index(earlier[-1]) + 1 if earlier else 0, name)
    return [Difference(name, ours.get(name), theirs.get(name)) for name in names]


def _as_whole(phases: dict[str, int], others: dict[str, int]) -> dict[str, int]:
    for whole, parts in _PARTS.items():
        known = [name for name in phases if name in parts]
        if known and whole in others and whole not in phases:
            added = sum(phases[name] for name in known)
            phases = {(whole if name == known[0] else name): (added if name == known[0] else took)
                      for name, took in phases.items() if name not in known[1:]}  # fmt: skip
    return phases


def differences_by_source(before: Recording, after: Recording) -> dict[str, list[Difference]]:
    """Return what took time in either, by kind, the largest change first; a kind that one has not got is left out.

    Things of one name and kind are told apart by their order.
    """
    sides = [_lengths(one) for one in (before, after)]
    kinds = [source for source in sides[0] if source in sides[1]]
    found = {}
    for kind in kinds:
        ours, theirs = sides[0][kind], sides[1][kind]
        rows = [
            Difference(name, ours.get((name, number)), theirs.get((name, number)))
            for name, number in dict.fromkeys([*ours, *theirs])
        ]
        found[kind] = sorted(rows, key=lambda row: (-abs(row.change_ns), row.name))
    return found


def _lengths(recording: Recording) -> dict[str, dict[tuple[str, int], int]]:
    spans = ((span.source, span.name, span.duration_ns) for span in recording.timeline.spans if not span.track)
    lengths = ((one.source, one.name, one.took_ns) for one in recording.lengths)
    found: dict[str, dict[tuple[str, int], int]] = {}
    for things in (spans, lengths):
        _add(found, things)
    return found


def _add(found: dict[str, dict[tuple[str, int], int]], things: Iterable[tuple[str, str, int]]) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for source, name, took_ns in things:
        mine = found.setdefault(source, {})
        # What has a place comes first; a list of lengths tells the same again.
        if (name, seen[source, name]) not in mine:
            mine[name, seen[source, name]] = took_ns
        seen[source, name] += 1
