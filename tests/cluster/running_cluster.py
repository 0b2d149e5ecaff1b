"""A real scheduler and real workers, each a process of its own, as a user starts them: `dask scheduler`, `dask worker`.

with RunningCluster(tmp_path, workers=2) as cluster:
    cluster.address, cluster.worker_pids(), cluster.kill_scheduler()
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from distributed import Client
from distributed.security import Security

from bootlab.build.cache import Cache
from bootlab.cluster.address import RunningScheduler
from bootlab.cluster.connection import workers_of
from bootlab.cluster.place import Cluster, open_cluster

_STARTS_S = 90


class RunningCluster:
    """A scheduler and workers of one thread each. `plain`: without a nanny, so that a killed worker stays away.

    `host`: the address that the scheduler listens at.
    """

    def __init__(
        self,
        folder: Path,
        *,
        workers: int = 2,
        plain: bool = True,
        certificate: tuple[Path, Path] | None = None,
        host: str = "127.0.0.1",
    ) -> None:
        self.folder = folder / "cluster"
        self.folder.mkdir(parents=True)
        self._file = self.folder / "scheduler.json"
        self._plain = plain
        self._certificate = certificate
        self._processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start(
            "scheduler",
            {},
            *("scheduler", "--host", host, "--port", "0", "--no-dashboard"),
            *("--scheduler-file", str(self._file)),
            *(["--protocol", "tls"] if certificate else []),
        )
        for number in range(workers):
            self.add_worker(f"worker-{number}")

    def add_worker(
        self,
        name: str,
        env: Mapping[str, str] | None = None,
        *,
        host: str = "127.0.0.1",
        inside: Sequence[str] = (),
        python: str = sys.executable,
    ) -> subprocess.Popen[bytes]:
        """Start one more worker, whose cache is its own. `env` is added to what it finds.

        `inside`: the command that runs another one where this worker is to be; `host` and `python`: its address and its
        Python there.
        """
        place = self.folder / name
        place.mkdir()
        return self._start(
            name,
            {"BOOTLAB_CACHE": str(place / "cache"), **(env or {})},
            *("worker", "--scheduler-file", str(self._file), "--nthreads", "1", "--no-dashboard", "--name", name),
            *("--host", host, "--local-directory", str(place), "--memory-limit", "0"),
            *(["--no-nanny"] if self._plain else []),
            *(["--protocol", "tls"] if self._certificate else []),
            inside=(*inside, python),
        )

    @property
    def address(self) -> str:
        """Return where the scheduler listens, once it does."""
        until = time.monotonic() + _STARTS_S
        while time.monotonic() < until:
            try:
                return str(json.loads(self._file.read_text())["address"])
            except (OSError, ValueError):
                assert self.scheduler.poll() is None, (self.folder / "scheduler.log").read_text()
                time.sleep(0.05)
        raise AssertionError((self.folder / "scheduler.log").read_text())

    @contextmanager
    def client(self) -> Iterator[Client]:
        """Give a client that looks at the cluster, and boots nothing."""
        with Client(self.address, security=self.security, timeout=30, set_as_default=False) as client:
            yield client

    @property
    def security(self) -> Security | None:
        """Return what a client needs to be let in."""
        if self._certificate is None:
            return None
        certificate, key = map(str, self._certificate)
        return Security(
            tls_ca_file=certificate, tls_client_cert=certificate, tls_client_key=key, require_encryption=True
        )

    def wait_for(self, workers: int) -> dict[str, dict[str, Any]]:
        """Return the workers, by address, once there are so many."""
        with self.client() as client:
            client.wait_for_workers(workers, timeout=_STARTS_S)
            return workers_of(client)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End a scheduler or a worker by SIGKILL, with all that it has started."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def __enter__(self) -> "RunningCluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            if process.poll() is None:
                self.kill(process)

    def _start(
        self, name: str, env: Mapping[str, str], *words: str, inside: Sequence[str] = (sys.executable,)
    ) -> subprocess.Popen[bytes]:
        given: list[str] = []
        if self._certificate is not None:
            certificate, key = map(str, self._certificate)
            given = ["--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key]
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                # Whatever ends the tests ends these, too.
                ["setpriv", "--pdeathsig", "KILL", "--", *inside, "-m", "dask", *words, *given],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **env},
                cwd=self.folder,
                start_new_session=True,
            )
        self._processes.append(process)
        return process


@contextmanager
def opened(cluster: RunningCluster, cache: Path, told: list[str], parallel: int | None = None) -> Iterator[Cluster]:
    """Give a running cluster as a place for boots; `cache` is the client's own."""
    where = RunningScheduler(cluster.address)
    with open_cluster(where, Cache(cache), parallel=parallel, tell=told.append) as place:
        yield place
