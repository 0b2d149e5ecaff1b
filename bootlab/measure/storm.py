"""A launch storm: many machines of one system at once, or so many a second, until all are up or have failed.

All run in one event loop, so that nothing but the host holds them up; what bootlab itself takes of it is told. Each
stays as it is until the last is up: only then is it known what a machine takes beside the others.
"""

import asyncio
import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bootlab.errors import StoreError
from bootlab.measure.boot import boot_observed
from bootlab.measure.guest.heard_console import HeardConsole
from bootlab.measure.host.process_use import (
    ProcessUse,
    held_up_in,
    is_there,
    read_available_kib,
    read_pressure_us,
    read_pss_kib,
    read_use,
)
from bootlab.measure.observed_boot import ObservedBoot
from bootlab.measure.record import BootRecord
from bootlab.targets.target import OpenedMachine, Prepared

_LOOK_S: Final = 0.2
"""How often it is looked where machines are held up: seldom, for looking takes CPU from them."""
_FILES_A_MACHINE: Final = 16


@dataclass(slots=True)
class StormMachine:
    """One machine of a storm. Times are ns since the storm's begin, on the host's clock; None: it was not ready."""

    number: int
    due_ns: int
    begun_ns: int = 0
    ready_ns: int | None = None
    use: ProcessUse | None = None
    pss_kib: int | None = None
    ended_early: bool = False
    """It was ready, and had ended by itself before the last one was up."""
    record: BootRecord | None = None


@dataclass(slots=True)
class Storm:
    """What came of a storm. `held_up`: kernel function -> how often a machine was seen with a thread that waits in it.

    `looks`: how often a machine was looked at that was not up yet.
    """

    machines: list[StormMachine]
    held_up: Counter[str] = field(default_factory=Counter)
    looks: int = 0
    memory_kib: int = 0
    """What the host could give less with all machines up than before."""
    pressure_us: dict[str, int] = field(default_factory=dict)
    own_cpu_ns: int = 0
    """What bootlab itself took of the host's CPUs up to the last machine."""
    took_ns: int = 0


def run_storm(
    prepared: Sequence[Prepared],
    directory: Callable[[int], Path],
    *,
    rate: float | None,
    patience: float,
    watcher: Callable[[StormMachine], None] = lambda machine: None,
) -> Storm:
    """Launch every machine and return what came of it. `rate`: machines a second; None: all at once.

    `patience` multiplies the system's deadlines. Machine N, from 1, is recorded in `directory(N)`. Leaving by an
    exception, Ctrl-C too, ends every machine first. Raises as `boot`.
    """
    step_ns = 0 if rate is None else round(1e9 / rate)
    machines = [StormMachine(number, (number - 1) * step_ns) for number in range(1, len(prepared) + 1)]
    _raise_limit(len(machines) * _FILES_A_MACHINE)
    try:
        return asyncio.run(_RunningStorm(machines, watcher).run(prepared, directory, patience))
    except BaseExceptionGroup as errors:
        # What ended one machine has ended all: the first reason is the one that says why.
        first: BaseException = errors
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        if isinstance(first, OSError):
            raise StoreError(f"{first.filename or 'a boot'}: {first.strerror or first}") from errors
        raise first from errors


class _RunningStorm:
    def __init__(self, machines: list[StormMachine], watcher: Callable[[StormMachine], None]) -> None:
        self._storm = Storm(machines)
        self._watcher = watcher
        self._settled = 0
        self._all_up = asyncio.Event()
        self._rising: dict[int, OpenedMachine] = {}
        """Machines that are not up yet, by number."""

    async def run(self, prepared: Sequence[Prepared], directory: Callable[[int], Path], patience: float) -> Storm:
        storm = self._storm
        loop = asyncio.get_running_loop()
        # The pool that is there by default has a few threads a CPU, and machines would wait for those.
        loop.set_default_executor(ThreadPoolExecutor(max_workers=len(storm.machines) + 4))
        before_kib, pressure, cpu_ns = read_available_kib(), read_pressure_us(), time.process_time_ns()
        self._begun_ns = time.monotonic_ns()
        looking = asyncio.create_task(self._look())
        settling = asyncio.create_task(self._settle(before_kib, pressure, cpu_ns))
        try:
            async with asyncio.TaskGroup() as group:
                for machine, one in zip(storm.machines, prepared, strict=True):
                    group.create_task(self._launch(machine, one, directory(machine.number), patience))
            await settling
        finally:
            looking.cancel()
            settling.cancel()
        return storm

    def opened(self, machine: StormMachine, opened: OpenedMachine) -> None:
        """Take note of a machine whose VMM has been started."""
        self._rising[machine.number] = opened

    async def ready(self, machine: StormMachine, opened: OpenedMachine, ready_ns: int) -> None:
        """Take note of a machine that is up, and keep it up until all are."""
        machine.ready_ns = ready_ns - self._begun_ns
        pid = _pid(opened)
        if pid is not None:
            machine.use = read_use(pid)
        self._settle_one(machine)
        await self._all_up.wait()
        if pid is not None:
            machine.pss_kib = read_pss_kib(pid)
            machine.ended_early = not is_there(pid)

    async def _launch(self, machine: StormMachine, prepared: Prepared, directory: Path, patience: float) -> None:
        wait_s = (self._begun_ns + machine.due_ns - time.monotonic_ns()) / 1e9
        await asyncio.sleep(max(0.0, wait_s))
        machine.begun_ns = time.monotonic_ns() - self._begun_ns
        seen = ObservedBoot(prepared, directory, HeardConsole(prepared), patience, watcher=_Watched(self, machine))
        try:
            machine.record = await boot_observed(seen)
        finally:
            if machine.ready_ns is None:
                self._settle_one(machine)

    def _settle_one(self, machine: StormMachine) -> None:
        self._rising.pop(machine.number, None)
        self._settled += 1
        self._watcher(machine)
        if self._settled == len(self._storm.machines):
            self._all_up.set()

    async def _settle(self, before_kib: int, pressure: dict[str, int], cpu_ns: int) -> None:
        await self._all_up.wait()
        storm = self._storm
        storm.took_ns = time.monotonic_ns() - self._begun_ns
        storm.own_cpu_ns = time.process_time_ns() - cpu_ns
        storm.memory_kib = before_kib - read_available_kib()
        storm.pressure_us = {name: total - pressure.get(name, 0) for name, total in read_pressure_us().items()}

    async def _look(self) -> None:
        while not self._all_up.is_set():
            await asyncio.sleep(_LOOK_S)
            for opened in list(self._rising.values()):
                if (pid := _pid(opened)) is not None:
                    self._storm.looks += 1
                    self._storm.held_up.update(set(held_up_in(pid)))


@dataclass(frozen=True, slots=True)
class _Watched:
    running: _RunningStorm
    machine: StormMachine

    def opened(self, opened: OpenedMachine) -> None:
        self.running.opened(self.machine, opened)

    async def ready(self, opened: OpenedMachine, ready_ns: int) -> None:
        await self.running.ready(self.machine, opened, ready_ns)


def _pid(opened: OpenedMachine) -> int | None:
    return None if opened.pid is None else opened.pid()


def _raise_limit(wanted: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted + 256:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
