"""A server of pages: brings a clone's memory out of its snapshot, and ahead of it what an earlier clone touched.

Firecracker hands over a userfaultfd of the clone's memory, by a Unix socket; from then on a thread of ours answers
every fault with the page out of the snapshot's file. The first clone's faults, in order, are the working set: it is
written beside the snapshot, and the next clones have it before they run, as in REAP (Ustiugov et al., ASPLOS 2021).

    Linux, Documentation/admin-guide/mm/userfaultfd.rst; Firecracker, docs/snapshotting/handling-page-faults-...md
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import select
import signal
import socket
import struct
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from bootlab.errors import BootFailed, StoreError
from bootlab.kept_file import UNREADABLE, damaged, is_kept, parse_kept, read_kept

WORKING_SET: Final = "working-set"
"""In a snapshot's folder: the pages that its first clone touched, as ranges of the memory file, in order."""
_SCHEMA: Final = "bootlab.working-set/1"
# linux/userfaultfd.h: _IOWR(0xAA, 3, struct uffdio_copy), _IOWR(0xAA, 4, struct uffdio_zeropage), _IOR(0xAA, 2, ...).
_COPY: Final = 0xC028AA03
_ZEROPAGE: Final = 0xC020AA04
_WAKE: Final = 0x8010AA02
_COPY_WORDS: Final = struct.Struct("=QQQQq")
_ZERO_WORDS: Final = struct.Struct("=QQQq")
_RANGE_WORDS: Final = struct.Struct("=QQ")
# struct uffd_msg: the event, seven bytes, then flags and address of a fault, or start and end of what was given back.
_EVENT: Final = struct.Struct("=B7xQQ8x")
_FAULT, _REMOVE = 0x12, 0x15
_EVENTS_AT_ONCE: Final = 64
_CONNECT_S: Final = 20.0
_LARGEST_WORDS: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the guest's memory: where it is in Firecracker, where in the snapshot's file, and its pages' size."""

    address: int
    size: int
    offset: int
    page_size: int


@dataclass
class Served:
    """What a server did. `ahead`, `asked`: pages brought before they were asked for, and because they were."""

    ahead: int = 0
    asked: int = 0
    took_ns: int = 0
    """Of bringing those ahead."""
    failed: str = ""


class PageServer:
    """Serves one clone. `folder`: the snapshot's; `memory`: its file; `place`: the socket that Firecracker is told."""

    def __init__(self, folder: Path, memory: Path, place: Path) -> None:
        self.served = Served()
        self._working_set = folder / WORKING_SET
        self._memory, self._place = memory, place
        self._known = read_working_set(self._working_set)
        self._touched: list[int] = []
        """Offsets in the file, in order."""
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._is_ahead = threading.Event()
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC)
        self._thread = threading.Thread(target=self._run, name="page-server", daemon=True)

    def __enter__(self) -> Self:
        self._listener.bind(str(self._place))
        self._listener.listen(1)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, once Firecracker has ended: nobody answers its faults any more."""
        os.write(self._wake_write, b"x")
        self._thread.join()
        self._listener.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
        if not self.served.failed and self._known is None and self._touched:
            write_working_set(self._working_set, self._touched)

    def wait_until_ahead(self) -> None:
        """Return when all that is brought ahead is there. Raises BootFailed where Firecracker never asked."""
        self._is_ahead.wait(_CONNECT_S)
        if self.served.failed or not self._is_ahead.is_set():
            raise BootFailed(f"page server: {self.served.failed or 'Firecracker did not ask for its memory'}")

    def words(self) -> str:
        """Return what it did, for a reader."""
        done = self.served
        if done.failed:
            return f"page server: {done.failed}"
        if self._known is None:
            return f"page server: {done.asked} pages asked for, which are the snapshot's working set from now on"
        return (
            f"page server: {done.ahead} pages of the working set brought ahead in {done.took_ns / 1e6:.1f} ms, "
            f"{done.asked} more asked for"
        )

    def _run(self) -> None:
        peer = 0
        try:
            if not self._is_called():
                return
            line, _ = self._listener.accept()
            with line:
                line.settimeout(_CONNECT_S)
                peer = _peer_of(line)
                words, descriptors, _, _ = socket.recv_fds(line, _LARGEST_WORDS, 4)
            if len(descriptors) != 1:
                raise ValueError(f"{len(descriptors)} descriptors came with its memory's layout, and one is meant")
            try:
                self._serve(descriptors[0], read_regions(words))
            finally:
                os.close(descriptors[0])
        except (OSError, ValueError, struct.error) as error:
            # Of a Firecracker that has ended nobody needs a page any more.
            is_over = isinstance(error, OSError) and error.errno == errno.ESRCH
            self.served.failed = "" if is_over else str(error) or type(error).__name__
            if peer:
                # A fault that nobody answers is waited for without end.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(peer, signal.SIGKILL)
        finally:
            self._is_ahead.set()

    def _is_called(self) -> bool:
        """Return whether Firecracker has come, as soon as that is so; false where nobody waits for it any more."""
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        ready = dict(poll.poll(_CONNECT_S * 1_000))
        if not ready:
            self.served.failed = f"Firecracker did not ask for its memory in {_CONNECT_S:.0f} s"
        return self._listener.fileno() in ready

    def _serve(self, uffd: int, regions: list[Region]) -> None:
        size = max(region.offset + region.size for region in regions)
        with self._memory.open("rb") as file:
            if os.fstat(file.fileno()).st_size < size:
                raise ValueError(f"{self._memory}: is shorter than the memory that Firecracker asks for")
            # Private: a buffer of it has an address, and nothing is ever written there.
            memory = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY)
        anchor = ctypes.c_char.from_buffer(memory)
        try:
            mapped = _Mapped(uffd, ctypes.addressof(anchor), regions)
            if self._known is not None:
                began_ns = time.monotonic_ns()
                self.served.ahead = sum(mapped.bring(offset, length) for offset, length in self._known)
                self.served.took_ns = time.monotonic_ns() - began_ns
            self._is_ahead.set()
            self._answer(uffd, mapped)
        finally:
            del anchor
            memory.close()

    def _answer(self, uffd: int, mapped: "_Mapped") -> None:
        poll = select.poll()
        poll.register(uffd, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if self._wake_read in ready or ready.get(uffd, 0) & (select.POLLHUP | select.POLLERR):
                return
            try:
                data = os.read(uffd, _EVENT.size * _EVENTS_AT_ONCE)
            except BlockingIOError:
                continue
            for event, first, second in _EVENT.iter_unpack(data):
                if event == _FAULT:
                    self.served.asked += 1
                    self._touched.append(mapped.answer(second))
                elif event == _REMOVE:
                    mapped.forget(first, second)


class _Mapped:
    """The clone's memory. `base`: where ours of the snapshot's file is."""

    def __init__(self, uffd: int, base: int, regions: list[Region]) -> None:
        self._uffd, self._base, self._regions = uffd, base, regions
        self._given_back: list[tuple[int, int]] = []

    def bring(self, offset: int, length: int) -> int:
        """Bring a range of the file; returns how many pages that were not there yet."""
        region = next((one for one in self._regions if one.offset <= offset < one.offset + one.size), None)
        if region is None or offset + length > region.offset + region.size:
            raise ValueError(f"the working set has a range that the memory has not got: {offset}, {length} bytes")
        return self._copy(region.address + offset - region.offset, offset, length, region.page_size)

    def answer(self, address: int) -> int:
        """Bring the page of a fault; returns its offset in the file."""
        region = next((one for one in self._regions if one.address <= address < one.address + one.size), None)
        if region is None:
            raise ValueError(f"a fault at {address:#x}, where the guest has no memory")
        page = address & ~(region.page_size - 1)
        offset = region.offset + page - region.address
        if any(start <= page < end for start, end in self._given_back):
            self._zero(page, region.page_size)
        else:
            self._copy(page, offset, region.page_size, region.page_size)
        return offset

    def forget(self, start: int, end: int) -> None:
        """Take note of memory that the guest gave back: when it comes again it is zero."""
        self._given_back.append((start, end))

    def _copy(self, address: int, offset: int, length: int, page_size: int) -> int:
        done = new = 0
        while done < length:
            words = bytearray(_COPY_WORDS.pack(address + done, self._base + offset + done, length - done, 0, 0))
            try:
                fcntl.ioctl(self._uffd, _COPY, words)
                copied = length - done
            except OSError as error:
                copied = max(0, _COPY_WORDS.unpack(words)[4])
                if error.errno == errno.EEXIST and copied == 0:
                    # Somebody was faster: whoever waits for it is woken, and the rest goes on behind it.
                    self._wake(address + done, page_size)
                    done += page_size
                    continue
                if error.errno not in (errno.EAGAIN, errno.EEXIST):
                    raise
            done += copied
            new += copied // page_size
        return new

    def _zero(self, page: int, page_size: int) -> None:
        with contextlib.suppress(FileExistsError):
            fcntl.ioctl(self._uffd, _ZEROPAGE, bytearray(_ZERO_WORDS.pack(page, page_size, 0, 0)))

    def _wake(self, page: int, page_size: int) -> None:
        fcntl.ioctl(self._uffd, _WAKE, bytearray(_RANGE_WORDS.pack(page, page_size)))


def read_regions(words: bytes) -> list[Region]:
    """Return the layout that Firecracker tells. Raises ValueError for one that is none."""
    try:
        told = json.loads(words)
        regions = [
            Region(
                _number(one["base_host_virt_addr"]),
                _number(one["size"]),
                _number(one["offset"]),
                _number(one["page_size"]),
            )
            for one in told
        ]
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"Firecracker tells no layout of its memory: {words[:200]!r}") from error
    if not regions or any(one.page_size not in (1 << 12, 1 << 21) for one in regions):
        raise ValueError(f"Firecracker tells no layout of its memory that is known: {words[:200]!r}")
    if any(value % one.page_size for one in regions for value in (one.address, one.size, one.offset)):
        # A page beyond a region's ends would be of our own memory.
        raise ValueError(f"Firecracker tells a layout of its memory in parts of pages: {words[:200]!r}")
    return regions


def read_working_set(path: Path) -> list[tuple[int, int]] | None:
    """Return its ranges, as offset and length; None where no clone has left one. Raises StoreError for damage."""
    if not is_kept(path):
        return None
    try:
        document = parse_kept(read_kept(path))
        if document["schema"] != _SCHEMA:
            raise ValueError(f"schema: is not {_SCHEMA}")
        return [(_number(offset), _number(length)) for offset, length in document["ranges"]]
    except UNREADABLE as error:
        raise damaged(path, error) from error


def write_working_set(path: Path, offsets: Iterable[int]) -> None:
    """Write which pages were touched, in order, those behind each other as one range. Raises StoreError."""
    document = {"schema": _SCHEMA, "ranges": ranges_of(offsets)}
    # Clones side by side may each have recorded one: each is whole.
    mine = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        mine.write_text(json.dumps(document) + "\n", encoding="utf-8")
        mine.rename(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error


def ranges_of(offsets: Iterable[int], page_size: int = 1 << 12) -> list[tuple[int, int]]:
    """Return offset and length of what pages cover, each page once, in the order in which ranges were first touched."""
    found: list[tuple[int, int]] = []
    seen: set[int] = set()
    for offset in offsets:
        if offset in seen:
            continue
        seen.add(offset)
        if found and sum(found[-1]) == offset:
            found[-1] = (found[-1][0], found[-1][1] + page_size)
        else:
            found.append((offset, page_size))
    return found


def _peer_of(line: socket.socket) -> int:
    process, _, _ = struct.unpack("=iII", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(process)


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"{value!r} is no count of bytes")
    return value
