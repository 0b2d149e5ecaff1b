"""One Cloud Hypervisor from before power-on to its end."""

import contextlib
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from bootlab.errors import BootFailed
from bootlab.importers.vmm.cloud_hypervisor_events import parse
from bootlab.system import CloudHypervisor
from bootlab.targets.cloud_hypervisor.configuration import (
    BOOT,
    PING,
    SHUT_DOWN,
    BootPlaces,
    cloud_hypervisor_argv,
    configuring_calls,
)
from bootlab.targets.cloud_hypervisor.identity import CLOUD_HYPERVISOR
from bootlab.targets.cloud_hypervisor.log import BOOTING, LET_GO, REBOOTING, RESTORING, RESUMING, CloudHypervisorLog
from bootlab.targets.cloud_hypervisor.log import SHUT_DOWN as GUEST_OFF
from bootlab.targets.cloud_hypervisor.snapshots import PAUSE, RESUME
from bootlab.targets.target import EndReason
from bootlab.targets.vmm.api import ApiCall
from bootlab.targets.vmm.identity import Vmm
from bootlab.targets.vmm.session import LaunchPlan, VmmSession

EVENTS: Final = "cloud-hypervisor.events"
_LONGEST_EVENTS: Final = 1 << 20
_MOST_EVENTS: Final = 64


class CloudHypervisorSession(VmmSession):
    """One Cloud Hypervisor process. `directory`: the boot's; `document`: the machine.

    `loading`: the request that takes a machine up, instead, which then goes on, and is not started.
    """

    vmm: ClassVar[Vmm] = CLOUD_HYPERVISOR
    log_name: ClassVar[str] = "cloud-hypervisor.log"
    # What it refuses has otherwise a stack of addresses in its midst, where RUST_BACKTRACE is set.
    environment: ClassVar[Mapping[str, str]] = {"RUST_LIB_BACKTRACE": "0"}
    exits: ClassVar[Mapping[int, str]] = {
        -signal.SIGSYS: "a system call that its own filters forbid (target.seccomp)",
        -signal.SIGBUS: "no page behind its memory, as where huge pages ran out",
    }
    pause: ClassVar[ApiCall] = PAUSE
    tells_on_stderr: ClassVar[bool] = True
    _log: CloudHypervisorLog

    def __init__(
        self,
        target: CloudHypervisor,
        places: BootPlaces,
        document: Mapping[str, Any],
        directory: Path,
        loading: ApiCall | None = None,
        *,
        traced: bool = False,
    ) -> None:
        goes_on = loading is not None
        calls = configuring_calls(document) if loading is None else [PING, loading]
        plan = LaunchPlan(
            argv=cloud_hypervisor_argv(target, places, document),
            folder=places.folder,
            log=places.log,
            socket=places.socket,
            configuring=tuple(calls),
            start=RESUME if goes_on else BOOT,
            begins=RESTORING if goes_on else BOOTING,
            let_go=RESUMING if goes_on else LET_GO,
            making="snapshot load" if goes_on else "VM creation",
            last=SHUT_DOWN,
            # By it another one finds that the socket is in use.
            left_over=() if places.socket is None else (places.socket.with_name(f"{places.socket.name}.lock"),),
        )
        super().__init__(plan, directory, traced=traced)
        self._events = places.events
        self._answered = False

    def open_log(self, path: Path) -> CloudHypervisorLog:
        return CloudHypervisorLog(path, lambda code, t_ns: self.mark(port_mark(code), t_ns), self._rebooting)

    async def power_on(self) -> int:
        let_go_ns = await super().power_on()
        self._answered = True
        if self._log.step_ns(REBOOTING) is not None:
            self._process.kill()
        return let_go_ns

    def why_not_kept(self, error: BootFailed) -> str:
        if "GetNestedState" in error.message:
            return (
                "this host's KVM does not tell the state of nested guests (KVM_CAP_NESTED_STATE), which Cloud "
                "Hypervisor asks of each vCPU; another host may, and Firecracker does not ask"
            )
        return super().why_not_kept(error)

    def ending_of(self, code: int) -> EndReason | None:
        if self._log.step_ns(REBOOTING) is not None:
            return EndReason.GUEST_RESET
        # With 0 it also ends where a vCPU failed, or somebody sent it SIGTERM.
        return EndReason.GUEST_SHUTDOWN if code == 0 and self._log.step_ns(GUEST_OFF) is not None else None

    def _rebooting(self) -> None:
        # A guest that restarts would go on for ever: it boots it again by itself. A very quick one restarts before its
        # first boot is answered.
        if self._answered:
            self._process.kill()

    def own_times(self) -> dict[str, int]:
        own: dict[str, int] = {}
        with contextlib.suppress(OSError), self._events.open("rb") as file:
            for t_ns, name in parse(file.read(_LONGEST_EVENTS).decode(errors="replace"))[0]:
                # A guest may have a device taken up as often as it likes.
                if len(own) < _MOST_EVENTS:
                    own.setdefault(name, t_ns)
        return own


def port_mark(code: int) -> str:
    """Return the mark of a code that the guest writes to port 0x80, as in `debug_port_0x60`."""
    return f"debug_port_{code:#04x}"
