"""Two ptys tied together: what an emulated machine says on one comes out of the other, at once or at a line's rate.

The far one stays when the machine is switched off, as an adapter's line does.
"""

import os
import select
import threading
import time
import tty
from types import TracebackType
from typing import Self

BITS = 10


class NullModem:
    """`machine` is the pty that the machine opens, `port` the one that is watched."""

    def __init__(self, baud: int | None = None) -> None:
        self._byte_ns = 0 if baud is None else BITS * 10**9 // baud
        self._near, self._keep = os.openpty()
        self._far, slave = os.openpty()
        for end in (self._keep, slave):
            tty.setraw(end)
        self.machine, self.port = os.ttyname(self._keep), os.ttyname(slave)
        # The machine's end is kept open here, or its first power-off would hang it up; the other end must be able to.
        os.close(slave)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._pass_on)
        self.sent: list[tuple[int, bytes]] = []
        """When the first bit of each byte, or of what came at once, left (monotonic ns), and those bytes."""

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

    def times_of(self, text: bytes) -> list[int]:
        """Return when the first byte of each line with `text` left."""
        found, line, begun_ns = [], b"", 0
        for t_ns, data in self.sent:
            for number in range(len(data)):
                begun_ns = begun_ns if line else t_ns + number * self._byte_ns
                line += data[number : number + 1]
                if line.endswith(b"\n"):
                    found += [begun_ns] if text in line else []
                    line = b""
        return found

    def _pass_on(self) -> None:
        free_ns = 0
        while not self._ending.is_set():
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
                    late_ns = max(0, time.monotonic_ns() - free_ns)
                    self.sent.append((begun_ns + late_ns, piece))
                    os.write(self._far, piece)
