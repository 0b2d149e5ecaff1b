"""How often the gate stops what does nothing, and how often it misses twice the change that it says it sees.

docs/ci.md has the figures. Boots are drawn from four laws of noise, each gate with a side before of its own.
"""

import random
from collections.abc import Callable

import pytest

from bootlab.experiments.verdict import Times
from bootlab.ledger.gate.judging import GateVerdict, judge_exact

TRIALS = 1500
MOST_MISSED = 0.002
READY_NS = 100_000_000
LAWS: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda draw: draw.gauss(0, 1e5),
    "heavy tails": lambda draw: draw.gauss(0, 1e5) * (3 if draw.random() < 0.1 else 1),
    "two humps": lambda draw: draw.gauss(0, 3e4) + (3e5 if draw.random() < 0.5 else 0),
    "uniform": lambda draw: draw.uniform(-2e5, 2e5),
}


class Simulated:
    """A system whose boots are drawn from a law, and gates on it."""

    def __init__(self, law: Callable[[random.Random], float], seed: int) -> None:
        self.law = law
        self.draw = random.Random(seed)

    def boots(self, number: int, change_ns: int = 0) -> list[int]:
        return [READY_NS + change_ns + int(self.law(self.draw)) for _ in range(number)]

    def gate(self, changes: int, *, fresh_before: bool) -> GateVerdict:
        """Return what a gate says of a change of so many smallest ones, whose limit is one."""
        before = Times(self.boots(3), self.boots(5))
        limit_ns = judge_exact(before, before, None, fresh_before=fresh_before).smallest_ns
        change_ns = changes * limit_ns
        after = Times(self.boots(3, change_ns), self.boots(5, change_ns))
        while True:
            judged = judge_exact(before, after, limit_ns, fresh_before=fresh_before)
            own, other = judged.wants
            if not own + other or (own and not fresh_before):
                return judged.verdict
            before = Times(before.seeds, before.null, [*before.fresh, *self.boots(own)])
            after = Times(after.seeds, after.null, [*after.fresh, *self.boots(other, change_ns)])


@pytest.mark.parametrize("fresh_before", [True, False], ids=["system", "on record"])
@pytest.mark.parametrize("law", LAWS)
def test_what_does_nothing_passes_and_twice_the_smallest_change_does_not(law: str, fresh_before: bool) -> None:
    stopped = missed = 0
    for seed in range(TRIALS):
        simulated = Simulated(LAWS[law], seed)
        stopped += simulated.gate(0, fresh_before=fresh_before) is GateVerdict.LONGER
        missed += simulated.gate(2, fresh_before=fresh_before) is not GateVerdict.LONGER
    print(f"\n{law}: {stopped} of {TRIALS} stopped for nothing, {missed} of twice the smallest change missed")
    assert stopped == 0
    assert missed <= MOST_MISSED * TRIALS
