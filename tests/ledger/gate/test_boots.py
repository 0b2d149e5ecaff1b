"""Boots of a gate on a noisy clock: one that was not ready is no figure, and no answer either."""

from dataclasses import replace

from bootlab.experiments.family import Family
from bootlab.ledger.gate.boots import hold_noisy
from bootlab.ledger.gate.figures import GateBaseline
from bootlab.ledger.gate.judging import GateVerdict, Limit
from bootlab.ledger.gate.making import make_result
from bootlab.measure.record import Outcome
from tests.report.steps import series


def test_a_boot_that_fails_breaks_the_gate_on_either_side() -> None:
    boots = series("series-before.json")
    whole = Family(tuple(boots * 2))
    broken = replace(whole, members=(boots[0].model_copy(update={"outcome": Outcome.HUNG}), *whole.members[1:]))
    for before, after in ((whole, broken), (broken, whole)):
        held = hold_noisy(GateBaseline("before", before), after, {"ready": Limit()})
        assert make_result(held, "run").verdict is GateVerdict.BROKEN
    held = hold_noisy(GateBaseline("before", whole), whole, {"ready": Limit()})
    assert make_result(held, "run").verdict is not GateVerdict.BROKEN
