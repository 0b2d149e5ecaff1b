"""Values that the user wants tried on the fitted kernel: coverage tells what is not used, never that less would do."""

from dataclasses import dataclass

from bootlab.build.source.option_dependencies import KconfigTree
from bootlab.experiments.tailor.kernel_use import Use
from bootlab.experiments.tailor.protected import Policy
from bootlab.experiments.tailor.unused_options import Drop
from bootlab.techniques.model.option_risks import losses
from bootlab.techniques.model.technique import Risk


@dataclass(frozen=True, slots=True)
class Value:
    """A value for an option: a number, or `y` for the member of a choice."""

    option: str
    value: str

    def __str__(self) -> str:
        return f"{self.option}={self.value}"


@dataclass(frozen=True, slots=True)
class TriedValue:
    """What became of a value: whether it stays, and what it saved."""

    option: str
    value: str
    before: str
    """What the fitted kernel had."""
    outcome: str
    """`stays`, `goes`: it saved nothing, or its kernel does not do; or `not tried`."""
    saved_ns: int | None
    """In the median; None where there is no such kernel, or its check failed."""
    detail: str
    """The verdict in words, or why there is none."""


def find_change(tree: KconfigTree, value: Value, policy: Policy) -> Drop | str:
    """Return what giving the option this value changes in the fitted configuration, or why it is not tried."""
    before = tree.value(value.option)
    if before == value.value:
        return f"it is {before} already"
    if policy.asked_off(value.option):
        return "kernel.build.options asks for n"
    changes = tree.changes({value.option: value.value})
    if changes.get(value.option, (before, before))[1] != value.value:
        return f"kconfig leaves it at {before}"
    lost = sorted(option for option, (_, after) in changes.items() if after == "n")
    for option in lost:
        if (guard := policy.protected(option, tree.place(option))) is not None:
            return f"{option} would go, {guard.why}"
    on_after = {**dict.fromkeys(tree.on, "y"), **{option: after for option, (_, after) in changes.items()}}
    for loss in losses(changes, on_after):
        if loss.risk is Risk.SECURITY and not policy.given_up(loss.option, tree.place(loss.option)):
            return f"less protection, {loss.what}: goes only by name (--give-up {loss.option})"
    gained = (option for option, (then, _) in changes.items() if then == "n" and option != value.option)
    why = f"asked for with --try; it was {before}"
    return Drop(value.option, tuple(lost), tuple(gained), (), 0, 0, Use.JOB, value.value, why)
