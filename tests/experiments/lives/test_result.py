"""Lives: what only the first did is found in the boots' own consoles, and chance is named and never averaged."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.experiments.lives.result import lives_result
from bootlab.experiments.series import recorded_boots
from bootlab.experiments.store import Store
from bootlab.measure.record import Outcome
from tests.cli.recorded_runs import lives_run
from tests.experiments.said_boots import MS, first_life, later_life, said_boot


def test_what_only_the_first_life_did_is_told_and_the_account_closes(tmp_path: Path) -> None:
    one, two = first_life(tmp_path / "1", 1, 40), later_life(tmp_path / "2", 1)
    result = lives_result({1: [one], 2: [two]}, 60, "/run")
    assert result.good and result.seeds == [1] and not result.chances
    told = {step.until: step for step in result.only_first}
    assert (told["sshd up"].first_ns, told["sshd up"].later_ns) == (50 * MS, 10 * MS)
    assert told["sshd up"].kinds == ["host keys"] and told["sshd up"].said == ["Generating rsa host keys"]
    assert told["network"].kinds == ["machine-id"]
    assert result.only_first[0].until == "sshd up"
    listed = sum(step.first_ns - step.later_ns for step in result.only_first)
    assert listed + (result.rest_ns or 0) == (one.ready_ns or 0) - (two.ready_ns or 0)


def test_a_work_of_a_first_boot_is_told_however_short_it_is(tmp_path: Path) -> None:
    others = [(200 + 10 * number, f"unit {'abcdefghijklmnopqrst'[number] * 3}") for number in range(20)]
    later = [(at // 2 + 100, text) for at, text in others]
    one = said_boot(
        tmp_path / "1", 1, 900, (100, "kernel"), (101, "Initializing machine ID"), (102, "systemd"), *others
    )
    two = said_boot(tmp_path / "2", 1, 600, (100, "kernel"), (102, "systemd"), *later)
    result = lives_result({1: [one], 2: [two]}, 60, "/run")
    (step,) = [step for step in result.only_first if step.kinds]
    assert (step.kinds, step.said, step.first_ns, step.later_ns) == (
        ["machine-id"],
        ["Initializing machine ID"],
        2 * MS,
        2 * MS,
    )
    assert len(result.only_first) == 13


def test_chance_is_named_by_its_step_and_taken_out_of_the_median(tmp_path: Path) -> None:
    ones = [first_life(tmp_path / f"1-{seed}", seed, key) for seed, key in ((1, 40), (2, 340), (3, 90))]
    twos = [later_life(tmp_path / f"2-{seed}", seed) for seed in (1, 2, 3)]
    result = lives_result({1: ones, 2: twos}, 60, "/run")
    (chance,) = result.chances
    assert (chance.life, chance.until, chance.kinds) == (1, "Generating rsa host keys", ["host keys"])
    assert chance.took_ns == {"1": 40 * MS, "2": 340 * MS, "3": 90 * MS} and chance.spread_ns == 300 * MS
    assert chance.ended_ns == {"1": 160 * MS, "2": 460 * MS, "3": 210 * MS}
    first, later = result.lives
    assert first.ready is not None and (first.ready.min_ns, first.ready.max_ns) == (540 * MS, 840 * MS)
    # Without the step every seed took the same.
    assert first.steady is not None and (first.steady.min_ns, first.steady.max_ns) == (500 * MS, 500 * MS)
    assert later.steady is None and later.ready is not None and later.ready.min_ns == later.ready.max_ns


def test_a_boot_that_was_not_ready_is_no_figure(tmp_path: Path) -> None:
    one, two = first_life(tmp_path / "1", 1, 40), later_life(tmp_path / "2", 1)
    hung = two.model_copy(update={"outcome": Outcome.HUNG})
    result = lives_result({1: [one], 2: [hung]}, 60, "/run")
    assert not result.good and result.only_first == [] and result.rest_ns is None
    assert result.lives[1].ready is None


def test_one_life_has_nothing_to_differ_from(tmp_path: Path) -> None:
    result = lives_result({1: [first_life(tmp_path / "1", 1, 40)]}, 60, "/run")
    assert result.good and result.only_first == [] and result.rest_ns is None


def test_the_boots_of_several_lives_are_no_series(tmp_path: Path) -> None:
    run = lives_run(Store(tmp_path))
    with pytest.raises(InputError, match="boots of several lives"):
        recorded_boots(run)
