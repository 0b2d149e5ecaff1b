"""Boots a system with and without some packages, and lays what that saved beside what one profile said it would."""

from collections.abc import Sequence
from dataclasses import dataclass

from bootlab.experiments.comparing import compare_series
from bootlab.experiments.family import expect_none_killed, judgement
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.packages.result import PackagesProof
from bootlab.experiments.packages.without import Without
from bootlab.findings.packages.removal import Removals
from bootlab.system import System
from bootlab.techniques.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Removed:
    """The packages that were chosen, and the system without them."""

    names: Sequence[str]
    without: Without


def prove_removal(
    boots: FamilyBoots, system: System, removed: Removed, removals: Removals, nulls: int
) -> PackagesProof:
    """Return what a system without packages took, with as many boots as the verdict takes.

    Raises BootFailed when a machine was killed from outside.
    """
    before = boots.family("before", system, nulls=nulls)
    after = boots.family("after", removed.without.system, nulls=0)
    if before.failed is None and after.failed is None and any(judgement(before, after, wall=False).wants):
        after, before = boots.confirm({"after": (removed.without.system, after)}, before, system)["after"]
    for family in (before, after):
        expect_none_killed(family)
    comparison = compare_series(before, after)
    broken = before.failed is None and after.failed is not None
    gone = removed.without.gone
    return PackagesProof(
        removed=list(removed.names),
        along=[name for name in gone if name not in removed.names],
        came=list(removed.without.came),
        predicted_ns=removals.gone(gone).ns,
        comparison=comparison,
        verdict=Verdict.BROKE_IT if broken else comparison.verdict,
    )
