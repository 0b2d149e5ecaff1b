"""A VMM's log as it comes through a pipe: when each step of its start was, and what it says of its guest.

A row's own stamp counts, not when it was read: the VMM takes it as it does the thing. It is the host's time of day, and
is laid onto the monotonic clock by what lies between the two as the row is read.
"""

import asyncio
import contextlib
import fcntl
import os
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.system.part import EXPLAINED, brief

_LATEST_NS: Final = 2_000_000_000
_MOST_BYTES: Final = 16 << 20
_LONGEST_ROW: Final = 64 << 10
_PIPE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LogRow:
    """A row of a log. `day_ns`: its stamp, ns since 1970."""

    day_ns: int
    text: str
    is_error: bool = False


class LogPipe(ABC):
    """A named pipe that a VMM writes its log to."""

    def __init__(self, path: Path) -> None:
        self.text = bytearray()
        self.dropped = 0
        """Bytes beyond what is kept."""
        self._steps: dict[str, int] = {}
        self._arrived = asyncio.Event()
        self._rest = b""
        os.mkfifo(path, 0o600)
        # Open for writing as well: a pipe whose last writer has gone would be at its end, and readable, for ever.
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        # A full one would hold up the VMM, and a vCPU whose exit it tells of.
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        asyncio.get_running_loop().add_reader(self._fd, self.read)

    @abstractmethod
    def parse(self, row: str) -> LogRow | None:
        """Return what a row is; None for one without a stamp."""

    @abstractmethod
    def take(self, text: str, t_ns: int) -> None:
        """Take what a row says, which was stamped at `t_ns` of the monotonic clock: `note` the steps in it."""

    def note(self, step: str, t_ns: int) -> None:
        """Note when a step was; the first time counts."""
        self._steps.setdefault(step, t_ns)
        self._arrived.set()

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
                    self._stamp(row[:_LONGEST_ROW].decode(errors="replace"))

    def step_ns(self, name: str) -> int | None:
        """Return when a step was, on the monotonic clock; None before it is told."""
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
        rows = (self.parse(row) for row in self.text.decode(errors="replace").splitlines())
        told = [row.text for row in rows if row is not None and row.is_error]
        return " / ".join(brief(text, EXPLAINED) for text in told[-3:])

    def close(self) -> None:
        """Take the last that came, and read no more."""
        if self._fd < 0:
            return
        self.read()
        asyncio.get_running_loop().remove_reader(self._fd)
        os.close(self._fd)
        self._fd = -1

    def _stamp(self, row: str) -> None:
        found = self.parse(row)
        if found is None:
            return
        now_ns, day_ns = time.monotonic_ns(), time.time_ns()
        late_ns = day_ns - found.day_ns
        # A clock that was set in between, or a zone of its own, and the stamp is worth nothing.
        self.take(found.text, now_ns - late_ns if 0 <= late_ns < _LATEST_NS else now_ns)
