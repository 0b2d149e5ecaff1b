"""Connections: TLS, and nobody let in without; workers of one command; a cluster that is not there or has no worker."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask
import psutil
import pytest
from distributed.security import Security
from distributed.versions import error_message, get_versions

from bootlab.build.cache import Cache
from bootlab.cluster import connection, roster
from bootlab.cluster.address import LocalWorkers, RunningScheduler
from bootlab.cluster.connection import connected, differing_packages, expect_safe_workers, had_tasks, workers_of
from bootlab.cluster.place import open_cluster
from bootlab.errors import BootFailed, BootlabError, InputError
from tests.cluster.running_cluster import RunningCluster, opened
from tests.cluster.test_place import figures, jobs
from tests.replayed import engine, new_run, replayed

ROOT = Path(__file__).parents[2]


def certificate(folder: Path) -> tuple[Path, Path]:
    """Return one certificate, as docs/cluster.md makes one, and its key."""
    folder.mkdir()
    made = Security.temporary()
    (folder / "cert.pem").write_text(made.tls_ca_file)
    (folder / "key.pem").write_text(made.tls_client_key)
    return folder / "cert.pem", folder / "key.pem"


def given(cert: Path, key: Path) -> dict[str, str]:
    name = "distributed.comm.tls"
    return {f"{name}.ca-file": str(cert), f"{name}.client.cert": str(cert), f"{name}.client.key": str(key)}


def try_to_open(cluster: RunningCluster, folder: Path) -> BootlabError:
    """Return the error with which it is refused."""
    with pytest.raises(BootlabError) as raised, opened(cluster, folder / "cache", []):
        pass
    return raised.value


def test_over_tls_boots_are_the_same_and_a_stranger_is_not_let_in(tmp_path: Path) -> None:
    own, strangers = certificate(tmp_path / "own"), certificate(tmp_path / "strangers")
    system = replayed(tmp_path)
    with RunningCluster(tmp_path, workers=1, certificate=own) as cluster:
        assert cluster.address.startswith("tls://127.0.0.1:")
        refused = try_to_open(cluster, tmp_path)
        assert isinstance(refused, InputError) and refused.hint is not None and "openssl req" in refused.hint
        assert "TLS needs a certificate, and distributed.comm.tls.ca-file of Dask" in refused.message
        with dask.config.set(given(own[0], tmp_path / "missing.pem")):
            assert "cannot be read" in try_to_open(cluster, tmp_path).message
        with dask.config.set(given(*strangers)):
            assert "no scheduler answers" in try_to_open(cluster, tmp_path).message
        with dask.config.set(given(*own)), opened(cluster, tmp_path / "cache", []) as place:
            there = engine(new_run(tmp_path), place=place).boot_all(jobs(system, 1, 2, 3))
    assert figures(there) == figures(engine(new_run(tmp_path / "here")).boot_all(jobs(system, 1, 2, 3)))


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CONNECT_S", 2)
    nowhere = RunningScheduler("tcp://127.0.0.1:1")
    with pytest.raises(BootFailed, match="no scheduler answers there") as raised, connected(nowhere, print):
        pass
    assert raised.value.hint is not None and "dask worker" in raised.value.hint


def test_a_cluster_without_workers_is_waited_for_and_then_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roster, "WAIT_S", 2)
    told: list[str] = []
    with (
        RunningCluster(tmp_path, workers=0) as cluster,
        pytest.raises(BootFailed, match="has no worker, and none came"),
        opened(cluster, tmp_path / "cache", told),
    ):
        pass
    assert any("waiting for a worker" in line for line in told)


def test_workers_are_there_while_dask_looks_at_the_scheduler_itself(tmp_path: Path) -> None:
    """Its own looks ask for no workers: they never stand for an answer to us, however often they come."""
    often = dask.config.set({"distributed.client.scheduler-info-interval": "2ms"})
    with RunningCluster(tmp_path, workers=2) as cluster:
        there = cluster.wait_for(2).keys()
        with often, cluster.client() as client:
            assert all(workers_of(client).keys() == there for _ in range(1000))


def test_a_worker_that_is_killed_with_an_answer_that_nobody_fetched_is_lost(tmp_path: Path) -> None:
    with RunningCluster(tmp_path, workers=0) as cluster:
        workers = {name: cluster.add_worker(name) for name in ("idle", "done")}
        addresses = {one["name"]: address for address, one in cluster.wait_for(2).items()}
        with cluster.client() as client:
            answer, until = client.submit(sum, [1, 2], workers=[addresses["done"]]), time.monotonic() + 30
            while not answer.done() and time.monotonic() < until:
                time.sleep(0.05)
            for worker in workers.values():
                cluster.kill(worker)
            while workers_of(client) and time.monotonic() < until:
                time.sleep(0.05)
            assert not had_tasks(client, addresses["idle"], lambda task: True)
            assert had_tasks(client, addresses["done"], lambda task: task == answer.key)
            assert not had_tasks(client, addresses["done"], lambda task: False), "somebody has fetched it meanwhile"


def test_a_worker_that_ends_in_order_is_not_lost(tmp_path: Path) -> None:
    system, told, run = replayed(tmp_path), list[str](), new_run(tmp_path)
    with RunningCluster(tmp_path, workers=1) as cluster:
        idle = cluster.add_worker("idle")
        cluster.wait_for(2)
        with opened(cluster, tmp_path / "cache", told) as place:
            engine(run, place=place).boot_all(jobs(system, 1, 2, 3, 4))
            idle.send_signal(signal.SIGINT)
            idle.wait(60)
            engine(run, place=place).boot_all(jobs(system, 5, 6, 7, 8))
    assert sum(line.startswith("left: worker") for line in told) == 1, told
    assert not any(line.startswith("lost:") for line in told), told
    assert json.loads((run.path / roster.SUMMARY).read_text())["lost_workers"] == 0


def test_a_worker_that_others_reach_without_tls_is_refused() -> None:
    expect_safe_workers(["tcp://127.0.0.1:1", "tls://192.0.2.1:1", "tcp://[::1]:1"])
    with pytest.raises(InputError, match=r"192\.0\.2\.1:1: a worker without TLS"):
        expect_safe_workers(["tcp://127.0.0.1:1", "tcp://192.0.2.1:1"])


def test_workers_of_one_command_end_with_it_and_are_closed_to_others(tmp_path: Path) -> None:
    own = psutil.Process()
    with open_cluster(LocalWorkers(2), Cache(tmp_path / "cache"), parallel=None, tell=lambda line: None) as place:
        assert place.parallel == 2
        children = own.children(recursive=True)
        assert len(children) >= 2
        records = engine(new_run(tmp_path), place=place).boot_all(jobs(replayed(tmp_path), 1, 2, 3, 4))
    assert all(record.ready_ns is not None for record in records)
    gone, alive = psutil.wait_procs([one for one in children if "resource_tracker" not in " ".join(_words(one))], 15)
    assert not alive
    with connected(LocalWorkers(1), print) as client:
        address = client.scheduler.address
        assert address.startswith("tls://127.0.0.1:") and len(workers_of(client)) == 1
        code = f"from distributed import Client; Client({address!r}, timeout=5)"
        stranger = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=120)
        assert stranger.returncode != 0


def test_a_command_that_is_killed_takes_its_workers_along(tmp_path: Path) -> None:
    replayed(tmp_path)
    system = tmp_path / "small.toml"
    small = (ROOT / "tests/targets/replay/small.toml").read_text()
    init = ROOT / "tests/targets/replay/init"
    system.write_text(
        small.replace('"init"', f'"{init}"') + f'[target]\nkind = "replay"\nboots = "{tmp_path / "recorded"}"\n'
    )
    words = [
        "-m",
        "bootlab",
        "measure",
        str(system),
        "-n",
        "5000",
        "--cluster",
        "local:2",
        "--runs",
        str(tmp_path / "r"),
    ]
    with (tmp_path / "said").open("wb") as said:
        child = subprocess.Popen([sys.executable, *words], stdout=said, stderr=said, cwd=ROOT, env=dict(os.environ))
    until = time.monotonic() + 180
    while not list(tmp_path.glob("r/*/boots/*/record.json")) and time.monotonic() < until:
        assert child.poll() is None, (tmp_path / "said").read_text()
        time.sleep(0.1)
    assert list(tmp_path.glob("r/*/boots/*/record.json")), (tmp_path / "said").read_text()
    workers = psutil.Process(child.pid).children(recursive=True)
    child.kill()
    child.wait()
    assert len(workers) >= 2
    _, alive = psutil.wait_procs(workers, 40)
    assert not alive, [_words(one) for one in alive]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.parametrize(("others", "named"), [({"python": "3.13.5"}, []), ({"python": "3", "toolz": "0"}, ["toolz"])])
def test_of_packages_that_differ_in_a_cluster_those_that_matter_are_named(
    others: dict[str, str], named: list[str]
) -> None:
    """In the table that Dask makes of them."""
    mine = get_versions()
    theirs = {**mine, "packages": {**mine["packages"], **others}}
    said = error_message(mine, {"tls://192.0.2.7:1": theirs}, mine)["warning"]
    assert "python" in said and differing_packages(said) == named
