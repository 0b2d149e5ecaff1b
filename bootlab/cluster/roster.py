"""The workers of a cluster: who is there, who may boot what, who is slow; what a user has to know of them, told once.

A worker may boot a system if its tools for it (QEMU, firmware, plugin) and its bootlab are those of this host, byte for
byte. Figures of others could differ, so they are kept apart: they get no boot, and are named with what differs.
"""

import re
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from distributed import Client

from bootlab.cluster.connection import expect_safe_workers, had_tasks, workers_of
from bootlab.cluster.order import WorkerFacts
from bootlab.cluster.worker import hash_sources, look
from bootlab.errors import BootFailed, Interrupted
from bootlab.kept_file import UNREADABLE, parse_kept, read_kept
from bootlab.measure.record_files import write_json
from bootlab.targets.target import Prepared

WAIT_S: Final = 60
_REFRESH_S: Final = 1.0
_SLOW: Final = 2.0
_NOT_WORTH_A_WORD_S: Final = 1.0
_ENOUGH: Final = 5
"""Boots of a worker, and of the others, before it is called slow."""
ALONE: Final = "worker.json"
"""In a run whose boots are timed by a clock on the wall: the worker that they ran on."""
SUMMARY: Final = "cluster.json"
"""In a run that a cluster booted: its workers, what each did, and who was left out, why."""
_PROCESSOR: Final = ("cpu_model", "cpu_flags")
_ToolsKey = tuple[tuple[str, str], ...]


class NoneMay(BootFailed):
    """There are workers, and none may do what is to be done."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a worker has to have before it gets something to do."""

    todo: str
    """What is to be done, as in `no worker may boot NAME`."""
    tools: dict[str, str]
    """Name -> what this host has; a worker needs the same."""
    key: _ToolsKey
    """Two needs with one key are looked at once."""
    look: Callable[..., Any]
    """Runs on a worker, with `words`, and returns its WorkerFacts."""
    words: tuple[Any, ...]
    left_out: str = "left out"
    """What is said of a worker that may not."""
    boots: bool = True


def need_of(prepared: Prepared) -> Need:
    """Return what a worker has to have to boot a system just as this host."""
    key = {**prepared.tools, "clock": prepared.system.clock.kind.value, "on": prepared.runs_on}
    todo = f"boot {prepared.system.name}"
    return Need(todo, prepared.tools, tuple(sorted(key.items())), look, (prepared.system,))


class Roster:
    """The workers, as this client knows them; from any thread. `at_start` runs on each worker when it is first seen."""

    def __init__(
        self, client: Client, tell: Callable[[str], None], *, at_start: Callable[[], None] | None = None
    ) -> None:
        self.tell = tell
        self._client = client
        self._at_start = at_start
        self._lock = threading.RLock()
        self._workers: dict[str, dict[str, Any]] = {}
        self._refreshed = 0.0
        self._looked: dict[tuple[str, _ToolsKey], str | None] = {}
        self._unable_to_boot: dict[str, str] = {}
        self._facts: dict[str, WorkerFacts] = {}
        self._left_out: dict[str, str] = {}
        self._told = set[str]()
        self._took = defaultdict[str, list[float]](list)
        self._slow = set[str]()
        self._runs = set[Path]()
        self._lost = 0
        self._answers: dict[str, str | None] = {}
        """Task -> the worker that answered, None before that."""

    @property
    def address(self) -> str:
        """Where the scheduler is, or was."""
        return str(self._client.scheduler.address if self._client.scheduler is not None else "the cluster")

    def wait_for_workers(self, number: int) -> None:
        """Return when so many workers are there. Raises BootFailed where none comes within a minute."""
        until = time.monotonic() + WAIT_S
        while len(self._refresh(now=True)) < number:
            if time.monotonic() > until:
                if self._workers:
                    break
                raise BootFailed(
                    f"{self.address}: the cluster has no worker, and none came within {WAIT_S} s",
                    hint="dask worker ADDRESS starts one (docs/cluster.md)",
                )
            self._tell_once(f"{self.address}: waiting for a worker, {WAIT_S} s at most")
            time.sleep(0.2)
        self._tell_once(f"{self.address}: {len(self._workers)} workers, {self.slots()} boots at once")

    def slots(self) -> int:
        """Return how many boots the workers have room for, of those that are not left out."""
        with self._lock:
            return sum(one["nthreads"] for address, one in self._workers.items() if address not in self._left_out)

    def fit(self, need: Need, cancelled: Callable[[], bool]) -> list[str]:
        """Return the addresses of the workers that have what is needed; waits a minute for one.

        Raises NoneMay, BootFailed where none is there; Interrupted.
        """
        until = time.monotonic() + WAIT_S
        while True:
            with self._lock:
                there = self._refresh()
                self._look_at(need, list(there))
                found = [one for one in there if self._looked[one, need.key] is None and one not in self._left_out]
            if found:
                return sorted(found)
            if cancelled():
                raise Interrupted("interrupted")
            if there:
                whys = [self._left_out.get(one) or self._looked[one, need.key] for one in there]
                raise NoneMay(
                    f"{self.address}: no worker may {need.todo}: " + "; ".join(dict.fromkeys(str(why) for why in whys)),
                    hint="workers need the QEMU, firmware, plugin and bootlab of this host: docs/cluster.md",
                )
            if time.monotonic() > until:
                raise BootFailed(f"{self.address}: every worker is gone", hint="start workers, then the same command")
            self._tell_once(f"every worker is gone: waiting for one, {WAIT_S} s at most")
            time.sleep(0.2)

    def one_for(self, run: Path, workers: list[str]) -> str:
        """Return the one of `workers` that all boots of a run on a clock on the wall have to share.

        Raises BootFailed where the run began on a worker that is not among them.
        """
        with self._lock:
            machines = {one: self._machine(one) for one in workers}
            try:
                said = parse_kept(read_kept(run / ALONE))
                address = str(said["address"])
                # Those who kept no processor are of older versions.
                began = {name: str(said[name]) for name in ("host", *(_PROCESSOR if "cpu_flags" in said else ()))}
            except FileNotFoundError:
                address = workers[0]
                write_json(run / ALONE, {"schema": "bootlab.worker/1", "address": address, **machines[address]})
                self.tell(f"timed by a clock on the wall: all on {self.name(address)}, one at a time")
                return address
            except UNREADABLE as error:
                raise BootFailed(f"{run / ALONE}: damaged: {error}", hint="begin a new run") from error
            # Started again it has another port, and is the same machine; another machine may have its port.
            same = [one for one, found in machines.items() if began.items() <= found.items()]
            if not same:
                raise BootFailed(
                    f"{run}: its boots were timed on worker {address} ({', '.join(began.values())}), which is not "
                    "there: on another one they would not compare",
                    hint="start that worker again, or begin a new run",
                )
            return address if address in same else same[0]

    def any_alive(self, workers: list[str]) -> bool:
        """Return whether one of these workers is still there."""
        with self._lock:
            return not self._refresh().keys().isdisjoint(workers)

    def leave_out(self, worker: str, reason: str) -> None:
        """Give this worker no boot any more, and say why."""
        with self._lock:
            if worker not in self._left_out:
                self._left_out[worker] = reason
                self._tell_once(f"left out: {self.name(worker)}: {reason}")

    def count_boot(self, worker: str, run: Path, wall_s: float) -> None:
        """Count a boot of a run that took `wall_s` on a worker; one that takes far longer than the others is named."""
        with self._lock:
            self._runs.add(run)
            self._took[worker].append(wall_s)
            others = [took for one, all_ in self._took.items() if one != worker for took in all_]
            mine = self._took[worker]
            if worker in self._slow or len(mine) < _ENOUGH or len(others) < _ENOUGH or len(mine) % _ENOUGH:
                return
            usual, its = statistics.median(others), statistics.median(mine)
            if its > _SLOW * usual and its > usual + _NOT_WORTH_A_WORD_S:
                self._slow.add(worker)
                self.tell(f"slow: {self.name(worker)}: {its:.1f} s a boot, the others {usual:.1f} s")

    def asked(self, task: str) -> None:
        """Note a task that a worker is asked to do."""
        self._answers[task] = None

    def answered(self, task: str, worker: str) -> None:
        """Note whose answer to a task was fetched."""
        self._answers[task] = worker

    def _is_wanted_of(self, worker: str, task: str) -> bool:
        # An answer that another worker gave instead was lost with this one.
        return task in self._answers and self._answers[task] != worker

    def tell_at_end(self, sent_bytes: int) -> None:
        """Say how the boots were spread, where there were any, and write it into each run that has some."""
        with self._lock:
            if self._client.status == "running":
                # A worker that was lost with the last boots is named as well.
                with suppress(BootFailed):
                    self._refresh(now=True)
            document = {
                "schema": "bootlab.cluster/1",
                "address": self.address,
                "workers": [self._summary(one) for one in sorted({*self._took, *self._whys()})],
                "lost_workers": self._lost,
                "sent_bytes": sent_bytes,
            }
            for run in self._runs:
                write_json(run / SUMMARY, document)
            counts = [len(took) for took in self._took.values()]
            if counts:
                lost = f"; {self._lost} workers were lost" if self._lost else ""
                out = f"; {len(self._whys())} left out" if self._whys() else ""
                self.tell(
                    f"{sum(counts)} boots on {len(counts)} workers, {min(counts)} to {max(counts)} each{out}{lost}"
                )

    def _whys(self) -> dict[str, str]:
        return {**self._unable_to_boot, **self._left_out}

    def _summary(self, worker: str) -> dict[str, Any]:
        took = self._took.get(worker, [])
        return {
            "address": worker,
            **self._machine(worker),
            "boots": len(took),
            "median_s": round(statistics.median(took), 3) if took else None,
            "left_out": self._whys().get(worker),
        }

    def _refresh(self, *, now: bool = False) -> dict[str, dict[str, Any]]:
        with self._lock:
            if now or time.monotonic() - self._refreshed > _REFRESH_S:
                try:
                    found = workers_of(self._client)
                    gone = {
                        one: had_tasks(self._client, one, partial(self._is_wanted_of, one))
                        for one in self._workers.keys() - found.keys()
                    }
                except (OSError, RuntimeError, ValueError, TypeError) as error:
                    raise BootFailed(
                        f"{self.address}: the scheduler is gone",
                        hint="finished boots are kept; start the cluster again, then the same command, with --resume "
                        "where it has one",
                    ) from error
                expect_safe_workers(list(found))
                for one, lost in gone.items():
                    self._lost += lost
                    self.tell(
                        f"lost: {self.name(one)}; what it was booting runs elsewhere"
                        if lost
                        else f"left: {self.name(one)}; it had nothing to boot"
                    )
                new = found.keys() - self._workers.keys()
                self._workers, self._refreshed = found, time.monotonic()
                if new and self._at_start is not None:
                    self._client.run(self._at_start, workers=list(new), on_error="ignore")
            return self._workers

    def _look_at(self, need: Need, workers: list[str]) -> None:
        new = [one for one in workers if (one, need.key) not in self._looked]
        if not new:
            return
        said = self._client.run(need.look, *need.words, workers=new, on_error="return")
        for worker in new:
            facts = said.get(worker)
            if not isinstance(facts, WorkerFacts):
                why: str | None = f"it cannot look for its tools: {type(facts).__name__}: {facts}; is bootlab there?"
            else:
                self._facts[worker] = facts
                why = differs(facts, need.tools)
            self._looked[worker, need.key] = why
            if why is not None:
                if need.boots:
                    self._unable_to_boot[worker] = why
                self._tell_once(f"{need.left_out}: {self.name(worker)}: {why}")

    def _machine(self, worker: str) -> dict[str, str]:
        facts = self._facts.get(worker)
        said = ("", "", "") if facts is None else (facts.host, facts.cpu_model or "", facts.cpu_flags)
        return dict(zip(("host", *_PROCESSOR), said, strict=True))

    def host(self, worker: str) -> str:
        """Return the name of a worker's host, empty where that is not known yet."""
        return self._machine(worker)["host"]

    def name(self, worker: str) -> str:
        """Return what a user is told of a worker: its address, and its host where that is known."""
        host = self.host(worker)
        return f"worker {worker}{f' ({host})' if host else ''}"

    def _tell_once(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self.tell(line)


def differs(facts: WorkerFacts, tools: dict[str, str]) -> str | None:
    """Return what a worker has otherwise than this host, in words; None where it may boot."""
    if facts.problem is not None:
        return facts.problem
    named = {**tools, "bootlab": hash_sources()}
    theirs = {**facts.tools, "bootlab": facts.sources}
    found = [
        f"another {name}, {_brief(theirs.get(name))} and not {_brief(named.get(name))}"
        for name in sorted(named.keys() | theirs.keys())
        if named.get(name) != theirs.get(name)
    ]
    return ", ".join(found) or None


def _brief(tool: str | None) -> str:
    # A hash, or the version that a compiler says.
    return "none" if tool is None else tool[:12] if re.fullmatch("[0-9a-f]{64}", tool) else tool
