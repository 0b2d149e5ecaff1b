"""QEMU as a target: a process that cannot be leaked, its console on a pipe, its control socket through qemu.qmp.

Three things end a QEMU whatever happens to us: leaving the session, the kernel's parent-death signal (set by setpriv
before exec, so a crash or kill -9 of ours takes QEMU along), and the deadline of whoever waits for the events.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from qemu.qmp import ConnectError, QMPClient, QMPError

from bootlab.errors import BootFailed, MissingTool
from bootlab.process import require_program
from bootlab.targets.qemu.program import plugin_environment
from bootlab.targets.target import ConsoleBytes, Ended, EndReason, LineStamps, MarkReached, StandsStill

# The pipe must hold a whole boot's console: if QEMU's write blocked, the guest's UART would see a busy transmitter, and
# the exact clock would depend on how fast we read.
_PIPE_BYTES = 1 << 20
_CONNECT_S = 20.0
_STOP_S = 5.0

logging.getLogger("qemu.qmp").setLevel(logging.CRITICAL)


class QemuSession:
    """One QEMU process from start to end. `argv` comes from qemu_argv() with `wiring.qmp_socket` = `qmp_socket`.

    Its console comes through a pipe: no line delays it. `inherited`: descriptors that QEMU has as well.
    """

    byte_ns = 0

    def __init__(self, argv: Sequence[str], qmp_socket: Path, *, stderr: Path, inherited: Sequence[int] = ()) -> None:
        self._argv = list(argv)
        self._socket = qmp_socket
        self._stderr = stderr
        self._inherited = tuple(inherited)
        self._process: asyncio.subprocess.Process | None = None
        self._qmp = QMPClient("bootlab")
        self._queue: asyncio.Queue[ConsoleBytes | MarkReached | StandsStill | Ended] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        self._reason: EndReason | None = None
        self._stood_still = ""
        self._stopping = False
        self.wakes = False
        """Whether a guest that suspends itself is woken at once."""
        self.doubts: tuple[str, ...] = ()
        self.remarks: tuple[str, ...] = ()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        program = shutil.which(self._argv[0])
        if program is None:
            raise MissingTool(
                f"{self._argv[0]}: not found", hint="make setup installs it; bootlab doctor lists every tool"
            )
        environment = plugin_environment(Path(program)) if "-plugin" in self._argv else {}
        setpriv = require_program("setpriv", package="util-linux")
        read_fd, write_fd = os.pipe2(os.O_CLOEXEC)
        self._widen(write_fd)
        try:
            with self._stderr.open("wb") as errors:
                self._process = await asyncio.create_subprocess_exec(
                    *[setpriv, "--pdeathsig", "KILL", "--", program, *self._argv[1:]],
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=write_fd,
                    stderr=errors,
                    env={**os.environ, **environment},
                    # Ctrl-C in a terminal goes to the whole foreground group; QEMU must die by our hand, in order.
                    start_new_session=True,
                    pass_fds=self._inherited,
                )
        except BaseException:
            os.close(read_fd)
            raise
        finally:
            os.close(write_fd)
        self._tasks.append(asyncio.create_task(self._read_console(read_fd)))
        try:
            await self._connect()
        except BaseException:
            await self._end()
            raise
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
        assert self._process is not None
        return self._process.pid

    async def power_on(self) -> int:
        """Let the machine run; returns the host's monotonic time in ns. Raises BootFailed if QEMU is already gone."""
        t_ns = time.monotonic_ns()
        try:
            await self._qmp.execute("cont")
        except (QMPError, OSError) as error:
            raise BootFailed(f"{self._argv[0]}: lost before its first instruction: {self.error_text()}") from error
        return t_ns

    async def events(self) -> AsyncIterator[ConsoleBytes | MarkReached | StandsStill | Ended]:
        while True:
            event = await self._queue.get()
            yield event
            if isinstance(event, Ended):
                return

    def withheld_s(self) -> float:
        """Return the seconds that QEMU's hungriest thread waited for a CPU; 0.0 where Linux does not tell."""
        delays = [0]
        for path in Path(f"/proc/{self.pid}/task").glob("*/schedstat"):
            # Time on a CPU, time waiting for one, both in ns, and turns (Documentation/scheduler/sched-stats.rst).
            with contextlib.suppress(OSError, ValueError, IndexError):
                delays.append(int(path.read_text().split()[1]))
        return max(delays) / 1e9

    async def stop(self) -> None:
        """Ask QEMU to quit; kill it if it does not within five seconds."""
        assert self._process is not None
        self._stopping = True
        # QEMU may close the socket before it answers: that is the quit we asked for.
        with contextlib.suppress(QMPError, OSError, asyncio.TimeoutError):
            await asyncio.wait_for(self._qmp.execute("quit"), _STOP_S)
        try:
            await asyncio.wait_for(self._process.wait(), _STOP_S)
        except TimeoutError:
            self._kill()

    @property
    def qmp(self) -> QMPClient:
        """Return what speaks with QEMU's control socket; connected from the session's beginning to its end."""
        return self._qmp

    def stamps(self) -> LineStamps | None:
        return None

    def error_text(self) -> str:
        """Return the last lines that QEMU wrote to its stderr, as one line."""
        try:
            lines = self._stderr.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return " / ".join(line.strip() for line in lines[-3:] if line.strip())

    def _widen(self, pipe: int) -> None:
        # fcntl(2), F_SETPIPE_SZ: EPERM beyond /proc/sys/fs/pipe-max-size, or when the user's pipes hold too much.
        try:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError as error:
            held = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
            self.doubts = (
                f"the console's pipe holds {held} bytes, not {_PIPE_BYTES} ({error.strerror}): if the guest prints "
                "faster than this host reads, its boot may not repeat exactly (/proc/sys/fs/pipe-max-size)",
            )

    async def _connect(self) -> None:
        assert self._process is not None
        until = time.monotonic() + _CONNECT_S
        while True:
            try:
                await self._qmp.connect(str(self._socket))
                break
            except ConnectError as error:
                if self._process.returncode is not None or await self._exited_soon():
                    text = self.error_text() or _exit_words(self._process.returncode)
                    newer = "plugin requires API version" in text
                    raise BootFailed(
                        f"{self._argv[0]}: did not start: {text}",
                        hint="this QEMU is newer than this bootlab: QEMU 9.2 to 11.1 are known to work"
                        if newer
                        else "the command line is in the boot's record and can be run by hand",
                    ) from error
                if time.monotonic() > until:
                    raise BootFailed(
                        f"{self._argv[0]}: no answer on its control socket in {_CONNECT_S:.0f} s"
                    ) from error
        self._tasks.append(asyncio.create_task(self._watch_qmp()))

    async def _exited_soon(self) -> bool:
        assert self._process is not None
        try:
            await asyncio.wait_for(asyncio.shield(self._process.wait()), 0.02)
        except TimeoutError:
            return False
        return True

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
        self._kill()

    async def _read_console(self, fd: int) -> None:
        assert self._process is not None
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        os.set_blocking(fd, False)
        loop.add_reader(fd, ready.set)
        try:
            while True:
                await ready.wait()
                ready.clear()
                try:
                    data = os.read(fd, 65536)
                except BlockingIOError:
                    continue
                if not data:
                    break
                self._queue.put_nowait(ConsoleBytes(time.monotonic_ns(), data))
                ready.set()
        finally:
            loop.remove_reader(fd)
            os.close(fd)
        code = await self._process.wait()
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
            return EndReason.DIED, f"{self._argv[0]}: {_exit_words(code)}" + (f": {text}" if text else "")
        return self._reason or EndReason.STOPPED, ""

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def _end(self) -> None:
        self._stopping = True
        self._kill()
        if self._process is not None:
            await self._process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(QMPError, OSError, EOFError):
            await self._qmp.disconnect()


def _exit_words(code: int | None) -> str:
    """Return how a process ended; `code` is as in subprocess, None while nobody knows."""
    if code is None:
        return "no message"
    return f"killed by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit code {code}"


def _shutdown_reason(reason: str, *, guest: bool) -> EndReason:
    # QMP's ShutdownCause (qapi/run-state.json).
    if reason == "guest-panic":
        return EndReason.GUEST_PANIC
    if reason == "guest-reset":
        return EndReason.GUEST_RESET
    if guest:
        return EndReason.GUEST_SHUTDOWN
    return EndReason.STOPPED


@contextlib.contextmanager
def make_socket_folder() -> Iterator[Path]:
    """Give a short-lived private folder whose path is short enough for a Unix socket (108 bytes)."""
    with tempfile.TemporaryDirectory(prefix="bootlab-") as folder:
        yield Path(folder)


def find_free_port() -> int:
    """Return a TCP port of this host that was free a moment ago."""
    # Another process may take the port before QEMU binds it; QEMU then says so and the boot fails at once.
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
