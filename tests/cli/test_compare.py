"""`bootlab compare` on recorded boots: what is booted beyond the seeds, for which pair, and what a record lacks."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.experiments.store import RunKind, Store
from bootlab.measure.record_files import read_record
from tests.replayed import Answer, answer, replayed
from tests.targets.replay.record_boots import SMALL

PLAIN, NEAR = answer("plain", later_ns=-5_000_000), answer("near", later_ns=-100_000)
SAME = ["s1", "s2", "s3", "s4", "s5"]


class Place:
    """A folder with recorded boots, system files that they answer for, and a store of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"

    def system(self, name: str, *words: str) -> str:
        """Write the file of a system with `words` on its command line; returns its path."""
        cmdline = " ".join(("cryptomgr.notests", *words))
        text = SMALL.read_text().replace("cryptomgr.notests", cmdline)
        text = text.replace('init = "init"', f'init = "{SMALL.parent / "init"}"')
        path = self.folder / f"{name}.toml"
        path.write_text(f'{text}\n[target]\nkind = "replay"\nboots = "recorded"\n')
        return str(path)

    def on_record(self, verb: str, *words: str) -> str:
        """Run a verb that records boots; returns the path of its run."""
        assert run([verb, *words, "--json", "--runs", str(self.runs)]) == 0
        return str(Store(self.runs).find("last").path)

    def compared(self, *words: str) -> dict[str, Any]:
        """Return what `bootlab compare` wrote."""
        result: dict[str, Any] = json.loads(Store(self.runs).find(self.on_record("compare", *words)).result_text())
        return result

    def booted(self) -> dict[str, list[str]]:
        """Return how the labels of the last run's boots end, by the letter of the side."""
        labels = sorted(path.name for path in Store(self.runs).find("last").records())
        return {letter: [label[2:] for label in labels if label[0] == letter] for letter in "abc"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return placed(tmp_path)


def placed(folder: Path, *answers: Answer) -> Place:
    replayed(folder, PLAIN, NEAR, *answers)
    return Place(folder)


def nulls(number: int, seeds: int = 5) -> list[str]:
    return [f"null{one}-s{(one - 1) % seeds + 1}" for one in range(1, number + 1)]


def fresh(number: int, seeds: int = 5) -> list[str]:
    return [f"fresh{one}-s{one + seeds}" for one in range(1, number + 1)]


def test_five_seeds_and_five_null_changes_are_enough_where_it_is_plain(place: Place) -> None:
    result = place.compared(place.system("base"), place.system("plain", "plain"))
    assert (result["verdict"], result["saved_ns"]) == ("shorter", 5_000_000)
    assert place.booted() == {"a": sorted([*nulls(5), *SAME]), "b": SAME, "c": []}
    assert [Path(path).name for path in result["null_runs"]] == [f"a-{one}" for one in nulls(5)]
    assert result["fresh_before_runs"] == result["fresh_after_runs"] == []


def test_with_three_seeds_a_plain_difference_takes_two_fresh_boots(place: Place) -> None:
    result = place.compared(place.system("base"), place.system("plain", "plain"), "-n", "3")
    assert result["verdict"] == "shorter"
    assert [Path(path).name for path in result["fresh_after_runs"]] == [f"b-{one}" for one in fresh(2, 3)]
    assert result["fresh_before_runs"] == []


def test_a_near_difference_is_confirmed_by_fresh_boots_of_both(place: Place) -> None:
    result = place.compared(place.system("base"), place.system("near", "near"))
    assert (result["verdict"], result["saved_ns"]) == ("shorter", 100_000)
    assert [Path(path).name for path in result["fresh_before_runs"]] == [f"a-{one}" for one in fresh(8)]
    assert [Path(path).name for path in result["fresh_after_runs"]] == [f"b-{one}" for one in fresh(5)]
    assert place.booted()["a"] == sorted([*fresh(8), *nulls(5), *SAME])
    back = place.compared(place.system("near", "near"), place.system("base"))
    assert back["verdict"] == "longer"


def test_what_fresh_boots_do_not_show_again_is_no_difference(tmp_path: Path) -> None:
    place = placed(tmp_path, answer({"kernel.cmdline": r"\bnear\b.*bootlab\.null=10\d"}, later_ns=100_000))
    result = place.compared(place.system("base"), place.system("near", "near"))
    assert result["verdict"] == "no difference shown"
    assert "not confirmed" not in result["detail"], "it was looked at, and is none"


def test_the_side_that_needs_no_null_changes_is_told_without_a_word_of_them(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", place.system("base"), place.system("plain", "plain"), "--runs", str(place.runs)]) == 0
    said = capsys.readouterr().err.splitlines()
    assert "  base: 5 boots on the virtual clock, and 5 with null changes" in said
    assert "  plain: 5 boots on the virtual clock" in said


def test_of_three_systems_each_step_and_the_whole_have_the_boots_that_they_take(place: Place) -> None:
    """The first is compared twice, and boots its fresh ones once; the last alone needs no null changes."""
    names = place.system("base"), place.system("near", "near"), place.system("both", "near", "plain")
    result = place.compared(*names, "-n", "3")
    assert [step["verdict"] for step in result["steps"]] == ["shorter", "shorter"]
    assert (result["whole"]["verdict"], result["whole"]["saved_ns"]) == ("shorter", 5_100_000)
    seeds = SAME[:3]
    assert place.booted() == {
        "a": sorted([*fresh(8, 3), *nulls(5, 3), *seeds]),
        "b": sorted([*fresh(5, 3), *nulls(5, 3), *seeds]),
        "c": sorted([*fresh(2, 3), *seeds]),
    }
    near, plain = result["steps"]
    assert (len(near["fresh_before_runs"]), len(near["fresh_after_runs"])) == (8, 5)
    assert (len(plain["fresh_before_runs"]), len(plain["fresh_after_runs"])) == (0, 2)
    assert plain["fresh_after_runs"] == result["whole"]["fresh_after_runs"]


def test_a_side_that_is_booted_has_the_seeds_of_the_one_on_record(place: Place) -> None:
    """What it takes beyond them is booted too, as far as nothing is missing of the side on record."""
    recorded = place.on_record(
        "try", place.system("base"), "cmdline_quiet", "--no-stack", "--seeds", "4", "--nulls", "3"
    )
    result = place.compared(recorded, place.system("plain", "plain"))
    assert result["verdict"] == "shorter"
    assert place.booted() == {"a": [], "b": sorted([*SAME[:4], *fresh(1, 4)]), "c": []}
    assert [Path(path).name for path in result["null_runs"]] == [f"baseline-{one}" for one in nulls(3, 4)]
    near = place.compared(recorded, place.system("near", "near"))
    assert near["verdict"] == "no difference shown"
    assert "not confirmed: wants 8 fresh boots before and 5 after" in near["detail"]
    assert place.booted()["b"] == SAME[:4]


def test_two_sides_on_record_that_are_near_are_not_confirmed(place: Place) -> None:
    """Nothing is booted: the difference is told, and what it would take to say that it is one."""
    quiet = "cmdline_quiet", "--no-stack"
    before = place.on_record("try", place.system("base"), *quiet)
    after = place.on_record("measure", place.system("near", "near"), "-n", "3")
    result = place.compared(before, after)
    assert (result["verdict"], result["saved_ns"]) == ("no difference shown", 100_000)
    assert "; not confirmed: wants 8 fresh boots before and 5 after, boots on record have no more" in result["detail"]
    assert place.booted() == {"a": [], "b": [], "c": []}
    plain = place.compared(before, place.on_record("measure", place.system("plain", "plain"), "-n", "3"))
    assert "not confirmed: wants 0 fresh boots before and 2 after" in plain["detail"]


def test_fresh_boots_of_a_trial_s_baseline_are_boots_before_as_well(place: Place) -> None:
    system = place.system("base")
    recorded = place.on_record("try", system, "cmdline_quiet", "--no-stack")
    assert Store(place.runs).find(recorded).kind is RunKind.TRY
    for number in range(1, 9):
        one = Path(recorded) / "boots" / f"baseline-fresh{number}-s{number + 3}"
        shutil.copytree(Path(recorded) / "boots" / "baseline-s1", one)
    result = place.compared(recorded, place.system("near", "near"))
    assert result["verdict"] == "shorter"
    assert len(result["fresh_before_runs"]) == 8
    assert place.booted()["b"] == sorted([*fresh(5, 3), *SAME[:3]])


def test_a_series_of_one_seed_says_nothing_of_how_far_a_system_moves(place: Place) -> None:
    recorded = place.on_record("measure", place.system("plain", "plain"), "--same-seed", "-n", "3")
    result = place.compared(place.system("base"), recorded)
    assert result["verdict"] == "no verdict"
    assert result["detail"] == "1 and 3 boots, of 1 and 1 seeds: a verdict needs 3 seeds a side"
    assert place.booted()["a"] == sorted([*nulls(5, 1), "s1"])


def test_a_fresh_boot_that_fails_leaves_no_verdict(tmp_path: Path) -> None:
    place = placed(tmp_path, answer({"kernel.cmdline": r"\bnear\b.*bootlab\.null=103"}, end="hung"))
    result = place.compared(place.system("base"), place.system("near", "near"))
    assert (result["verdict"], result["saved_ns"]) == ("no verdict", None)
    assert result["detail"].startswith("a boot of near was not ready: hung: not ready after")
    failed = [path for path in result["fresh_after_runs"] if read_record(Path(path)).ready_ns is None]
    assert [Path(path).name for path in failed] == ["b-fresh3-s8"]


def test_fewer_boots_than_a_verdict_needs_are_refused(place: Place) -> None:
    with pytest.raises(InputError, match="--number 2: a verdict needs at least 3 boots a side"):
        run(["compare", place.system("base"), place.system("plain"), "-n", "2", "--runs", str(place.runs)])
    assert not place.runs.exists()


def test_what_is_shown_again_is_what_was_compared(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.on_record("compare", place.system("base"), place.system("near", "near"))
    run(["report", "last", "--runs", str(place.runs)])
    assert "verdict: shorter: +0.100 ms saved (instructions + idle)" in capsys.readouterr().out


def test_a_side_that_cannot_begin_at_a_mark_is_named_before_any_boot(place: Place) -> None:
    base, plain = place.system("base"), place.system("plain", "plain")
    with pytest.raises(InputError, match="base.toml:clock.kind: a machine that runs on replay"):
        place.compared(base, plain, "--from-mark", "late")
    assert not Store(place.runs).runs()


def test_of_runs_on_record_none_begins_at_a_mark(place: Place) -> None:
    one = place.on_record("measure", place.system("base"), "-n", "3")
    with pytest.raises(InputError, match="nothing is booted: all sides are runs on record"):
        place.compared(one, one, "--from-mark", "late")


def test_a_comparison_goes_on_where_it_was_interrupted(place: Place) -> None:
    sides = place.system("base"), place.system("near", "near")
    whole = place.compared(*sides)
    run_of_it = Store(place.runs).find("last")
    run_of_it.result.unlink()
    lost, kept = run_of_it.path / "boots" / "b-s5", run_of_it.path / "boots" / "a-s1" / "record.json"
    shutil.rmtree(lost)
    written = kept.stat().st_mtime_ns
    with pytest.raises(InputError, match="interrupted and has no result yet") as unfinished:
        run(["report", "last", "--runs", str(place.runs)])
    assert unfinished.value.hint == f"go on with: bootlab compare {sides[0]} {sides[1]} --resume {run_of_it.path}"
    assert place.compared(*sides, "--resume", "last") == whole
    assert (lost / "record.json").exists() and kept.stat().st_mtime_ns == written
    assert len(Store(place.runs).runs()) == 1


def test_a_side_on_record_goes_on_as_the_same_run_whatever_is_the_last_by_then(place: Place) -> None:
    base, near = place.system("base"), place.system("near", "near")
    recorded = place.on_record("measure", base, "-n", "5")
    whole = place.compared("last", near)
    assert place.compared(recorded, near, "--resume", "2") == whole


def test_what_a_comparison_does_not_go_on_with(place: Place) -> None:
    base, near = place.system("base"), place.system("near", "near")
    place.compared(base, near, "-n", "3")
    recorded = place.on_record("measure", near, "-n", "3")
    place.compared(base, recorded)
    other = place.on_record("measure", near, "-n", "4")
    for number, words, said in (
        ("1", (near, base), "that run is a compare of base-vs-near, not a compare of near-vs-base"),
        ("1", (base, base, near), "that run is a compare of base-vs-near, not a compare of base-to-near"),
        ("1", (base, near, "-n", "4"), "goes on with what was asked then"),
        ("3", (base, other), f"that run compares {base}, {recorded}, in this order"),
        ("1", (place.system("base", "changed"), near), "the system file has changed since that run began"),
    ):
        with pytest.raises(InputError, match=said):
            run(["compare", *words, "--resume", number, "--runs", str(place.runs)])


def test_a_comparison_on_the_wall_clock_starts_anew(place: Place) -> None:
    sides = [place.system("base"), place.system("near", "near")]
    asked = {"systems": sides, "digest": "", "clock": "wall", "number": 5}
    stopped = Store(place.runs).start(RunKind.COMPARE, "base-vs-near", asked)
    assert stopped.resumed_by("SYSTEM") is None
    with pytest.raises(InputError, match="on the wall clock the sides take turns") as refused:
        run(["compare", *sides, "--resume", "last", "--runs", str(place.runs)])
    assert refused.value.hint == "start anew, without --resume"
