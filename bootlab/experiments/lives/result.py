"""What `--lives` found: the boots of each life, what only the first one did, and what was chance."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.experiments.lives.console_steps import KINDS, ConsoleStep, SaidLine, said_lines, steps_between
from bootlab.experiments.series import are_identical
from bootlab.kept_file import read_kept_bytes
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.statistics.series import Summary, summarize
from bootlab.profile.recorded.trace import read_trace
from bootlab.targets.target import TRACE

SCHEMA: Final = "bootlab.lives/1"
_SHARE: Final = 0.05
"""A step that chance makes so much longer, as a share of the boot, is told by itself and taken out of the median."""
_LEAST_NS: Final = 1_000_000
_CHANCE_KINDS: Final = ("host keys",)
"""Works whose time hangs on random numbers: an RSA key is two primes, and they are searched for."""
_STEPS: Final = 12
_LINES: Final = 8


class OnlyFirst(Document):
    """A step in which the first life took longer, or shorter, than the last one."""

    after: str
    """The line at which it begins, `power-on` at the front."""
    until: str
    """The line at which it ends, `ready` at the end."""
    first_ns: int
    later_ns: int
    kinds: list[str]
    """Works of a first boot that its lines tell of: host keys, machine-id, growfs, cloud-init."""
    said: list[str]
    """What the first life alone said there, its first lines."""
    said_count: int
    """How many lines those are."""


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


class LifeBoots(Document):
    """The boots of one life."""

    life: int
    ready: Summary | None
    """Of all boots that were ready; None where none was."""
    steady: Summary | None
    """The same boots without the steps that are chance; None where there is none of these."""
    boots: list[BootRecord]


class LivesResult(Document):
    """A disk image's lives."""

    schema_: Literal["bootlab.lives/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    clock: str
    life_s: int
    """When each life before the last one was powered off, in s since its power-on."""
    lives: list[LifeBoots]
    only_first: list[OnlyFirst]
    """Where the first life differs from the last one, the largest difference first, of boots with the first seed.

    The twelve largest, and all in which the first life alone tells of a work of a first boot."""
    rest_ns: int | None
    """What of their difference is in steps that are not listed; None where they cannot be compared."""
    chances: list[Chance]
    rerolled: list[int] = []
    """More seeds with which the first life was booted because it tells of a work that chance decides."""
    run: str

    @property
    def good(self) -> bool:
        """Whether every boot was ready."""
        return all(record.outcome is Outcome.READY for one in self.lives for record in one.boots)

    @property
    def seeds(self) -> list[int]:
        """Return the seeds that were asked for: each life was booted with them."""
        return [record.seed for record in self.lives[0].boots if record.seed not in self.rerolled]


def lives_result(
    boots: Mapping[int, Sequence[BootRecord]], life_s: int, run: str, rerolled: Sequence[int] = ()
) -> LivesResult:
    """Return what the boots of each life show. `boots`: life -> its boots, one a seed; `rerolled`: seeds of the first.

    Raises InputError for a trace that is damaged, OSError for a boot whose files are gone.
    """
    said = {life: [_said(record) for record in records] for life, records in boots.items()}
    chances: list[Chance] = []
    lives = []
    for life, records in boots.items():
        steps = _chance_steps(records, said[life])
        chances += [
            Chance(
                life=life,
                after=step.after,
                until=step.until,
                took_ns=_by_seed(records, step.took_ns),
                ended_ns=_by_seed(records, step.ended_ns),
                kinds=step.kinds,
            )
            for step in steps
        ]
        lives.append(_life(life, records, steps))
    first, last = min(boots), max(boots)
    listed, rest_ns = _only_first(boots[first][0], boots[last][0], said[first][0], said[last][0])
    some = next(iter(boots.values()))[0]
    return LivesResult(
        system=some.system,
        clock=some.clock,
        life_s=life_s,
        lives=lives,
        only_first=listed,
        rest_ns=rest_ns,
        chances=chances,
        rerolled=list(rerolled),
        run=run,
    )


def tells_of_chance(record: BootRecord) -> bool:
    """Say whether the console of a boot tells of a work that takes what chance makes it take: RSA's host key.

    Raises as `lives_result`.
    """
    return any(pattern.search(line.text) for line in _said(record) for name, pattern in KINDS if name in _CHANCE_KINDS)


def _by_seed(records: Sequence[BootRecord], values: Sequence[int]) -> dict[str, int]:
    return {str(record.seed): value for record, value in zip(records, values, strict=True)}


def _said(record: BootRecord) -> list[SaidLine]:
    folder = Path(record.run)
    if record.ready_ns is None or not (folder / TRACE).exists():
        return []
    return said_lines(read_kept_bytes(folder / "console.log"), read_trace(folder / TRACE), record.ready_ns)


def _life(life: int, records: Sequence[BootRecord], steps: Sequence[ConsoleStep]) -> LifeBoots:
    times = [record.ready_ns for record in records if record.ready_ns is not None]
    steady = None
    if steps:
        without = [sum(step.took_ns[index] for step in steps) for index in range(len(records))]
        steady = summarize([time - out for time, out in zip(times, without, strict=True)])
    return LifeBoots(life=life, ready=summarize(times) if times else None, steady=steady, boots=list(records))


def _chance_steps(records: Sequence[BootRecord], said: Sequence[Sequence[SaidLine]]) -> list[ConsoleStep]:
    if len(records) < 2 or any(record.ready_ns is None for record in records) or are_identical(records):
        return []
    boots = [(lines, record.ready_ns or 0) for lines, record in zip(said, records, strict=True)]
    least_ns = _SHARE * min(ready_ns for _, ready_ns in boots)
    return [step for step in steps_between(boots) if step.spread_ns > least_ns]


def _only_first(
    first: BootRecord, last: BootRecord, first_said: Sequence[SaidLine], last_said: Sequence[SaidLine]
) -> tuple[list[OnlyFirst], int | None]:
    if first is last or first.ready_ns is None or last.ready_ns is None or not first_said or not last_said:
        return [], None
    steps = steps_between([(first_said, first.ready_ns), (last_said, last.ready_ns)])
    ordered = sorted(steps, key=lambda step: -step.spread_ns)
    longest = [step for step in ordered if step.spread_ns >= _LEAST_NS][:_STEPS]
    # What a machine does when it boots first is told, however short it is.
    told = [step for step in ordered if step in longest or step.works]
    listed = [
        OnlyFirst(
            after=step.after,
            until=step.until,
            first_ns=step.took_ns[0],
            later_ns=step.took_ns[1],
            kinds=step.kinds,
            said=list(step.alone[0][:_LINES]),
            said_count=len(step.alone[0]),
        )
        for step in told
    ]
    rest_ns = first.ready_ns - last.ready_ns - sum(step.took_ns[0] - step.took_ns[1] for step in told)
    return listed, rest_ns
