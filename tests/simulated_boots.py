"""Trials without a machine: boot times drawn from laws of noise, judged as a trial judges them.

A technique here does nothing, or saves so much. Its boots are asked for one by one, as experiments.family_boots does.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bootlab.experiments.verdict import FEWEST_SEEDS, Times, virtual_verdict, wall_verdict
from bootlab.measure.statistics.series import spread_ns

UNIT_NS = 1_000_000
"""What a law draws is in units of this."""
Generator = np.random.Generator
Draw = Callable[[Generator, int], NDArray[np.float64]]


class Boots(Protocol):
    """The boots of one trial, in ns: what differs between them means nothing."""

    def seeds(self, number: int) -> list[int]:
        """Return boots of one more system, with the seeds that all systems of the trial boot with."""
        ...

    def nulls(self, number: int) -> list[int]:
        """Return boots of as many systems, with those seeds in turn."""
        ...

    def fresh(self, number: int) -> list[int]:
        """Return boots of as many systems, with seeds that no other boot has."""
        ...


class Noise(Protocol):
    """How boots that differ in nothing that matters are spread."""

    @property
    def name(self) -> str: ...

    def trial(self, rng: Generator) -> Boots:
        """Return the boots of one more trial."""
        ...


@dataclass(frozen=True, slots=True)
class Law:
    """Every boot is drawn from one law, whatever its seed and system."""

    name: str
    draw: Draw

    def trial(self, rng: Generator) -> Boots:
        return _Independent(self.draw, rng)


@dataclass(frozen=True, slots=True)
class _Independent:
    draw: Draw
    rng: Generator

    def seeds(self, number: int) -> list[int]:
        return [round(value) for value in (self.draw(self.rng, number) * UNIT_NS).tolist()]

    nulls = fresh = seeds


@dataclass(frozen=True, slots=True)
class RealNoise:
    """Boots that were booted, `ready_ns[word][seed]`, drawn anew: a system is a word, and keeps what its word does."""

    name: str
    ready_ns: Sequence[Sequence[int]]

    def trial(self, rng: Generator) -> Boots:
        return _Resampled(np.asarray(self.ready_ns), rng, rng.permutation(len(self.ready_ns[0])))


@dataclass(frozen=True, slots=True)
class _Resampled:
    ready_ns: NDArray[np.int64]
    rng: Generator
    order: NDArray[np.int64]
    """The trial's seeds: the first few of these, fresh boots take the others."""

    def seeds(self, number: int) -> list[int]:
        return [int(value) for value in self.ready_ns[self._word(), self.order[:number]]]

    def nulls(self, number: int) -> list[int]:
        return [int(self.ready_ns[self._word(), self.order[index % FEWEST_SEEDS]]) for index in range(number)]

    def fresh(self, number: int) -> list[int]:
        return [int(self.ready_ns[self._word(), self.rng.choice(self.order[FEWEST_SEEDS:])]) for _ in range(number)]

    def _word(self) -> int:
        return int(self.rng.integers(len(self.ready_ns)))


def humps(share: float, apart: float) -> Draw:
    """Return a law of two normal humps: `share` of the boots lie `apart` standard deviations above the others."""
    return lambda rng, n: rng.normal(size=n) + apart * (rng.random(n) < share)


LAWS = (
    Law("normal", lambda rng, n: rng.normal(size=n)),
    Law("uniform", lambda rng, n: rng.random(n)),
    Law("exponential", lambda rng, n: rng.exponential(size=n)),
    Law("lognormal, sigma 1", lambda rng, n: rng.lognormal(size=n)),
    Law("Student's t, 2 degrees", lambda rng, n: rng.standard_t(2, size=n)),
    Law("Cauchy", lambda rng, n: rng.standard_cauchy(size=n)),
    Law("whole ticks", lambda rng, n: rng.integers(0, 4, size=n) + 0.01 * rng.normal(size=n)),
    Law("two even humps", humps(0.5, 50)),
    Law("a hump of 30 %", humps(0.3, 50)),
    Law("a hump of 15 %", humps(0.15, 50)),
    Law("a hump of 15 %, near", humps(0.15, 8)),
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How a trial is booted: seeds and null changes before, and null changes of a baseline that is another system."""

    seeds: int = 3
    nulls: int = 5
    known_nulls: int = 0
    """A step on a stack: the baseline of the same trial had 3 seeds and so many null changes."""


def useless_techniques(
    noise: Noise, *, trials: int, techniques: int, seed: int, sizes: Sizes | None = None, saved: float = 0.0
) -> list[int]:
    """Return for each trial how many of its techniques got a verdict, whose baseline they share.

    Each saves `saved` units in truth, so that without it every verdict is a wrong one.
    """
    rng = np.random.default_rng(seed)
    less_ns = round(saved * UNIT_NS)
    return [sum(_verdicts(noise.trial(rng), techniques, sizes or Sizes(), less_ns)) for _ in range(trials)]


def useless_on_the_wall(noise: Noise, *, trials: int, boots: int, seed: int) -> Iterator[bool]:
    """Yield of each trial on the wall clock whether a change that does nothing got a verdict; `boots`: of a side."""
    rng = np.random.default_rng(seed)
    for number in range(trials):
        trial = noise.trial(rng)
        verdict = wall_verdict(trial.fresh(boots), trial.fresh(boots), seed=number).verdict
        yield verdict.saves or verdict.costs


def _verdicts(boots: Boots, techniques: int, sizes: Sizes, less_ns: int) -> Iterator[bool]:
    def less(values: list[int]) -> list[int]:
        return [value - less_ns for value in values]

    before = Times(boots.seeds(sizes.seeds), boots.nulls(sizes.nulls))
    known_ns = spread_ns([*boots.seeds(3), *boots.nulls(sizes.known_nulls)]) if sizes.known_nulls else 0
    unchanged = before.all
    for _ in range(techniques):
        after = Times(less(boots.seeds(sizes.seeds)))
        if min(unchanged) <= after.seeds[0] <= max(unchanged):
            yield False
            continue
        judged = virtual_verdict(before, after, known_ns=known_ns)
        while any(judged.wants):
            own, other = judged.wants
            # Fresh boots before are booted once, and shared by all techniques.
            before = Times(before.seeds, before.null, [*before.fresh, *boots.fresh(own)])
            after = Times(after.seeds, (), [*after.fresh, *less(boots.fresh(other))])
            judged = virtual_verdict(before, after, known_ns=known_ns)
        yield judged.verdict.saves or judged.verdict.costs
