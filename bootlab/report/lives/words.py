"""The words by which a terminal and a page tell of a disk image's lives."""

from collections.abc import Mapping, Sequence

from bootlab.experiments.chance import Chance, ChanceProcess
from bootlab.experiments.lives.result import LifeBoots, LivesResult, OnlyFirst
from bootlab.report.parts.figures import ms

_SHOWN = 60
_WORTH_NAMING = 0.1


def title(result: LivesResult) -> str:
    """Return what was booted, how often, in one line."""
    seeds = ", ".join(map(str, result.seeds))
    each = f", each with seeds {seeds}" if len(result.seeds) > 1 else f", seed {seeds}" if result.rerolled else ""
    again = f", life 1 again with {', '.join(map(str, result.rerolled))}" if result.rerolled else ""
    return f"{result.system}  {len(result.lives)} lives{each}{again}; powered off {result.life_s} s after power-on"


def life_words(one: LifeBoots) -> str:
    """Return the median of a life without what is chance in it."""
    summary = one.steady or one.ready
    return ms(summary.median_ns) if summary is not None else ""


def step_words(step: OnlyFirst | Chance) -> str:
    """Return where a step ends, short enough for a table."""
    return step.until if len(step.until) <= _SHOWN else f"{step.until[:_SHOWN]}..."


def chance_words(chance: Chance, *, of_life: bool = True) -> tuple[str, str]:
    """Return what chance decided, and what it took by seed. Without `of_life` the boots were of one life alone."""
    took = chance.took_ns.values()
    kinds = f" ({', '.join(chance.kinds)})" if chance.kinds else ""
    life = f", life {chance.life}" if of_life else ""
    head = f'chance{life}{kinds}: {ms(min(took))} to {ms(max(took))} ms by seed, up to the line "{step_words(chance)}"'
    return head, ", ".join(f"seed {seed}: {ms(ns)}" for seed, ns in chance.took_ns.items())


def side_chances(chances: Mapping[str, Sequence[Chance]]) -> list[str]:
    """Return what chance decided on each side of a comparison: no verdict sees less than it moves the side by."""
    return [
        f"{side}: {': '.join(chance_words(chance, of_life=False))}"
        for side, found in chances.items()
        for chance in found
    ]


def process_words(one: ChanceProcess) -> str:
    """Return which process chance gave more to do, where it did it, and for how long it ran by seed."""
    where = f", {one.share:.0%} of it in {one.function}" if one.function and one.share >= _WORTH_NAMING else ""
    took = ", ".join(f"{ms(ns)} with seed {seed}" for seed, ns in one.ran_ns.items())
    return f"{one.command}: ran {took}{where}"


def rest_words(result: LivesResult) -> str:
    """Return what of the difference between the first life and the last is in no listed step."""
    last = result.lives[-1].life
    rest_ns = result.rest_ns or 0
    return f"steps that differ by less, and those not listed: {ms(rest_ns, sign=True)} ms of life 1 over life {last}"
