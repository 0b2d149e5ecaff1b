"""Ablation: each technique taken out of a finished stack by itself, to see what it contributes there.

Alone and on top of a stack a technique may save very different times, because techniques interact: two that spare the
same wait each save it alone, and neither can be missed from the stack without the other in it.
"""

from collections.abc import Mapping, Sequence

from bootlab.experiments.family import Family
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.trial.changing import Changing
from bootlab.experiments.trial.judging import ablated, judge_ablation, row
from bootlab.experiments.trial.result import Ablated, Judged, StackName
from bootlab.system import System
from bootlab.techniques.model.technique import Technique
from bootlab.techniques.model.verdict import Verdict


def ablate(
    stack: StackName,
    techniques: Sequence[Technique],
    whole: tuple[System, Family],
    base: tuple[System, Family],
    alone: Mapping[str, Judged],
    *,
    boots: FamilyBoots,
    changing: Changing,
) -> list[Ablated]:
    """Return what each of `techniques` contributes to the finished stack that holds them in this order.

    `whole` is the stack and its boots, `base` the unchanged system and its boots; the stack without one technique is
    made anew from `base`. `alone` holds the rows against the baseline. Raises what booting raises.
    """
    system, family = whole
    rows: dict[str, Ablated] = {}
    without: dict[str, System] = {}
    for number, technique in enumerate(techniques, 1):
        saved_ns = alone[technique.name].saved_ns if technique.name in alone else None
        rest = [other for other in techniques if other is not technique]
        who = f"{stack} without {technique.name}, {number} of {len(techniques)}"
        changed = changing.all(rest, *base, who)
        if changed.system is None:
            why = f"the stack cannot be made without it: {changed.detail}"
            rows[technique.name] = ablated(row(technique, changed.verdict, why), stack, saved_ns)
        elif changed.system == system:
            why = "the stack without it is the same system"
            rows[technique.name] = ablated(row(technique, Verdict.DOES_NOT_APPLY, why), stack, saved_ns)
        else:
            without[technique.name] = changed.system
    slug = stack.replace(" ", "-")
    labels = {name: f"{slug}-without-{name}" for name in without}
    contests = boots.contest({labels[name]: changed for name, changed in without.items()}, family, system)
    for technique in techniques:
        if technique.name in without:
            after, before = contests[labels[technique.name]]
            saved_ns = alone[technique.name].saved_ns if technique.name in alone else None
            rows[technique.name] = judge_ablation(technique, stack, saved_ns, before, after, wall=boots.wall)
    return [rows[technique.name] for technique in techniques]
