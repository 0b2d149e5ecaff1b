"""Finds code that executes more since a cut: what stands in the place of what went may cost more than that did.

A cut as a whole saves, so no boot shows it: without SPARSEMEM_VMEMMAP each page's place is worked out anew, twenty
instructions a page. The function that grew is seen by its instructions, the option by the compiler.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bootlab.build.kernel.recompiled import FunctionBytes
from bootlab.experiments.tailor.unused_options import Drop

_WORTH: Final = 100
"""An object has grown by so much of the boot up to ready, one part of these: each option to blame takes a build."""
Executed = Mapping[tuple[str, str], int]
"""(path of an object, function) -> its own instructions up to ready."""


@dataclass(frozen=True, slots=True)
class GrownCode:
    """An object that executes more since a cut, and what became of it."""

    label: str
    """The cut."""
    object: str
    function: str
    """The one of its functions that grew most."""
    before: int
    """Instructions of the whole object up to ready before the cut."""
    after: int
    suspects: tuple[str, ...] = ()
    """Options of that cut that change this function's length, those worth least first."""
    again: str = ""
    """The one of them that is as it was again, because that is shorter."""
    detail: str = ""
    """What was tried, in words."""
    uncompiled: tuple[str, ...] = ()
    """Options of that cut with which as they were the object does not compile by itself: nobody knows of them."""

    @property
    def is_open(self) -> bool:
        """Whether nobody has tried yet what it grew by."""
        return not self.again and not self.detail

    def has_shrunk(self, now: Executed) -> bool:
        """Return whether most of what it grew by is gone in another kernel."""
        return 2 * _of(now, self.object) <= self.before + self.after


def find_grown(before: Executed, after: Executed, label: str) -> list[GrownCode]:
    """Return the objects that execute more than before by a hundredth of the boot, what grew most first."""
    least, names = sum(after.values()) // _WORTH, {path for path, _ in before}
    gains = defaultdict[str, dict[str, int]](dict)
    for path, function in before.keys() | after.keys():
        gains[path][function] = after.get((path, function), 0) - before.get((path, function), 0)
    found = [
        GrownCode(label, path, max(mine, key=lambda one: (mine[one], one)), _of(before, path), _of(after, path))
        for path, mine in gains.items()
        if path in names and sum(mine.values()) > least
    ]
    return sorted(found, key=lambda one: (one.before - one.after, one.object))


def find_suspects(
    grown: GrownCode, drops: Sequence[Drop], before: Mapping[str, str], reads: Collection[str], length: FunctionBytes
) -> GrownCode:
    """Return it with the options that may be to blame: worth less than what grew, and the function has another length.

    `drops`: those of the cut; `before`: the configuration before it, of options that are not off; `reads`: the options
    that the object's source and headers mention; `length`: that of the function.
    """
    now = length({})
    if not now:
        return replace(grown, detail="its object does not compile again by itself, so no option can be blamed")
    found, uncompiled = list[str](), list[str]()
    for drop in sorted(drops, key=lambda one: (one.instructions, one.option)):
        touched = {drop.option, *drop.lost, *drop.gained}
        if drop.instructions >= grown.after - grown.before or touched.isdisjoint(reads):
            continue
        other = length({option: before.get(option, "n") for option in touched})
        if other is None:
            uncompiled.append(drop.option)
        elif other != now:
            found.append(drop.option)
    grown = replace(grown, suspects=tuple(found), uncompiled=tuple(uncompiled))
    if found:
        return grown
    words = ["no option of that cut changes the function's length", *[uncompiled_words(grown)] * bool(uncompiled)]
    return replace(grown, detail="; ".join(words))


def uncompiled_words(grown: GrownCode) -> str:
    """Return which options nobody knows of, in words."""
    return f"not compiled by itself, so not known: {', '.join(grown.uncompiled)}"


def _of(executed: Executed, path: str) -> int:
    return sum(count for (one, _), count in executed.items() if one == path)
