"""Many boots in one run: in order, a few at once, used again where they are the same, and what one that fails costs."""

import os
import signal
from pathlib import Path

import pytest

from bootlab.errors import Interrupted, StoreError
from bootlab.experiments.engine import Job, Progress
from bootlab.measure.record import Outcome
from bootlab.measure.record_files import read_record
from bootlab.system import System
from tests.replayed import Booted, answer, engine, new_run, prepared, replayed, rewrite


def jobs(system: System, *seeds: int, label: str = "one") -> list[Job]:
    return [Job(f"{label}-s{seed}", prepared(system).with_seed(seed)) for seed in seeds]


@pytest.mark.parametrize("parallel", [1, 3])
def test_records_come_in_the_order_of_the_jobs_and_each_is_told_once(parallel: int, tmp_path: Path) -> None:
    booted = Booted()
    booting = engine(new_run(tmp_path), parallel=parallel, watcher=booted)
    records = booting.boot_all(jobs(replayed(tmp_path), 3, 1, 2, 5, 4))
    assert [record.seed for record in records] == [3, 1, 2, 5, 4]
    assert sorted(booted.labels) == [f"one-s{seed}" for seed in (1, 2, 3, 4, 5)]
    assert booting.boots == 5
    assert booting.qemu_s == pytest.approx(sum(record.wall_s for record in records))


def test_one_failed_boot_loses_only_itself(tmp_path: Path) -> None:
    ends = {1: "panicked", 2: "hung", 3: "check failed", 4: "not started", 6: "target died"}
    system = replayed(tmp_path, *(answer({"seed": f"^{seed}$"}, end=end) for seed, end in ends.items()))
    booting = engine(new_run(tmp_path), parallel=2)
    records = booting.boot_all(jobs(system, 1, 2, 3, 4, 5, 6, 7))
    assert [record.outcome.value for record in records] == [
        *(ends[seed] for seed in (1, 2, 3, 4)), "ready", "target died", "ready",
    ]  # fmt: skip
    assert booting.boots == 7


def test_the_same_boot_is_not_run_twice_whatever_it_is_called(tmp_path: Path) -> None:
    booted, system = Booted(), replayed(tmp_path)
    booting = engine(new_run(tmp_path), watcher=booted)
    (first,) = booting.boot_all(jobs(system, 1))
    assert booting.boot_all(jobs(system, 1, 2, label="other"))[0] == first
    assert (booted.labels, booted.reused) == (["one-s1", "other-s2"], ["other-s1"])
    assert booting.boots == 2, "one that is used again is no boot"
    booting.boot_all(jobs(system.with_cmdline("idle"), 1, label="changed"))
    assert booted.labels[2:] == ["changed-s1"]


def test_without_reuse_the_same_boot_is_run_again(tmp_path: Path) -> None:
    booted, system = Booted(), replayed(tmp_path)
    booting = engine(new_run(tmp_path), reuse=False, watcher=booted)
    booting.boot_all(jobs(system, 1))
    booting.boot_all(jobs(system, 1, label="again"))
    assert (booted.labels, booted.reused) == (["one-s1", "again-s1"], [])


def test_another_engine_goes_on_where_the_run_stands(tmp_path: Path) -> None:
    """What ended counts, however it ended; a machine killed from outside is booted again, as is a damaged record."""
    system = replayed(tmp_path, answer({"seed": "^1$"}, end="panicked"), answer({"seed": "^2$"}, end="target died"))
    run = new_run(tmp_path)
    engine(run).boot_all(jobs(system, 1, 2, 3, 4))
    (run.path / "boots/one-s4/record.json").write_text('{"schema":')
    rewrite(tmp_path)
    booted = Booted()
    records = engine(run, watcher=booted).boot_all(jobs(system, 1, 2, 3, 4))
    assert (booted.labels, booted.reused) == (["one-s2", "one-s4"], ["one-s1", "one-s3"])
    assert [record.outcome.value for record in records] == ["panicked", "ready", "ready", "ready"]
    # What was there before is moved aside, and is no boot of this run any more.
    assert len(list((run.path / "boots").iterdir())) == 6
    assert [path.name for path in run.records()] == [f"one-s{seed}" for seed in (1, 2, 3, 4)]


def test_a_killed_machine_is_booted_again_by_the_same_engine_too(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer({"seed": "^1$"}, end="target died"))
    booted = Booted()
    booting = engine(new_run(tmp_path), watcher=booted)
    booting.boot_all(jobs(system, 1))
    rewrite(tmp_path)
    (record,) = booting.boot_all(jobs(system, 1))
    assert record.outcome is Outcome.READY
    assert booted.labels == ["one-s1", "one-s1"]


def test_on_the_wall_clock_no_boot_stands_for_another_but_a_resumed_run_has_its_own(tmp_path: Path) -> None:
    system, run = replayed(tmp_path, clock="wall"), new_run(tmp_path)
    booted = Booted()
    engine(run, parallel=4, watcher=booted).boot_all([*jobs(system, 1, 2), *jobs(system, 1, label="other")])
    assert (booted.labels, booted.reused) == (["one-s1", "one-s2", "other-s1"], []), "one after the other"
    resumed = Booted()
    booting = engine(run, watcher=resumed)
    booting.boot_all([*jobs(system, 1, 2, 3), *jobs(system.with_cmdline("changed"), 1, label="other")])
    assert (resumed.labels, resumed.reused) == (["one-s3", "other-s1"], ["one-s1", "one-s2"])


def test_ctrl_c_ends_the_round_and_what_had_ended_is_kept(tmp_path: Path) -> None:
    """Not one boot is lost or run twice, and nothing is left half-way in the run."""
    ended: list[str] = []

    def press(progress: Progress) -> None:
        ended.append(progress.job.label)
        if len(ended) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    system, run, seeds = replayed(tmp_path), new_run(tmp_path), range(1, 41)
    first = engine(run, parallel=2, watcher=press)
    with pytest.raises(Interrupted, match=f"finished boots are kept in {run.path}"):
        first.boot_all(jobs(system, *seeds))
    kept = [path.name for path in run.records()]
    assert set(ended) <= set(kept) and len(kept) < len(seeds)
    booted = Booted()
    records = engine(run, parallel=2, watcher=booted).boot_all(jobs(system, *seeds))
    assert sorted(booted.reused) == sorted(kept)
    assert sorted([*booted.labels, *booted.reused]) == sorted(f"one-s{seed}" for seed in seeds)
    assert all(record == read_record(run.path / "boots" / f"one-s{record.seed}") for record in records)


def test_an_engine_that_was_interrupted_can_boot_again(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer({"seed": "^2$"}, end="interrupted"))
    booted = Booted()
    booting = engine(new_run(tmp_path), watcher=booted)
    with pytest.raises(Interrupted):
        booting.boot_all(jobs(system, 1, 2, 3))
    rewrite(tmp_path)
    records = booting.boot_all(jobs(system, 1, 2, 3))
    assert [record.outcome for record in records] == [Outcome.READY] * 3
    assert "one-s1" in booted.reused and "one-s2" in booted.labels


def test_a_run_that_cannot_be_written_ends_the_round(tmp_path: Path) -> None:
    """Nothing that a boot says could be kept: no outcome, but an error, and no further boot begins."""
    run, booted = new_run(tmp_path), Booted()
    (run.path / "boots").write_text("no folder")
    with pytest.raises(StoreError):
        engine(run, watcher=booted).boot_all(jobs(replayed(tmp_path), 1, 2, 3))
    assert booted.labels == []
