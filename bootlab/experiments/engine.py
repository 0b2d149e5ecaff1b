"""Run many boots: a few at once, resumable, stopped cleanly by Ctrl-C; one failed boot loses only itself.

On the virtual clock boots cannot disturb each other's figures, so as many run at once as their place has room for. On
the wall clock they would, so they run one after the other. The place is this host, or a cluster (`measure.place`).
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.workshop import Workshop
from bootlab.errors import Interrupted, StoreError, is_interruption
from bootlab.experiments.from_mark import FromMark
from bootlab.experiments.store import Run
from bootlab.measure.place import BootPlace, Here
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import read_record
from bootlab.system import ClockKind
from bootlab.targets.target import Prepared


@dataclass(frozen=True, slots=True)
class Job:
    """One boot to run; `label` names its directory in the run."""

    label: str
    prepared: Prepared
    keeps: bool = False
    """Others will begin as it does: worth keeping its machine, where boots begin at a mark."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What an engine tells a watcher each time a boot has ended."""

    job: Job
    record: BootRecord
    reused: bool
    """The run had this very boot already: it is being resumed, or an earlier step booted the same."""


Watcher = Callable[[Progress], None]


class Engine:
    """Runs jobs into one run's directory. `place`: where they run; this host, one a core, where nothing else is said.

    `side_by_side`: boots on the wall clock run beside each other, too, as many as the place has room for.
    `from_mark`: where boots begin that need not be powered on.
    With `reuse`, a virtual-clock boot whose key the run has on record is not booted again: it would be identical.
    """

    def __init__(
        self,
        run: Run,
        *,
        place: BootPlace | None = None,
        reuse: bool = False,
        watcher: Watcher = lambda progress: None,
        side_by_side: bool = False,
        from_mark: FromMark | None = None,
    ) -> None:
        self.run = run
        self.from_mark = from_mark
        self._side_by_side = side_by_side
        self._reuse = reuse
        finished = _finished(run) if reuse else []
        self._known = {record.key: record for record in finished if self._counts(record)}
        self._place = place or Here()
        self.boots = 0
        """Boots run here so far; those reused do not count."""
        self.qemu_s = 0.0
        """Seconds of those boots, one after the other."""
        self.booting_s = 0.0
        """Host seconds in which boots ran, several at a time."""
        self._watcher = watcher
        self._cancel = threading.Event()

    @property
    def parallel(self) -> int:
        """Return the number of virtual-clock boots at once."""
        return self._place.parallel

    def furnish(self, shop: Workshop) -> Workshop:
        """Return the workshop with its kernels compiled where the place of the boots has them compiled."""
        return self._place.furnish(shop)

    def boot_all(self, jobs: Sequence[Job]) -> list[BootRecord]:
        """Return the record of each job, in order. Raises Interrupted on Ctrl-C, after every machine has ended."""
        wall = any(job.prepared.system.clock.kind is not ClockKind.VIRTUAL for job in jobs)
        alone = wall and not self._side_by_side
        began = time.monotonic()
        records: dict[str, BootRecord] = {}
        pool = ThreadPoolExecutor(max_workers=1 if alone else self._place.asked_ahead, thread_name_prefix="boot")
        try:
            pending: dict[Future[tuple[BootRecord, bool]], Job] = {pool.submit(self._one, job): job for job in jobs}
            while pending:
                done, _ = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
                # Of those that ended meanwhile the earlier job first, as they ran.
                for future in [one for one in pending if one in done]:
                    job = pending.pop(future)
                    record, reused = future.result()
                    records[job.label] = record
                    if not reused:
                        self.boots += 1
                        self.qemu_s += record.wall_s
                    self._watcher(Progress(job, record, reused))
        except (KeyboardInterrupt, ValueError) as error:
            if not is_interruption(error):
                raise
            raise Interrupted(
                f"interrupted; finished boots are kept in {self.run.path}",
            ) from error
        finally:
            self.booting_s += time.monotonic() - began
            self._cancel.set()
            pool.shutdown(wait=True, cancel_futures=True)
            self._cancel.clear()
        return [records[job.label] for job in jobs]

    def _one(self, job: Job) -> tuple[BootRecord, bool]:
        virtual = job.prepared.system.clock.kind is ClockKind.VIRTUAL
        if self._reuse and virtual and (known := self._known.get(job.prepared.key)) is not None:
            return known, True
        directory = self.run.path / "boots" / job.label
        # On the wall clock no two boots are the same, but a resumed run goes on behind those it has.
        earlier = find_finished_boot(directory, job.prepared) if self._reuse else None
        if earlier is not None and self._counts(earlier):
            return earlier, True
        cancelled = self._cancel.is_set
        if self.from_mark is not None:
            record = self.from_mark.boot(self._place, job.prepared, job.label, cancelled, keeps=job.keeps)
        else:
            record = self._place.boot(job.prepared, self.run.boot_directory(job.label), cancelled)
        if _says_something(record):
            self._known[record.key] = record
        return record, False

    def _counts(self, record: BootRecord) -> bool:
        # Who does not ask for a mark wants boots from power-on: perhaps because those from the mark differed.
        return record.began is None or self.from_mark is not None


def find_finished_boot(directory: Path, prepared: Prepared) -> BootRecord | None:
    """Return the record of a boot in its directory; None unless it is that of `prepared`, whole and of use."""
    if not (directory / "record.json").is_file():
        return None
    with suppress(StoreError):
        record = read_record(directory)
        return record if record.key == prepared.key and _says_something(record) else None
    return None


def _says_something(record: BootRecord) -> bool:
    # A machine that was killed from outside says nothing about the system.
    return record.outcome is not Outcome.TARGET_DIED


def _finished(run: Run) -> list[BootRecord]:
    records = []
    for path in run.records():
        # A record that a full disk cut short is a boot to run again.
        with suppress(StoreError):
            records.append(read_record(path))
    return [record for record in records if _says_something(record)]
