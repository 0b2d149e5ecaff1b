"""One Firecracker from before power-on to its end: its process, its console, its API and its log.

Time 0 is the moment at which it lets the guest's CPUs run, as it says in its log; all before that is its launch.
"""

import asyncio
import contextlib
import json
import signal
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from bootlab.errors import BootFailed, StoreError
from bootlab.importers.reading.tally import Tally
from bootlab.importers.vmm.firecracker_metrics import parse
from bootlab.system import Firecracker
from bootlab.targets.firecracker.api import Api, ApiCall, is_answering
from bootlab.targets.firecracker.configuration import FLUSH, START, MachinePlaces, firecracker_argv
from bootlab.targets.firecracker.log import BOOT_TIMER, TIME_ZONE, LogPipe
from bootlab.targets.firecracker.snapshots import LOAD, PAUSE, RESUME
from bootlab.targets.launch import LaunchStep
from bootlab.targets.machine_process import VMM_TRACE, MachineProcess, exit_words
from bootlab.targets.target import ConsoleBytes, Ended, EndReason, LineStamps, MarkReached

LOG: Final = "firecracker.log"
"""Its log, in a boot's directory."""
METRICS: Final = "firecracker.metrics"
_START_S: Final = 20.0
"""In which it has to be there, beside the time that it stood without a CPU: in a storm many start at once."""
_LET_GO_S: Final = 2.0
"""How long its log may be behind the answer that the machine was started."""
_FLUSH_S: Final = 1.0
_BUILD: Final = "event_start: build microvm for boot"
_LET_GO: Final = "event_start: boot microvm"
_LOADS: Final = "load snapshot"
_RESUME: Final = "resume vm"
# FcExitCode (src/vmm/src/lib.rs, 1.15).
_EXITS: Final = {
    148: "a system call that its own filters forbid (target.seccomp)",
    149: "SIGBUS: no page behind its memory, as where huge pages ran out",
    150: "SIGSEGV",
    152: "its configuration is refused",
    153: "its command line is refused",
}


class FirecrackerSession:
    """One Firecracker process. `directory`: the boot's; `calls`: what configures the machine, or takes one up.

    A machine that is taken up goes on, and is not started.
    """

    byte_ns = 0

    def __init__(
        self,
        target: Firecracker,
        places: MachinePlaces,
        calls: Sequence[ApiCall],
        directory: Path,
        *,
        traced: bool = False,
    ) -> None:
        self._target, self._places, self._calls, self._directory = target, places, tuple(calls), directory
        self._goes_on = any(call.path == LOAD for call in calls)
        self._start, self._let_go = (RESUME, _RESUME) if self._goes_on else (START, _LET_GO)
        self._started_ns = time.monotonic_ns()
        self.argv = firecracker_argv(target, places, self._started_ns // 1000)
        hint = "target.binary names it; scripts/firecracker builds one from its public source"
        trace = directory / VMM_TRACE if traced else None
        errors = directory / "firecracker.stderr"
        self._process = MachineProcess(self.argv, stderr=errors, hint=hint, trace=trace, folder=places.folder)
        self._api = None if places.socket is None else Api(places.socket)
        self._queue: asyncio.Queue[ConsoleBytes | MarkReached | Ended] = asyncio.Queue()
        self._reader: asyncio.Task[None] | None = None
        self._stopping = False
        self._steps: list[LaunchStep] = []
        self._made_socket = False
        self.doubts: tuple[str, ...] = ()
        self.remarks: tuple[str, ...] = ()

    async def __aenter__(self) -> Self:
        self._log = LogPipe(self._places.log, self._signalled)
        try:
            if self._api is not None:
                self._expect_free_socket()
                await self._spawn()
                await self._await_api()
                for call in self._calls:
                    await self._ask(call)
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def power_on(self) -> int:
        """Let the machine run; returns the host's monotonic time in ns at which its CPUs were let go.

        Raises BootFailed where Firecracker does not start it.
        """
        asked_ns = time.monotonic_ns()
        if self._api is None:
            await self._spawn()
            await self._await_let_go()
        else:
            await self._ask(self._start)
        let_go_ns = await self._log.wait_for(self._let_go, _LET_GO_S)
        if let_go_ns is None:
            let_go_ns = time.monotonic_ns() if self._api is None else asked_ns
            self.doubts += ("Firecracker's log does not say when it let the guest go: time 0 is when it was asked to",)
        self._keep_steps(asked_ns, let_go_ns)
        return let_go_ns

    async def events(self) -> AsyncIterator[ConsoleBytes | MarkReached | Ended]:
        while True:
            event = await self._queue.get()
            yield event
            if isinstance(event, Ended):
                return

    def withheld_s(self) -> float:
        """Return the seconds that its hungriest thread waited for a CPU; 0.0 where Linux does not tell."""
        return self._process.withheld_s()

    @property
    def pid(self) -> int | None:
        """Return the process id of Firecracker; None before it was started."""
        return self._process.pid if self._reader is not None else None

    async def hold(self) -> None:
        """Have the machine stand still where it is. Raises BootFailed."""
        await self._ask(PAUSE)

    async def keep(self, creating: ApiCall) -> None:
        """Have it write down a machine that stands still. Raises StoreError."""
        try:
            await self._ask(creating)
        except BootFailed as error:
            raise StoreError(
                f"the machine cannot be kept: {error.message}", hint="free some space, or --runs DIR"
            ) from error

    async def stop(self) -> None:
        """Have it write down its metrics, and kill it: it has no other way to end but the guest's own."""
        self._stopping = True
        if self._api is not None and self._process.exit_code is None:
            with contextlib.suppress(BootFailed, TimeoutError):
                await asyncio.wait_for(asyncio.to_thread(self._api.call, FLUSH), _FLUSH_S)
        await self._process.end()

    def stamps(self) -> LineStamps | None:
        return None

    def launch(self) -> tuple[LaunchStep, ...]:
        """Return what came before time 0, in order."""
        return tuple(self._steps)

    def own_times(self) -> dict[str, int]:
        """Return what Firecracker says itself of this boot, in ns; known once it has ended."""
        own: dict[str, int] = {}
        with contextlib.suppress(OSError):
            rows = self._places.metrics.read_text(encoding="utf-8", errors="replace").splitlines()
            own = {name: us * 1_000 for name, us in parse(rows, Tally()).items()}
        if self._log.guest_boot_ns is not None and self._log.guest_boot_cpu_ns is not None:
            own |= {"guest_boot": self._log.guest_boot_ns, "guest_boot_cpu": self._log.guest_boot_cpu_ns}
        return own

    def _signalled(self, t_ns: int) -> None:
        self._queue.put_nowait(MarkReached(BOOT_TIMER, t_ns))

    def _expect_free_socket(self) -> None:
        path = self._places.socket
        assert path is not None
        if not path.exists():
            return
        if is_answering(path):
            raise BootFailed(f"target.socket: {path}: in use: something answers there", hint="end the other VMM")
        raise BootFailed(f"target.socket: {path}: is there already, and nothing answers", hint=f"left over: rm {path}")

    async def _spawn(self) -> None:
        self._started_ns = time.monotonic_ns()
        # Its own figure of how long it took to start counts from here.
        argv = self._process.argv
        argv[argv.index("--start-time-us") + 1] = str(self._started_ns // 1000)
        await self._process.start(lambda program: TIME_ZONE)
        self._made_socket = self._places.socket is not None
        self.doubts += self._process.doubts
        self._reader = asyncio.create_task(self._read_console())

    async def _await_api(self) -> None:
        path = self._places.socket
        assert path is not None
        until = time.monotonic() + _START_S
        while not is_answering(path):
            if self._process.exit_code is not None:
                raise BootFailed(f"Firecracker did not start: {exit_words(self._process.exit_code)}{self._why()}")
            if time.monotonic() > until + self.withheld_s():
                raise BootFailed(f"Firecracker: no answer on its API socket in {_START_S:.0f} s{self._why()}")
            await asyncio.sleep(0.0005)
        self._steps.append(LaunchStep("VMM start", self._started_ns, time.monotonic_ns()))

    async def _ask(self, call: ApiCall) -> None:
        assert self._api is not None
        try:
            await asyncio.to_thread(self._api.call, call)
        except BootFailed as error:
            raise BootFailed(f"{error.message}{self._why()}", hint=error.hint) from error

    async def _await_let_go(self) -> None:
        until = time.monotonic() + _START_S
        while self._log.step_ns(self._let_go) is None:
            if self._process.exit_code is not None:
                # What it wrote last is still in the pipe.
                self._log.read()
                if self._log.step_ns(self._let_go) is None:
                    raise BootFailed(f"Firecracker did not start: {exit_words(self._process.exit_code)}{self._why()}")
            elif time.monotonic() > until + self.withheld_s():
                return
            await asyncio.sleep(0.0005)

    def _keep_steps(self, asked_ns: int, let_go_ns: int) -> None:
        build_ns = self._log.step_ns(_LOADS if self._goes_on else _BUILD)
        if self._api is None:
            begins_ns = build_ns if build_ns is not None else let_go_ns
            self._steps.append(LaunchStep("VMM start and configuration", self._started_ns, begins_ns))
        else:
            begins_ns = min(max(build_ns or asked_ns, self._steps[-1].end_ns), let_go_ns)
            self._steps.append(LaunchStep("API", self._steps[-1].end_ns, begins_ns))
        making = "snapshot load" if self._goes_on else "VM creation"
        self._steps.append(LaunchStep(making, begins_ns, max(begins_ns, let_go_ns)))

    async def _read_console(self) -> None:
        code = await self._process.follow_console(self._queue.put_nowait)
        self._log.read()
        self._queue.put_nowait(Ended(time.monotonic_ns(), *self._ending(code)))

    def _ending(self, code: int) -> tuple[EndReason, str]:
        if self._stopping and code in (0, -signal.SIGKILL):
            return EndReason.STOPPED, ""
        if code == 0:
            # It does not say whether its guest restarted or was switched off.
            return EndReason.GUEST_RESET, ""
        words = _EXITS.get(code)
        told = f"{exit_words(code)}: {words}" if words is not None else exit_words(code)
        return EndReason.DIED, f"Firecracker: {told}{self._why()}"

    def _why(self) -> str:
        """Return its own last words, to be put behind a message."""
        self._log.read()
        words = self._log.last_errors or self._process.error_text()
        return f"; it says: {words}" if words else ""

    async def _end(self) -> None:
        self._stopping = True
        await self._process.end()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        if self._api is not None:
            self._api.close()
        if self._made_socket and self._places.socket is not None:
            self._places.socket.unlink(missing_ok=True)
        self._log.close()
        (self._directory / LOG).write_bytes(bytes(self._log.text))
        if self._log.dropped:
            self.remarks += (f"{LOG}: {self._log.dropped} bytes more were not kept",)


def write_configuration(path: Path, document: dict[str, object]) -> None:
    """Write the document of `--config-file`."""
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
