"""Firecracker's log: the steps of its start, and its guest's signal that it is up."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bootlab.importers.vmm.firecracker_log import guest_boot_of, stamped
from bootlab.targets.vmm.log import LogPipe, LogRow

TIME_ZONE: Final = {"TZ": "UTC0"}
"""Its stamps are local time: with this in its environment they are UTC."""
BOOT_TIMER: Final = "boot_timer"
"""The mark that a guest makes by the boot timer device."""
_EPOCH_NS: Final = 719_163 * 86_400 * 1_000_000_000
"""From the year 1 to 1970."""
RUNS: Final = "Running Firecracker"
"""Its first row, and the step that it is."""
_TOOK: Final = re.compile(r"'(?P<what>[\w ]{1,40})' VMM action took (?P<us>\d{1,12}) us")


class FirecrackerLog(LogPipe):
    """Firecracker's log. `on_boot_timer`: called with the time of the guest's signal.

    A step is as in `event_start: boot microvm`; of an action whose end alone is told its begin, as in `resume vm`.
    """

    def __init__(self, path: Path, on_boot_timer: Callable[[int], None]) -> None:
        super().__init__(path)
        self.guest_boot_ns: int | None = None
        self.guest_boot_cpu_ns: int | None = None
        self._on_boot_timer = on_boot_timer

    def parse(self, row: str) -> LogRow | None:
        found = stamped(row)
        if found is None:
            return None
        place, _, text = row.partition("] ")
        return LogRow(found[0] - _EPOCH_NS, text, ":ERROR" in place)

    def take(self, text: str, t_ns: int) -> None:
        if text.startswith("event_"):
            self.note(text.strip(), t_ns)
        if text.startswith(RUNS):
            self.note(RUNS, t_ns)
        if (took := _TOOK.search(text)) is not None:
            self.note(took["what"], t_ns - int(took["us"]) * 1_000)
        if (boot := guest_boot_of(text)) is not None and self.guest_boot_ns is None:
            self.guest_boot_ns, self.guest_boot_cpu_ns = boot
            self._on_boot_timer(t_ns)
