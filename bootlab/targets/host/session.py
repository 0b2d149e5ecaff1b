"""One machine on a network, as a session: off, on, its answers, off again."""

import asyncio
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

from bootlab.errors import BootFailed
from bootlab.probing.questions import find_place
from bootlab.system import Command, HostMachine, words_of
from bootlab.targets.host.answers import Answers, AnswersFollowed, questions_of
from bootlab.targets.power import run_command


class HostSession(AnswersFollowed):
    """One machine from before power-on to off again."""

    def __init__(self, machine: HostMachine) -> None:
        self._machine = machine
        self.doubts: tuple[str, ...] = ()
        self._answers = Answers(machine)
        self._stopped = False

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what came of the asking."""
        return self._answers.remarks

    async def __aenter__(self) -> Self:
        try:
            # A name that nobody knows is told before anything is switched.
            self._place = await asyncio.to_thread(find_place, self._machine.host, self._machine.family)
            await self._power("power_off", self._machine.power_off)
            if self._machine.power_off is not None:
                await asyncio.sleep(self._machine.off_s)
        except BaseException:
            self._answers.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._answers.stop()
        if not self._stopped:
            # A boot that was interrupted leaves no machine running; that it cannot be ended is no news then.
            with suppress(BootFailed):
                await self._power("power_off", self._machine.power_off)

    async def power_on(self) -> int:
        """Switch the machine on and ask; returns the host's monotonic time in ns just before. Raises BootFailed."""
        t_ns = time.monotonic_ns()
        self._answers.begin(t_ns)
        machine = self._machine
        if machine.asked_ports or machine.ping:
            # From before the power is there: what answers at once was on already.
            self._answers.ask(questions_of(machine, self._place, machine.host))
        await self._power("power_on", machine.power_on)
        if machine.power_on is not None:
            self._answers.tell_fact("power_on_took", f"{(time.monotonic_ns() - t_ns) / 1e6:.3f} ms")
        return t_ns

    async def stop(self) -> None:
        """Ask no more and switch the machine off; that it could not be is told in `doubts`."""
        self._stopped = True
        await asyncio.to_thread(self._answers.stop)
        try:
            await self._power("power_off", self._machine.power_off)
        except BootFailed as error:
            self.doubts = (*self.doubts, f"the machine may still be on: {error.message}")

    async def _power(self, key: str, command: Command | None) -> None:
        if command is not None:
            await run_command(f"target.{key}", words_of(command), self._machine.power_deadline_s)
