"""Chance: the steps of a boot that take another time with every seed, whatever the boots are of."""

from pathlib import Path

from bootlab.experiments.chance import find_chances, tells_of_chance
from bootlab.experiments.comparing import compare_series
from bootlab.experiments.family import Family
from bootlab.experiments.series import series_of
from bootlab.experiments.store import RunKind, Store
from bootlab.report.lives.words import chance_words, side_chances
from tests.experiments.said_boots import MS, first_life, later_life, said_boot


def test_a_step_that_takes_another_time_with_every_seed(tmp_path: Path) -> None:
    records = [first_life(tmp_path / str(seed), seed, key) for seed, key in ((1, 40), (2, 340), (3, 90))]
    (chance,) = find_chances(records)
    assert chance.until == "Generating rsa host keys"
    assert chance.took_ns == {"1": 40 * MS, "2": 340 * MS, "3": 90 * MS} and chance.spread_ns == 300 * MS


def test_a_series_has_them_and_its_words_speak_of_no_life(tmp_path: Path) -> None:
    records = [first_life(tmp_path / str(seed), seed, key) for seed, key in ((1, 40), (2, 340))]
    run = Store(tmp_path / "runs").start(RunKind.MEASURE, "x", {})
    series = series_of(run, records)
    assert [one.kinds for one in series.chances] == [["host keys"]]
    head, by_seed = chance_words(series.chances[0], of_life=False)
    assert head.startswith("chance (host keys): 40.00 to 340.00 ms by seed, up to the line")
    assert by_seed == "seed 1: 40.00, seed 2: 340.00"
    compared = compare_series(Family(tuple(records)), Family((later_life(tmp_path / "later", 1),)))
    assert list(compared.chances) == ["before"] and compared.chances["before"] == series.chances
    assert side_chances(compared.chances) == [f"before: {head}: {by_seed}"]
    same = [one.model_copy(update={"seed": 1}) for one in records]
    assert series_of(run, same).chances == [], "of one seed nothing is chance"


def test_steps_that_differ_by_less_are_none(tmp_path: Path) -> None:
    """Nor is anything said of boots of which one was not ready, or whose consoles are not on record."""
    assert find_chances([first_life(tmp_path / str(seed), seed, 40 + seed) for seed in (1, 2)]) == []
    records = [first_life(tmp_path / f"f{seed}", seed, key) for seed, key in ((1, 40), (2, 340))]
    assert find_chances([records[0]]) == []
    marks = {name: t_ns for name, t_ns in records[1].marks.items() if name != "ready"}
    assert find_chances([records[0], records[1].model_copy(update={"marks": marks})]) == []
    silent = [said_boot(tmp_path / f"s{seed}", seed, ready) for seed, ready in ((1, 500), (2, 900))]
    assert [one.until for one in find_chances(silent)] == ["ready"]


def test_a_boot_that_makes_host_keys_is_known_by_what_it_says(tmp_path: Path) -> None:
    assert tells_of_chance(first_life(tmp_path / "1", 1, 40))
    assert not tells_of_chance(later_life(tmp_path / "2", 1))
