"""The call tree as the page's scripts take it: nodes numbered depth first, and the weights of each phase of their own.

Only what is drawn is kept: which function under which, and per phase and node calls, instructions and time off the CPU.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Integers, Space
from bootlab.profile.tree.call_tree import IDLE, LEAVES, NO_WORK, RUNNABLE, WAIT, CallTree, build_call_tree
from bootlab.profile.tree.differential import TreeDifference
from bootlab.profile.tree.without_symbols import NO_SYMBOLS
from bootlab.report.parts.markup import Html
from bootlab.report.profile.number_columns import Pack

MOST_NODES: Final = 600_000
"""More are summed up: a browser takes them, but its memory and the page's size grow with each."""
KINDS: Final = ("other", "stage", "task", "kernel", "module", "user", "entry", "wait", "runnable", "idle")
"""What a function is, and so its colour; profile_canvas.js numbers them in the same order."""
_OF_SPACE: Final = {
    Space.KERNEL: "kernel", Space.STAGE: "stage", Space.TASK: "task", Space.CODE: "stage", Space.MODULE: "module",
    Space.USER: "user",
}  # fmt: skip
_OF_LEAF: Final = {WAIT: "wait", NO_WORK: "idle", RUNNABLE: "runnable", IDLE: "idle"}
# Where the processor enters the kernel by itself: exception, interrupt and system call entries of x86 and arm.
_ENTRY: Final = re.compile(
    r"asm_|(?:entry|common)_(?:SYSCALL|INT80)|(?:irq|spurious)_entries_start|el[01][thf]?_|vectors$|nmi_"
    r"|__(?:irq|fiq|dabt|pabt|und)_(?:svc|usr)$|vector_(?:swi|irq|fiq|dabt|pabt|und)$"
    r"|handle_exception$"
)


@dataclass(frozen=True, slots=True)
class BootPart:
    """A part of the boot that the flame graph can show by itself. `shown`: it is shown at first."""

    name: str
    slices: range
    ns: int
    shown: bool


@dataclass(frozen=True)
class Numbering:
    """How the page's tree is numbered, depth first. `whole`: the call tree of all slices; `drawn`: what is kept of it.

    `own_nodes`: the first nodes of `whole` are the profile's own, the others its waits. `places`: node of `whole` ->
    number; where it was too small to be kept, that of the `[pruned]` leaf with its sum; -1 for what costs nothing.
    """

    whole: CallTree
    drawn: CallTree
    own_nodes: int
    places: Integers

    def leaves(self, parent: Integers, function: Integers) -> Integers:
        """Return the leaves of `whole` below the profile's nodes `parent`; -1 for one that it has not got."""
        span = len(self.whole.names)
        known = np.arange(self.own_nodes, len(self.whole))
        keys = self.whole.parent[known] * span + self.whole.function[known]
        order = np.argsort(keys)
        wanted = parent.astype(np.int64) * span + function
        if not len(keys):
            return np.full(len(wanted), -1, dtype=np.int64)
        found = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        return np.where(keys[order][found] == wanted, known[order][found], -1)

    def leaf_places(self, parent: Integers, function: Integers) -> Integers:
        """Return the numbers of those leaves; -1 for one that there is not."""
        leaves = self.leaves(parent, function)
        return np.where(leaves < 0, -1, self.places[leaves])


def number_tree(profile: Profile, whole: CallTree, most: int = MOST_NODES) -> Numbering:
    """Return the numbering of `whole`, the tree of all slices of `profile`, of which at most `most` nodes are drawn."""
    own = len(profile.nodes)
    if len(whole) <= most:
        return Numbering(whole, whole, own, whole.shape.enter)
    totals = whole.total_elapsed_ns
    keep = whole.lasting(totals > np.partition(totals, -most)[-most])
    drawn, kept = whole.pruned_to(keep), np.flatnonzero(keep)
    # What is left out goes to the leaf of the nearest node that is kept.
    nearest = np.where(keep, np.arange(len(whole)), -1)
    for level in whole.shape.levels[1:]:
        nearest[level] = np.where(keep[level], level, nearest[whole.parent[level]])
    leaf_of = np.full(len(whole), -1, dtype=np.int64)
    leaf_of[kept[drawn.parent[len(kept) :]]] = np.arange(len(kept), len(drawn))
    node = np.where(keep, np.searchsorted(kept, nearest), leaf_of[nearest])
    return Numbering(whole, drawn, own, np.where(node < 0, -1, drawn.shape.enter[node]))


def tree_block(profile: Profile, numbering: Numbering, parts: Sequence[BootPart]) -> Html:
    """Return the block `profile-tree`: the tree, and what was spent in each part of the boot."""
    pack = Pack()
    add_shape(pack, numbering.drawn, kinds_of(profile))
    for index, part in enumerate(parts):
        _add_weights(pack, f"0.{index}", weights_of(profile, numbering, part.slices, numbering.places))
    return pack.block("profile-tree", _facts(parts, 1, profile.shift))


def both_block(
    difference: TreeDifference, sides: Sequence[tuple[Profile, Numbering]], parts: Sequence[Sequence[BootPart]]
) -> Html:
    """Return the block `profile-tree` of two boots in one tree. `parts`: the same parts of the boot, of each side."""
    pack = Pack()
    tree = difference.before
    profile = sides[0][0]
    kinds = {name: kind for one, _ in sides for name, kind in zip([*one.names, *LEAVES], kinds_of(one), strict=True)}
    # Tasks are called otherwise here, without their pids.
    tops = {tree.names[int(function)] for function in tree.function[tree.shape.depth == 1]}
    add_shape(pack, tree, [
        kinds.get(name, "task" if name in tops else "stage" if name.endswith(NO_SYMBOLS) else "other")
        for name in tree.names
    ])  # fmt: skip
    for side, (one, numbering) in enumerate(sides):
        places = tree.shape.enter[difference.places[side]]
        for index, part in enumerate(parts[side]):
            _add_weights(pack, f"{side}.{index}", weights_of(one, numbering, part.slices, places))
    facts = _facts(parts[-1], len(sides), profile.shift)
    for one, part in zip(facts["slices"], parts[0], strict=True):
        one["was_ns"] = part.ns
    return pack.block("profile-tree", facts)


def kinds_of(profile: Profile) -> list[str]:
    """Return of each name of a call tree of `profile` what it is, one of KINDS."""
    kinds = [_OF_SPACE.get(Space(space), "other") for space in profile.spaces.tolist()]
    kinds = [
        "entry" if kind == "kernel" and _ENTRY.match(name) else "user" if name == "[user]" else kind
        for kind, name in zip(kinds, profile.names, strict=True)
    ]
    return [*kinds, *(_OF_LEAF.get(leaf, "other") for leaf in LEAVES)]


def _facts(parts: Sequence[BootPart], sides: int, shift: int) -> dict[str, Any]:
    slices = [{"name": part.name, "ns": part.ns, "shown": part.shown} for part in parts]
    return {"slices": slices, "sides": sides, "ns_per_instruction": 1 << shift}


def add_shape(pack: Pack, tree: CallTree, kinds: Sequence[str]) -> None:
    """Add the columns of a tree's nodes and names. `kinds`: what each name is, one of KINDS."""
    # Function numbers are made dense, the most used first: small numbers take fewer bytes. The root has its own name.
    function = tree.function.copy()
    function[:1] = len(tree.names)
    counts = np.bincount(function, minlength=len(tree.names) + 1)
    used = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    number = np.zeros(len(counts), dtype=np.int64)
    number[used] = np.arange(len(used))
    names, sorts = [*tree.names, "all"], [*kinds, "other"]
    order = np.argsort(tree.shape.enter)
    pack.numbers("level", tree.shape.depth[order])
    pack.numbers("name", number[function][order])
    pack.texts("names", [names[index] for index in used])
    pack.numbers("kind", np.array([KINDS.index(sorts[index]) for index in used], dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Weights:
    """What nodes cost, by place: times entered, instructions, ns off the CPU."""

    place: Integers
    calls: Integers
    instructions: Integers
    off_cpu_ns: Integers


def weights_of(profile: Profile, numbering: Numbering, slices: Sequence[int], places: Integers) -> Weights:
    """Return what the nodes cost in some slices. `places`: node of the whole tree -> where it goes, several to one."""
    part = build_call_tree(profile, slices)
    own = numbering.own_nodes
    leaves = numbering.leaves(part.parent[own:], part.function[own:])
    place = np.r_[places[:own], np.where(leaves < 0, -1, places[leaves])]
    off_cpu_ns = part.self_elapsed_ns - (part.self_instructions << part.shift)
    some = np.flatnonzero(((part.calls != 0) | (part.self_instructions != 0) | (off_cpu_ns != 0)) & (place >= 0))
    used, which = np.unique(place[some], return_inverse=True)
    sums = [np.zeros(len(used), dtype=np.int64) for _ in range(3)]
    for total, column in zip(sums, (part.calls, part.self_instructions, off_cpu_ns), strict=True):
        np.add.at(total, which, column[some])
    return Weights(used, *sums)


def _add_weights(pack: Pack, prefix: str, weights: Weights) -> None:
    pack.differences(f"{prefix}.nodes", weights.place)
    pack.numbers(f"{prefix}.calls", weights.calls)
    pack.numbers(f"{prefix}.instructions", weights.instructions)
    pack.numbers(f"{prefix}.waited", weights.off_cpu_ns)
