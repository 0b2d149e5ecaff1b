"""A storm of small processes that are machines: at once and at a rate, with failures, and nothing left behind it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bootlab.errors import InputError, StoreError
from bootlab.measure.record import Outcome
from bootlab.measure.storm import Storm, run_storm
from bootlab.system import System
from bootlab.targets.machine_process import MachineProcess
from bootlab.targets.target import NO_FILES, Ended, EndReason, LineStamps, OpenedMachine, Prepared

SYSTEM = {
    "name": "made-up",
    "machine": {"type": "microvm"},
    "clock": {"kind": "wall"},
    "kernel": {"image": "/dev/null"},
    "booted": {"mark": "ready", "deadline_s": 20},
}
GOOD = "sleep 0.1; echo bootlab: mark ready; exec sleep 60"


class ShellSession:
    """A machine that is a shell: what it prints is its console."""

    byte_ns, doubts, remarks = 0, (), ()

    def __init__(self, script: str, directory: Path) -> None:
        self.process = MachineProcess(["sh", "-c", script], stderr=directory / "stderr")

    async def power_on(self) -> int:
        t_ns = time.monotonic_ns()
        await self.process.start()
        return t_ns

    async def events(self) -> AsyncIterator[object]:
        queue: asyncio.Queue[object] = asyncio.Queue()

        async def follow() -> None:
            await self.process.follow_console(queue.put_nowait)
            queue.put_nowait(Ended(time.monotonic_ns(), EndReason.STOPPED))

        task = asyncio.create_task(follow())
        while True:
            event = await queue.get()
            yield event
            if isinstance(event, Ended):
                await task
                return

    def withheld_s(self) -> float:
        return 0.0

    async def stop(self) -> None:
        await self.process.end()

    def stamps(self) -> LineStamps | None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellPrepared(Prepared):
    script: str
    pids: list[int]

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        if self.script == "broken":
            raise InputError("made-up: cannot be opened")
        session = ShellSession(self.script, directory)

        def pid() -> int | None:
            if session.process._process is None:
                return None
            self.pids.append(session.process.pid)
            return session.process.pid

        try:
            yield OpenedMachine(session, pid=pid)  # type: ignore[arg-type]
        finally:
            await session.process.end()


def storm(folder: Path, scripts: list[str], *, rate: float | None = None, pids: list[int] | None = None) -> Storm:
    """Run a storm of these shells."""
    pids = [] if pids is None else pids
    prepared = [
        ShellPrepared(
            system=System.model_validate(SYSTEM), files=NO_FILES, hashes={}, sizes={}, runs_on="sh", script=script,
            pids=pids,
        )
        for script in scripts
    ]  # fmt: skip

    def directory(number: int) -> Path:
        (folder / str(number)).mkdir()
        return folder / str(number)

    return run_storm(prepared, directory, rate=rate, patience=1.0)


def test_all_are_up_together_and_gone_behind_it(tmp_path: Path) -> None:
    pids: list[int] = []
    found = storm(tmp_path, [GOOD] * 20, pids=pids)
    assert all(one.ready_ns is not None and one.record is not None for one in found.machines)
    assert all((one.pss_kib or 0) > 0 and one.use is not None for one in found.machines)
    assert max(one.begun_ns for one in found.machines) < min(one.ready_ns or 0 for one in found.machines) + 10**9
    assert found.took_ns >= max(one.ready_ns or 0 for one in found.machines)
    assert len(set(pids)) == 20 and not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_at_a_rate_each_has_its_time(tmp_path: Path) -> None:
    found = storm(tmp_path, [GOOD] * 4, rate=10)
    assert [one.due_ns for one in found.machines] == [0, 100_000_000, 200_000_000, 300_000_000]
    assert all(one.begun_ns >= one.due_ns for one in found.machines)


def test_one_that_fails_holds_up_nobody(tmp_path: Path) -> None:
    found = storm(tmp_path, [GOOD, "exit 3", GOOD])
    outcomes = [one.record.outcome for one in found.machines if one.record is not None]
    assert outcomes == [Outcome.READY, Outcome.NOT_READY, Outcome.READY]
    assert [one.ready_ns is None for one in found.machines] == [False, True, False]


def test_one_that_ended_before_the_last_was_up_is_told(tmp_path: Path) -> None:
    found = storm(tmp_path, ["echo bootlab: mark ready; sleep 0.1", GOOD, GOOD.replace("0.1", "1")])
    assert [one.ended_early for one in found.machines] == [True, False, False]
    assert found.machines[0].pss_kib is None and all(one.ready_ns is not None for one in found.machines)


def test_one_that_cannot_be_opened_ends_the_storm_and_every_machine(tmp_path: Path) -> None:
    pids: list[int] = []
    with pytest.raises(InputError, match="cannot be opened"):
        storm(tmp_path, [GOOD, GOOD, "broken"], rate=2, pids=pids)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_boot_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    prepared = ShellPrepared(
        system=System.model_validate(SYSTEM), files=NO_FILES, hashes={}, sizes={}, runs_on="sh", script=GOOD, pids=[]
    )
    with pytest.raises(StoreError, match="gone"):
        run_storm([prepared], lambda number: tmp_path / "gone", rate=None, patience=1.0)
