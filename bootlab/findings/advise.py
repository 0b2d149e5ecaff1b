"""Gives a profile's time up to ready to causes, largest first, each with the techniques that could remove it.

Nothing is counted twice. Techniques are served first, each with the functions it declares (`Technique.removes`), in the
order of what they would spare beyond those before them; what no technique claims goes to the initcall, worker, thread,
process or function it was spent in. So the sum of the list, and of what was too small for it, is the boot's time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
from pydantic import Field

from bootlab.document import Document
from bootlab.findings.cost_tree import CostTree, Heading, Mask
from bootlab.measure.record import PriceRecord
from bootlab.profile.tree.caused_work import CausedWork
from bootlab.system import System
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Technique

SCHEMA: Final = "bootlab.advise/1"
SMALLEST_SHARE: Final = 0.001
"""Causes below this share of the boot are summed up in one line."""
_RISKS: Final = list(Risk)


class Remedy(Document):
    """A technique of the catalogue that could remove a cost."""

    technique: str
    risk: str
    knob: str
    replaced: bool
    """Something else does the same work instead, so the gain is less."""
    estimated_ns: int
    """What its functions cost, whether or not another technique was given them first, and what it makes shorter. Near
    to its gain alone, and no bound of it: docs/profiling.md says by how much it was off."""
    others_ns: int = 0
    """What other tasks executed because of these functions: work that they gave, and work that they waited for. It may
    go with them, in full or in part."""


class AdviceItem(Document):
    """One cause. Costs are of this line alone: what an earlier line holds is not in a later one."""

    what: str
    kind: Literal["technique", "initcall", "work", "thread", "process", "interrupt", "idle", "stage", "function"]
    """`technique`: what one of the catalogue spares; else where the time was spent."""
    cost_ns: int
    share: float
    """Share of the time to ready, 0 to 1."""
    instructions: int
    idle_ns: int
    """Idle time that was spent waiting in it; the rest of the cost are its instructions, and what was charged."""
    functions: list[str]
    """The functions that stand for it, as far as they ran, most expensive first."""
    remedy: Remedy | None = None
    """None when the catalogue has nothing for it."""
    instead: list[Remedy] = []
    """Other techniques that would remove some of the same."""


class Advice(Document):
    """Where the time to ready went, largest removable cost first, then what nothing in the catalogue removes."""

    schema_: Literal["bootlab.advise/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    total_ns: int
    """Power-on to ready, or to the end of a boot that never was; the costs and `rest_ns` add up to it."""
    price: PriceRecord | None = Field(default=None, exclude_if=lambda value: value is None)
    """The boot's price with its parts: under which host model every cost here is one. None: times of the clock."""
    ns_per_instruction: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Of the clock; None in older results."""
    items: list[AdviceItem]
    rest_ns: int
    """The sum of all causes below 0.1 %."""
    not_applicable: dict[str, str]
    """Technique -> why it does not apply to this system."""
    run: str = ""
    """Directory of the run whose profile this is."""
    outcome: str = "ready"
    """What became of the boot, and why in `detail`; `reached_ready`: whether the costs are those up to ready."""
    detail: str = ""
    reached_ready: bool = True
    complete: bool = True
    """False when the profile was cut off: the costs are then those of the part that was saved."""


@dataclass(frozen=True)
class _Candidate:
    technique: Technique
    what: str
    replaced: bool
    mask: Mask
    own_ns: int
    estimated_ns: int
    others_ns: int

    @property
    def remedy(self) -> Remedy:
        one = self.technique
        return Remedy(
            technique=one.name, risk=one.text.risk.value, knob=one.change.knob, replaced=self.replaced,
            estimated_ns=self.estimated_ns, others_ns=self.others_ns,
        )  # fmt: skip


@dataclass
class _Claims:
    """Which nodes are given away, and the lines so far."""

    tree: CostTree
    free: Mask
    items: list[AdviceItem] = field(default_factory=list)

    def left_ns(self, mask: Mask) -> int:
        return int(self.tree.cost_ns[mask & self.free].sum())


def advise(
    system: System,
    measured: Measured,
    tree: CostTree,
    techniques: Iterable[Technique],
    *,
    payload: str | None = None,
    caused: CausedWork | None = None,
) -> Advice:
    """Return the causes of the boot's time, those that a technique removes first, each group largest first.

    `payload`: how the kernel image is compressed, for the name of its decompressor; None if unknown. `caused`: the
    boot's tasks by who gave them work; without it remedies do not say what other tasks did because of them.
    """
    candidates, refused = _candidates(system, measured, tree, techniques, payload, caused)
    claims = _Claims(tree, np.ones(len(tree.cost_ns), dtype=np.bool_))
    least_ns = max(1, int(tree.total_ns * SMALLEST_SHARE))
    _serve_techniques(claims, candidates, least_ns)
    removable = len(claims.items)
    _serve_heads(claims, least_ns)
    items = claims.items[:removable] + sorted(claims.items[removable:], key=lambda item: -item.cost_ns)
    return Advice(
        system=system.name,
        total_ns=tree.total_ns,
        items=items,
        rest_ns=tree.total_ns - sum(item.cost_ns for item in items),
        not_applicable=refused,
    )


def _candidates(
    system: System,
    measured: Measured,
    tree: CostTree,
    techniques: Iterable[Technique],
    payload: str | None,
    caused: CausedWork | None,
) -> tuple[list[_Candidate], dict[str, str]]:
    found: list[_Candidate] = []
    refused: dict[str, str] = {}
    for technique in techniques:
        if technique.removes is None:
            continue
        reason = technique.change.applies(system, measured)
        if reason is not None:
            refused[technique.name] = reason
            continue
        for what, removes in _costs_of(technique.removes, payload):
            mask = tree.below((*removes.functions, *removes.stages), removes.keeps)
            own_ns = int(tree.cost_ns[mask].sum())
            if own_ns:
                most = mask | tree.below(removes.shortens)
                estimated_ns = int(tree.cost_ns[most].sum())
                others_ns = caused.beyond(most, tree.total_ns) if caused is not None else 0
                found.append(_Candidate(technique, what, removes.replaced, mask, own_ns, estimated_ns, others_ns))
    return found, refused


def _costs_of(removes: Removes, payload: str | None) -> list[tuple[str, Removes]]:
    if removes.each:
        return [
            (f"{function}: {removes.what}", replace(removes, functions=(function,))) for function in removes.functions
        ]
    what = removes.what
    if payload is not None and removes.stages == ("[decompressor]",):
        what = f"{what} ({payload})"
    return [(what, removes)]


def _serve_techniques(claims: _Claims, candidates: Sequence[_Candidate], least_ns: int) -> None:
    waiting = list(candidates)
    while waiting:
        # Of two that spare the same, the one with less risk, and that puts nothing in its place.
        best = max(
            waiting,
            key=lambda one: (claims.left_ns(one.mask), -_RISKS.index(one.technique.text.risk), not one.replaced),
        )
        if claims.left_ns(best.mask) < least_ns:
            return
        waiting.remove(best)
        mine = best.mask & claims.free
        others = [one for one in waiting if one.technique.name != best.technique.name and one.own_ns >= least_ns]
        instead = [one for one in others if _shares(claims, one, mine)]
        # One with nothing left of its own is told here, and nowhere else.
        waiting = [one for one in waiting if one not in instead or claims.left_ns(one.mask & ~mine) >= least_ns]
        claims.items.append(
            _item(claims.tree, best.what, "technique", mine, best.mask).model_copy(
                update={
                    "remedy": best.remedy,
                    "instead": [one.remedy for one in sorted(instead, key=lambda one: -one.own_ns)],
                }
            )
        )
        claims.free &= ~mine


def _shares(claims: _Claims, one: _Candidate, mask: Mask) -> bool:
    # An alternative removes at least half of its own time here.
    return 2 * int(claims.tree.cost_ns[one.mask & mask].sum()) >= one.own_ns


def _serve_heads(claims: _Claims, least_ns: int) -> None:
    heads, of = claims.tree.heads
    left = np.zeros(len(heads), dtype=np.int64)
    free = np.flatnonzero(claims.free)
    np.add.at(left, of[free], claims.tree.cost_ns[free])
    for number in np.flatnonzero(left >= least_ns).tolist():
        mask = claims.free & (of == number)
        claims.items.append(_item(claims.tree, _words(heads[number]), heads[number].kind, mask, mask))


def _words(head: Heading) -> str:
    if head.kind == "initcall":
        return f"initcall {head.name}"
    if head.kind == "work":
        return f"worker function {head.name}"
    if head.kind == "thread":
        return f"kernel thread's function {head.name}"
    if head.kind == "process":
        return f"process {head.name}"
    if head.kind == "interrupt":
        return f"interrupts through {head.name}"
    if head.kind == "idle":
        return "idle task, and idle time that nothing is blamed for"
    return head.name if head.kind == "stage" else f"function {head.name}"


def _item(tree: CostTree, what: str, kind: str, mask: Mask, whole: Mask) -> AdviceItem:
    cost_ns = int(tree.cost_ns[mask].sum())
    return AdviceItem.model_validate(
        {
            "what": what,
            "kind": kind,
            "cost_ns": cost_ns,
            "share": cost_ns / max(tree.total_ns, 1),
            "instructions": int(tree.instructions[mask].sum()),
            "idle_ns": int(tree.idle_ns[mask].sum()),
            "functions": _roots(tree, whole),
        }
    )


def _roots(tree: CostTree, mask: Mask, most: int = 8) -> list[str]:
    # The outermost nodes of the mask, by name, the most expensive first.
    totals = tree.shape.totals(np.where(mask, tree.cost_ns, 0))
    tops = np.flatnonzero(mask & ~mask[tree.shape.parent])
    spent: dict[str, int] = {}
    for node in tops.tolist():
        name = tree.plain_names[int(tree.function[node])]
        spent[name] = spent.get(name, 0) + int(totals[node])
    return sorted(spent, key=lambda name: -spent[name])[:most]
