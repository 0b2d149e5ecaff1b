"""Ablation: each technique taken out of a finished stack by itself, to see what it contributes there.

Alone and on top of a stack a technique may save very different times, because techniques interact: two that spare the
same wait each save it alone, and neither can be missed from the stack without the other in it.
"""

from collections.abc import Sequence

from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.trial.applying import Changing, Ground
from bootlab.experiments.trial.judging import ablated, judge_ablation, row
from bootlab.experiments.trial.result import Ablated, Judged, StackName
from bootlab.system import System
from bootlab.techniques.model.technique import Technique
from bootlab.techniques.model.verdict import Verdict


class Ablation:
    """Takes techniques out of stacks: a stack without one of them is made anew from `base`, the unchanged system.

    `alone`: the rows of techniques against the baseline, of those that were tried so.
    """

    def __init__(self, boots: FamilyBoots, changing: Changing, base: Ground, alone: Sequence[Judged]) -> None:
        self._boots = boots
        self._changing = changing
        self._base = base
        self._alone_ns = {judged.technique: judged.saved_ns for judged in alone}

    def of(self, stack: StackName, techniques: Sequence[Technique], whole: Ground) -> list[Ablated]:
        """Return what each of `techniques` contributes to `whole`, the finished stack that holds them in this order.

        Raises what booting raises.
        """
        rows: dict[str, Ablated] = {}
        without: dict[str, System] = {}
        for number, technique in enumerate(techniques, 1):
            saved_ns = self._alone_ns.get(technique.name)
            rest = [other for other in techniques if other is not technique]
            changed = self._changing.all(
                rest, self._base, f"{stack} without {technique.name}, {number} of {len(techniques)}"
            )
            if changed.system is None:
                why = f"the stack cannot be made without it: {changed.detail}"
                rows[technique.name] = ablated(row(technique, changed.verdict, why), stack, saved_ns)
            elif changed.system == whole.system:
                why = "the stack without it is the same system"
                rows[technique.name] = ablated(row(technique, Verdict.DOES_NOT_APPLY, why), stack, saved_ns)
            else:
                without[technique.name] = changed.system
        slug = stack.replace(" ", "-")
        labels = {name: f"{slug}-without-{name}" for name in without}
        contests = self._boots.contest(
            {labels[name]: changed for name, changed in without.items()}, whole.family, whole.system
        )
        for technique in techniques:
            if technique.name in without:
                after, before = contests[labels[technique.name]]
                saved_ns = self._alone_ns.get(technique.name)
                wall = self._boots.wall
                rows[technique.name] = judge_ablation(technique, stack, saved_ns, before, after, wall=wall)
        return [rows[technique.name] for technique in techniques]
