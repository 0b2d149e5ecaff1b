"""Sides of many gates: systems that are booted for real, each of them once, however many pairs it is in."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

from bootlab.build.workshop import Workshop
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.family import Family
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.store import RunKind, Store
from bootlab.experiments.verdict import FEWEST_SEEDS
from bootlab.ledger.gate.boots import hold_exact
from bootlab.ledger.gate.judging import GateJudgement, GateVerdict, Limit
from bootlab.measure.place import Here
from bootlab.measure.record import Outcome
from bootlab.system import System

NULLS = 5
READY = "ready"


class Sides(FamilyBoots):
    """Boots families into one run, which a later call goes on with. A side is known by its system's name.

    As in a gate: three seeds, from the side's own on, and five null changes; fresh boots where an answer wants them.
    """

    def __init__(self, folder: Path, shop: Workshop) -> None:
        store = Store(folder)
        run = store.find("last") if list(folder.glob("*/run.json")) else store.start(RunKind.GATE, folder.name, {})
        super().__init__(Engine(run, place=Here(None), reuse=True, watcher=lambda done: None), shop, (1,), wall=False)
        self._families: dict[str, Family] = {}

    def family(self, label: str, system: System, *, nulls: int, members: bool = True, keeps: bool = False) -> Family:
        if system.name not in self._families:
            self.seeds = list(range(system.seed, system.seed + FEWEST_SEEDS))
            self._families[system.name] = super().family(system.name, system, nulls=nulls, members=members)
        return self._families[system.name]

    def fresh_jobs(self, family: Family, system: System, number: int, *, null_builds: bool = False) -> list[Job]:
        self.seeds = list(range(system.seed, system.seed + FEWEST_SEEDS))
        return super().fresh_jobs(family, system, number, null_builds=null_builds)

    def hold(self, after: System, before: System, limit: Limit | None = None) -> GateJudgement:
        """Return what a gate says of one side held against another. A boot that is not ready and well is no answer."""
        held = hold_exact(self, after, before, {READY: limit or Limit()}, NULLS, lambda line: None)
        for family in (held.before.family, held.after):
            assert family is not None and family.failed is None, family
        return held.judged[READY]

    def once(self, system: System) -> int:
        """Return what one boot takes to ready, in ns."""
        (record,) = self.engine.boot_all([Job(f"once-{system.name}", self.prepare(system))])
        assert record.outcome is Outcome.READY, record.detail
        assert record.ready_ns is not None
        return record.ready_ns


def named(system: System, name: str) -> System:
    """Return a system as a side of its own."""
    return system.model_copy(update={"name": name})


@dataclass(frozen=True, slots=True)
class Pool:
    """Sides that differ in nothing, and all ordered pairs of them."""

    sides: tuple[System, ...]

    @property
    def pairs(self) -> list[tuple[System, System]]:
        return list(permutations(self.sides, 2))


def null_pool(system: System, *, seeds: int, words: int, builds: int = 0) -> Pool:
    """Return so many sides with other seeds, with another meaningless word, and with a kernel of another name."""
    sides = [named(system.with_seed(101 + 20 * index), f"seeds{index}") for index in range(seeds)]
    sides += [named(system.with_cmdline(f"bootlab.side={index}"), f"word{index}") for index in range(words)]
    sides += [named(system.with_options(LOCALVERSION=f"-side{index}"), f"build{index}") for index in range(builds)]
    return Pool(tuple(sides))


@dataclass(frozen=True, slots=True)
class Change:
    """A kind of change by an amount: turns of a loop, ns of a sleep, bytes."""

    name: str
    make: Callable[[System, int], System]
    unit_ns: float
    """What one more of it takes, measured; 0 where it is what it says."""

    def of(self, system: System, cost_ns: int) -> System:
        """Return a system with so much of it that it takes `cost_ns`."""
        return self.make(system, round(cost_ns / self.unit_ns) if self.unit_ns else cost_ns)


def measured(sides: Sides, system: System, change: Change, few: int, many: int) -> Change:
    """Return a change that knows what it takes, by a boot with few and one with many of it."""
    took = [sides.once(named(change.make(system, amount), f"{change.name}-{amount}")) for amount in (few, many)]
    assert took[1] > took[0], (change.name, took)
    return replace(change, unit_ns=(took[1] - took[0]) / (many - few))


def counted(judged: Iterable[GateJudgement]) -> dict[str, int]:
    """Return how often each verdict was said."""
    said = [one.verdict for one in judged]
    return {verdict.value: said.count(verdict) for verdict in GateVerdict if verdict in said}
