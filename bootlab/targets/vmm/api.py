"""A VMM's API: JSON over HTTP on a Unix socket, one request at a time, each answer checked."""

import http.client
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bootlab.errors import BootFailed
from bootlab.system.part import brief
from bootlab.targets.vmm.identity import Vmm

_DEADLINE_S: Final = 120.0
"""Of one request; making a VM is the longest: 0.3 s under an emulated KVM, and in a storm many stand in one queue."""
_LARGEST: Final = 1 << 20
"""Bytes of an answer."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One request. `body`: its JSON; None for a request that only asks. `deadline_s`: in which it is answered."""

    method: str
    path: str
    body: dict[str, Any] | None = field(default=None)
    deadline_s: float = _DEADLINE_S

    @property
    def name(self) -> str:
        """Return it for a reader, as in `PUT /boot-source`."""
        return f"{self.method} {self.path}"


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_DEADLINE_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        with _socket_at(self._path) as place:
            self.sock.connect(place)

    def wait_at_most(self, seconds: float) -> None:
        """Let the next answer take so long."""
        self.timeout = seconds
        if self.sock is not None:
            self.sock.settimeout(seconds)


class Api:
    """The API of one VMM, at a socket."""

    def __init__(self, path: Path, vmm: Vmm) -> None:
        self._connection = _Connection(path)
        self._vmm = vmm

    def call(self, asked: ApiCall) -> dict[str, Any]:
        """Ask, and return the answer's JSON; empty where there is none. Raises BootFailed for any other answer."""
        body = None if asked.body is None else json.dumps(asked.body)
        self._connection.wait_at_most(asked.deadline_s)
        try:
            self._connection.request(asked.method, asked.path, body, {"Content-Type": "application/json"})
            reply = self._connection.getresponse()
            data = reply.read(_LARGEST + 1)
        except TimeoutError as error:
            raise BootFailed(f"{self._vmm.name}: {asked.name}: no answer in {asked.deadline_s:.0f} s") from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            words = str(error) or type(error).__name__
            raise BootFailed(f"{self._vmm.name}: {asked.name}: no answer: {brief(words)}") from error
        return _checked(self._vmm, asked, reply.status, data)

    def close(self) -> None:
        """Hang up; the next call connects again."""
        self._connection.close()


def is_answering(path: Path) -> bool:
    """Return whether something listens at a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(_DEADLINE_S)
        try:
            with _socket_at(path) as place:
                line.connect(place)
        except OSError:
            return False
    return True


@contextmanager
def _socket_at(path: Path) -> Iterator[str]:
    """Give a path to the very socket that is there, and to none that a link leads to: one may come out of a jail."""
    fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}"
    finally:
        os.close(fd)


def _checked(vmm: Vmm, asked: ApiCall, status: int, data: bytes) -> dict[str, Any]:
    name = vmm.name
    if len(data) > _LARGEST:
        raise BootFailed(f"{name}: {asked.name}: an answer of more than {_LARGEST >> 20} MiB")
    try:
        document = json.loads(data) if data.strip() else {}
    except (ValueError, RecursionError):
        document = None
    if status in (200, 204) and isinstance(document, dict):
        return document
    fault = vmm.fault(document) if 400 <= status < 600 else None
    if fault is not None:
        raise BootFailed(f"{name}: {asked.name}: refused ({status}): {brief(fault.strip(), 1000)}")
    said = brief(data.decode(errors="replace")) or "nothing"
    raise BootFailed(
        f"{name}: {asked.name}: answered {status} and {said}, which is no answer of {name}'s API",
        hint=f"is target.binary {name}, {vmm.oldest} or newer?",
    )
