"""Where a figure changed along a line of states, with as few of them measured as it takes. Pure: it asks, and decides.

It halves: where the two ends of a stretch differ, its middle is measured, and each half whose ends differ is searched
on. So it finds every change and not just one, but for changes that cancel each other between two ends that are alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, log2
from typing import Protocol


class Line(Protocol):
    """What is known of a line of states, by number."""

    def usable(self, index: int) -> bool:
        """Return whether a state can be measured, which measures it."""
        ...

    def differ(self, before: int, after: int) -> bool:
        """Return whether two usable states differ."""
        ...


@dataclass(frozen=True, slots=True)
class Stretch:
    """From one measured state to a later one, whose figures differ.

    `blurred`: a state between them was measured, and differs from neither end, so no single step holds the change.
    """

    before: int
    after: int
    blurred: bool = False


@dataclass(slots=True)
class Searched:
    """What a search found: stretches that differ, in order, and those left alone because their ends do not."""

    changed: list[Stretch] = field(default_factory=list)
    alike: list[tuple[int, int]] = field(default_factory=list)

    @property
    def not_looked_into(self) -> int:
        """Return how many states lie inside of stretches whose ends are alike."""
        return sum(after - before - 1 for before, after in self.alike)


def search(line: Line, last: int, *, thorough: bool = False) -> Searched:
    """Return where the states 0 to `last` change; both ends are usable. With `thorough` every state is measured."""
    found = Searched()
    if thorough:
        usable = [index for index in range(last + 1) if line.usable(index)]
        for before, after in pairwise(usable):
            if line.differ(before, after):
                found.changed.append(Stretch(before, after))
        return found
    _search(line, 0, last, found)
    return found


def most_measured(between: int, changes: int) -> int:
    """Return how many states a search measures at most, its ends included, to find so many changes.

    `between`: the number of steps from end to end. States that cannot be measured come on top.
    """
    if between < 1 or changes < 1:
        return 2
    depth = ceil(log2(between)) if between > 1 else 0
    # The changes share the first halvings, and then each goes its own way.
    shared = min(depth, ceil(log2(changes)))
    inside = (1 << shared) - 1 + changes * (depth - shared)
    return 2 + min(between - 1, inside)


def middle_out(before: int, after: int) -> Iterator[int]:
    """Yield the numbers between two, the middle first; then in growing leaps, for what is broken has broken neighbours.

    Each comes once.
    """
    middle = (before + after) // 2
    seen = set[int]()
    leaps = [0]
    while leaps[-1] < after - before:
        leaps.append(max(1, 2 * leaps[-1]))
    for leap in (*leaps, *range(after - before)):
        for index in (middle + leap, middle - leap):
            if before < index < after and index not in seen:
                seen.add(index)
                yield index


def _search(line: Line, before: int, after: int, found: Searched) -> None:
    if not line.differ(before, after):
        found.alike.append((before, after))
        return
    middle = next((index for index in middle_out(before, after) if line.usable(index)), None)
    if middle is None:
        found.changed.append(Stretch(before, after))
    elif not line.differ(before, middle) and not line.differ(middle, after):
        found.changed.append(Stretch(before, after, blurred=True))
    else:
        _search(line, before, middle, found)
        _search(line, middle, after, found)
