"""How often a verdict is wrong: trials of useless techniques, drawn from laws of noise and from real boots.

`python -m tests.bench.verdict_rates` prints the tables of docs/measuring.md; here the rates are held to what those say.
"""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.experiments.engine import Engine
from bootlab.experiments.store import RunKind, Store
from bootlab.experiments.trial.plan import PLANS
from bootlab.experiments.trial.procedure import Trial
from bootlab.experiments.trial.result import StackName
from bootlab.experiments.trial.task import TrialTask
from bootlab.experiments.verdict import WRONG
from bootlab.system import read_system
from bootlab.techniques.model.verdict import Verdict
from tests.bench.real_boots import EXAMPLE
from tests.bench.verdict_rates import SIZES, noises, rates, real_noise, wrong_verdicts
from tests.replayed import word
from tests.simulated_boots import useless_on_the_wall, useless_techniques

pytestmark = pytest.mark.bench

MOST = 0.001
"""Of useless techniques, whatever the sizes and the law; the documents promise one in a thousand."""
MOST_ON_THE_WALL = WRONG["wall"] + 0.015
"""Of so many trials chance leaves the share of them within that."""
WALL_TRIALS = 1000
WALL_SIZES = (5, 7, 10, 20)
MOST_TRIALS = 0.05
"""Of trials of 50 useless techniques, those that call any of them shorter or longer."""


@pytest.mark.parametrize("name", SIZES)
def test_useless_techniques_seldom_get_a_verdict(name: str) -> None:
    found = {noise.name: rates(wrong_verdicts(noise, SIZES[name])) for noise in noises()}
    assert all(rate <= MOST and trials <= MOST_TRIALS for rate, trials in found.values()), found


def test_a_wall_clocks_verdicts_are_wrong_as_seldom_as_is_said() -> None:
    print(f"\nwall clock; {WALL_TRIALS} trials of one useless technique, boots a side\n")
    print(f"| noise | {' | '.join(map(str, WALL_SIZES))} |")
    print(f"|---|{'---:|' * len(WALL_SIZES)}")
    found = {}
    for noise in noises():
        found[noise.name] = [
            sum(useless_on_the_wall(noise, trials=WALL_TRIALS, boots=boots, seed=7)) / WALL_TRIALS
            for boots in WALL_SIZES
        ]
        print(f"| {noise.name} | {' | '.join(f'{rate:.1%}' for rate in found[noise.name])} |", flush=True)
    assert all(rate <= MOST_ON_THE_WALL for row in found.values() for rate in row), found


def test_real_savings_are_found() -> None:
    sizes = (2, 3, 4, 6, 8, 12)
    print("\nverdicts on a true saving, in standard deviations of the noise (of real boots: in ms)\n")
    print(f"| noise | {' | '.join(map(str, sizes))} |")
    print(f"|---|{'---:|' * len(sizes)}")
    for noise in noises():
        found = [sum(useless_techniques(noise, trials=500, techniques=1, seed=5, saved=size)) / 500 for size in sizes]
        print(f"| {noise.name} | {' | '.join(f'{share:.0%}' for share in found)} |")
        if noise.name == "normal":
            assert found[sizes.index(8)] > 0.95


def test_a_hundred_null_trials_of_real_boots_say_at_most_one_wrong_verdict() -> None:
    """Every trial with a baseline of its own; and as many trials of ten useless techniques."""
    real = real_noise()
    if real is None:
        pytest.skip("no real boots on record: python -m tests.bench.real_boots tests/data/real-boots.json")
    for techniques in (1, 10):
        wrong = useless_techniques(real, trials=100, techniques=techniques, seed=2)
        print(f"{real.name}: 100 trials of {techniques} useless techniques: {sum(wrong)} wrong verdicts")
        assert sum(wrong) <= 1


def test_ten_useless_techniques_for_real(tmp_path: Path) -> None:
    """A whole trial of real boots, as the demo is one: each technique is a meaningless word."""
    run = Store(tmp_path).start(RunKind.TRY, "null", {})
    task = TrialTask([word(f"bootlab.useless={number}") for number in range(1, 11)], PLANS["demo"], [1, 2, 3])
    result = Trial(Workshop(Cache.default(), tell=print), read_system(EXAMPLE), task, Engine(run, reuse=True)).run()
    for one in result.alone:
        fresh = f"{len(one.fresh_before)}+{len(one.fresh_members)}"
        print(f"{one.technique}: {one.verdict}, {(one.saved_ns or 0) / 1e6:+.3f} ms, fresh {fresh}")
    assert result.cost is not None
    print(f"baseline moves by {result.baseline.spread_ns / 1e6:.3f} ms; {result.cost.boots} boots")
    assert [one.technique for one in result.alone if one.verdict is not Verdict.NO_DIFFERENCE_SHOWN] == []
    assert result.final[StackName.RECOMMENDED].techniques == []
