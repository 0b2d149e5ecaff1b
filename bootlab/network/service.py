"""Runs a peer for one boot: a thread between QEMU's netdev, the plugin, and the host that wants to reach the guest.

On the virtual clock the plugin says when the guest has sent something, and the peer's frames go back by way of it, each
with its time. On the wall clock they come and go as the host lets them. What the host itself sends, for a check behind
ready, comes at the host's time on either clock.
"""

import contextlib
import heapq
import selectors
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.network.addresses import ROUTER
from bootlab.network.capture import CAPTURE, Capture
from bootlab.network.frames import Give, Mark, Reply, Wake
from bootlab.network.peer import Peer
from bootlab.network.plugin_side import LAST, QUESTION_MOST, VERSION, answer_bytes, read_question
from bootlab.network.tcp import Connection

_PREFIX: Final = 4
"""QEMU's stream netdev puts a frame's size ahead of it, in four bytes, the highest first."""
_FRAME_MOST: Final = 1 << 16
_REST_S: Final = 5.0
"""How long the rest of a frame may take, of which QEMU has sent the beginning."""
_PAUSE_S: Final = 0.01
"""After how long a silence QEMU has sent everything, where it had more than the socket holds."""
_READ: Final = 1 << 16


class NetworkService:
    """The peer of one boot, and its sockets: from `start`, before QEMU, to `close`, after it.

    `guest_end` is QEMU's stream netdev, `plugin_end` the plugin's socket, None on the wall clock: QEMU inherits both.
    `told`: called with each mark that a probe makes, from this thread.
    """

    def __init__(self, peer: Peer, capture: Path, *, virtual: bool) -> None:
        self._peer = peer
        self.told: Callable[[str], None] = lambda name: None
        self._capture = Capture(capture)
        self._guest, self.guest_end = socket.socketpair()
        self._plugin: socket.socket | None = None
        self.plugin_end: socket.socket | None = None
        if virtual:
            self._plugin, self.plugin_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._stop, self._stopped_by = socket.socketpair()
        self._listener: socket.socket | None = None
        self._guest_port = 0
        self._buffer = bytearray()
        self._selector = selectors.DefaultSelector()
        self._due: list[tuple[int, int, Reply]] = []
        self._carried: list[socket.socket] = []
        self._number = 0
        self._t_ns = 0
        self._begun_ns = time.monotonic_ns()
        self._thread = threading.Thread(target=self._run, name="network peer", daemon=True)
        self.error = ""
        """Why it ended before the boot did; empty where it did not."""

    def listen(self, port: int, guest_port: int) -> None:
        """Take connections to this host's port and carry each to the guest's. Raises OSError."""
        self._listener = socket.create_server(("127.0.0.1", port))
        self._guest_port = guest_port

    def start(self) -> None:
        """Answer the guest from now on, in a thread."""
        self._thread.start()

    def close(self) -> None:
        """End the peer, and close whatever is open. Raises OSError where the capture cannot be written."""
        if self._thread.ident is not None:
            self._stopped_by.send(b".")
            self._thread.join()
        self._selector.close()
        for one in (self._guest, self.guest_end, self._plugin, self.plugin_end, self._stop, self._stopped_by):
            if one is not None:
                one.close()
        for one in (*self._carried, *([self._listener] if self._listener is not None else [])):
            one.close()
        self._capture.close()

    @property
    def remarks(self) -> list[str]:
        """Return what a user should know of this boot's network, a line each."""
        left_out = self._capture.left_out
        cut = [f"network: {CAPTURE} is full: {left_out} frames more are not in it"] if left_out else []
        return [*self._peer.remarks(), *cut]

    def let_go(self) -> None:
        """QEMU has its ends of the pairs: only it holds them now, so that its death is seen."""
        self.guest_end.close()
        if self.plugin_end is not None:
            self.plugin_end.close()

    def _run(self) -> None:
        try:
            self._serve()
        except Exception as error:
            # The boot goes on without a network, and its record says why.
            self.error = f"{type(error).__name__}: {error}"
        finally:
            # Neither QEMU nor the plugin is to wait for a peer that is gone.
            for one in (self._guest, self._plugin):
                if one is not None:
                    one.close()

    def _serve(self) -> None:
        actions: dict[int, Callable[[], bool]] = {self._stop.fileno(): lambda: False}
        if self._plugin is not None:
            actions[self._plugin.fileno()] = self._answer_plugin
        else:
            actions[self._guest.fileno()] = self._answer_guest
            self._carry_out(self._peer.begin())
        if self._listener is not None:
            actions[self._listener.fileno()] = self._accept
        for descriptor in actions:
            self._selector.register(descriptor, selectors.EVENT_READ, actions[descriptor])
        going = True
        while going:
            for key, _ in self._selector.select(self._patience_s()):
                going = key.data() and going
            self._give_due()

    def _now_ns(self) -> int:
        return self._t_ns if self._plugin is not None else time.monotonic_ns() - self._begun_ns

    def _patience_s(self) -> float | None:
        return max(0, self._due[0][0] - self._now_ns()) / 1e9 if self._due and self._plugin is None else None

    # The virtual clock: the plugin asks.

    def _answer_plugin(self) -> bool:
        assert self._plugin is not None
        try:
            message = self._plugin.recv(QUESTION_MOST)
        except ConnectionError:
            message = b""
        if not message:
            self._selector.unregister(self._plugin)
            return True
        kind, t_ns, name = read_question(message)
        replies: list[Reply] = []
        if kind == "hello":
            if t_ns != VERSION:
                raise ValueError(f"the plugin speaks version {t_ns}, this bootlab {VERSION}: make setup")
            replies = self._peer.begin()
        else:
            self._t_ns = t_ns
            if kind == "sent":
                for frame in self._drain():
                    replies += self._take(frame)
            elif kind == "mark":
                replies = self._peer.mark(name, t_ns)
            elif kind == "wake":
                replies = self._peer.wake(t_ns)
            else:
                raise ValueError(f"not a question of the plugin: {message!r}")
        with contextlib.suppress(BrokenPipeError):
            for reply in replies:
                self._note(reply)
                self._plugin.send(answer_bytes(reply))
            self._plugin.send(LAST)
        return True

    def _note(self, reply: Reply) -> None:
        if isinstance(reply, Give):
            self._capture.add(reply.t_ns, reply.frame)
        elif isinstance(reply, Mark):
            self.told(reply.name)

    def _drain(self) -> list[bytes]:
        """Return the frames that QEMU has sent: all, as the guest stands still until this is answered."""
        while self._read_some(0):
            pass
        if self._is_cut():
            # More than the socket holds at once: QEMU's main loop sends the rest while the guest stands still.
            while self._read_some(_REST_S if self._is_cut() else _PAUSE_S):
                pass
        return self._whole_frames()

    def _read_some(self, patience_s: float) -> bool:
        """Return whether anything came within so many seconds of the host's."""
        self._guest.settimeout(patience_s)
        try:
            data = self._guest.recv(_READ)
        except (BlockingIOError, TimeoutError, ConnectionError):
            return False
        finally:
            self._guest.settimeout(None)
        self._buffer += data
        return bool(data)

    def _is_cut(self) -> bool:
        at = 0
        while at + _PREFIX <= len(self._buffer):
            at += _PREFIX + int.from_bytes(self._buffer[at : at + _PREFIX], "big")
        return at != len(self._buffer)

    def _whole_frames(self) -> list[bytes]:
        frames = []
        while len(self._buffer) >= _PREFIX:
            size = int.from_bytes(self._buffer[:_PREFIX], "big")
            if size > _FRAME_MOST:
                raise ValueError(f"QEMU sent a frame of {size} bytes")
            if len(self._buffer) < _PREFIX + size:
                break
            frames.append(bytes(self._buffer[_PREFIX : _PREFIX + size]))
            del self._buffer[: _PREFIX + size]
        return frames

    def _take(self, frame: bytes) -> list[Reply]:
        self._capture.add(self._now_ns(), frame)
        return self._peer.take(frame, self._now_ns())

    # The wall clock, and what the host sends on either.

    def _answer_guest(self) -> bool:
        data = self._guest.recv(_READ)
        if not data:
            self._selector.unregister(self._guest)
            return True
        self._buffer += data
        for frame in self._whole_frames():
            self._carry_out(self._take(frame))
        return True

    def _carry_out(self, replies: list[Reply]) -> None:
        """Do at the host's time what was said, each at its own or now."""
        for reply in replies:
            if isinstance(reply, Mark):
                self.told(reply.name)
                continue
            self._number += 1
            # On the virtual clock what the host has sent is not timed: the guest gets it now.
            due_ns = reply.t_ns if self._plugin is None else 0
            heapq.heappush(self._due, (due_ns, self._number, reply))

    def _give_due(self) -> None:
        while self._due and self._due[0][0] <= self._now_ns():
            _, _, reply = heapq.heappop(self._due)
            if isinstance(reply, Give):
                self._capture.add(self._now_ns(), reply.frame)
                with contextlib.suppress(ConnectionError):
                    self._guest.sendall(len(reply.frame).to_bytes(_PREFIX, "big") + reply.frame)
            elif isinstance(reply, Wake) and self._plugin is None:
                self._carry_out(self._peer.wake(self._now_ns()))

    def _accept(self) -> bool:
        assert self._listener is not None
        host, _ = self._listener.accept()
        self._carried.append(host)
        connection = Connection((ROUTER, 0), self._guest_port, lambda data: None)
        carried = _Carried(host, connection)
        connection.taken, connection.refused = carried.give, carried.end
        self._carry_out(self._peer.open(connection, self._now_ns()))
        self._selector.register(host, selectors.EVENT_READ, lambda: self._carry(carried))
        return True

    def _carry(self, carried: "_Carried") -> bool:
        try:
            data = carried.host.recv(_READ)
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(carried.host)
        self._carry_out(self._peer.send(carried.connection, data, self._now_ns()))
        return True


@dataclass
class _Carried:
    """A connection of this host's that is carried on to the guest."""

    host: socket.socket
    connection: Connection

    def give(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            if data:
                self.host.sendall(data)
            else:
                self.host.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self.host.shutdown(socket.SHUT_RDWR)
