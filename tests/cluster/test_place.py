"""Boots on a real scheduler with real workers: the same to the last digit as here, whatever is killed meanwhile."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bootlab.cluster.roster import ALONE, SUMMARY
from bootlab.cluster.worker import running
from bootlab.errors import BootFailed, Interrupted
from bootlab.experiments.engine import Job, Progress
from bootlab.experiments.store import Run
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System
from tests.cluster.running_cluster import RunningCluster, opened
from tests.namespaces import require_namespaces
from tests.replayed import Booted, answer, engine, new_run, prepared, replayed, trial, word

OF_A_HOST = {"host", "argv", "started", "wall_s", "run"}
# A place with more room begins more boots before it is known which are needed.
OF_A_TRIAL = {"cost", "baseline_run"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    """Two workers that nobody kills."""
    with RunningCluster(tmp_path_factory.mktemp("shared")) as running_one:
        running_one.wait_for(2)
        yield running_one


def jobs(system: System, *seeds: int, label: str = "one") -> list[Job]:
    return [Job(f"{label}-s{seed}", prepared(system).with_seed(seed)) for seed in seeds]


def figures(records: list[BootRecord]) -> list[dict[str, object]]:
    """Return all of the records but what tells of the host that ran them."""
    return [record.model_dump(mode="json", exclude=OF_A_HOST) for record in records]


def lean(document: Any) -> Any:
    """Return a result without what tells of the host that made it, and where it is kept."""
    if isinstance(document, dict):
        return {key: lean(value) for key, value in document.items() if key not in OF_A_HOST | OF_A_TRIAL}
    return [*map(lean, document)] if isinstance(document, list) else document


def test_boots_are_those_of_this_host_to_the_last_digit(cluster: RunningCluster, tmp_path: Path) -> None:
    ends = {1: "panicked", 2: "hung", 3: "check failed", 4: "not started"}
    system = replayed(tmp_path, *(answer({"seed": f"^{seed}$"}, end=end) for seed, end in ends.items()))
    wanted = jobs(system, *range(1, 21))
    run = new_run(tmp_path / "there")
    told: list[str] = []
    booted = Booted()
    with opened(cluster, tmp_path / "cache", told) as place:
        there = engine(run, place=place, watcher=booted).boot_all(wanted)
    here = engine(new_run(tmp_path / "here")).boot_all(wanted)
    assert figures(there) == figures(here)
    assert sorted(booted.labels) == sorted(job.label for job in wanted), "each once"
    for record in there:
        kept = {path.name for path in Path(record.run).iterdir()}
        assert kept >= {"record.json", "console.log", *(["trace.txt"] if record.outcome is Outcome.READY else [])}
        assert Path(record.run).parent == run.path / "boots"
    summary = json.loads((run.path / SUMMARY).read_text())
    assert sum(worker["boots"] for worker in summary["workers"]) == 20
    assert told[-1].startswith("20 boots on 2 workers")


def test_a_trial_gives_the_same_answers(cluster: RunningCluster, tmp_path: Path) -> None:
    system = replayed(tmp_path, answer("fast", later_ns=-5_000_000), answer("slow", later_ns=300_000))
    techniques = [word("fast"), word("slow"), word("idle")]
    here = trial(tmp_path / "here", system, techniques).run()
    with opened(cluster, tmp_path / "cache", []) as place:
        there = trial(tmp_path / "there", system, techniques, place=place).run()
    assert lean(there.model_dump(mode="json")) == lean(here.model_dump(mode="json"))


def test_inputs_travel_by_hash_and_a_damaged_one_is_sent_again(
    cluster: RunningCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the client's files a worker sees nothing here: below /proc/self/cwd each process has another folder."""
    system = replayed(tmp_path)
    here = engine(new_run(tmp_path / "here")).boot_all(jobs(system, 1, 2, 3, 4))
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    with opened(cluster, Path("/proc/self/cwd/cache"), told) as place:
        first = engine(new_run(tmp_path / "first"), place=place).boot_all(jobs(system, 1, 2, 3, 4))
        sent = place.sent_bytes
        assert sent > 0
        engine(new_run(tmp_path / "more"), place=place).boot_all(jobs(system, 5, 6, 7, 8))
        assert place.sent_bytes == sent, "what a worker has, it has"
        copies = [path for path in cluster.folder.rglob("cache/cluster-input/*") if path.is_file()]
        assert len(copies) == 2
        for copy in copies:
            data = copy.read_bytes()
            copy.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
        again = engine(new_run(tmp_path / "again"), place=place).boot_all(jobs(system, 1, 2, 3, 4))
        assert place.sent_bytes == 2 * sent
    assert figures(first) == figures(here) == figures(again)


def boot_all_but_there(
    cluster: RunningCluster, system: System, told: list[str], folder: Path
) -> tuple[list[BootRecord], Run]:
    """Boot once with the cluster's only worker, which cannot; then eight times with another one beside it."""
    cluster.wait_for(1)
    cache = Path("/proc/self/cwd/cache")
    with opened(cluster, cache, told) as place, pytest.raises(BootFailed, match="no worker may"):
        engine(new_run(folder), place=place).boot_all(jobs(system, 1))
    cluster.add_worker("roomy")
    cluster.wait_for(2)
    run = new_run(folder)
    with opened(cluster, cache, told) as place:
        return engine(run, place=place).boot_all(jobs(system, *range(1, 9))), run


def test_a_worker_that_cannot_keep_an_input_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system, told = replayed(tmp_path), list[str]()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("no folder")
    with RunningCluster(tmp_path, workers=0) as cluster:
        cluster.add_worker("full", {"BOOTLAB_CACHE": str(tmp_path / "file")})
        records, run = boot_all_but_there(cluster, system, told, tmp_path)
    assert all(record.ready_ns is not None for record in records)
    assert any(line.startswith("left out: worker") and str(tmp_path / "file") in line for line in told)
    assert sorted(one["boots"] for one in json.loads((run.path / SUMMARY).read_text())["workers"]) == [0, 8]


ROOM = 'mkdir "$FULL"; mount -t tmpfs -o "size=$SIZE" none "$FULL"; exec "$@"'


@pytest.mark.parametrize(("folder", "size"), [("cache", "4k"), ("dask-scratch-space", "16k")])
def test_a_worker_whose_disk_is_full_is_left_out_and_its_boots_run_elsewhere(
    folder: str, size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system without room: for what is sent, or for what a boot leaves."""
    require_namespaces()
    system, told = replayed(tmp_path), list[str]()
    monkeypatch.chdir(tmp_path)
    with RunningCluster(tmp_path, workers=0) as cluster:
        full = cluster.folder / "full" / folder
        inside = ["unshare", "--mount", "--propagation", "private", "--", "sh", "-ec", ROOM, "sh"]
        cluster.add_worker("full", {"FULL": str(full), "SIZE": size}, inside=inside)
        there, run = boot_all_but_there(cluster, system, told, tmp_path)
    assert figures(there) == figures(engine(new_run(tmp_path / "here")).boot_all(jobs(system, *range(1, 9))))
    assert any(
        line.startswith("left out: worker") and f"full/{folder}" in line and "o space left" in line for line in told
    ), told
    assert sorted(one["boots"] for one in json.loads((run.path / SUMMARY).read_text())["workers"]) == [0, 8]


def test_boots_on_the_wall_clock_share_one_worker(cluster: RunningCluster, tmp_path: Path) -> None:
    system, run, told = replayed(tmp_path, clock="wall"), new_run(tmp_path), list[str]()
    with opened(cluster, tmp_path / "cache", told) as place:
        engine(run, place=place).boot_all(jobs(system, *range(1, 9)))
    workers = json.loads((run.path / SUMMARY).read_text())["workers"]
    assert [worker["boots"] for worker in workers] == [8]
    assert json.loads((run.path / ALONE).read_text())["address"] == workers[0]["address"]
    assert any("all on worker" in line for line in told)
    # A resumed run whose worker is another machine now.
    (run.path / ALONE).write_text(json.dumps({"address": "tls://gone:1", "host": "gone"}))
    with opened(cluster, tmp_path / "cache", told) as place, pytest.raises(BootFailed, match=r"gone:1 \(gone\)"):
        engine(run, place=place).boot_all(jobs(system, 9))


def test_a_killed_worker_costs_no_boot(tmp_path: Path) -> None:
    system, booted, told = replayed(tmp_path), Booted(), list[str]()
    wanted = jobs(system, *range(1, 101))
    with RunningCluster(tmp_path) as cluster:
        victim = cluster.add_worker("victim")
        cluster.wait_for(3)
        run = new_run(tmp_path)

        def kill(progress: Progress) -> None:
            booted(progress)
            if len(booted.labels) == 10:
                # From now on it has boots to do that it never does.
                os.killpg(victim.pid, signal.SIGSTOP)
            if len(booted.labels) == 20:
                cluster.kill(victim)

        with opened(cluster, tmp_path / "cache", told) as place:
            there = engine(run, place=place, reuse=False, watcher=kill).boot_all(wanted)
    assert sorted(booted.labels) == sorted(job.label for job in wanted)
    assert figures(there) == figures(engine(new_run(tmp_path / "here"), parallel=2).boot_all(wanted))
    assert len(list((run.path / "boots").iterdir())) == 100
    assert any(line.startswith("lost: worker") for line in told)


def test_a_killed_scheduler_costs_the_boots_under_way_and_a_resumed_run_goes_on(tmp_path: Path) -> None:
    system, run = replayed(tmp_path), new_run(tmp_path)
    wanted = jobs(system, *range(1, 101))
    ended: list[str] = []
    with RunningCluster(tmp_path / "one") as cluster:
        cluster.wait_for(2)

        def kill(progress: Progress) -> None:
            ended.append(progress.job.label)
            if len(ended) == 20:
                cluster.kill(cluster.scheduler)

        with opened(cluster, tmp_path / "cache", []) as place, pytest.raises(BootFailed, match="scheduler is gone"):
            engine(run, place=place, watcher=kill).boot_all(wanted)
    kept = {path.name for path in run.records()}
    assert set(ended) <= kept and len(kept) < 100
    with RunningCluster(tmp_path / "two") as cluster, opened(cluster, tmp_path / "cache", []) as place:
        booted = Booted()
        records = engine(run, place=place, watcher=booted).boot_all(wanted)
    assert set(booted.reused) == kept
    assert figures(records) == figures(engine(new_run(tmp_path / "here"), parallel=2).boot_all(wanted))


def test_a_killed_client_leaves_nothing_running_and_its_run_goes_on(cluster: RunningCluster, tmp_path: Path) -> None:
    system = replayed(tmp_path)
    (tmp_path / "client.py").write_text(CLIENT)
    run = new_run(tmp_path)
    client = subprocess.Popen(
        [sys.executable, tmp_path / "client.py", tmp_path / "recorded", run.path, cluster.address, tmp_path / "cache"]
    )
    until = time.monotonic() + 90
    while len(run.records()) < 20 and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(client.pid, signal.SIGKILL)
    client.wait()
    kept = {path.name for path in run.records()}
    assert 20 <= len(kept) < 2000
    with cluster.client() as looking:
        while time.monotonic() < until:
            there: dict[str, int] = looking.run(running, "")
            tasks: int = looking.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
            if not sum(there.values()) and not tasks:
                break
            time.sleep(0.1)
        else:
            raise AssertionError(f"{there}, {tasks} tasks")
    booted = Booted()
    with opened(cluster, tmp_path / "cache", []) as place:
        engine(run, place=place, watcher=booted).boot_all(jobs(system, *range(1, 101)))
    assert set(booted.reused) >= {f"one-s{seed}" for seed in range(1, 101)} & kept


CLIENT = """
import sys
from pathlib import Path

sys.path.insert(0, "")
from bootlab.build.cache import Cache
from bootlab.cluster.address import RunningScheduler
from bootlab.cluster.place import open_cluster
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.store import read_run
from tests.replayed import SMALL, prepared, read_system
from bootlab.system import System

boots, run, address, cache = sys.argv[1:]
target = {"kind": "replay", "boots": Path(boots)}
system = System.model_validate({**dict(read_system(SMALL)), "clock": {}, "target": target})
one = prepared(system)
with open_cluster(RunningScheduler(address), Cache(Path(cache)), parallel=None, tell=print) as place:
    Engine(read_run(Path(run)), place=place, reuse=True).boot_all(
        [Job(f"one-s{seed}", one.with_seed(seed)) for seed in range(1, 2001)]
    )
"""


def test_ctrl_c_stops_what_is_under_way(cluster: RunningCluster, tmp_path: Path) -> None:
    ended: list[str] = []

    def press(progress: Progress) -> None:
        ended.append(progress.job.label)
        if len(ended) == 5:
            os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    run = new_run(tmp_path)
    with opened(cluster, tmp_path / "cache", []) as place, pytest.raises(Interrupted):
        engine(run, place=place, watcher=press).boot_all(jobs(replayed(tmp_path), *range(1, 401)))
    kept = [path.name for path in run.records()]
    assert set(ended) <= set(kept) and len(kept) < 400
    with cluster.client() as looking:
        assert not sum(looking.run(running, "").values())
