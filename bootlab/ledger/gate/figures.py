"""The figures that a gate watches, of every boot of a family: how long to ready, each phase, each of `[timings]`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bootlab.errors import InputError
from bootlab.experiments.family import Family
from bootlab.experiments.verdict import Times
from bootlab.ledger.commit import Commit
from bootlab.ledger.entry import LedgerEntry, entry_of, expect_comparable
from bootlab.measure.price import judged_view
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, Timing
from bootlab.timeline.marks import POWER_ON

READY = "ready"
_PHASE = "phase:"
_TIMING = "timing:"


@dataclass(frozen=True, slots=True)
class GateBaseline:
    """What a system is held against: boots, or an entry of a ledger. `name`: how the user named it."""

    name: str
    family: Family | None = None
    entry: LedgerEntry | None = None

    def expect_like(self, after: Family) -> None:
        """Raise InputError where figures of the two do not compare: another CPU model, rate or storage model."""
        entry = self.entry if self.entry is not None else entry_of(_some(self.family), Commit(), "gate")
        expect_comparable(entry, entry_of(after, Commit(), "gate"))

    def times(self, what: str) -> Times:
        """Return the times of a figure. Raises InputError where there are none."""
        if self.family is not None:
            return times_of(self.family, what)
        assert self.entry is not None
        if what != READY:
            raise InputError(
                f"--on {what}: a ledger has a figure of one boot, or a median, and a gate needs those of all boots",
                hint="--against a system file or a run",
            )
        if self.entry.ready_ns is None:
            raise InputError(f"{self.name}: was not ready: {self.entry.outcome}", hint="name an entry that was")
        return self.entry.times


def times_of(family: Family, what: str) -> Times:
    """Return a figure of all boots of a family. Raises InputError for one that a boot has not."""
    return Times(*(_times(part, what) for part in (family.members, family.null, family.fresh)))


def parse_figures(words: str) -> list[str]:
    """Return the figures of `--on`. Raises InputError for a word that names none."""
    figures = [word.strip() for word in words.split(",")]
    for one in figures:
        if one != READY and (not one.startswith((_PHASE, _TIMING)) or one in (_PHASE, _TIMING)):
            raise InputError(
                f"--on {one or words}: not a figure",
                hint=f"{READY}, {_PHASE}NAME as in phase:initcalls, or {_TIMING}NAME of the system's [timings]",
            )
    return list(dict.fromkeys(figures))


def expect_timings(figures: Iterable[str], system: System, file: str) -> None:
    """Raise InputError for a timing that a system has not: none of its boots would have it. `file`: its file."""
    for what in figures:
        if what.startswith(_TIMING) and what.removeprefix(_TIMING) not in system.timings:
            raise InputError(
                f"--on {what}: {file} has no timings.{what.removeprefix(_TIMING)}", hint=_has(system.timings)
            )


def changed_timings(figures: Iterable[str], before: System, after: System) -> Iterator[str]:
    """Yield, in words, each timing that is one stretch of a boot before, and another one after."""
    for what in figures:
        one, other = (system.timings.get(what.removeprefix(_TIMING)) for system in (before, after))
        if what.startswith(_TIMING) and one is not None and other is not None and one != other:
            yield f"--on {what}: is not of the same marks: {_stretch(one)} before, {_stretch(other)} now"


def _stretch(timing: Timing) -> str:
    return f"{timing.after or POWER_ON} to {timing.mark}"


def _has(timings: Iterable[str]) -> str:
    names = ", ".join(timings)
    return f"it has {names}" if names else "[timings] names them: docs/screen.md"


def _some(family: Family | None) -> Family:
    # A side has boots or an entry.
    assert family is not None
    return family


def time_of(record: BootRecord, what: str) -> int | None:
    """Return a figure of one boot; None where it was not ready.

    Raises InputError for a phase or timing that it has not, or whose mark it has not seen.
    """
    if what == READY:
        return record.total_ns
    if what.startswith(_TIMING):
        return _timing(record, what)
    name = what.removeprefix(_PHASE)
    phases = {phase.name: phase.duration_ns for phase in judged_view(record).phases}
    if name not in phases:
        raise InputError(
            f"--on {what}: a boot of {record.system} has no such phase", hint=f"it has {', '.join(phases)}"
        )
    return phases[name]


def _timing(record: BootRecord, what: str) -> int | None:
    name = what.removeprefix(_TIMING)
    if name not in record.timings_ns:
        raise InputError(
            f"--on {what}: a boot of {record.system} has no such timing",
            hint=_has(record.timings_ns),
        )
    time_ns = record.timings_ns[name]
    if time_ns is None and record.outcome is Outcome.READY:
        raise InputError(
            f"--on {what}: a boot of {record.system}, seed {record.seed}, was ready, and has not seen it",
            hint="booted.mark is what a boot ends at: one that comes behind the marks of its timings",
        )
    return time_ns


def _times(records: Sequence[BootRecord], what: str) -> list[int]:
    return [time_ns for record in records if (time_ns := time_of(record, what)) is not None]
