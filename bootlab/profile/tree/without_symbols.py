"""Gives code without symbols (`firmware@0xebb0e`) one name over boots in which it lies at different addresses.

SeaBIOS moves itself to the top of memory, and every build of a kernel has another decompressor. An address is a name
within one boot only; over boots in which they differ, such code is one thing for each stage.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from bootlab.profile.tree.call_tree import CallTree

NO_SYMBOLS: Final = ", code without symbols"
"""What the name of such code as a whole ends in."""
_PLACE: Final = re.compile(r"([^@]+)@0x[0-9a-f]+")


def moved_stages(trees: Sequence[CallTree]) -> frozenset[str]:
    """Return the stages whose nameless code is at other addresses in one tree than in another, for the most part."""
    found: list[dict[str, set[str]]] = []
    for tree in trees:
        places: dict[str, set[str]] = defaultdict(set)
        for number in np.unique(tree.function).tolist():
            if place := _PLACE.fullmatch(tree.names[number]):
                places[place[1]].add(place[0])
        found.append(places)
    stages = {stage for places in found for stage in places}
    return frozenset(
        stage
        for stage in stages
        if 2 * len(set.intersection(*(one[stage] for one in found))) < max(len(one[stage]) for one in found)
    )


def as_one(tree: CallTree, stages: Collection[str] | None = None) -> CallTree:
    """Return the tree with all nameless code of each of these stages (None: of every one) as one function."""
    names, first = list(tree.names), dict[str, int]()
    number_of = np.arange(len(names), dtype=np.int64)
    for number, name in enumerate(tree.names):
        place = _PLACE.fullmatch(name)
        if place is not None and (stages is None or place[1] in stages):
            number_of[number] = first.setdefault(place[1], number)
            names[number] = place[1] + NO_SYMBOLS
    return replace(tree, names=names, function=number_of[tree.function])
