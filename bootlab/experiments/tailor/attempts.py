"""Finds options whose code ran although the job may not need it, and ranks them; builds and boots prove them later.

Three kinds, none of them known by name. Options whose code the job only passes through: those who call it mostly name
it (code_cost.py). Options that take code out by being on: `!X` in a makefile, `#ifndef X`. And the other members of
kconfig's choices. What any of them is worth is what the record executed in the code that would go.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from bootlab.build.source.option_dependencies import Closure, KconfigTree
from bootlab.experiments.tailor.code_cost import CodeCost, CodeCosts, is_passed_through
from bootlab.experiments.tailor.ifdef_use import Guarded
from bootlab.experiments.tailor.kernel_use import Use
from bootlab.experiments.tailor.unused_options import Drop, KernelEvidence, drop_of

_WORTH = 10_000
"""An option is tried if it accounts for one instruction in so many up to ready: less is not worth the risk."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An option to be set to `value`, and what that would save."""

    option: str
    value: str
    cost: CodeCost
    drop: Drop

    @property
    def is_passed_through(self) -> bool:
        """Whether the job did not use what goes, or came to it mostly by name."""
        if self.value == "y":
            # Other code takes the place of the code that goes, so the job must not have touched that at all.
            return self.cost.by_name + self.cost.by_pointer == 0
        return is_passed_through(self.cost.by_name, self.cost.by_pointer)


@dataclass(frozen=True, slots=True)
class Attempts:
    """What is to be tried, most instructions first."""

    at_once: tuple[Attempt, ...]
    """What is only passed through, in an order in which kconfig grants all of it."""
    alone: tuple[Attempt, ...]
    """Attempts that change code inside of objects that stay: each is built and booted by itself."""


def find_attempts(tree: KconfigTree, evidence: KernelEvidence, costs: CodeCosts) -> Attempts:
    """Return the attempts on top of a configuration, leaving `tree` as what those `at_once` lead to."""
    least = costs.total // _WORTH
    found = [attempt for attempt in _attempts(tree, evidence, costs) if attempt.cost.instructions > least]
    found.sort(key=lambda one: (-one.cost.instructions, one.option))
    at_once, alone = list[Attempt](), list[Attempt]()
    for attempt in found:
        # An earlier one may have taken it along, or made it take what is protected.
        if not _can_be(tree, attempt.drop) or evidence.protected(_closure(tree, attempt.drop), tree):
            continue
        if attempt.is_passed_through:
            at_once.append(attempt)
            _set(tree, attempt.drop)
        elif not attempt.drop.objects:
            alone.append(attempt)
    return Attempts(tuple(at_once), tuple(one for one in alone if _can_be(tree, one.drop)))


def _attempts(tree: KconfigTree, evidence: KernelEvidence, costs: CodeCosts) -> Iterable[Attempt]:
    built = evidence.built(tree.on)
    candidates = [(option, "n") for option in sorted(tree.on) if tree.can_turn_off(option)]
    candidates += [(option, "y") for option in tree.off() if option in evidence.absent or tree.is_choice(option)]
    for option, value in candidates:
        closure = tree.closure(option, on=value == "y")
        if evidence.protected(closure, tree):
            continue
        if value == "y" and (closure.gained != {option} or evidence.policy.asked_off(option)):
            # Code that comes on with it has never run here, so nothing is known of it.
            continue
        gone = evidence.no_longer_built(closure, tree.on, built)
        cost = costs.of(gone, _guarded(evidence, closure))
        yield Attempt(option, value, cost, _drop(evidence, closure, gone, value, cost))


def _guarded(evidence: KernelEvidence, closure: Closure) -> list[Guarded]:
    words = (*closure.lost, *(f"!{option}" for option in closure.gained))
    return [evidence.guarded[word] for word in words if word in evidence.guarded]


def _drop(evidence: KernelEvidence, closure: Closure, gone: Collection[int], value: str, cost: CodeCost) -> Drop:
    plain = drop_of(evidence, closure, gone)
    if value == "y":
        why = f"takes out {cost.example or 'code'} by being on"
    elif cost.by_name + cost.by_pointer:
        why = f"passed through by the job: of the ways into it {cost.by_name} by name, {cost.by_pointer} by a pointer"
    else:
        why = "takes out code that ran outside of the job"
    gained = tuple(option for option in plain.gained if option != plain.option)
    use = Use.JOB if cost.by_name + cost.by_pointer else Use.ASIDE
    return replace(plain, gained=gained, instructions=cost.instructions, use=use, value=value, why=why)


def _closure(tree: KconfigTree, drop: Drop) -> Closure:
    return tree.closure(drop.option, on=drop.value == "y")


def _can_be(tree: KconfigTree, drop: Drop) -> bool:
    return tree.can_turn_on(drop.option) if drop.value == "y" else tree.can_turn_off(drop.option)


def _set(tree: KconfigTree, drop: Drop) -> None:
    if drop.value == "y":
        tree.turn_on(drop.option)
    else:
        tree.turn_off(drop.option)
