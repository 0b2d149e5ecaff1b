"""Real boots on a cluster: the same as here, on workers that are the same; and no machine outlives its cause."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from bootlab.build.boot_files import build_kernel_of
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.workshop import Workshop
from bootlab.cluster.roster import SUMMARY
from bootlab.errors import BootFailed
from bootlab.experiments.engine import Job
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.measure.record_files import read_record
from bootlab.report.parts.figures import count
from bootlab.report.parts.markdown import markdown_table, prose
from bootlab.sources import BUILT_PLUGIN
from bootlab.system import System, read_system
from tests.cluster.running_cluster import RunningCluster, opened
from tests.handed_over import Table
from tests.replayed import engine, new_run

pytestmark = pytest.mark.boot
ROOT = Path(__file__).parents[3]
TINY = ROOT / "tests/boot/tiny_kernel"
DEMO = ("try", str(ROOT / "examples/debian-cloud.toml"), "--plan", "demo", "--nulls", "3")
OF_A_HOST = {"host", "argv", "started", "wall_s", "run", "baseline_run", "cost", "members", "fresh_members"}


def bootlab(
    *words: str, runs: Path, python: Sequence[str] = (sys.executable,), env: Mapping[str, str] | None = None
) -> dict[str, Any]:
    done = subprocess.run(
        [*python, "-m", "bootlab", *words, "--runs", str(runs), "--json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def lean(value: Any) -> Any:
    """Return a result without what tells of its host, and of how many boots were begun before they were needed."""
    if isinstance(value, dict):
        return {key: lean(one) for key, one in value.items() if key not in OF_A_HOST}
    return [*map(lean, value)] if isinstance(value, list) else value


@pytest.mark.promise("boots on a cluster")
def test_a_trial_on_two_workers_says_the_same_to_the_last_digit(tmp_path: Path) -> None:
    words = ["try", str(TINY / "tiny.toml"), "cmdline_quiet", "cmdline_rcu_expedited", "--no-stack", "--nulls", "5"]
    here = bootlab(*words, runs=tmp_path / "here")
    there = bootlab(*words, "--cluster", "local:2", runs=tmp_path / "there")
    assert lean(there) == lean(here)
    assert here["baseline"]["ready_ns"] > 0 and len(here["alone"]) == 2
    times = [[[one["ready_ns"] for one in row["members"]] for row in result["alone"]] for result in (here, there)]
    # A settled verdict leaves the other seeds out, unless a core stood idle.
    assert all(one[: len(other)] == other[: len(one)] for one, other in zip(*times, strict=True))
    (summary,) = (tmp_path / "there").glob(f"*/{SUMMARY}")
    workers = json.loads(summary.read_text())["workers"]
    assert len(workers) == 2 and all(worker["boots"] and worker["left_out"] is None for worker in workers)


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory, table: Table) -> Iterator[dict[str, dict[str, Any]]]:
    """What `make demo` says on this host, and what tests add of it elsewhere; the table of it is handed over."""
    found = {"here": bootlab(*DEMO, runs=tmp_path_factory.mktemp("demo"))}
    yield found
    costs = [one["cost"] for one in found.values()]
    rows = [
        ["boots", *(count(cost["boots"]) for cost in costs)],
        ["boots at once", *(count(cost["parallel"]) for cost in costs)],
        ["seconds", *(f"{cost['elapsed_s']:.0f}" for cost in costs)],
    ]
    times = [("before", found["here"]["baseline"]["ready_ns"])]
    times += [(name, one["ready_ns"]) for name, one in found["here"]["final"].items()]
    said = "; ".join(f"{name} {ns / 1e6:.6f} ms" for name, ns in times)
    text = markdown_table(["", *(f"{name}>" for name in found)], rows)
    record = read_record(Path(found["here"]["baseline_run"]))
    table(f"{text}\n\n{prose(f'Each time: {said}.')}", boots=[("before", [record])], host=True)


@pytest.mark.network
@pytest.mark.parametrize("workers", [1, 2])
def test_the_demo_says_the_same_on_workers_to_the_last_digit(
    workers: int, tmp_path: Path, demos: dict[str, dict[str, Any]]
) -> None:
    demo = demos["here"]
    there = demos[f"`local:{workers}`"] = bootlab(*DEMO, "--cluster", f"local:{workers}", runs=tmp_path)
    assert lean(there) == lean(demo)
    assert len(demo["alone"]) == 5 and len(demo["stack"]) > 1


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder with the tiny system, to be changed."""
    return Path(shutil.copytree(TINY, tmp_path / "tiny"))


def test_a_worker_with_another_plugin_gets_no_boot(tiny: Path, tmp_path: Path, cache: Cache) -> None:
    """Its figures could differ: it is named, with what differs; where there is no other, nothing is booted."""
    plugin = tmp_path / "plugin.so"
    plugin.write_bytes(BUILT_PLUGIN.read_bytes() + b"\0")
    prepared = prepare(Workshop(cache), read_system(tiny / "tiny.toml"))
    jobs = [Job(f"s{seed}", prepared.with_seed(seed)) for seed in (1, 2)]
    told: list[str] = []
    with RunningCluster(tmp_path, workers=0) as cluster:
        other = cluster.add_worker("other", {"BOOTLAB_PLUGIN": str(plugin)})
        cluster.wait_for(1)
        with opened(cluster, tmp_path / "c", told) as place, pytest.raises(BootFailed, match="another plugin, "):
            engine(new_run(tmp_path), place=place).boot_all(jobs)
        assert not list((tmp_path / "runs").rglob("record.json"))
        cluster.add_worker("same")
        cluster.wait_for(2)
        run = new_run(tmp_path)
        with opened(cluster, tmp_path / "c", told) as place:
            records = engine(run, place=place).boot_all(jobs)
        cluster.kill(other)
    assert [record.outcome for record in records] == [Outcome.READY] * 2
    assert any("left out: worker" in line and "another plugin, " in line for line in told)
    workers = json.loads((run.path / SUMMARY).read_text())["workers"]
    assert sorted((worker["boots"], worker["left_out"] is None) for worker in workers) == [(0, False), (2, True)]


def never_ready(tiny: Path) -> Path:
    text = (tiny / "tiny.toml").read_text().replace('mark = "ready"', 'mark = "never"\ndeadline_s = 900')
    (tiny / "tiny.toml").write_text(text)
    (tiny / "init").write_text("#!/bin/busybox sh\nexec sleep 1000000000\n")
    return tiny / "tiny.toml"


def machines(cluster: RunningCluster) -> list[psutil.Process]:
    """Return each QEMU that a worker of the cluster runs."""
    found = []
    for process in psutil.process_iter(["name", "cmdline"]):
        words = process.info["cmdline"] or []
        if (process.info["name"] or "").startswith("qemu-system") and str(cluster.folder) in " ".join(words):
            found.append(process)
    return found


def until(true: Callable[[], object], seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.fixture
def clustered(tmp_path: Path) -> Iterator[RunningCluster]:
    """One worker with its nanny, as `dask worker` starts them."""
    with RunningCluster(tmp_path, workers=1, plain=False) as cluster:
        cluster.wait_for(1)
        yield cluster


def test_no_machine_outlives_its_client_its_task_or_its_worker(
    tiny: Path, tmp_path: Path, clustered: RunningCluster
) -> None:
    system = never_ready(tiny)
    words = [sys.executable, "-m", "bootlab", "measure", str(system), "-n", "2", "--runs", str(tmp_path / "runs")]
    words += ["--cluster", clustered.address]

    def begin() -> "subprocess.Popen[bytes]":
        with (tmp_path / "said").open("wb") as said:
            client = subprocess.Popen(words, cwd=ROOT, stdout=said, stderr=said)
        until(lambda: machines(clustered) or client.poll() is not None)
        assert client.poll() is None, (tmp_path / "said").read_text()
        return client

    client = begin()
    client.kill()
    client.wait()
    until(lambda: not machines(clustered), 20)

    client = begin()
    client.send_signal(signal.SIGINT)
    assert client.wait(timeout=40) == 130, (tmp_path / "said").read_text()
    assert not machines(clustered)

    client = begin()
    # The machine itself, once it runs: a boot that says nothing, and the series goes on.
    time.sleep(5)
    machines(clustered)[0].kill()
    until(lambda: list((tmp_path / "runs").rglob("record.json")), 20)
    (record,) = (tmp_path / "runs").rglob("record.json")
    assert json.loads(record.read_text())["outcome"] == "target died"
    until(lambda: machines(clustered))

    (worker,) = {process.parent() for process in machines(clustered)}
    before = machines(clustered)
    assert worker is not None
    os.kill(worker.pid, signal.SIGKILL)
    until(lambda: not any(process.is_running() for process in before), 20)
    # Its nanny starts another one, on which the boot begins anew.
    until(lambda: machines(clustered), 60)
    clustered.kill(clustered.scheduler)
    assert client.wait(timeout=60) == 1
    assert "the scheduler is gone" in (tmp_path / "said").read_text()
    assert "Traceback" not in (tmp_path / "said").read_text()
    until(lambda: not machines(clustered), 60)


@pytest.mark.kernel
@pytest.mark.network
def test_a_worker_compiles_the_kernel_that_is_booted(tmp_path: Path, cache: Cache) -> None:
    """Source and kernel travel, and every file of the kernel is that which this host compiles.

    But for types.o: its debug information names the folder that it was compiled in.

    Of this host's cache the worker has what ccache keeps, or it would take minutes.
    """
    shutil.copytree(TINY, tmp_path / "tiny")
    file = tmp_path / "tiny/tiny.toml"
    file.write_text(file.read_text() + '[kernel.build.options]\nLOCALVERSION = "-of-a-worker"\n')
    system = read_system(file)
    here = build_kernel_of(Workshop(cache), system).image.parent
    of_the_place = ("build.log", "build.json", "types.o")
    before = {path: file_sha256(path) for path in here.rglob("*") if path.is_file() and path.name not in of_the_place}
    shutil.rmtree(here)
    with RunningCluster(tmp_path, workers=0, plain=False) as cluster:
        cluster.add_worker("compiler")
        (cluster.folder / "compiler/cache").mkdir()
        (cluster.folder / "compiler/cache/ccache").symlink_to(cache.root / "ccache")
        cluster.wait_for(1)
        words = ["measure", str(file), "-n", "2", "--cluster", cluster.address, "--runs", str(tmp_path / "runs")]
        done = subprocess.run(
            [sys.executable, "-m", "bootlab", *words], capture_output=True, text=True, cwd=ROOT, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path: file_sha256(path) for path in before} == before
    assert re.search(r"worker tcp://127\.0\.0\.1:\d+ \(.+\): building Linux 6\.12\.\d+ for x86_64, ", done.stderr)
    assert re.search(r"worker tcp://127\.0\.0\.1:\d+ \(.+\): compiled 250 files", done.stderr)
    (summary,) = (tmp_path / "runs").glob(f"*/{SUMMARY}")
    assert [worker["boots"] for worker in json.loads(summary.read_text())["workers"]] == [2]


def test_boots_of_a_system_are_those_of_this_host(tmp_path: Path, cache: Cache, clustered: RunningCluster) -> None:
    """Kernel and initramfs are copied to a cache that had neither."""
    system: System = read_system(TINY / "tiny.toml")
    prepared = prepare(Workshop(cache), system)
    jobs = [Job("one", prepared)]
    here = engine(new_run(tmp_path / "here")).boot_all(jobs)
    with opened(clustered, tmp_path / "c", []) as place:
        there = engine(new_run(tmp_path / "there"), place=place).boot_all(jobs)
    assert [lean(one.model_dump(mode="json")) for one in here] == [lean(one.model_dump(mode="json")) for one in there]
