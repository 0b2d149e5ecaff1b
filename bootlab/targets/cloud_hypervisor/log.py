"""Cloud Hypervisor's log: the steps of its start, and what its guest says by port 0x80."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bootlab.targets.vmm.log import LogPipe, LogRow

FORMAT: Final = "{wallclock} {level} {thread} {location} {msg}"
"""How it is told to write a row; {wallclock} is UTC, in us."""
LET_GO: Final = "Starting vCPUs"
"""The step at which its vCPUs' threads are made and let go."""
RESTORING: Final = "API request event: VmRestore"
"""The step at which it is asked to take a machine up; its event `vm restoring` is behind the memory."""
RESUMING: Final = "vm resuming"
BOOTING: Final = "vm booting"
REBOOTING: Final = "vm rebooting"
SHUT_DOWN: Final = "VM guest exit event"
# 2026-11-27T17:29:13.123456Z INFO vmm vmm/src/vm.rs:606 Booting VM from config: ...
_ROW: Final = re.compile(
    r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(?P<us>\d{6})Z "
    r"(?P<level>ERROR|WARN|INFO|DEBUG|TRACE) (?P<thread>\S{1,64}) (?P<place>\S{1,200}) (?P<text>.*)"
)
_EVENT: Final = re.compile(r"Event: source = (?P<source>[\w-]{1,40}) event = (?P<event>[\w-]{1,40}) ?(?P<about>.*)")
_PORT: Final = re.compile(r"\[Debug I/O port: \w{1,20} code 0x(?P<code>[0-9a-f]{1,2})\] ")


class CloudHypervisorLog(LogPipe):
    """Its log. `on_code`: called with the first time of each code that the guest writes to port 0x80.

    `on_reboot`: called as it begins to boot the guest again, which restarted. A step is an event's source and name, as
    in `vm booting`.
    """

    def __init__(self, path: Path, on_code: Callable[[int, int], None], on_reboot: Callable[[], None]) -> None:
        super().__init__(path)
        self._on_code, self._on_reboot = on_code, on_reboot
        self._codes: set[int] = set()

    def parse(self, row: str) -> LogRow | None:
        found = _ROW.match(row)
        if found is None:
            return None
        try:
            second = datetime.fromisoformat(found["stamp"]).replace(tzinfo=UTC)
        except ValueError:
            return None
        day_ns = int(second.timestamp()) * 1_000_000_000 + int(found["us"]) * 1_000
        return LogRow(day_ns, found["text"].rstrip("\r"), found["level"] == "ERROR")

    def take(self, text: str, t_ns: int) -> None:
        if text.startswith(LET_GO):
            self.note(LET_GO, t_ns)
        elif text.startswith((SHUT_DOWN, RESTORING)):
            self.note(SHUT_DOWN if text.startswith(SHUT_DOWN) else RESTORING, t_ns)
        elif (event := _EVENT.match(text)) is not None:
            step = f"{event['source']} {event['event']}"
            self.note(step, t_ns)
            if step == REBOOTING:
                self._on_reboot()
        elif (port := _PORT.match(text)) is not None:
            code = int(port["code"], 16)
            if code not in self._codes:
                self._codes.add(code)
                self._on_code(code, t_ns)
