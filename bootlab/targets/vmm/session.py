"""One VMM from before power-on to its end: its process, its console, its API and its log.

Time 0 is the moment at which it lets the guest's CPUs run, as it says in its log; all before that is its launch.
"""

import asyncio
import contextlib
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Final, Self

from bootlab.errors import BootFailed, StoreError
from bootlab.targets.launch import LaunchStep
from bootlab.targets.machine_process import VMM_TRACE, MachineProcess, exit_words
from bootlab.targets.target import ConsoleBytes, Ended, EndReason, LineStamps, MarkReached
from bootlab.targets.vmm.api import Api, ApiCall, is_answering
from bootlab.targets.vmm.identity import Vmm
from bootlab.targets.vmm.log import LogPipe

_START_S: Final = 20.0
"""In which it has to be there, beside the time that it stood without a CPU: in a storm many start at once."""
_LET_GO_S: Final = 2.0
"""How long its log may be behind the answer that the machine was started."""
_LAST_S: Final = 1.0
"""Of the last request of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """How a VMM is launched. `argv`: its command line; `folder`: of this boot alone, where it runs.

    `socket`: of its API; without one `configuring` and `start` are in the command line. `begins`, `let_go`: the steps
    of its log at which it begins to make the machine, which is called `making`, and lets the CPUs run.
    """

    argv: list[str]
    folder: Path
    log: Path
    socket: Path | None
    configuring: tuple[ApiCall, ...]
    start: ApiCall
    begins: str
    let_go: str
    making: str = "VM creation"
    wrapper: str = ""
    """What starts it, where that is a program of its own, which is over at the step `runs` of its log."""
    runs: str = ""
    last: ApiCall | None = None
    """What it is asked before it is killed."""
    left_over: tuple[Path, ...] = ()
    """What it makes beside its socket and leaves."""


class VmmSession(ABC):
    """One process of a VMM. `directory`: the boot's, where its log is kept as `log_name`."""

    byte_ns = 0
    vmm: ClassVar[Vmm]
    log_name: ClassVar[str]
    environment: ClassVar[Mapping[str, str]] = {}
    exits: ClassVar[Mapping[int, str]] = {}
    """What an exit code means, or a signal as in subprocess."""
    pause: ClassVar[ApiCall]
    """The request by which its machine stands still."""
    tells_on_stderr: ClassVar[bool] = False
    """It says in plain words on its standard error what its log has for its makers."""

    def __init__(self, plan: LaunchPlan, directory: Path, *, traced: bool = False) -> None:
        self._plan, self._directory = plan, directory
        self._started_ns = time.monotonic_ns()
        self.argv = plan.argv
        self._process = MachineProcess(
            self.argv,
            stderr=(directory / self.log_name).with_suffix(".stderr"),
            hint="target.binary names it; scripts/vmm builds one from its public source",
            trace=directory / VMM_TRACE if traced else None,
            folder=plan.folder,
        )
        self._api = None if plan.socket is None else Api(plan.socket, self.vmm)
        self._queue: asyncio.Queue[ConsoleBytes | MarkReached | Ended] = asyncio.Queue()
        self._reader: asyncio.Task[None] | None = None
        self._stopping = False
        self._steps: list[LaunchStep] = []
        self._made_socket = False
        self.doubts: tuple[str, ...] = ()
        self.remarks: tuple[str, ...] = ()

    @abstractmethod
    def open_log(self, path: Path) -> LogPipe:
        """Make the pipe that its log comes through."""

    @abstractmethod
    def own_times(self) -> dict[str, int]:
        """Return what the VMM says itself of this boot, in ns; known once it has ended."""

    @abstractmethod
    def ending_of(self, code: int) -> EndReason | None:
        """Return why it ended by its guest's will; `code` as in subprocess. None where it ended by its own."""

    def started(self, pid: int) -> None:
        """Take note of its process, which has just been started."""
        return None

    def starts_at(self, argv: list[str], started_ns: int) -> None:
        """Tell the VMM, in its command line, when it is started; most do not ask for that."""
        return None

    async def __aenter__(self) -> Self:
        self._log = self.open_log(self._plan.log)
        try:
            if self._api is not None:
                self._expect_free_socket()
                await self._spawn()
                await self._await_api()
                for call in self._plan.configuring:
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

        Raises BootFailed where the VMM does not start it.
        """
        asked_ns = time.monotonic_ns()
        if self._api is None:
            await self._spawn()
            await self._await_let_go()
        else:
            await self._ask(self._plan.start)
        let_go_ns = await self._log.wait_for(self._plan.let_go, _LET_GO_S)
        if let_go_ns is None:
            let_go_ns = time.monotonic_ns() if self._api is None else asked_ns
            said = f"{self.vmm.name}'s log does not say when it let the guest go: time 0 is when it was asked to"
            self.doubts += (said,)
        self._keep_steps(asked_ns, let_go_ns)
        return let_go_ns

    async def hold(self) -> None:
        """Have the machine stand still where it is. Raises BootFailed."""
        await self._ask(self.pause)

    async def keep(self, creating: ApiCall) -> None:
        """Have it write down a machine that stands still. Raises StoreError."""
        try:
            await self._ask(creating)
        except BootFailed as error:
            raise StoreError(f"the machine cannot be kept: {error.message}", hint=self.why_not_kept(error)) from error

    def why_not_kept(self, error: BootFailed) -> str:
        """Return what helps where the VMM does not write a machine down."""
        return "free some space, or --runs DIR"

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
        """Return the process id of the VMM; None before it was started."""
        return self._process.pid if self._reader is not None else None

    async def stop(self) -> None:
        """Ask it the last thing, as to write down what it knows or to end, and kill it where it lives."""
        self._stopping = True
        if self._api is not None and self._plan.last is not None and self._process.exit_code is None:
            with contextlib.suppress(BootFailed, TimeoutError):
                await asyncio.wait_for(asyncio.to_thread(self._api.call, self._plan.last), _LAST_S)
        await self._process.end()

    def stamps(self) -> LineStamps | None:
        return None

    def launch(self) -> tuple[LaunchStep, ...]:
        """Return what came before time 0, in order."""
        return tuple(self._steps)

    def mark(self, name: str, t_ns: int) -> None:
        """Tell that the guest came to a mark, which the VMM's log says."""
        self._queue.put_nowait(MarkReached(name, t_ns))

    def _expect_free_socket(self) -> None:
        path = self._plan.socket
        assert path is not None
        if not path.exists():
            return
        if is_answering(path.resolve()):
            raise BootFailed(f"target.socket: {path}: in use: something answers there", hint="end the other VMM")
        raise BootFailed(f"target.socket: {path}: is there already, and nothing answers", hint=f"left over: rm {path}")

    async def _spawn(self) -> None:
        self._started_ns = time.monotonic_ns()
        self.starts_at(self._process.argv, self._started_ns)
        await self._process.start(lambda program: self.environment)
        self.started(self._process.pid)
        self._made_socket = self._plan.socket is not None
        self.doubts += self._process.doubts
        self._reader = asyncio.create_task(self._read_console())

    async def _await_api(self) -> None:
        path = self._plan.socket
        assert path is not None
        until = time.monotonic() + _START_S
        while not is_answering(path):
            if self._process.exit_code is not None:
                raise BootFailed(f"{self._not_started()}: {exit_words(self._process.exit_code)}{self._why()}")
            if time.monotonic() > until + self.withheld_s():
                raise BootFailed(f"{self.vmm.name}: no answer on its API socket in {_START_S:.0f} s{self._why()}")
            await asyncio.sleep(0.0005)
        self._keep_start("VMM start", time.monotonic_ns())

    async def _ask(self, call: ApiCall) -> None:
        assert self._api is not None
        try:
            await asyncio.to_thread(self._api.call, call)
        except BootFailed as error:
            raise BootFailed(f"{error.message}{self._why()}", hint=error.hint) from error

    async def _await_let_go(self) -> None:
        until = time.monotonic() + _START_S
        while self._log.step_ns(self._plan.let_go) is None:
            if self._process.exit_code is not None:
                # What it wrote last is still in the pipe.
                self._log.read()
                if self._log.step_ns(self._plan.let_go) is None:
                    code = self._process.exit_code
                    raise BootFailed(f"{self._not_started()}: {exit_words(code)}{self._why()}")
            elif time.monotonic() > until + self.withheld_s():
                return
            await asyncio.sleep(0.0005)

    def _keep_steps(self, asked_ns: int, let_go_ns: int) -> None:
        build_ns = self._log.step_ns(self._plan.begins)
        if self._api is None:
            begins_ns = build_ns if build_ns is not None else let_go_ns
            self._keep_start("VMM start and configuration", begins_ns)
        else:
            begins_ns = min(max(build_ns or asked_ns, self._steps[-1].end_ns), let_go_ns)
            self._steps.append(LaunchStep("API", self._steps[-1].end_ns, begins_ns))
        self._steps.append(LaunchStep(self._plan.making, begins_ns, max(begins_ns, let_go_ns)))

    def _keep_start(self, name: str, end_ns: int) -> None:
        begun_ns = self._started_ns
        if self._plan.wrapper:
            self._log.read()
            runs_ns = self._log.step_ns(self._plan.runs)
            if runs_ns is None:
                self.doubts += (f"{self.vmm.name}'s log does not say when it ran: {self._plan.wrapper} is in {name}",)
            else:
                runs_ns = min(max(runs_ns, begun_ns), end_ns)
                self._steps.append(LaunchStep(self._plan.wrapper, begun_ns, runs_ns))
                begun_ns = runs_ns
        self._steps.append(LaunchStep(name, begun_ns, end_ns))

    async def _read_console(self) -> None:
        code = await self._process.follow_console(self._queue.put_nowait)
        self._log.read()
        self._queue.put_nowait(Ended(time.monotonic_ns(), *self._ending(code)))

    def _ending(self, code: int) -> tuple[EndReason, str]:
        if self._stopping and code in (0, -signal.SIGKILL):
            return EndReason.STOPPED, ""
        if (reason := self.ending_of(code)) is not None:
            return reason, ""
        words = self.exits.get(code)
        told = f"{exit_words(code)}: {words}" if words is not None else exit_words(code)
        return EndReason.DIED, f"{self.vmm.name}: {told}{self._why()}"

    def _not_started(self) -> str:
        words = f"{self.vmm.name} did not start"
        self._log.read()
        ran = not self._plan.wrapper or self._log.step_ns(self._plan.runs) is not None
        return words if ran else f"{self._plan.wrapper}: {words}"

    def _why(self) -> str:
        """Return its own last words, to be put behind a message."""
        self._log.read()
        told = [self._log.last_errors, self._process.error_text()]
        words = next(filter(None, reversed(told) if self.tells_on_stderr else told), "")
        return f"; it says: {words}" if words else ""

    async def _end(self) -> None:
        self._stopping = True
        await self._process.end()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        if self._api is not None:
            self._api.close()
        if self._made_socket and self._plan.socket is not None:
            for path in (self._plan.socket, *self._plan.left_over):
                path.unlink(missing_ok=True)
        self._log.close()
        (self._directory / self.log_name).write_bytes(bytes(self._log.text))
        if self._log.dropped:
            self.remarks += (f"{self.log_name}: {self._log.dropped} bytes more were not kept",)
