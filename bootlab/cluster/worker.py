"""What runs on a worker: what it says of itself, the inputs it takes, and one boot from its order to its files.

A boot goes on for as long as its task is wanted. Where its client is gone, or has pressed Ctrl-C, or the scheduler is
gone, the task is not wanted any more, and the machine is stopped.
"""

import asyncio
import hashlib
import platform
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from weakref import WeakKeyDictionary

import zstandard
from distributed import Worker, get_worker
from distributed.core import Status

import bootlab
from bootlab.build.cache import Cache
from bootlab.cluster.inputs import InputStore
from bootlab.cluster.order import Answer, BootDone, Input, Lacking, Order, Refused, Unfit, WorkerFacts
from bootlab.cluster.packing import unpack
from bootlab.errors import BootlabError, Interrupted, MissingTool, StoreError
from bootlab.measure.boot import boot
from bootlab.measure.host.facts import read_host_facts
from bootlab.process import ProgramFailed
from bootlab.system import System
from bootlab.targets.registry import target_of

_SCRATCH = "bootlab"
_WANTED = (Status.running, Status.paused)
_running: set[str] = set()
_one_store = threading.Lock()
_stores: WeakKeyDictionary[Worker, InputStore] = WeakKeyDictionary()


async def look(system: System) -> WorkerFacts:
    """Return what this worker is, and what it would boot `system` with."""
    # Programs are hashed and asked for their versions, while the worker goes on answering its scheduler.
    return await asyncio.to_thread(describe_worker, lambda: target_of(system).tools(system))


def describe_worker(find_tools: Callable[[], dict[str, str]]) -> WorkerFacts:
    """Return what this worker is, with the tools that `find_tools` finds here, or why it finds none."""
    facts = read_host_facts()
    found = WorkerFacts(socket.gethostname(), facts["machine"], facts["cpu_model"], hash_cpu_flags(), hash_sources())
    try:
        tools = find_tools()
    except (BootlabError, OSError) as error:
        return _with(found, {}, error.message if isinstance(error, BootlabError) else str(error))
    return _with(found, tools, None)


def _with(facts: WorkerFacts, tools: dict[str, str], problem: str | None) -> WorkerFacts:
    return WorkerFacts(
        facts.host, facts.machine, facts.cpu_model, facts.cpu_flags, facts.sources, tools=tools, problem=problem
    )


@lru_cache
def hash_sources() -> str:
    """Return the sha256 of bootlab's Python here: another one might see or say something else of a boot."""
    digest, root = hashlib.sha256(), Path(bootlab.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@lru_cache
def hash_cpu_flags() -> str:
    """Return 12 digits that are the same on two hosts whose processors have the same features."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("flags", "Features", "isa"):
                return hashlib.sha256(" ".join(sorted(value.split())).encode()).hexdigest()[:12]
    return platform.machine()


def leave_ctrl_c_to_the_client() -> None:
    """Let this worker, which a command has started on its own terminal, go on at Ctrl-C: the command ends it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


async def lacking(inputs: Sequence[Input], dask_worker: Worker) -> list[str]:
    """Return the hashes of those inputs that this worker has not got, or not whole."""
    # To look at a disk image takes seconds, in which a worker has to go on answering its scheduler.
    return await asyncio.to_thread(lambda: store_of(dask_worker).lacking(inputs))


async def take(sha256: str, offset: int, data: bytes, sender: str, dask_worker: Worker) -> str | None:
    """Take a piece of an input; returns why it cannot be kept."""
    try:
        await asyncio.to_thread(lambda: store_of(dask_worker).take(sha256, offset, data, sender))
    except (BootlabError, OSError) as error:
        return str(error)
    return None


async def finish(sha256: str, sender: str, dask_worker: Worker) -> bool | str:
    """Return whether the input has come whole; or why it cannot be kept."""
    try:
        return await asyncio.to_thread(lambda: store_of(dask_worker).finish(sha256, sender))
    except (BootlabError, OSError) as error:
        return str(error)


def running(client: str) -> int:
    """Return how many boots of a client run here, or are being ended."""
    return sum(one.startswith(client) for one in list(_running))


def run_order(order: Order, task: str) -> Answer:
    """Boot once, as ordered, and return what the boot left; or why this worker has not booted. `task`: its key."""
    worker = get_worker()
    _running.add(task)
    try:
        store = store_of(worker)
        if missing := store.lacking(order.inputs):
            return Lacking(worker.address, tuple(missing))
        folder = _scratch(worker)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="boot-", dir=folder) as directory:
            prepared = unpack(order, store.path)
            # Looked at once more: a package may have been upgraded under a worker that goes on.
            if target_of(prepared.system).tools(prepared.system) != prepared.tools or prepared.key != order.key:
                return Unfit(worker.address, "its QEMU, firmware or plugin is not that which the boot was prepared for")
            boot(prepared, Path(directory), cancelled=lambda: is_unwanted(worker, task))
            return BootDone(worker.address, _packed(Path(directory)))
    except Interrupted:
        raise
    except (BootlabError, OSError) as error:
        return refusal(worker, error)
    finally:
        _running.discard(task)


def is_unwanted(worker: Worker, task: str) -> bool:
    """Return whether nobody waits for a task any more that runs on this worker."""
    known = worker.state.tasks.get(task)
    return worker.status not in _WANTED or known is None or known.state == "cancelled"


def refusal(worker: Worker, error: BootlabError | OSError) -> Unfit | Refused:
    """Return the answer that an error is: of this worker, or of what was ordered."""
    if isinstance(error, StoreError | MissingTool | ProgramFailed):
        return Unfit(worker.address, error.message)
    if isinstance(error, BootlabError):
        return Refused(worker.address, error.message, error.hint)
    return Unfit(worker.address, f"{error.filename or worker.local_directory}: {error.strerror or error}")


def _scratch(worker: Worker) -> Path:
    return Path(worker.local_directory) / _SCRATCH


def store_of(worker: Worker) -> InputStore:
    """Return the inputs of a worker of this process."""
    with _one_store:
        if worker not in _stores:
            _stores[worker] = InputStore(Cache.default(), _scratch(worker) / "inputs")
        return _stores[worker]


def _packed(directory: Path) -> dict[str, bytes]:
    packer = zstandard.ZstdCompressor(level=3)
    files = [path for path in sorted(directory.iterdir()) if path.is_file() and not path.is_symlink()]
    return {path.name: packer.compress(path.read_bytes()) for path in files}
