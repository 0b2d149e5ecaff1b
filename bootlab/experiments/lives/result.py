"""What `--lives` found: the boots of each life, what only the first one did, and what was chance."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.experiments.chance import Chance, find_chances, said_by
from bootlab.experiments.console_steps import steps_between
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.statistics.series import Summary, summarize

SCHEMA: Final = "bootlab.lives/1"
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
    chances: list[Chance] = []
    lives = []
    for life, records in boots.items():
        found = find_chances(records, life)
        chances += found
        lives.append(_life(life, records, found))
    first, last = min(boots), max(boots)
    listed, rest_ns = _only_first(boots[first][0], boots[last][0])
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


def _life(life: int, records: Sequence[BootRecord], chances: Sequence[Chance]) -> LifeBoots:
    times = [record.ready_ns for record in records if record.ready_ns is not None]
    steady = None
    if chances:
        without = [sum(chance.took_ns[str(record.seed)] for chance in chances) for record in records]
        steady = summarize([time - out for time, out in zip(times, without, strict=True)])
    return LifeBoots(life=life, ready=summarize(times) if times else None, steady=steady, boots=list(records))


def _only_first(first: BootRecord, last: BootRecord) -> tuple[list[OnlyFirst], int | None]:
    first_said, last_said = said_by(first), said_by(last)
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
