"""Two ptys tied together: what an emulated machine says on one comes out of the other, at once or at a line's rate.

What is typed there goes to the machine.

The far one stays when the machine is switched off, as an adapter's line does.
"""

import os
import select
import threading
import time
import tty
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

BITS = 10


class Left(NamedTuple):
    """A moment (monotonic ns) at which something was put on the line, or up to `doubt_ns` later."""

    t_ns: int
    doubt_ns: int


class NullModem:
    """`machine` is the pty that the machine opens, `port` the one that is watched.

    What is written to a pty is there when the kernel's tty layer gets round to it; with `pipe` the watched end is a
    named pipe there, into which a byte has come when it is written.
    """

    def __init__(self, baud: int | None = None, pipe: Path | None = None) -> None:
        self._byte_ns = 0 if baud is None else BITS * 10**9 // baud
        self._is_pty = pipe is None
        self._near, self._keep = os.openpty()
        tty.setraw(self._keep)
        self.machine = os.ttyname(self._keep)
        # The machine's end is kept open here, or its first power-off would hang it up; the other end must be able to.
        if pipe is None:
            self._far, slave = os.openpty()
            tty.setraw(slave)
            self.port = os.ttyname(slave)
            os.close(slave)
        else:
            os.mkfifo(pipe)
            self._far, self.port = os.open(pipe, os.O_RDWR | os.O_NONBLOCK), str(pipe)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._pass_on)
        self.sent: list[tuple[Left, bytes]] = []
        """When the first bit of each byte, or of what came at once, left, and those bytes."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._thread.join()
        self.unplug()
        for end in (self._near, self._keep):
            os.close(end)

    def unplug(self) -> None:
        """Tear the watched end out."""
        if self._far >= 0:
            os.close(self._far)
            self._far = -1

    def say(self, data: bytes) -> None:
        """Put bytes on the line, as a machine would."""
        os.write(self._far, data)

    def times_of(self, text: bytes) -> list[Left]:
        """Return when the first byte of each line with `text` left."""
        found, line, begun = [], b"", Left(0, 0)
        for left, data in self.sent:
            for number in range(len(data)):
                begun = begun if line else Left(left.t_ns + number * self._byte_ns, left.doubt_ns)
                line += data[number : number + 1]
                if line.endswith(b"\n"):
                    found += [begun] if text in line else []
                    line = b""
        return found

    def _pass_back(self) -> None:
        # What is typed at the watched end is for the machine, at no rate. Where nobody has it open a read would wait.
        if not self._is_pty or self._far < 0:
            return
        poll = select.poll()
        poll.register(self._far, select.POLLIN)
        if poll.poll(0) == [(self._far, select.POLLIN)]:
            os.write(self._near, os.read(self._far, 4096))

    def _pass_on(self) -> None:
        free_ns = 0
        while not self._ending.is_set():
            self._pass_back()
            if not select.select([self._near], [], [], 0.05)[0]:
                continue
            data = os.read(self._near, 4096)
            step = len(data) if not self._byte_ns else 8
            for at in range(0, len(data), step):
                piece = data[at : at + step]
                free_ns = max(free_ns, time.monotonic_ns())
                begun_ns, free_ns = free_ns, free_ns + len(piece) * self._byte_ns
                while (left_ns := free_ns - time.monotonic_ns()) > 0:
                    time.sleep(left_ns / 1e9)
                if self._far >= 0:
                    # The bytes are through when they are written: what came before that is known to the byte.
                    now_ns = time.monotonic_ns()
                    os.write(self._far, piece)
                    left = Left(begun_ns + max(0, now_ns - free_ns), time.monotonic_ns() - now_ns)
                    self.sent.append((left, piece))
