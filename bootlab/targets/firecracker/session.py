"""One Firecracker from before power-on to its end, its machine booted or taken up."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from bootlab.importers.reading.tally import Tally
from bootlab.importers.vmm.firecracker_metrics import parse
from bootlab.system import Firecracker
from bootlab.targets.firecracker.configuration import FLUSH, START, MachinePlaces, firecracker_argv
from bootlab.targets.firecracker.identity import FIRECRACKER
from bootlab.targets.firecracker.log import BOOT_TIMER, RUNS, TIME_ZONE, FirecrackerLog
from bootlab.targets.firecracker.snapshots import LOAD, PAUSE, RESUME
from bootlab.targets.target import EndReason
from bootlab.targets.vmm.api import ApiCall
from bootlab.targets.vmm.identity import Vmm
from bootlab.targets.vmm.session import LaunchPlan, VmmSession

METRICS: Final = "firecracker.metrics"


class FirecrackerSession(VmmSession):
    """One Firecracker process. `directory`: the boot's; `calls`: what configures the machine, or takes one up.

    A machine that is taken up goes on, and is not started.
    """

    vmm: ClassVar[Vmm] = FIRECRACKER
    log_name: ClassVar[str] = "firecracker.log"
    pause: ClassVar[ApiCall] = PAUSE
    environment: ClassVar[Mapping[str, str]] = TIME_ZONE
    # FcExitCode (src/vmm/src/lib.rs, 1.15).
    exits: ClassVar[Mapping[int, str]] = {
        148: "a system call that its own filters forbid (target.seccomp)",
        149: "SIGBUS: no page behind its memory, as where huge pages ran out",
        150: "SIGSEGV",
        152: "its configuration is refused",
        153: "its command line is refused",
    }
    _log: FirecrackerLog

    def __init__(
        self,
        target: Firecracker,
        places: MachinePlaces,
        calls: Sequence[ApiCall],
        directory: Path,
        *,
        traced: bool = False,
    ) -> None:
        goes_on = any(call.path == LOAD for call in calls)
        plan = LaunchPlan(
            argv=firecracker_argv(target, places, 0),
            folder=places.folder,
            log=places.log,
            socket=places.socket,
            configuring=tuple(calls),
            start=RESUME if goes_on else START,
            begins="load snapshot" if goes_on else "event_start: build microvm for boot",
            let_go="resume vm" if goes_on else "event_start: boot microvm",
            making="snapshot load" if goes_on else "VM creation",
            last=FLUSH,
            wrapper="" if places.jail is None else "jailer",
            runs=RUNS,
        )
        self._jail = places.jail
        super().__init__(plan, directory, traced=traced)
        # Of a jail that is gone by then they were copied.
        self._metrics = directory / METRICS
        self.starts_at(self.argv, self._started_ns)

    def open_log(self, path: Path) -> FirecrackerLog:
        log = FirecrackerLog(path, lambda t_ns: self.mark(BOOT_TIMER, t_ns))
        if self._jail is not None:
            self._jail.hand_over(path)
        return log

    def started(self, pid: int) -> None:
        if self._jail is not None:
            self._jail.hold(pid)

    def starts_at(self, argv: list[str], started_ns: int) -> None:
        # Its own figure of how long it took to start counts from here; a jailer tells it itself.
        if self._jail is None:
            argv[argv.index("--start-time-us") + 1] = str(started_ns // 1000)

    def ending_of(self, code: int) -> EndReason | None:
        # It does not say whether its guest restarted or was switched off.
        return EndReason.GUEST_RESET if code == 0 else None

    def own_times(self) -> dict[str, int]:
        own: dict[str, int] = {}
        with contextlib.suppress(OSError):
            rows = self._metrics.read_text(encoding="utf-8", errors="replace").splitlines()
            own = {name: us * 1_000 for name, us in parse(rows, Tally()).items()}
        if self._log.guest_boot_ns is not None and self._log.guest_boot_cpu_ns is not None:
            own |= {"guest_boot": self._log.guest_boot_ns, "guest_boot_cpu": self._log.guest_boot_cpu_ns}
        return own
