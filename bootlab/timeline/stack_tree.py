"""Stacks, filled while a log is read; however many and however deep its calls are, the tree stays within a limit."""

from collections.abc import Callable
from typing import Final

from bootlab.timeline.recording import Stack

DEEPEST: Final = 256
"""What is called deeper counts as its 256th caller's own: no kernel's stack has room for so many frames."""
_MOST_FRAMES: Final = 2_000_000
"""How many frames all stacks together may have; what comes later counts as its caller's own."""


class StackTree:
    """Stacks by number, each with its own time and calls. Number 0 is the root, which is no stack."""

    def __init__(self) -> None:
        self._children: dict[tuple[int, str], int] = {}
        self._parent = [0]
        self._name = [""]
        self._depth = [0]
        self._own = [0]
        self._calls = [0]
        self._frames = 0
        self.full = False
        """Stacks were left out for want of room."""

    def below(self, parent: int, name: str) -> int:
        """Return the number of the stack with one frame more than `parent`; that of `parent` where there is no room."""
        key = (parent, name)
        known = self._children.get(key)
        if known is not None:
            return known
        depth = self._depth[parent] + 1
        if depth > DEEPEST or self._frames + depth > _MOST_FRAMES:
            self.full = True
            return parent
        number = len(self._parent)
        self._children[key] = number
        self._parent.append(parent)
        self._name.append(name)
        self._depth.append(depth)
        self._own.append(0)
        self._calls.append(0)
        self._frames += depth
        return number

    def charge(self, number: int, own: int) -> None:
        """Add to a stack's own time."""
        self._own[number] += own

    def enter(self, number: int, calls: int = 1) -> None:
        """Count more calls of a stack's innermost function."""
        self._calls[number] += calls

    def frames(self, number: int) -> tuple[str, ...]:
        """Return the names from the outermost on; none for the root."""
        names = []
        while number:
            names.append(self._name[number])
            number = self._parent[number]
        return tuple(reversed(names))

    def stacks(self, ns: Callable[[int], int] = lambda own: own) -> tuple[Stack, ...]:
        """Return the stacks that have time or calls of their own, as they were first entered.

        `ns`: makes nanoseconds of the unit that was charged.
        """
        paths: list[tuple[str, ...]] = [()]
        found = []
        for number in range(1, len(self._parent)):
            paths.append((*paths[self._parent[number]], self._name[number]))
            if self._own[number] or self._calls[number]:
                found.append(Stack(paths[number], ns(self._own[number]), self._calls[number]))
        return tuple(found)
