"""What a trial decides: which technique saves, costs or breaks the boot, and what a resumed trial boots again.

No machine runs: recorded boots answer (tests/replayed.py).
"""

from pathlib import Path

import pytest

from bootlab.errors import BootFailed, Interrupted
from bootlab.experiments.engine import Progress
from bootlab.measure.record import Outcome
from tests.replayed import READY_NS, answer, replayed, rewrite, trial, word

FAST, SLOW = answer("fast", later_ns=-5_000_000), answer("slow", later_ns=3_000_000)


def test_what_saves_is_stacked_and_what_costs_or_breaks_is_not(tmp_path: Path) -> None:
    system = replayed(tmp_path, FAST, SLOW, answer("wrong", end="panicked", detail="no such word"))
    result = trial(tmp_path, system, [word("slow"), word("fast"), word("wrong"), word("idle")]).run()
    assert result.baseline.ready_ns == READY_NS
    judged = {row.technique: (row.verdict, row.saved_ns) for row in result.alone}
    assert judged == {
        "slow": ("slower", -3_000_000),
        "fast": ("faster", 5_000_000),
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
        f"alone-fast-s{seed}" for seed in (1, 2, 3)
    ]
    assert [label for label in booted if label.startswith("alone-idle")] == ["alone-idle-s1"]


def test_a_technique_whose_kernel_cannot_be_had_is_a_row(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer("refused", refused="no such option"), answer("unbuilt", unbuilt="make failed"))
    result = trial(tmp_path, system, [word("refused"), word("unbuilt")]).run()
    rows = {row.technique: (row.verdict, row.detail, row.members) for row in result.alone}
    assert rows == {
        "refused": ("does not apply", "no such option", []),
        "unbuilt": ("broke it", "make failed", []),
    }


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
    assert not [label for label in booted if "fast" in label or label.endswith("-s1")]
    assert [row.verdict for row in result.alone] == ["faster", "slower"]
    assert {progress.record.outcome for progress in again} == {Outcome.READY}
