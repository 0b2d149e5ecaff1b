"""A real board as a target: switched on and off by commands, watched over its serial line.

The line is read before the power comes, so nothing is missed; what came before that is the last boot's and is dropped.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

import serial

from bootlab.errors import BootFailed
from bootlab.process import require_program
from bootlab.system import SerialLine
from bootlab.targets.power import run_command
from bootlab.targets.serial.port import LineSettings, open_port
from bootlab.targets.serial.reader import Chunk, Gone, SerialReader
from bootlab.targets.target import ConsoleBytes, Ended, EndReason, LineStamps

_WAKE_S = 0.2
_delivered: dict[str, Mapping[str, str]] = {}
"""What each port's board was given last by this process: the same is not delivered twice."""


class SerialSession:
    """One board from before power-on to off again. `delivery` is the environment of the command `deliver`."""

    def __init__(self, line: SerialLine, delivery: Mapping[str, str], contents: Mapping[str, str]) -> None:
        self._line = line
        self._delivery = delivery
        self._contents = {**contents, "command": str(line.deliver)}
        self._stopping = False
        self._ended = False
        self._port = port = open_port(line.port, LineSettings(line.baud, line.format, line.flow))
        self.byte_ns = port.byte_ns
        self.doubts = port.doubts
        self.remarks: tuple[str, ...] = ()
        self._power_ns = 0
        self._reader = SerialReader([port], look=True)
        self._acquired = False

    async def __aenter__(self) -> Self:
        try:
            if self._line.labgrid is not None:
                require_program("labgrid-client", package="labgrid-client")
                await self._command("labgrid", self._labgrid("acquire"), self._line.power_deadline_s)
                self._acquired = True
            await self._off()
            await self._deliver()
            await asyncio.sleep(self._line.off_s)
            self._reader.__enter__()
        except BaseException:
            await self._leave()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if not self._stopping:
                # A boot that was interrupted leaves no board running; that it cannot be ended is no news then.
                with suppress(BootFailed):
                    await self._off()
        finally:
            await self._leave()

    async def power_on(self) -> int:
        """Switch the board on; returns the host's monotonic time in ns just before. Raises BootFailed."""
        while (one := self._reader.next(0)) is not None:
            if isinstance(one, Gone):
                raise BootFailed(f"{self._line.port}: the line is gone ({one.reason}): was the adapter unplugged?")
        line, t_ns = self._line, time.monotonic_ns()
        command = self._labgrid("power", "on") if line.power_on is None else line.words(line.power_on)
        await self._command("target.power_on", command, line.power_deadline_s)
        self._power_ns = time.monotonic_ns() - t_ns
        return t_ns

    async def events(self) -> AsyncIterator[ConsoleBytes | Ended]:
        while True:
            one = await asyncio.to_thread(self._reader.next, _WAKE_S)
            if isinstance(one, Chunk):
                yield ConsoleBytes(one.t_ns, one.data)
            elif isinstance(one, Gone):
                detail = f"{self._line.port}: the line is gone in mid-boot ({one.reason}): was the adapter unplugged?"
                yield Ended(one.t_ns, EndReason.DIED, detail)
                return
            elif self._ended:
                yield Ended(time.monotonic_ns(), EndReason.STOPPED)
                return

    def send(self, data: bytes) -> None:
        """Type at the board's console. Raises BootFailed when the line is gone."""
        try:
            self._port.source.write(data)
        except (OSError, serial.SerialException) as error:
            raise BootFailed(f"{self._line.port}: nothing can be sent to it: {error}") from error

    def stamps(self) -> LineStamps:
        """Return how far the stamps so far may be off; the power came somewhere in the command that gave it."""
        power_ns = 0 if self._line.zero is not None else self._power_ns
        return LineStamps(self.byte_ns, self._reader.late_ns, power_ns)

    def withheld_s(self) -> float:
        return 0.0

    async def stop(self) -> None:
        """Switch the board off; that it could not be is told in `doubts`."""
        self._stopping = True
        try:
            await self._off()
        except BootFailed as error:
            self.doubts = (*self.doubts, f"the board may still be on: {error.message}")
        self._ended = True

    async def _off(self) -> None:
        line = self._line
        if line.labgrid is not None:
            await self._command("labgrid", self._labgrid("power", "off"), line.power_deadline_s)
        elif line.power_off is not None:
            await self._command("target.power_off", line.words(line.power_off), line.power_deadline_s)

    async def _deliver(self) -> None:
        line = self._line
        if line.deliver is None or _delivered.get(line.port) == self._contents:
            return
        _delivered.pop(line.port, None)
        command = line.words(line.deliver)
        await self._command("target.deliver", command, line.deliver_deadline_s, self._delivery)
        _delivered[line.port] = self._contents

    async def _command(
        self, key: str, argv: list[str], deadline_s: float, env: Mapping[str, str] | None = None
    ) -> None:
        await run_command(key, argv, deadline_s, env)

    def _labgrid(self, *words: str) -> list[str]:
        return ["labgrid-client", "-p", self._line.labgrid or "", *words]

    async def _leave(self) -> None:
        self._reader.close()
        if self._acquired:
            # A place that could not be acquired is somebody else's, and stays so.
            with suppress(BootFailed):
                await self._command("labgrid", self._labgrid("release"), self._line.power_deadline_s)
