"""Boots of the states of a bisection: one each, and more only where one does not settle whether two of them differ."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from bootlab.build.debian.apt import Unreachable
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError, Interrupted, MissingTool, StoreError
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.family import Family, expect_not_killed
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.verdict import PLAIN, chance_margin_ns
from bootlab.ledger.bisect.state import BisectState, StateSource, Unusable
from bootlab.ledger.gate.figures import GateBaseline, time_of, times_of
from bootlab.ledger.gate.judging import NEAR_SPREADS, GateJudgement, GateVerdict, Limit, judge_either_way
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.statistics.series import median_ns, spread_ns
from bootlab.system import System
from bootlab.targets.target import Prepared

_MadeT = TypeVar("_MadeT")
_STOPS: Final = (Interrupted, MissingTool, StoreError, Unreachable)
"""What says nothing about a state, and would be the same of the next one."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Which figure is looked at, how small a change of it counts, and the boots of a family."""

    figure: str
    limit: Limit
    seeds: tuple[int, ...]
    nulls: int


@dataclass(frozen=True, slots=True)
class Scale:
    """What the two ends say of all: how far boots move for no reason, and from which change on one is looked for."""

    spread_ns: int
    smallest_ns: int
    limit_ns: int
    alike_ns: int
    """Two single boots that differ by no more are of states that do not differ by the limit."""
    plain_ns: int
    """Two that differ by more are of states that do."""


class _StateBoots(FamilyBoots):
    """Boots of one state, whose files are brought back before anything is made of them."""

    def __init__(
        self, engine: Engine, shop: Workshop, seeds: tuple[int, ...], place: Callable[[], None], label: str
    ) -> None:
        super().__init__(engine, shop, seeds, wall=False)
        self._place = place
        self._placed: set[str] = set()
        self.label = label

    def prepare(self, system: System, who: str = "") -> Prepared:
        key = system.model_dump_json()
        if key not in self._placed:
            self._place()
        prepared = super().prepare(system, who)
        self._placed.add(key)
        return prepared


class StatesBooted:
    """Boots states as often as it takes. What was booted once is known."""

    def __init__(self, engine: Engine, shop: Workshop, source: StateSource, asked: Sampling) -> None:
        self._engine = engine
        self._shop = shop
        self._source = source
        self._asked = asked
        self._systems: dict[str, System] = {}
        self._boots: dict[str, _StateBoots] = {}
        self._first: dict[str, BootRecord] = {}
        self._families: dict[str, Family] = {}
        self._judged: dict[tuple[str, str], GateJudgement] = {}
        self._like: GateBaseline | None = None
        self.note: Callable[[str], None] = lambda line: None

    @property
    def kernels_built(self) -> int:
        """Return how many kernels bootlab built for the states."""
        return sum(one.built for one in self._boots.values())

    @property
    def kernels_build_s(self) -> float:
        """Return the host seconds that these took."""
        return sum(one.build_s for one in self._boots.values())

    def system(self, state: BisectState) -> System:
        """Return the system of a state that was measured."""
        return self._systems[state.name]

    def first(self, state: BisectState) -> BootRecord:
        """Return a state's boot with the first seed. Raises Unusable."""
        if state.name not in self._first:
            boots, system = self._ready(state)
            with_seed = _usable(state, lambda: boots.prepare(system)).with_seed(self._asked.seeds[0])
            (record,) = self._engine.boot_all([Job(f"{boots.label}-s{self._asked.seeds[0]}", with_seed)])
            self._expect_well(state, record)
            self._first[state.name] = record
        return self._first[state.name]

    def family(self, state: BisectState) -> Family:
        """Return the boots of a state with every seed and null change. Raises Unusable where one was not well."""
        if state.name not in self._families:
            self.first(state)
            boots, system = self._ready(state)
            family = _usable(state, lambda: boots.family(boots.label, system, nulls=self._asked.nulls))
            self._expect_all_well(state, family)
            self._families[state.name] = family
        return self._families[state.name]

    def known(self, state: BisectState) -> Family | None:
        """Return the boots that there are of a state; None where it was not measured."""
        if state.name in self._families:
            return self._families[state.name]
        first = self._first.get(state.name)
        return Family((first,)) if first is not None else None

    def scale(self, good: BisectState, bad: BisectState) -> Scale:
        """Return what holds for the whole line, by the families of its ends. Raises Unusable."""
        ends = [times_of(self.family(state), self._asked.figure) for state in (good, bad)]
        spread = max(spread_ns([*one.seeds, *one.null]) for one in ends)
        smallest_ns = max(1, NEAR_SPREADS * spread)
        limit_ns = self._asked.limit.of(median_ns(ends[0].seeds))
        noise_ns = chance_margin_ns(spread)
        if limit_ns is None:
            return Scale(spread, smallest_ns, smallest_ns, smallest_ns - noise_ns, PLAIN * spread)
        return Scale(spread, smallest_ns, limit_ns, limit_ns - noise_ns, max(limit_ns + noise_ns, PLAIN * spread))

    def differ(self, before: BisectState, after: BisectState, scale: Scale) -> bool:
        """Return whether two states differ by more than the limit: by one boot of each where that is plain."""
        if (before.name, after.name) not in self._judged:
            one, other = (time_of(self.first(state), self._asked.figure) or 0 for state in (before, after))
            by_ns = abs(other - one)
            if by_ns > scale.plain_ns:
                return True
            if by_ns <= scale.alike_ns:
                return False
            self.note(f"near the limit: more boots of {before.short} and {after.short}")
        judged = self.judged(before, after)
        if judged.verdict is GateVerdict.CANNOT_SAY:
            return abs(judged.longer_ns) > scale.limit_ns
        return judged.verdict is not GateVerdict.UNCHANGED

    def judged(self, before: BisectState, after: BisectState) -> GateJudgement:
        """Return what the gate says of two states, by whole families and, near the limit, fresh boots of both.

        Raises Unusable where a boot of a state was not well.
        """
        key = before.name, after.name
        while key not in self._judged:
            one, other = self.family(before), self.family(after)
            what = self._asked.figure
            times = times_of(one, what), times_of(other, what)
            judged = judge_either_way(*times, self._asked.limit.of(median_ns(times[0].seeds)))
            if not any(judged.wants):
                self._judged[key] = judged
                break
            self.note(f"near the limit: {sum(judged.wants)} fresh boots")
            for state, number in zip((before, after), judged.wants, strict=True):
                self._freshly(state, number)
        return self._judged[key]

    def _freshly(self, state: BisectState, number: int) -> None:
        if not number:
            return
        boots, system = self._ready(state)
        family = self._families[state.name]
        jobs = _usable(state, lambda: boots.fresh_jobs(family, system, number))
        family = replace(family, fresh=(*family.fresh, *self._engine.boot_all(jobs)))
        self._expect_all_well(state, family)
        self._families[state.name] = family

    def _ready(self, state: BisectState) -> tuple[_StateBoots, System]:
        if state.name not in self._boots:
            self._systems[state.name] = _usable(state, lambda: self._source.system(state))
            self._boots[state.name] = _StateBoots(
                self._engine, self._shop, self._asked.seeds, partial(self._source.bring_back, state), state.short
            )
        return self._boots[state.name], self._systems[state.name]

    def _expect_all_well(self, state: BisectState, family: Family) -> None:
        for record in family.boots:
            self._expect_well(state, record)

    def _expect_well(self, state: BisectState, record: BootRecord) -> None:
        expect_not_killed(record)
        if record.outcome is not Outcome.READY:
            raise Unusable(state, f"{record.outcome.value}: {record.detail}", record.run)
        if self._like is None:
            self._like = GateBaseline(state.name, Family((record,)))
        try:
            # Of another machine or clock, as a system file of its own may have it, a time says nothing beside others.
            self._like.expect_like(Family((record,)))
            time_of(record, self._asked.figure)
        except InputError as error:
            raise Unusable(state, error.message, record.run) from error


def _usable(state: BisectState, make: Callable[[], _MadeT]) -> _MadeT:
    """Return what is made of a state; what cannot be right about it makes it unusable, and stops nothing."""
    try:
        return make()
    except _STOPS:
        raise
    except BootlabError as error:
        raise Unusable(state, error.message) from error
