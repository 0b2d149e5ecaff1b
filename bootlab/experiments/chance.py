"""Chance: steps of a boot that take another time with every seed, found in what boots of one system said.

No mean of such a step ever happened: the search for the primes of a host key ends when it ends.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bootlab.document import Document
from bootlab.experiments.console_steps import KINDS, ConsoleStep, SaidLine, said_lines, steps_between
from bootlab.kept_file import read_kept_bytes
from bootlab.measure.record import BootRecord
from bootlab.profile.recorded.trace import read_trace
from bootlab.system import ClockKind
from bootlab.targets.target import TRACE

_SHARE: Final = 0.05
"""A step that chance makes so much longer, as a share of the boot, is told by itself."""
_CHANCE_KINDS: Final = ("host keys",)
"""Works whose time hangs on random numbers: an RSA key is two primes, and they are searched for."""


class ChanceProcess(Document):
    """A process to which chance gave more to do with one seed than with another."""

    command: str
    """Its command line, or its name where it executed nothing."""
    function: str
    """Of the profile, the function in which it executed most with the seed that took longest; empty where unknown."""
    share: float
    """Which part of what it executed that is."""
    ran_ns: dict[str, int]
    """How long it ran within the step, by seed: of the shortest boot and of the longest."""


class Chance(Document):
    """A step of one life that differs from seed to seed by more than 5 % of its boot."""

    life: int
    after: str
    until: str
    took_ns: dict[str, int]
    """By seed."""
    ended_ns: dict[str, int] = {}
    """When it ended, ns since power-on, by seed."""
    kinds: list[str]
    processes: list[ChanceProcess] = []
    """Whom the difference belongs to, by profiles of the shortest and the longest boot; empty where there are none."""

    @property
    def spread_ns(self) -> int:
        """Return how much longer the longest took than the shortest."""
        return max(self.took_ns.values()) - min(self.took_ns.values())


def find_chances(records: Sequence[BootRecord], life: int = 1) -> list[Chance]:
    """Return the steps that differ from boot to boot by more than 5 % of the shortest, of boots with different seeds.

    None where a boot was not ready, or nothing is on record of what it said. Raises InputError for a trace that is
    damaged, OSError for a boot whose files are gone.
    """
    return [
        Chance(
            life=life,
            after=step.after,
            until=step.until,
            took_ns=_by_seed(records, step.took_ns),
            ended_ns=_by_seed(records, step.ended_ns),
            kinds=step.kinds,
        )
        for step in _chance_steps(records, [said_by(record) for record in records])
    ]


def chances_by_seed(records: Sequence[BootRecord]) -> list[Chance]:
    """Return the chances of a series; none on the wall clock, nor where a seed was booted twice.

    Raises as `find_chances`.
    """
    by_seed = records[0].clock == ClockKind.VIRTUAL and len({record.seed for record in records}) == len(records)
    return find_chances(records) if by_seed else []


def tells_of_chance(record: BootRecord) -> bool:
    """Say whether the console of a boot tells of a work that takes what chance makes it take: RSA's host key.

    Raises as `find_chances`.
    """
    return any(
        pattern.search(line.text) for line in said_by(record) for name, pattern in KINDS if name in _CHANCE_KINDS
    )


def _by_seed(records: Sequence[BootRecord], values: Sequence[int]) -> dict[str, int]:
    return {str(record.seed): value for record, value in zip(records, values, strict=True)}


def said_by(record: BootRecord) -> list[SaidLine]:
    """Return the lines of a boot's console up to ready; none where it was not ready. Raises as `find_chances`."""
    folder = Path(record.run)
    if record.ready_ns is None or not (folder / TRACE).exists():
        return []
    return said_lines(read_kept_bytes(folder / "console.log"), read_trace(folder / TRACE), record.ready_ns)


def _chance_steps(records: Sequence[BootRecord], said: Sequence[Sequence[SaidLine]]) -> list[ConsoleStep]:
    if len(records) < 2 or any(record.ready_ns is None for record in records):
        return []
    boots = [(lines, record.ready_ns or 0) for lines, record in zip(said, records, strict=True)]
    least_ns = _SHARE * min(ready_ns for _, ready_ns in boots)
    return [step for step in steps_between(boots) if step.spread_ns > least_ns]
