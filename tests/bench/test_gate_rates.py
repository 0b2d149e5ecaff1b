"""A gate on real boots: 200 pairs that differ in nothing pass, and twice the smallest change is stopped.

`pytest -s -m bench tests/bench/test_gate_rates.py` prints what docs/ci.md says. Nothing is booted: each side's boots
are drawn from the 320 of examples/debian-cloud.toml on record (tests/bench/real_boots.py), and a change is added to
what they took.
"""

from pathlib import Path

import numpy as np
import pytest

from bootlab.experiments.verdict import Times
from bootlab.ledger.gate.judging import GateJudgement, GateVerdict, judge_exact
from tests.bench.real_boots import read_real_boots
from tests.simulated_boots import Boots, RealNoise

pytestmark = pytest.mark.bench

REAL = Path(__file__).parents[1] / "data" / "real-boots.json"
NULL_PAIRS, CHANGES = 200, 60


def held(boots: Boots, smallest: float = 0.0, limit: float | None = None) -> GateJudgement:
    """Return what a gate says that boots what it wants of a change, and with a limit, of so many smallest changes."""
    before = Times(boots.seeds(3), boots.nulls(5))
    unit_ns = judge_exact(before, before, None, fresh_before=True).smallest_ns
    change_ns = round(smallest * unit_ns)
    after = Times(*([one + change_ns for one in part] for part in (boots.seeds(3), boots.nulls(5), [])))
    while True:
        judged = judge_exact(
            before, after, None if limit is None else max(1, round(limit * unit_ns)), fresh_before=True
        )
        own, other = judged.wants
        if not own + other:
            return judged
        before = Times(before.seeds, before.null, [*before.fresh, *boots.fresh(own)])
        after = Times(after.seeds, after.null, [*after.fresh, *(one + change_ns for one in boots.fresh(other))])


def test_nothing_is_stopped_for_nothing_and_twice_the_smallest_change_always() -> None:
    noise = RealNoise("real boots", read_real_boots(REAL).ready_ns)
    rng = np.random.default_rng(26)
    null = [held(noise.trial(rng)) for _ in range(NULL_PAIRS)]
    twice = [held(noise.trial(rng), smallest=2) for _ in range(CHANGES)]
    below = [held(noise.trial(rng), smallest=2, limit=0.9) for _ in range(CHANGES)]
    smallest = sorted(one.smallest_ns / 1e6 for one in null)
    counted = {
        name: {verdict.value: sum(one.verdict is verdict for one in said) for verdict in GateVerdict}
        for name, said in (("null", null), ("twice", twice), ("limit below", below))
    }
    print(f"\nseen from {smallest[0]:.2f} to {smallest[-1]:.2f} ms, median {np.median(smallest):.2f}; {counted}")
    assert counted["null"]["longer"] == counted["null"]["cannot say"] == 0
    assert counted["twice"]["longer"] == CHANGES
    assert counted["limit below"]["cannot say"] == CHANGES
