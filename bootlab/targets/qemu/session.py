"""QEMU as a target: its process with its console, its control socket through qemu.qmp."""

import asyncio
import contextlib
import logging
import signal
import socket
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from qemu.qmp import ConnectError, QMPClient, QMPError

from bootlab.errors import BootFailed
from bootlab.sources import SET_UP
from bootlab.targets.launch import LaunchStep
from bootlab.targets.machine_process import MachineProcess, exit_words
from bootlab.targets.qemu.program import plugin_environment
from bootlab.targets.target import ConsoleBytes, Ended, EndReason, LineStamps, MarkReached, StandsStill

_CONNECT_S = 20.0
_STOP_S = 5.0

logging.getLogger("qemu.qmp").setLevel(logging.CRITICAL)


class QemuSession:
    """One QEMU process from start to end. `argv` comes from qemu_argv() with `wiring.qmp_socket` = `qmp_socket`.

    Its console comes through a pipe: no line delays it. `inherited`: descriptors that QEMU has as well.
    """

    byte_ns = 0

    def __init__(
        self,
        argv: Sequence[str],
        qmp_socket: Path,
        *,
        stderr: Path,
        inherited: Sequence[int] = (),
        trace: Path | None = None,
    ) -> None:
        self._argv = list(argv)
        self._socket = qmp_socket
        hint = f"{SET_UP} installs it; bootlab doctor lists every tool"
        self._process = MachineProcess(argv, stderr=stderr, inherited=inherited, hint=hint, trace=trace)
        self._qmp = QMPClient("bootlab")
        self._queue: asyncio.Queue[ConsoleBytes | MarkReached | StandsStill | Ended] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        self._reason: EndReason | None = None
        self._stood_still = ""
        self._stopping = False
        self.wakes = False
        """Whether a guest that suspends itself is woken by us, at once."""
        self._steps: list[LaunchStep] = []
        self.doubts: tuple[str, ...] = ()
        self.remarks: tuple[str, ...] = ()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        started_ns = time.monotonic_ns()
        await self._process.start(plugin_environment if "-plugin" in self._argv else lambda program: {})
        self.doubts += self._process.doubts
        self._tasks.append(asyncio.create_task(self._read_console()))
        try:
            await self._connect()
        except BaseException:
            await self._end()
            raise
        # It makes its VM before it opens its control socket.
        self._steps.append(LaunchStep("VMM start and VM creation", started_ns, time.monotonic_ns()))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    def tell_mark(self, name: str) -> None:
        """Say in `events()` that a mark was reached. From any thread."""
        with contextlib.suppress(RuntimeError):
            # The loop is gone where the boot is over.
            self._loop.call_soon_threadsafe(self._queue.put_nowait, MarkReached(name))

    @property
    def pid(self) -> int:
        """Return the process id of QEMU, which was started."""
        return self._process.pid

    async def power_on(self) -> int:
        """Let the machine run; returns the host's monotonic time in ns. Raises BootFailed if QEMU is already gone."""
        t_ns = time.monotonic_ns()
        try:
            await self._qmp.execute("cont")
        except (QMPError, OSError) as error:
            raise BootFailed(f"{self._argv[0]}: lost before its first instruction: {self.error_text()}") from error
        self._steps.append(LaunchStep("API", self._steps[-1].end_ns, t_ns))
        return t_ns

    def launch(self) -> tuple[LaunchStep, ...]:
        """Return what came before its first instruction, in order."""
        return tuple(self._steps)

    async def events(self) -> AsyncIterator[ConsoleBytes | MarkReached | StandsStill | Ended]:
        while True:
            event = await self._queue.get()
            yield event
            if isinstance(event, Ended):
                return

    def withheld_s(self) -> float:
        """Return the seconds that QEMU's hungriest thread waited for a CPU; 0.0 where Linux does not tell."""
        return self._process.withheld_s()

    async def stop(self) -> None:
        """Ask QEMU to quit; kill it if it does not within five seconds."""
        self._stopping = True
        # QEMU may close the socket before it answers: that is the quit we asked for.
        with contextlib.suppress(QMPError, OSError, asyncio.TimeoutError):
            await asyncio.wait_for(self._qmp.execute("quit"), _STOP_S)
        try:
            await asyncio.wait_for(self._process.wait(), _STOP_S)
        except TimeoutError:
            self._process.kill()

    @property
    def qmp(self) -> QMPClient:
        """Return what speaks with QEMU's control socket; connected from the session's beginning to its end."""
        return self._qmp

    def stamps(self) -> LineStamps | None:
        return None

    def error_text(self) -> str:
        """Return the last lines that QEMU wrote to its stderr, as one line."""
        return self._process.error_text()

    async def _connect(self) -> None:
        until = time.monotonic() + _CONNECT_S
        while True:
            try:
                await self._qmp.connect(str(self._socket))
                break
            except ConnectError as error:
                if self._process.exit_code is not None or await self._process.exited_soon():
                    text = self.error_text() or exit_words(self._process.exit_code)
                    newer = "plugin requires API version" in text
                    raise BootFailed(
                        f"{self._argv[0]}: did not start: {text}",
                        hint="this QEMU is newer than this bootlab: QEMU 9.2 to 11.1 are known to work"
                        if newer
                        else "the command line is in the boot's record and can be run by hand",
                    ) from error
                # In a storm many start at once: what this one stood without a CPU is not its own time.
                if time.monotonic() > until + self.withheld_s():
                    raise BootFailed(
                        f"{self._argv[0]}: no answer on its control socket in {_CONNECT_S:.0f} s"
                    ) from error
        self._tasks.append(asyncio.create_task(self._watch_qmp()))

    async def _watch_qmp(self) -> None:
        try:
            async for event in self._qmp.events:
                if event["event"] == "SHUTDOWN":
                    data = event["data"]
                    assert isinstance(data, dict)
                    self._reason = _shutdown_reason(str(data.get("reason", "")), guest=bool(data.get("guest")))
                elif event["event"] == "SUSPEND" and self.wakes:
                    # Its clock stands still until then: no matter how long this takes.
                    await self._qmp.execute("system_wakeup")
                elif event["event"] == "STOP" and not self._stopping and self._reason is None:
                    self._queue.put_nowait(StandsStill(time.monotonic_ns()))
                elif event["event"] == "GUEST_PANICKED":
                    self._reason = EndReason.GUEST_PANIC
                elif event["event"] == "BLOCK_IO_ERROR":
                    data = event["data"]
                    assert isinstance(data, dict)
                    self._take_disk_error(data)
        except (QMPError, OSError, asyncio.CancelledError):
            # The socket ends with QEMU; the console's end of file is what reports it.
            return

    def _take_disk_error(self, data: Mapping[str, object]) -> None:
        """Take what QMP's BLOCK_IO_ERROR says: a guest that QEMU stopped for it waits for room that nobody makes."""
        if data.get("action") != "stop":
            return
        self._stood_still = (
            f"the guest was stopped: {data.get('device')}: {data.get('operation')}: {data.get('reason')}"
        )
        if data.get("nospace"):
            self._stood_still += "; what a guest writes is kept in a file in $TMPDIR, or else in /var/tmp"
        self._process.kill()

    async def _read_console(self) -> None:
        code = await self._process.follow_console(self._queue.put_nowait)
        # The SHUTDOWN event and the end of the console race each other; both are at most a few ms away.
        for _ in range(20):
            if self._reason is not None or code != 0 or self._stopping:
                break
            await asyncio.sleep(0.005)
        self._queue.put_nowait(Ended(time.monotonic_ns(), *self._ending(code)))

    def _ending(self, code: int) -> tuple[EndReason, str]:
        if self._stopping and code in (0, -signal.SIGKILL):
            return EndReason.STOPPED, ""
        if self._stood_still:
            return EndReason.DIED, f"{self._argv[0]}: {self._stood_still}"
        if code != 0:
            text = self.error_text()
            return EndReason.DIED, f"{self._argv[0]}: {exit_words(code)}" + (f": {text}" if text else "")
        return self._reason or EndReason.STOPPED, ""

    async def _end(self) -> None:
        self._stopping = True
        await self._process.end()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(QMPError, OSError, EOFError):
            await self._qmp.disconnect()


def _shutdown_reason(reason: str, *, guest: bool) -> EndReason:
    # QMP's ShutdownCause (qapi/run-state.json).
    if reason == "guest-panic":
        return EndReason.GUEST_PANIC
    if reason == "guest-reset":
        return EndReason.GUEST_RESET
    if guest:
        return EndReason.GUEST_SHUTDOWN
    return EndReason.STOPPED


def find_free_port() -> int:
    """Return a TCP port of this host that was free a moment ago."""
    # Another process may take the port before QEMU binds it; QEMU then says so and the boot fails at once.
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
