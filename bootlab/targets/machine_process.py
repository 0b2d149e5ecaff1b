"""The process that is a machine: QEMU or another VMM, which cannot be leaked, with its console on a pipe.

Three things end it whatever happens to us: leaving the session, the kernel's parent-death signal (set by setpriv before
it becomes the program, so a crash or kill -9 of ours takes it along, but in the millisecond before setpriv is there),
and the deadline of whoever waits for its events.
"""

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from bootlab.errors import MissingTool
from bootlab.process import require_program
from bootlab.targets.target import ConsoleBytes

# The pipe must hold a whole boot's console: if the VMM's write blocked, the guest's UART would see a busy transmitter,
# and the exact clock would depend on how fast we read.
_PIPE_BYTES = 1 << 20


VMM_TRACE: Final = "vmm.strace"
"""What a VMM asked KVM for, in a boot's directory."""
_STRACE: Final = (
    "strace", "-f", "-y", "--seccomp-bpf", "--absolute-timestamps=format:unix,precision:ns", "--syscall-times=ns",
    "-e", "trace=ioctl", "-e", "signal=none", "-o",
)  # fmt: skip
"""How a VMM is traced; only its ioctls are stopped."""


class MachineProcess:
    """One VMM's process from start to end. Its standard output is the console; `inherited`: descriptors it has, too.

    With `trace` strace runs it, and writes there what it asks KVM for. It runs in `folder`, or where we do.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        stderr: Path,
        inherited: Sequence[int] = (),
        hint: str = "",
        trace: Path | None = None,
        folder: Path | None = None,
    ) -> None:
        self.argv = list(argv)
        self.name = argv[0]
        self.doubts: tuple[str, ...] = ()
        self._stderr = stderr
        self._inherited = tuple(inherited)
        self._hint = hint
        self._trace = None if trace is None else trace.absolute()
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        self._console = -1
        self._killed = False

    async def start(self, environment: Callable[[Path], Mapping[str, str]] = lambda program: {}) -> None:
        """Start it, with `environment` of its program added to ours. Raises MissingTool where there is none."""
        program = shutil.which(self.argv[0])
        if program is None:
            raise MissingTool(f"{self.argv[0]}: not found", hint=self._hint or None)
        added = environment(Path(program))
        mortal = [require_program("setpriv", package="util-linux"), "--pdeathsig", "KILL", "--"]
        # Of a strace that is killed the VMM hears like one of ours.
        words = mortal if self._trace is None else [*mortal, *_STRACE, str(self._trace), *mortal]
        read_fd, write_fd = os.pipe2(os.O_CLOEXEC)
        self._widen(write_fd)
        try:
            with self._stderr.open("wb") as errors:
                self._process = await asyncio.create_subprocess_exec(
                    *[*words, program, *self.argv[1:]],
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=write_fd,
                    stderr=errors,
                    env={**os.environ, **added},
                    cwd=self._folder,
                    # Ctrl-C in a terminal goes to the whole foreground group; it must die by our hand, in order.
                    start_new_session=True,
                    pass_fds=self._inherited,
                )
        except BaseException:
            os.close(read_fd)
            raise
        finally:
            os.close(write_fd)
        self._console = read_fd

    @property
    def pid(self) -> int:
        """Return the id of the process, which was started."""
        assert self._process is not None
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Return how it ended, as in subprocess; None while it lives, and where it was never started."""
        return None if self._process is None else self._process.returncode

    async def wait(self) -> int:
        """Wait for its end; returns how it ended, as in subprocess."""
        assert self._process is not None
        return await self._process.wait()

    async def exited_soon(self) -> bool:
        """Return whether it ends within 20 ms."""
        try:
            await asyncio.wait_for(asyncio.shield(self.wait()), 0.02)
        except TimeoutError:
            return False
        return True

    def kill(self) -> None:
        """Kill it where it lives."""
        if self._process is not None and self._process.returncode is None and not self._killed:
            # Once: a second signal to one that has just died takes its exit code from who waits for it (asyncio).
            self._killed = True
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def end(self) -> None:
        """Kill it where it lives, and wait until it is gone."""
        self.kill()
        if self._process is not None:
            await self._process.wait()

    async def follow_console(self, take: Callable[[ConsoleBytes], None]) -> int:
        """Hand on what it writes, in the order in which it comes, to its end; returns how it ended."""
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        fd = self._console
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
                take(ConsoleBytes(time.monotonic_ns(), data))
                ready.set()
        finally:
            loop.remove_reader(fd)
            os.close(fd)
        return await self.wait()

    def withheld_s(self) -> float:
        """Return the seconds that its hungriest thread waited for a CPU; 0.0 where Linux does not tell."""
        delays = [0]
        for path in Path(f"/proc/{self.pid}/task").glob("*/schedstat"):
            # Time on a CPU, time waiting for one, both in ns, and turns (Documentation/scheduler/sched-stats.rst).
            with contextlib.suppress(OSError, ValueError, IndexError):
                delays.append(int(path.read_text().split()[1]))
        return max(delays) / 1e9

    def error_text(self) -> str:
        """Return the last lines that it wrote to its standard error, as one line."""
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


def exit_words(code: int | None) -> str:
    """Return how a process ended; `code` is as in subprocess, None while nobody knows."""
    if code is None:
        return "no message"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        # A real-time signal: of those only the first and the last have a name.
        return f"killed by signal {-code}"


@contextlib.contextmanager
def make_socket_folder() -> Iterator[Path]:
    """Give a short-lived private folder whose path is short enough for a Unix socket (108 bytes)."""
    with tempfile.TemporaryDirectory(prefix="bootlab-") as folder:
        yield Path(folder)
