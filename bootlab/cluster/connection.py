"""Connects to a cluster, or starts one on this host for as long as a command runs; and knows which workers it has."""

import errno
import fcntl
import logging
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import dask
from distributed import Client, LocalCluster
from distributed.security import Security
from distributed.versions import VersionMismatchWarning

from bootlab.cluster.address import CERTIFICATE_HINT, OPTION, LocalWorkers, RunningScheduler, is_loopback
from bootlab.errors import BootFailed, InputError

CONNECT_S: Final = 15
_ENV: Final = "DASK_DISTRIBUTED__COMM__TLS__"
_TLS: Final = {
    "tls_ca_file": ("ca-file", "CA_FILE"),
    "tls_client_cert": ("client.cert", "CLIENT__CERT"),
    "tls_client_key": ("client.key", "CLIENT__KEY"),
}
_PACKAGE: Final = re.compile(r"^\| (\S+) ", re.MULTILINE)
_FOLDER: Final = "bootlab-cluster-"
_LOCK: Final = "lock"
_QUIET: Final[dict[str, Any]] = {
    # What a user has to know of workers is said by bootlab, once and in its words.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.log-length": 60,
    # Beyond this a worker's boots count as lost, and run elsewhere.
    "distributed.scheduler.worker-ttl": "60s",
    # A boot that has taken two workers with it is not tried on a third.
    "distributed.scheduler.allowed-failures": 1,
}


@contextmanager
def connected(where: LocalWorkers | RunningScheduler, tell: Callable[[str], None]) -> Iterator[Client]:
    """Give the client of a cluster. `tell` hears of versions that differ in it.

    Raises InputError for certificates, BootFailed where nobody answers.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    logging.getLogger("tornado").setLevel(logging.CRITICAL)
    with dask.config.set(_QUIET):
        if isinstance(where, LocalWorkers):
            with _local(where) as client:
                yield client
        else:
            with _running(where, tell) as client:
                yield client


@contextmanager
def _local(where: LocalWorkers) -> Iterator[Client]:
    folder = tempfile.mkdtemp(prefix=_FOLDER)
    held = _hold(Path(folder))
    _remove_abandoned(Path(folder).parent)
    # Other users of this host reach its loopback as well, and a scheduler would run their code as ours.
    cluster = None
    try:
        cluster = LocalCluster(
            n_workers=where.number,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            security=Security.temporary(),
            dashboard_address=None,
            local_directory=folder,
            # QEMU's memory is not the worker's, and a limit would end a worker for it.
            memory_limit=0,
            silence_logs=logging.CRITICAL,
            env={"DASK_LOGGING__DISTRIBUTED": "critical"},
        )
        with Client(cluster, timeout=CONNECT_S, set_as_default=False) as client:
            yield client
    finally:
        if cluster is not None:
            with suppress(Exception):
                cluster.close(timeout=10)
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _hold(folder: Path) -> int:
    held = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    return held


def _remove_abandoned(parent: Path) -> None:
    # A command that was killed could not remove its workers' folder: nobody holds it any more.
    for folder in parent.glob(f"{_FOLDER}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            held = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(held)


@contextmanager
def _running(where: RunningScheduler, tell: Callable[[str], None]) -> Iterator[Client]:
    security = _certificates(where.url) if where.encrypted else None
    try:
        with warnings.catch_warnings(record=True) as said:
            client = Client(where.url, timeout=CONNECT_S, security=security, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise BootFailed(
            f"{OPTION} {where.url}: no scheduler answers there: {_last_cause(error)}",
            hint="dask scheduler starts one, and dask worker ADDRESS each worker (docs/cluster.md)",
        ) from error
    differing = [str(one.message) for one in said if issubclass(one.category, VersionMismatchWarning)]
    if names := sorted({name for text in differing for name in differing_packages(text)}):
        tell(f"{where.url}: not everywhere the version that this host has of {', '.join(names)}: docs/cluster.md")
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=5)


def differing_packages(warning: str) -> list[str]:
    """Return the packages of which a cluster has several versions, as Dask's table of them names them.

    Its Pythons may differ: what runs on a worker is bootlab, whose files are compared.
    """
    return [name for name in _PACKAGE.findall(warning) if name not in ("Package", "python")]


def _certificates(url: str) -> Security:
    security = Security()
    for field, (key, variable) in _TLS.items():
        value = getattr(security, field)
        if not value:
            raise InputError(
                f"{OPTION} {url}: TLS needs a certificate, and distributed.comm.tls.{key} of Dask's configuration is "
                f"not set: {_ENV}{variable}=FILE",
                hint=CERTIFICATE_HINT,
            )
        # A certificate may be in the configuration itself.
        if "\n" not in value and not os.access(value, os.R_OK):
            raise InputError(
                f"{OPTION} {url}: {value}: cannot be read (distributed.comm.tls.{key})", hint=CERTIFICATE_HINT
            )
    return security


def _last_cause(error: BaseException) -> str:
    while error.__cause__ is not None and str(error.__cause__):
        error = error.__cause__
    return str(error) or type(error).__name__


def expect_safe_workers(addresses: list[str]) -> None:
    """Raise InputError where a worker can be reached by everybody, and believes whoever reaches it."""
    open_ones = [one for one in addresses if not one.startswith(("tls://", "inproc://")) and not is_loopback(one)]
    if open_ones:
        raise InputError(
            f"{OPTION}: {', '.join(open_ones[:3])}: a worker without TLS that others than this host can reach: it "
            "runs the code of everybody who does",
            hint=CERTIFICATE_HINT,
        )


def workers_of(client: Client) -> dict[str, dict[str, Any]]:
    """Return the workers there are now, by their addresses: `name`, `nthreads`, `host`. Raises OSError."""
    # What scheduler_info() returns is shared with a look of Dask's own every 2 s, which asks for no workers:
    # now and then it would say that all of them are gone.
    if client.scheduler is None:
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
    found: dict[str, dict[str, Any]] = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    return found


def had_tasks(client: Client, worker: str, is_wanted: Callable[[str], bool]) -> bool:
    """Return whether a worker that is gone took work with it; True where nobody knows. Raises OSError.

    Work is what it had to do, or had done where that `is_wanted` by the task's name: the scheduler hears a little later
    than the client that an answer was fetched. One that was told to end, and had neither, has taken nothing with it.
    """
    went = [event for _, event in client.get_events(worker) if event.get("action") == "remove-worker"]
    if not went:
        return True
    return bool(went[-1]["processing-tasks"]) or any(is_wanted(str(task)) for task in went[-1]["lost-computed-tasks"])
