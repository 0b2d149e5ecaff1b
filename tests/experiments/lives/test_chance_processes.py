"""Chance is put down to the processes that ran longer: by two profiled boots, the shortest and the longest."""

from pathlib import Path

import pytest

from bootlab.experiments.chance import Chance
from bootlab.experiments.lives.chance_processes import Ran, differing, outermost_seeds, ran_between, with_processes
from tests.report.analysed import analysis_of, small_profile


def chance(**took_ns: int) -> Chance:
    by_seed = {name.removeprefix("seed"): ns for name, ns in took_ns.items()}
    ended = {seed: 30_000 + ns for seed, ns in by_seed.items()}
    return Chance(life=1, after="network", until="sshd up", took_ns=by_seed, ended_ns=ended, kinds=["host keys"])


def test_the_shortest_and_the_longest_boot_by_the_widest_step() -> None:
    assert outermost_seeds([chance(seed1=5, seed2=6), chance(seed1=500, seed2=900, seed10=100)]) == (10, 2)
    assert outermost_seeds([chance(seed2=7, seed1=7)]) == (1, 2)


def test_who_ran_longer_within_the_step_is_named_with_where(tmp_path: Path) -> None:
    profiles = {}
    for seed, extra in ((1, 0), (2, 500_000)):
        (tmp_path / str(seed)).mkdir()
        profiles[seed] = analysis_of(small_profile(tmp_path / str(seed), extra=extra))
    # init begins at 30,000 ns, and runs for 14,000 (outer, inner) before the helper has the processor.
    found = with_processes(chance(seed1=60_000, seed2=560_000), profiles)
    (init,) = found.processes
    assert init.command == "init" and init.ran_ns == {"1": 14_000, "2": 514_000}
    assert init.function == "inner" and init.share == pytest.approx(503_000 / 514_000)
    assert found.took_ns == {"1": 60_000, "2": 560_000}


def test_only_what_ran_between_the_two_moments_counts(tmp_path: Path) -> None:
    analysis = analysis_of(small_profile(tmp_path))
    assert ran_between(analysis, 0, 30_000) == {}
    assert ran_between(analysis, 30_000, 33_000)["init"].ns == 3_000


def test_what_differs_by_little_is_not_named_and_the_largest_is_first() -> None:
    ran = {
        1: {"rsa": Ran(2_000, 5), "a": Ran(100, 6), "only with seed 1": Ran(60, 7)},
        2: {"rsa": Ran(2_900, 8), "a": Ran(149, 9)},
    }
    assert differing(ran, 1_000) == [("rsa", {1: 2_000, 2: 2_900}), ("only with seed 1", {1: 60, 2: 0})]
    assert differing(ran, 100_000) == []
