"""Firecracker's log as it comes through a pipe: when each step of its start was, and when its guest said it was up.

A row's own stamp counts, not when it was read: the VMM takes it as it does the thing. It is the host's time of day, and
is laid onto the monotonic clock by what lies between the two as the row is read.
"""

import asyncio
import contextlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bootlab.importers.vmm.firecracker_log import guest_boot_of, stamped
from bootlab.system.part import EXPLAINED, brief

TIME_ZONE: Final = {"TZ": "UTC0"}
"""Its stamps are local time: with this in its environment they are UTC."""
BOOT_TIMER: Final = "boot_timer"
"""The mark that a guest makes by the boot timer device."""
_EPOCH_NS: Final = 719_163 * 86_400 * 1_000_000_000
"""From the year 1 to 1970."""
_TOOK: Final = re.compile(r"'(?P<what>[\w ]{1,40})' VMM action took (?P<us>\d{1,12}) us")
_LATEST_NS: Final = 2_000_000_000
_MOST_BYTES: Final = 16 << 20
_LONGEST_ROW: Final = 64 << 10


class LogPipe:
    """A named pipe that Firecracker writes its log to. `on_boot_timer`: called with the time of the guest's signal."""

    def __init__(self, path: Path, on_boot_timer: Callable[[int], None]) -> None:
        self.text = bytearray()
        self.dropped = 0
        """Bytes beyond what is kept."""
        self.guest_boot_ns: int | None = None
        self.guest_boot_cpu_ns: int | None = None
        self._steps: dict[str, int] = {}
        self._arrived = asyncio.Event()
        self._rest = b""
        self._on_boot_timer = on_boot_timer
        os.mkfifo(path, 0o600)
        # Open for writing as well: a pipe whose last writer has gone would be at its end, and readable, for ever.
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        asyncio.get_running_loop().add_reader(self._fd, self.read)

    def read(self) -> None:
        """Take what has come."""
        if self._fd < 0:
            return
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._fd, 65536):
                room = max(0, _MOST_BYTES - len(self.text))
                self.text += data[:room]
                self.dropped += len(data[room:])
                *rows, rest = (self._rest + data).split(b"\n")
                # A row that does not end is no row: what comes of it is kept in `text` alone.
                self._rest = rest[:_LONGEST_ROW]
                for row in rows:
                    self._take(row[:_LONGEST_ROW].decode(errors="replace"))

    def step_ns(self, name: str) -> int | None:
        """Return when a step was, on the monotonic clock; None before it is told.

        As in `event_start: boot microvm`; of an action whose end alone is told its begin, as in `resume vm`.
        """
        return self._steps.get(name)

    async def wait_for(self, name: str, deadline_s: float) -> int | None:
        """Return when a step was, as soon as it is told; None where it is not by then."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(deadline_s):
                while name not in self._steps:
                    self._arrived.clear()
                    await self._arrived.wait()
        return self._steps.get(name)

    @property
    def last_errors(self) -> str:
        """Return the last rows of its log that tell of an error, as one line; of a long one both its ends."""
        rows = self.text.decode(errors="replace").splitlines()
        told = [row.partition("] ")[2] or row for row in rows if ":ERROR" in row.partition("] ")[0]]
        return " / ".join(brief(row, EXPLAINED) for row in told[-3:])

    def close(self) -> None:
        """Take the last that came, and read no more."""
        if self._fd < 0:
            return
        self.read()
        asyncio.get_running_loop().remove_reader(self._fd)
        os.close(self._fd)
        self._fd = -1

    def _take(self, row: str) -> None:
        found = stamped(row)
        if found is None:
            return
        now_ns, day_ns = time.monotonic_ns(), time.time_ns()
        late_ns = day_ns - (found[0] - _EPOCH_NS)
        # A clock that was set in between, or a zone of its own, and the stamp is worth nothing.
        t_ns = now_ns - late_ns if 0 <= late_ns < _LATEST_NS else now_ns
        text = found[1]
        if text.startswith("event_"):
            self._steps.setdefault(text.strip(), t_ns)
            self._arrived.set()
        if (took := _TOOK.search(text)) is not None:
            self._steps.setdefault(took["what"], t_ns - int(took["us"]) * 1_000)
            self._arrived.set()
        if (boot := guest_boot_of(text)) is not None and self.guest_boot_ns is None:
            self.guest_boot_ns, self.guest_boot_cpu_ns = boot
            self._on_boot_timer(t_ns)
