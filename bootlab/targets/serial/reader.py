"""Serial lines read as fast as they come: a thread a line does nothing but wait, read and stamp.

Whoever works on the bytes (a terminal may stop scrolling, a disk may sync) does it elsewhere; the queue between them
has no end. A stamp is taken when the read has returned, so no byte of the chunk came later than it says.
"""

import os
import queue
import select
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import serial

from bootlab.targets.serial.port import READ_SIZE, ByteSource, SerialPort

# A reader that wakes up waits this long at most for Python's interpreter, instead of 5 ms.
_SWITCH_S = 0.0002
_LOOK_MS = 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes of one read. `port` is the line's place in the list given to the reader."""

    port: int
    t_ns: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Gone:
    """The line is gone; nothing more comes from it. `unplugged` tells a lost line from an input that has ended."""

    port: int
    t_ns: int
    unplugged: bool
    reason: str


class SerialReader:
    """Reads open lines until it is left. Times are the host's CLOCK_MONOTONIC in ns.

    A reader that is asleep cannot know how late it was woken. With `look` it looks every millisecond whether anything
    has come, so that it knows since when at most (`late_ns`); that takes 2 % of a processor.
    """

    def __init__(self, ports: Sequence[SerialPort], *, look: bool = False) -> None:
        self.ports = list(ports)
        # A line that only pyserial can read tells nobody that it is empty.
        self._looks = look and all(port.source.descriptor is not None for port in ports)
        self._late_ns = 0
        self.arrived: queue.SimpleQueue[Chunk | Gone] = queue.SimpleQueue()
        self._ending = threading.Event()
        self._wake, self._waker = os.pipe2(os.O_CLOEXEC)
        self._threads: list[threading.Thread] = []
        self._switch_s = sys.getswitchinterval()

    def __enter__(self) -> Self:
        sys.setswitchinterval(_SWITCH_S)
        for index, port in enumerate(self.ports):
            thread = threading.Thread(target=self._read, args=(index, port), name=f"read {port.name}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def next(self, patience_s: float | None) -> Chunk | Gone | None:
        """Return what came next, or None when nothing did in `patience_s`."""
        with suppress(queue.Empty):
            return self.arrived.get(timeout=patience_s)
        return None

    @property
    def late_ns(self) -> int | None:
        """Return the longest time from a line found empty to the stamp of what came next; None where nobody looked.

        No stamp so far is later than that. What adapter, driver and tty layer hold back has not come yet.
        """
        return self._late_ns if self._looks else None

    def close(self) -> None:
        """Stop reading and close the lines. What has been read stays in `arrived`."""
        if self._ending.is_set():
            return
        self._ending.set()
        os.write(self._waker, b"\0")
        for thread in self._threads:
            thread.join()
        for descriptor in (self._wake, self._waker):
            os.close(descriptor)
        sys.setswitchinterval(self._switch_s)
        for port in self.ports:
            port.source.close()

    def _read(self, index: int, port: SerialPort) -> None:
        # A busy machine stamps late. Who may, goes before everybody else; the reader hardly ever runs.
        with suppress(OSError):
            os.sched_setscheduler(threading.get_native_id(), os.SCHED_RR, os.sched_param(1))
        try:
            if port.source.descriptor is None:
                unplugged, reason = self._read_handler(index, port.source)
            else:
                unplugged, reason = self._read_descriptor(index, port.source, port.source.descriptor)
        except (OSError, serial.SerialException, TypeError) as error:
            # pyserial meets a handler that was closed under it with a TypeError.
            unplugged, reason = True, getattr(error, "strerror", None) or str(error)
        if not self._ending.is_set():
            unplugged = unplugged and port.kind != "pipe"
            self.arrived.put(Gone(index, time.monotonic_ns(), unplugged, reason))

    def _read_handler(self, index: int, source: ByteSource) -> tuple[bool, str]:
        while not self._ending.is_set():
            data = source.read()
            if data:
                self.arrived.put(Chunk(index, time.monotonic_ns(), data))
        return False, ""

    def _read_descriptor(self, index: int, source: ByteSource, descriptor: int) -> tuple[bool, str]:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        terminal = os.isatty(descriptor)
        put, read, now = self.arrived.put, source.read, time.monotonic_ns
        empty_ns = now()
        while True:
            asked_ns = now()
            found = poll.poll(0 if self._looks else None)
            if not found:
                # What the next look finds has come after this one.
                empty_ns, found = asked_ns, poll.poll(_LOOK_MS)
            ready = dict(found)
            if self._ending.is_set():
                return False, ""
            if descriptor not in ready:
                continue
            read_ns = now()
            try:
                data = read()
            except BlockingIOError:
                continue
            t_ns = now()
            if data:
                self._late_ns = max(self._late_ns, t_ns - empty_ns)
                if len(data) < READ_SIZE:
                    empty_ns = read_ns
                put(Chunk(index, t_ns, data))
            elif not terminal:
                return True, "the other end closed it"
            elif ready[descriptor] & (select.POLLHUP | select.POLLERR):
                return True, "hung up"
