"""Questions by connections, which anybody may make: is a port open, what does it say, what does its page say."""

import errno
import os
import re
import socket
import time
from collections import deque
from contextlib import suppress
from typing import Final

from bootlab.probing.asking import AskingAccount, Rounds, Sockets
from bootlab.probing.questions import NetworkPlace, Questions, banner, closed, opened, page

_AT_ONCE: Final = 64
"""So many connections to a port wait for their answer; the oldest is then given up."""
_TALK_NS: Final = 5_000_000_000
_SAID_MOST: Final = 2048
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? (\d{3})")
_WELL = range(200, 400)


class ConnectPorts:
    """A connection to each port, made again and again: refused by a closed one, closed at once at an open one."""

    def __init__(self, place: NetworkPlace, ports: tuple[int, ...], account: AskingAccount, sockets: Sockets) -> None:
        self._place, self._account, self._sockets = place, account, sockets
        self._waiting = set(ports)
        self._rounds = Rounds()
        self._begun: dict[int, deque[socket.socket]] = {port: deque() for port in ports}

    def ask(self) -> None:
        """Begin a connection to every port that is not open yet."""
        if not self._waiting:
            return
        number = self._rounds.ask()
        for port in sorted(self._waiting):
            self._begin(port, number)

    def close(self) -> None:
        """Give back its sockets."""
        for port in self._begun:
            self._give_up(port)

    def _begin(self, port: int, number: int) -> None:
        line = _begun(self._place, port, self._account)
        if line is None:
            return
        begun = self._begun[port]
        begun.append(line)
        self._sockets.watch(line, lambda: self._take(line, port, number), for_writing=True)
        if len(begun) > _AT_ONCE:
            self._sockets.forget(begun.popleft())

    def _take(self, line: socket.socket, port: int, number: int) -> None:
        t_ns = time.monotonic_ns()
        failed = line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        with suppress(ValueError):
            self._begun[port].remove(line)
        self._sockets.forget(line)
        since_ns = self._rounds.since_ns(number)
        if failed == 0:
            self._waiting.discard(port)
            self._give_up(port)
            self._account.answer(opened(port), t_ns, since_ns, f"TCP port {port} takes a connection")
        elif failed == errno.ECONNREFUSED:
            self._account.answer(closed(port), t_ns, since_ns, f"TCP port {port} refuses")
        else:
            self._account.unsent[os.strerror(failed)] += 1

    def _give_up(self, port: int) -> None:
        while self._begun[port]:
            self._sockets.forget(self._begun[port].popleft())


class Talk:
    """What one open port says: by itself (`path` is None), or when it is asked for a page."""

    def __init__(
        self, questions: Questions, port: int, path: str | None, account: AskingAccount, sockets: Sockets
    ) -> None:
        self._questions, self._port, self._path = questions, port, path
        self._account, self._sockets = account, sockets
        self._name = banner(port) if path is None else page(port)
        self._rounds = Rounds()
        self._line: socket.socket | None = None
        self._number = 0
        self._begun_ns = 0
        self._said = b""

    def ask(self) -> None:
        """Ask once more, unless it has answered, is not open yet, or is being asked just now."""
        if self._name in self._account.answered or opened(self._port) not in self._account.answered:
            return
        if self._line is not None:
            if time.monotonic_ns() - self._begun_ns < _TALK_NS:
                return
            self._break_off("said nothing in 5 s")
        line = _begun(self._questions.place, self._port, self._account)
        if line is not None:
            self._line, self._said, self._begun_ns = line, b"", time.monotonic_ns()
            self._number = self._rounds.ask()
            self._sockets.watch(line, self._connected, for_writing=True)

    def close(self) -> None:
        """Give back its socket."""
        if self._line is not None:
            self._sockets.forget(self._line)
            self._line = None

    def _connected(self) -> None:
        line = self._line
        assert line is not None
        failed = line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if failed:
            self._break_off(os.strerror(failed))
            return
        try:
            if self._path is not None:
                line.sendall(_request(self._questions, self._port, self._path))
            again = line.dup()
        except OSError as error:
            self._break_off(error.strerror or str(error))
            return
        # Watched for reading from now on: a socket is watched for one thing.
        self._sockets.forget(line)
        again.setblocking(False)
        self._line = again
        self._sockets.watch(again, self._read)

    def _read(self) -> None:
        assert self._line is not None
        t_ns = time.monotonic_ns()
        try:
            data = self._line.recv(_SAID_MOST)
        except BlockingIOError:
            return
        except OSError as error:
            self._break_off(error.strerror or str(error))
            return
        self._said = (self._said + data)[:_SAID_MOST]
        if not data:
            self._break_off("closed the connection and said nothing" if not self._said else "said something else")
        elif self._path is None:
            self._answer(t_ns, f"TCP port {self._port} says {first_line(self._said)}")
        elif b"\n" in self._said:
            found = _STATUS.match(self._said)
            if found is not None and int(found[1]) in _WELL:
                self._answer(t_ns, f"TCP port {self._port} answers {self._path}: {first_line(self._said)}")
            else:
                self._break_off(f"answered {first_line(self._said)}")

    def _answer(self, t_ns: int, words: str) -> None:
        self._account.answer(self._name, t_ns, self._rounds.since_ns(self._number), words)
        self.close()

    def _break_off(self, why: str) -> None:
        self._account.asides[f"port {self._port}: {why}"] += 1
        self.close()


def first_line(said: bytes) -> str:
    """Return the first line of what a stranger said, short and without anything that could steer who reads it."""
    line = said.splitlines()[0][:120] if said else b""
    text = "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in line).strip()
    # What a guest says on its console is believed; what a port says is quoted.
    return f'"{text.replace("bootlab:", "bootlab_")}"'


def _request(questions: Questions, port: int, path: str) -> bytes:
    name = questions.name or questions.place.address
    host = f"[{name}]" if ":" in name else name
    return (
        f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUser-Agent: bootlab\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    ).encode()


def _begun(place: NetworkPlace, port: int, account: AskingAccount) -> socket.socket | None:
    line = None
    try:
        line = socket.socket(place.family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        failed = line.connect_ex(place.to(port))
    except OSError as error:
        failed = error.errno or errno.EIO
    if line is not None and failed in (0, errno.EINPROGRESS, errno.ECONNREFUSED):
        # A refusal at once, as this very host gives it, is told as one that comes later.
        if failed == errno.ECONNREFUSED:
            account.answer(closed(port), time.monotonic_ns(), None, f"TCP port {port} refuses")
            line.close()
            return None
        return line
    if line is not None:
        line.close()
    account.unsent[os.strerror(failed)] += 1
    return None
