"""Where the best choice changes as storage gets faster.

A choice that loads `size` bytes and then takes `fixed` ns is a straight line in 1/speed: fixed + size * 1000 / MB/s.
The best one at each speed is the lower edge of those lines, and the speeds at its corners follow from sizes and times
alone: nothing is sampled. Pure: values in, values out.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """Something to load and what it then takes. `fixed_ns`: everything but the bytes, latency included."""

    name: str
    size: int
    fixed_ns: int

    def total_ns(self, mb_s: float) -> int:
        """Return the time at a storage speed of `mb_s` (10^6 bytes a second)."""
        return self.fixed_ns + round(self.size * 1000 / mb_s)


@dataclass(frozen=True, slots=True)
class Best:
    """The best choice from one storage speed to another, in MB/s; `to_mb_s` is None for any faster one."""

    name: str
    from_mb_s: float
    to_mb_s: float | None


def best_choices(choices: Sequence[Choice]) -> list[Best]:
    """Return which choice is best at which storage speed, slowest storage first, from 0 to any speed.

    Of equal ones the first named counts. Empty without choices.
    """
    if not choices:
        return []
    # At speed 0 only size counts; of equal sizes the one that takes less after it is better at every speed.
    now = min(choices, key=lambda one: (one.size, one.fixed_ns))
    found: list[Best] = []
    speed = 0.0
    while True:
        # Only a larger one that takes less afterwards can overtake; the first to do so is best from there on.
        rivals = [
            (crossing, one.fixed_ns, index, one)
            for index, one in enumerate(choices)
            if (crossing := crossing_mb_s(now, one)) is not None
        ]
        if not rivals:
            return [*found, Best(now.name, speed, None)]
        crossing, _, _, rival = min(rivals, key=lambda rival: rival[:3])
        found.append(Best(now.name, speed, crossing))
        now, speed = rival, crossing


def crossing_mb_s(small: Choice, large: Choice) -> float | None:
    """Return the storage speed from which `large` is better than `small`, in MB/s; None when it never is.

    Solves small.fixed + small.size * 1000 / x = large.fixed + large.size * 1000 / x for x.
    """
    if large.size <= small.size or large.fixed_ns >= small.fixed_ns:
        return None
    return 1000 * (large.size - small.size) / (small.fixed_ns - large.fixed_ns)
