"""When a packet came: the kernel's own stamp of it, on the monotonic clock that boots are timed with."""

import socket
import struct
import time
from typing import Final

# linux/socket.h, the same on every architecture that bootlab runs on; Python has no name for it before 3.15.
SO_TIMESTAMPNS: Final = 35
_TIME = struct.Struct("@ll")
_MOST_LATE_NS = 1_000_000_000


def stamp_packets(line: socket.socket) -> None:
    """Ask the kernel to say of each packet when it came."""
    line.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


def receive(line: socket.socket, most: int = 2048) -> tuple[bytes, int]:
    """Return the next packet and when it came, in ns of CLOCK_MONOTONIC. Raises OSError; BlockingIOError for none.

    The kernel stamps with the date; what lies between that and now is taken off the monotonic clock, so a date that is
    set meanwhile does no harm: a stamp that cannot be right is not used.
    """
    data, told, _, _ = line.recvmsg(most, 128)
    now_ns, date_ns = time.monotonic_ns(), time.time_ns()
    for level, kind, value in told:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS and len(value) >= _TIME.size:
            seconds, rest = _TIME.unpack_from(value)
            late_ns = date_ns - (seconds * 1_000_000_000 + rest)
            if 0 <= late_ns <= _MOST_LATE_NS:
                return data, now_ns - late_ns
    return data, now_ns
