"""Statistics: known answers, a published two-humped board, and simulated error rates."""

import subprocess
import sys

import numpy as np
import pytest

from bootlab.errors import InputError
from bootlab.measure.statistics.series import Summary, humps, median_ns, saved, spread_ns, summarize

MS = 1_000_000
# Ten boots of a Raspberry Pi 4 with its stock kernel: four at 1.860 to 1.877 s, six at 2.073 to 2.089 s, none between.
# The ends are published; the values between them are spread evenly.
RPI4 = [int(ms * MS) for ms in (1860, 2073, 1865.7, 2076.2, 2079.4, 1871.3, 2082.6, 2085.8, 1877, 2089)]


def test_median_spread_and_summary() -> None:
    assert median_ns([3, 1, 2]) == 2
    assert median_ns([4, 1, 2, 10]) == 3
    assert median_ns([1, 2]) == 1
    assert spread_ns([7, 3, 5]) == 4
    assert summarize([7, 3, 5, 6]) == Summary(4, 3, 5, 7)


def test_an_empty_series_is_an_error_a_user_can_read() -> None:
    for function in (median_ns, spread_ns, summarize):
        with pytest.raises(InputError, match="no boot to summarize"):
            function([])


def test_saving_is_positive_and_repeats() -> None:
    before = [100 * MS + noise for noise in (0, 3, 9, 4, 7)]
    after = [80 * MS + noise for noise in (1, 8, 2, 5, 5)]
    found = saved(before, after, seed=1)
    assert found.estimate_ns == 20 * MS - 1
    assert found.low_ns <= found.estimate_ns <= found.high_ns
    assert not found.spans_zero
    assert found == saved(before, after, seed=1)
    assert saved(after, before, seed=1).estimate_ns == -found.estimate_ns


def test_no_difference_spans_zero() -> None:
    assert saved([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], seed=1).spans_zero


def test_four_boots_are_too_few() -> None:
    with pytest.raises(InputError, match="4 boots after, need at least 5"):
        saved([1, 2, 3, 4, 5], [1, 2, 3, 4], seed=1)


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for trial in range(60):
        before, after = (1000 * MS + (rng.lognormal(size=10) * MS).astype(np.int64) for _ in range(2))
        covered += saved(before.tolist(), (after - 5 * MS).tolist(), seed=trial).low_ns <= 5 * MS
    assert covered >= 0.93 * 60


def test_two_humps_of_a_real_board() -> None:
    found = humps(RPI4)
    assert found is not None
    assert (found.low.n, found.low.min_ns, found.low.max_ns) == (4, 1860 * MS, 1877 * MS)
    assert (found.high.n, found.high.min_ns, found.high.max_ns) == (6, 2073 * MS, 2089 * MS)


def test_one_hump_is_not_two() -> None:
    assert humps([5] * 10) is None
    assert humps(list(range(1000, 1010))) is None
    assert humps([1000, 1001, 1002, 1003, 1004, 1005, 1006, 5000]) is None
    assert humps([1, 1, 9, 9]) is None


def test_ties_are_no_obstacle() -> None:
    found = humps([1000] * 5 + [2000] * 6)
    assert found is not None
    assert (found.low.n, found.high.n) == (5, 6)


@pytest.mark.parametrize("law", ["uniform", "normal", "exponential", "lognormal"])
@pytest.mark.parametrize("n", [5, 10, 20])
def test_false_alarms_are_rare(law: str, n: int) -> None:
    rng = np.random.default_rng(17)
    samples = {
        "uniform": rng.random((400, n)),
        "normal": rng.normal(size=(400, n)),
        "exponential": rng.exponential(size=(400, n)),
        "lognormal": rng.lognormal(size=(400, n)),
    }[law]
    alarms = sum(humps((1000 * MS + sample * MS).astype(np.int64).tolist()) is not None for sample in samples)
    assert alarms < 0.05 * 400


def test_a_long_series_beyond_the_table() -> None:
    rng = np.random.default_rng(2)
    one = (rng.normal(size=300) * MS).astype(np.int64).tolist()
    assert humps(one) is None
    found = humps([value + (20 * MS if index % 2 else 0) for index, value in enumerate(one)])
    assert found is not None and found.low.n == 150


def test_importing_statistics_does_not_import_numpy() -> None:
    code = (
        "import sys, bootlab.measure.statistics.series, bootlab.experiments.verdict; sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
