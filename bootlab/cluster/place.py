"""A cluster as a place where boots run: each boot is a task, sent to workers that would boot it just as this host.

Workers are looked at before they get a boot. One that differs (QEMU, plugin, firmware, bootlab itself) gets none, and
is named. What a lost worker was doing runs on another one; where the scheduler is lost, so is all that was under way.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import zstandard
from distributed import Client, Future
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.cluster.address import LocalWorkers, RunningScheduler
from bootlab.cluster.connection import connected
from bootlab.cluster.kernels import KernelTasks
from bootlab.cluster.order import BootDone, Lacking, Refused, Unfit
from bootlab.cluster.packing import Packer
from bootlab.cluster.roster import Roster, need_of
from bootlab.cluster.sending import Sending
from bootlab.cluster.worker import leave_ctrl_c_to_the_client, run_order, running
from bootlab.errors import BootFailed, InputError, Interrupted
from bootlab.measure.causes.ending import Ending
from bootlab.measure.guest.heard_console import HeardConsole
from bootlab.measure.observed_boot import ObservedBoot
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_contents import HostRun, fill_record
from bootlab.measure.record_files import read_record, store_error, write_whole
from bootlab.system import ClockKind
from bootlab.targets.target import Prepared

_LOOKED_EVERY_S: Final = 1.0
_MOST_ASKED: Final = 512
_RECORD: Final = "record.json"
_END_S: Final = 15
_UNWANTED_AFTER: Final = 3
"""So often an input may be sent for again before it is given up."""


class Cluster:
    """The promise of `measure.place.BootPlace`, kept by the workers of a cluster. Made by `open_cluster`."""

    def __init__(self, client: Client, cache: Cache, roster: Roster, parallel: int | None) -> None:
        self._client = client
        self._roster = roster
        self._packer = Packer(cache)
        self._sending = Sending(client)
        self._kernels = KernelTasks(client, roster, self._sending, self._ask)
        self._most = parallel
        self._packing = threading.Lock()
        self._me = secrets.token_hex(6)
        self._count = 0
        self._stopped = False
        self.order_bytes = 0
        """Bytes of the orders that were sent."""
        self.answer_bytes = 0
        """Bytes of the boots that came back, compressed."""

    @property
    def parallel(self) -> int:
        return min(self._most or _MOST_ASKED, max(1, self._roster.slots()))

    def look_again(self) -> None:
        """Ask the scheduler now which workers there are."""
        self._roster.wait_for_workers(1)

    @property
    def asked_ahead(self) -> int:
        # A worker that ends a boot finds the next one there already.
        return self.parallel if self._most else min(_MOST_ASKED, 2 * self.parallel)

    def furnish(self, shop: Workshop) -> Workshop:
        """Return the workshop with its kernels compiled by workers, one task each."""
        return replace(shop, compile_place=self._kernels)

    def boot(self, prepared: Prepared, directory: Path, cancelled: Callable[[], bool]) -> BootRecord:
        """Boot once on a worker. Raises BootFailed where the cluster is lost, InputError for what cannot go there."""
        if prepared.bound_here is not None:
            raise InputError(f"{prepared.bound_here}, so no worker can boot it", hint="leave out --cluster")
        with self._packing:
            order = self._packer.pack(prepared)
        need = need_of(prepared)
        alone = prepared.system.clock.kind is not ClockKind.VIRTUAL
        begun, started = time.monotonic(), datetime.now(UTC).isoformat(timespec="milliseconds")
        sent = 0
        while True:
            workers = self._roster.fit(need, cancelled)
            if alone:
                workers = [self._roster.one_for(directory.parents[1], workers)]
            unable = self._sending.deliver(order.inputs, workers, cancelled)
            if unable:
                for worker, reason in unable.items():
                    self._roster.leave_out(worker, reason)
                continue
            try:
                self._count += 1
                task = f"{self._me}-{self._count}-boot-{order.key}"
                answer = self._ask(task, (run_order, order), workers, cancelled)
            except KilledWorker as error:
                lost = f"its worker was lost, and the next one as well: {str(error.last_worker.address)}"
                return _lost(prepared, directory, lost, HostRun([], started, time.monotonic() - begun))
            if isinstance(answer, BootDone):
                self.order_bytes += len(order.prepared)
                self.answer_bytes += sum(map(len, answer.files.values()))
                record = _unpacked(answer, directory)
                self._roster.count_boot(answer.worker, directory.parents[1], record.wall_s)
                return record
            if isinstance(answer, Refused):
                raise InputError(answer.message, hint=answer.hint)
            if isinstance(answer, Unfit):
                self._roster.leave_out(answer.worker, answer.reason)
            elif isinstance(answer, Lacking):
                sent += 1
                if sent > _UNWANTED_AFTER:
                    self._roster.leave_out(answer.worker, "what is sent to it does not stay whole")
                self._sending.forget(answer.worker, answer.sha256s)

    def _ask(self, task: str, call: Sequence[Any], workers: list[str], cancelled: Callable[[], bool]) -> Any:
        """Return a worker's answer; None where all of `workers` are gone, and others have to be asked.

        `call`: the function that runs there, and what it is given besides the task's name.
        """
        done = threading.Event()
        self._roster.asked(task)
        future = self._submit(task, call, workers)
        future.add_done_callback(lambda _: done.set())
        try:
            while not done.wait(_LOOKED_EVERY_S):
                if cancelled():
                    self._stopped = True
                    future.cancel()
                    raise Interrupted("interrupted")
                self._expect_scheduler()
                if not self._roster.any_alive(workers):
                    future.cancel()
                    return None
            answer = future.result(timeout=120)
            self._roster.answered(task, answer.worker)
            return answer
        except (CancelledError, CommClosedError, TimeoutError) as error:
            if cancelled():
                raise Interrupted("interrupted") from error
            raise self._scheduler_lost() from error
        finally:
            future.release()

    def _submit(self, task: str, call: Sequence[Any], workers: list[str]) -> "Future[Any]":
        try:
            return self._client.submit(*call, task, key=task, workers=workers, allow_other_workers=False, pure=False)
        except (OSError, RuntimeError, ValueError) as error:
            raise self._scheduler_lost() from error

    def _expect_scheduler(self) -> None:
        if self._client.status != "running":
            raise self._scheduler_lost()

    def _scheduler_lost(self) -> BootFailed:
        return BootFailed(
            f"{self._roster.address}: the scheduler is gone, and with it the boots that were under way",
            hint="finished boots are kept; start the cluster again, then the same command, with --resume where it "
            "has one",
        )

    @property
    def sent_bytes(self) -> int:
        """Bytes of inputs that this client has sent to workers."""
        return self._sending.sent_bytes

    def close(self) -> None:
        """Wait until no worker runs a boot of this client any more."""
        if not self._stopped:
            return
        until = time.monotonic() + _END_S
        while time.monotonic() < until and self._client.status == "running":
            try:
                left: dict[str, Any] = self._client.run(running, self._me, on_error="ignore")
            except (OSError, CommClosedError, TimeoutError):
                return
            if not sum(left.values()):
                return
            time.sleep(0.2)
        self._roster.tell("workers did not say within 15 s that they have ended the boots that were under way")


@contextmanager
def open_cluster(
    where: LocalWorkers | RunningScheduler, cache: Cache, *, parallel: int | None, tell: Callable[[str], None]
) -> Iterator[Cluster]:
    """Give the place that a cluster is. Raises BootFailed where nobody answers, or no worker comes."""
    with connected(where, tell) as client:
        roster = Roster(client, tell, at_start=leave_ctrl_c_to_the_client if isinstance(where, LocalWorkers) else None)
        roster.wait_for_workers(where.number if isinstance(where, LocalWorkers) else 1)
        place = Cluster(client, cache, roster, parallel)
        try:
            yield place
        finally:
            place.close()
            roster.tell_at_end(place.sent_bytes)


def _unpacked(answer: BootDone, directory: Path) -> BootRecord:
    unpacker = zstandard.ZstdDecompressor()
    files = {name: unpacker.decompress(data) for name, data in answer.files.items()}
    record = BootRecord.model_validate_json(files.pop(_RECORD)).model_copy(update={"run": str(directory)})
    try:
        for name, data in files.items():
            # A worker is believed in what it measured, not in where that is to be written.
            (directory / Path(name).name).write_bytes(data)
        write_whole(directory / _RECORD, record.model_dump_json(by_alias=True, indent=1) + "\n")
    except OSError as error:
        raise store_error(directory, error) from error
    return read_record(directory)


def _lost(prepared: Prepared, directory: Path, why: str, run: HostRun) -> BootRecord:
    # A machine that was lost in mid-boot says nothing about the system: so it is said by every place.
    seen = ObservedBoot(prepared, directory, HeardConsole(prepared, None), 1.0)
    record = fill_record(seen, Ending(Outcome.TARGET_DIED, why), run)
    try:
        (directory / "console.log").write_bytes(b"")
        write_whole(directory / _RECORD, record.model_dump_json(by_alias=True, indent=1) + "\n")
    except OSError as error:
        raise store_error(directory, error) from error
    return record
