"""What `--lives` found: the boots of each life, what only the first one did, and what was chance."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.experiments.lives.console_steps import ConsoleStep, SaidLine, said_lines, steps_between
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


class Chance(Document):
    """A step of one life that differs from seed to seed by more than 5 % of its boot."""

    life: int
    after: str
    until: str
    took_ns: dict[str, int]
    """By seed."""
    kinds: list[str]


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
    run: str

    @property
    def good(self) -> bool:
        """Whether every boot was ready."""
        return all(record.outcome is Outcome.READY for one in self.lives for record in one.boots)

    @property
    def seeds(self) -> list[int]:
        """Return the seeds with which each life was booted."""
        return [record.seed for record in self.lives[0].boots]


def lives_result(boots: Mapping[int, Sequence[BootRecord]], life_s: int, run: str) -> LivesResult:
    """Return what the boots of each life show. `boots`: life -> its boots, one a seed.

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
                took_ns={str(record.seed): took for record, took in zip(records, step.took_ns, strict=True)},
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
        run=run,
    )


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
