"""What a trial decides: which technique saves, costs or breaks the boot, and what a resumed trial boots again.

No machine runs: recorded boots answer (tests/replayed.py).
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bootlab.errors import BootFailed, Interrupted
from bootlab.experiments.engine import Progress
from bootlab.experiments.trial.result import Member
from bootlab.measure.record import Outcome
from tests.replayed import READY_NS, Booted, answer, replayed, rewrite, trial, word

FAST, SLOW = answer("fast", later_ns=-5_000_000), answer("slow", later_ns=3_000_000)
NEAR = answer("near", later_ns=-100_000)
"""Twice what the system moves by itself: seen, and to be confirmed by fresh boots."""


def test_what_saves_is_stacked_and_what_costs_or_breaks_is_not(tmp_path: Path) -> None:
    system = replayed(tmp_path, FAST, SLOW, answer("wrong", end="panicked", detail="no such word"))
    result = trial(tmp_path, system, [word("slow"), word("fast"), word("wrong"), word("idle")]).run()
    assert result.baseline.ready_ns == READY_NS
    judged = {row.technique: (row.verdict, row.saved_ns) for row in result.alone}
    assert judged == {
        "slow": ("longer", -3_000_000),
        "fast": ("shorter", 5_000_000),
        "wrong": ("broke it", None),
        "idle": ("no difference shown", 0),
    }
    assert "kernel panic: no such word" in result.alone[2].detail
    assert result.final["recommended"].techniques == ["fast"]
    assert result.final["recommended"].ready_ns == READY_NS - 5_000_000


def test_a_verdict_that_is_settled_by_one_boot_takes_no_more(tmp_path: Path) -> None:
    booted: list[str] = []

    def watch(progress: Progress) -> None:
        booted.append(progress.job.label)

    system = replayed(tmp_path, FAST)
    trial(tmp_path, system, [word("fast"), word("idle")], watcher=watch, stack=False).run()
    assert [label for label in booted if label.startswith("alone-fast")] == [
        *(f"alone-fast-s{seed}" for seed in (1, 2, 3)),
        "alone-fast-fresh1-s4",
        "alone-fast-fresh2-s5",
    ]
    assert [label for label in booted if label.startswith("alone-idle")] == ["alone-idle-s1"]


def outcomes(members: Sequence[Member]) -> list[tuple[int, str, str]]:
    return [(member.seed, member.change, member.outcome) for member in members]


def test_a_row_has_the_fresh_boots_that_its_verdict_rests_on(tmp_path: Path) -> None:
    """Of a near one both sides'; it saves what they say, for they were not chosen for being short."""
    less = answer({"kernel.cmdline": r"\bnear\b.*bootlab\.null=10\d"}, later_ns=30_000)
    system = replayed(tmp_path, NEAR, FAST, less)
    result = trial(tmp_path, system, [word("near"), word("fast"), word("idle")], stack=False).run()
    near, fast, idle = result.alone
    assert (near.verdict, near.saved_ns) == ("shorter", 70_000)
    assert near.ready_ns == READY_NS - 100_000, "of the seeds, as of every row"
    assert outcomes(near.fresh_before) == [(seed, "fresh", "ready") for seed in range(4, 12)]
    assert outcomes(near.fresh_members) == [(seed, "fresh", "ready") for seed in range(4, 9)]
    assert [member.run.rpartition("/")[2] for member in near.fresh_before[:2]] == [
        "baseline-fresh1-s4",
        "baseline-fresh2-s5",
    ]
    assert (fast.verdict, len(fast.fresh_members)) == ("shorter", 2)
    assert (idle.verdict, idle.fresh_members) == ("no difference shown", [])
    assert near.fresh_before == fast.fresh_before == idle.fresh_before, "what all of them are compared with"


def test_a_near_saving_that_fresh_boots_do_not_show_is_none(tmp_path: Path) -> None:
    lucky = answer({"kernel.cmdline": r"\bnear\b.*bootlab\.null=10\d"}, later_ns=100_000)
    result = trial(tmp_path, replayed(tmp_path, NEAR, lucky), [word("near")]).run()
    (row,) = result.alone
    assert (row.verdict, row.saved_ns, row.detail) == ("no difference shown", 0, "")
    assert len(row.fresh_members) == 5
    assert result.stack == []


def test_a_technique_with_which_a_fresh_boot_fails_broke_it(tmp_path: Path) -> None:
    wrong = answer({"kernel.cmdline": r"\bfast\b.*bootlab\.null=102"}, end="panicked", detail="unlucky")
    result = trial(tmp_path, replayed(tmp_path, FAST, wrong), [word("fast"), word("idle")], stack=False).run()
    fast, idle = result.alone
    assert (fast.verdict, fast.saved_ns, fast.ready_ns) == ("broke it", None, None)
    place = Path(result.run) / "boots" / "alone-fast-fresh2-s5"
    assert fast.detail == f"with a change that means nothing: panicked: kernel panic: unlucky ({place})"
    assert outcomes(fast.members) == [(seed, "", "ready") for seed in (1, 2, 3)]
    assert outcomes(fast.fresh_members) == [(4, "fresh", "ready"), (5, "fresh", "panicked")]
    assert idle.verdict == "no difference shown"


def test_a_baseline_of_which_a_fresh_boot_fails_leaves_no_verdict(tmp_path: Path) -> None:
    """Nothing can be said of what stands on it; a technique with which its own boots fail broke it all the same."""
    unlucky = {"kernel.cmdline": r"^(?!.*\bnear\b).*bootlab\.null=103"}
    system = replayed(tmp_path, NEAR, answer(unlucky, end="hung"), answer("wrong", end="check failed"))
    result = trial(tmp_path, system, [word("near"), word("wrong"), word("idle")]).run()
    near, wrong, idle = result.alone
    place = Path(result.run) / "boots" / "baseline-fresh3-s6"
    for row in (near, idle):
        assert (row.verdict, row.saved_ns) == ("no verdict", None) and row.ready_ns is not None
        assert row.detail.startswith(f"what it stands on is not steady: {place}: hung: not ready after")
        assert outcomes(row.fresh_before)[2] == (6, "fresh", "hung")
    assert [member.outcome for member in near.members] == ["ready"] * 3
    assert wrong.verdict == "broke it"
    assert result.stack == []
    assert result.final["recommended"].unsteady.startswith(f"{place}: hung")


@pytest.mark.parametrize(("end", "error"), [("target died", BootFailed), ("interrupted", Interrupted)])
def test_a_resumed_trial_boots_no_fresh_boot_twice(end: str, error: type[Exception], tmp_path: Path) -> None:
    stopped = answer({"kernel.cmdline": r"\bnear\b.*bootlab\.null=103"}, end=end)
    system, first_booted, booted = replayed(tmp_path, NEAR, FAST, stopped), Booted(), Booted()
    techniques = [word("near"), word("fast")]
    first = trial(tmp_path, system, techniques, watcher=first_booted)
    with pytest.raises(error):
        first.run()
    rewrite(tmp_path, NEAR, FAST)
    result = trial(tmp_path, system, techniques, run=first.engine.run, watcher=booted).run()
    assert [row.verdict for row in result.alone] == ["shorter", "shorter"]
    again = {label for label in booted.labels if label in first_booted.labels}
    assert again == ({"alone-near-fresh3-s6"} if end == "target died" else set())
    assert booted.labels[0] == "alone-near-fresh3-s6"
    assert {"baseline-fresh1-s4", "baseline-fresh8-s11", "alone-near-fresh2-s5"} <= {*booted.reused}


def test_a_baseline_that_does_not_boot_ends_the_trial(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer({"seed": "^3$"}, end="hung"))
    with pytest.raises(BootFailed, match="the baseline does not boot: hung: not ready after"):
        trial(tmp_path, system, [word("fast")]).run()


@pytest.mark.parametrize(("end", "error"), [("target died", BootFailed), ("interrupted", Interrupted)])
def test_a_resumed_trial_boots_again_only_what_it_lacks(end: str, error: type[Exception], tmp_path: Path) -> None:
    died = answer({"kernel.cmdline": r"\bslow\b", "seed": "^2$"}, end=end)
    system = replayed(tmp_path, FAST, SLOW, died)
    first = trial(tmp_path, system, [word("fast"), word("slow")])
    with pytest.raises(error):
        first.run()
    rewrite(tmp_path, FAST, SLOW)
    again: list[Progress] = []
    resumed = trial(tmp_path, system, [word("fast"), word("slow")], run=first.engine.run, watcher=again.append)
    result = resumed.run()
    booted = [
        progress.job.label for progress in again if not progress.reused and progress.job.label.startswith("alone-")
    ]
    assert booted[0] == "alone-slow-s2"
    # The interrupted one had not come to the fresh boots, which wait for the seeds of all.
    fresh = [label for label in booted if "-fresh" in label]
    assert not [label for label in booted if label not in fresh and ("fast" in label or label.endswith("-s1"))]
    assert fresh == [
        *(f"alone-fast-fresh{number}-s{number + 3}" for number in (1, 2) if error is Interrupted),
        *(f"alone-slow-fresh{number}-s{number + 3}" for number in (1, 2)),
    ]
    assert [row.verdict for row in result.alone] == ["shorter", "longer"]
    assert {progress.record.outcome for progress in again} == {Outcome.READY}


def test_a_baseline_that_was_killed_is_no_bad_baseline(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer({"seed": "^3$"}, end="target died", detail="killed by signal 9"))
    first = trial(tmp_path, system, [word("fast")])
    with pytest.raises(BootFailed, match="killed by signal 9") as caught:
        first.run()
    assert "does not boot" not in caught.value.message
    assert caught.value.hint is not None and "--resume" in caught.value.hint
    rewrite(tmp_path)
    booted = Booted()
    trial(tmp_path, system, [word("fast")], run=first.engine.run, watcher=booted).run()
    assert booted.of("baseline-s") == ["3"]


def test_a_baseline_whose_null_change_does_not_boot_ends_the_trial(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer({"kernel.cmdline": r"bootlab\.null=4"}, end="check failed"))
    with pytest.raises(BootFailed, match="the baseline boots, but already fails its check, with nothing changed"):
        trial(tmp_path, system, [word("fast")]).run()


def test_a_system_with_two_humps_needs_more_than_the_gap_between_them(tmp_path: Path) -> None:
    """A saving as large as what one seed in three does by itself shows nothing, though every seed gains it."""
    hump = answer({"seed": "^2$"}, later_ns=8_000_000)
    system = replayed(tmp_path, hump, FAST, answer("vast", later_ns=-20_000_000))
    result = trial(tmp_path, system, [word("fast"), word("vast")]).run()
    assert result.baseline.spread_ns > 8_000_000
    assert result.baseline.ready_ns == READY_NS, "the median is a boot of the greater hump"
    assert {row.technique: (row.verdict, row.saved_ns) for row in result.alone} == {
        "fast": ("no difference shown", 5_000_000),
        "vast": ("shorter", 20_000_000),
    }
    assert result.final["recommended"].techniques == ["vast"]


def test_a_technique_that_hangs_with_one_seed_only_broke_it(tmp_path: Path) -> None:
    system = replayed(tmp_path, FAST, answer({"kernel.cmdline": r"\bfast\b", "seed": "^3$"}, end="hung"))
    (row,) = trial(tmp_path, system, [word("fast")]).run().alone
    assert (row.verdict, row.saved_ns, row.ready_ns) == ("broke it", None, None)
    assert [member.outcome for member in row.members] == ["ready", "ready", "hung"]
    assert row.spread_ns > 0


def test_the_result_says_which_boots_it_rests_on(tmp_path: Path) -> None:
    result = trial(tmp_path, replayed(tmp_path, FAST), [word("fast")], seeds=[4, 5, 6], nulls=3).run()
    assert (result.seeds, result.plan) == ([4, 5, 6], "gain")
    assert [member.seed for member in result.baseline.members] == [4, 5, 6]
    assert [(member.seed, member.change) for member in result.baseline.null_members] == [
        (4, "bootlab.null=1"),
        (5, "bootlab.null=2"),
        (6, "bootlab.null=3"),
    ]
    assert [member.seed for member in result.alone[0].members] == [4, 5, 6]
    boots = len(list((Path(result.run) / "boots").iterdir()))
    assert result.cost.boots == boots


def test_a_trial_that_ended_boots_nothing_when_it_is_resumed(tmp_path: Path) -> None:
    system = replayed(tmp_path, FAST, SLOW)
    techniques = [word("fast"), word("slow")]
    first = trial(tmp_path, system, techniques, ablation=True)
    result = first.run()
    booted = Booted()
    again = trial(tmp_path, system, techniques, ablation=True, run=first.engine.run, watcher=booted).run()
    assert booted.labels == []
    assert again.cost.boots == 0
    assert again == result.model_copy(update={"cost": again.cost})


def test_a_run_that_is_asked_for_more_boots_only_what_is_new(tmp_path: Path) -> None:
    """One seed, one null change, one technique more: every other boot is on record."""
    system = replayed(tmp_path, FAST, SLOW)
    first = trial(tmp_path, system, [word("fast")], stack=False)
    first.run()
    booted = Booted()
    more = {"seeds": [1, 2, 3, 4], "nulls": 6, "stack": False}
    trial(tmp_path, system, [word("fast"), word("slow")], run=first.engine.run, watcher=booted, **more).run()
    assert booted.labels == [
        "baseline-s4",
        # Null changes go through the seeds in turn.
        "baseline-null4-s4",
        "baseline-null5-s1",
        "baseline-null6-s2",
        "alone-slow-s1",
        "alone-fast-s4",
        *(f"alone-slow-s{seed}" for seed in (2, 3, 4)),
        # Behind the seeds come those of fresh boots; five boots with a technique are enough where it is plain.
        "alone-fast-fresh1-s5",
        "alone-slow-fresh1-s5",
    ]


def test_a_run_of_another_system_boots_all_again(tmp_path: Path) -> None:
    """The labels are the same; what is booted is not."""
    system = replayed(tmp_path, FAST)
    first = trial(tmp_path, system, [word("fast")], stack=False)
    first.run()
    booted = Booted()
    other = system.with_part("machine", memory_mib=512)
    trial(tmp_path, other, [word("fast")], stack=False, run=first.engine.run, watcher=booted).run()
    assert booted.reused == []
    assert len(booted.labels) == 3 + 5 + 3 + 2


def test_on_the_wall_clock_each_technique_has_boots_before_it_of_its_own(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer("fast", later_ns=-50_000_000), answer("wrong", end="hung"), clock="wall")
    booted = Booted()
    techniques = [word("fast"), word("wrong"), word("idle")]
    result = trial(tmp_path, system, techniques, seeds=[1, 2, 3, 4, 5], nulls=0, watcher=booted).run()
    assert {row.technique: row.verdict.value for row in result.alone} == {
        "fast": "faster",
        "wrong": "broke it",
        "idle": "no difference shown",
    }
    in_turn = [f"{side}-{number}" for number in range(1, 6) for side in ("before", "after")]
    for name in ("fast", "wrong", "idle"):
        assert booted.of(f"alone-{name}-") == in_turn
    assert booted.of("recommended-00-fast-") == in_turn, "not those of fast alone: the host may have changed"
    assert result.final["recommended"].techniques == ["fast"]
    assert not [label for label in booted.labels if "null" in label]
    assert result.cost.parallel == 1
