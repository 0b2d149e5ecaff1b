"""Plans: which techniques a trial takes, and in which order they are stacked.

The default order is that of gain, measured alone. A named plan fixes the order instead, so that somebody's published
ladder can be replayed step by step on another system.
"""

from dataclasses import dataclass

from bootlab.errors import InputError


@dataclass(frozen=True, slots=True)
class Plan:
    """`techniques` None means all; `by_gain` False keeps the order given."""

    name: str
    summary: str
    techniques: tuple[str, ...] | None
    by_gain: bool


PLANS: dict[str, Plan] = {}
"""Filled below; `bootlab techniques --plans` lists them."""


def _add(name: str, summary: str, *techniques: str, by_gain: bool = False) -> None:
    PLANS[name] = Plan(name, summary, techniques or None, by_gain)


_add("gain", "every technique alone, then those that helped in the order of their gain", by_gain=True)


def find_plan(name: str) -> Plan:
    """Return a plan by name. Raises InputError that lists those there are."""
    try:
        return PLANS[name]
    except KeyError:
        raise InputError(f"--plan {name}: no such plan", hint=f"there are: {', '.join(sorted(PLANS))}") from None
