"""A network namespace that stands for a machine on this host's network: its card, its addresses, its ports. Needs root.

The programs are this process's own: a thread enters the namespace, and a socket stays where it was made.
"""

import ctypes
import os
import re
import socket
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import pytest

_CLONE_NEWNET = 0x40000000
_Made = TypeVar("_Made")
_numbers = count()


def remove_left_behind() -> None:
    """Remove the machines of processes that were killed: each has the address of the next, and would hide it."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, check=False, text=True).stdout
    for name, pid, number in re.findall(r"^(bl(\d+)-(\d+))\b", listed, re.MULTILINE):
        if Path(f"/proc/{pid}").exists():
            continue
        for words in (("link", "del", f"bh{int(pid) % 100000}x{number}"), ("netns", "del", name)):
            subprocess.run(["ip", *words], capture_output=True, check=False)


def require_namespaces() -> None:
    """Skip the test where this process may not make network namespaces."""
    made = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0
    if os.geteuid() != 0 or not made:
        pytest.skip("needs root: network namespaces")


class NamespaceMachine:
    """A machine of its own at the other end of a link: `IPV4` and `IPV6` are its addresses once it is up."""

    IPV4, IPV6 = "10.99.7.2", "fd99:7::2"

    def __init__(self) -> None:
        number = next(_numbers)
        self._name = f"bl{os.getpid()}-{number}"
        self._here, self._there = f"bh{os.getpid() % 100000}x{number}", f"bt{os.getpid() % 100000}x{number}"
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        remove_left_behind()
        ip("netns", "add", self._name)
        try:
            ip("link", "add", self._here, "type", "veth", "peer", "name", self._there, "netns", self._name)
            ip("addr", "add", "10.99.7.1/24", "dev", self._here)
            ip("-6", "addr", "add", "fd99:7::1/64", "dev", self._here, "nodad")
            ip("link", "set", self._here, "up")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in self._sockets:
            one.close()
        with suppress(subprocess.CalledProcessError):
            ip("link", "del", self._here)
        ip("netns", "del", self._name)

    @property
    def name(self) -> str:
        """The namespace's, as `ip -n` takes it."""
        return self._name

    @property
    def card(self) -> str:
        """Its network card."""
        return self._there

    def link_up(self) -> None:
        """Switch its card on; it has no address of its own yet."""
        ip("-n", self._name, "link", "set", self._there, "up")

    def address_up(self) -> None:
        """Give it its addresses."""
        ip("-n", self._name, "addr", "add", f"{self.IPV4}/24", "dev", self._there)
        ip("-n", self._name, "-6", "addr", "add", f"{self.IPV6}/64", "dev", self._there, "nodad")

    def address_down(self) -> None:
        """Take its addresses away, as if it were off."""
        ip("-n", self._name, "addr", "flush", "dev", self._there)

    def listen(self, port: int, serve: Callable[[socket.socket], None] | None = None) -> None:
        """Open a port of both families; each connection is given to `serve`, in a thread."""
        listening = self.inside(lambda: socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True))
        self._sockets.append(listening)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    taken, _ = listening.accept()
                    with taken, suppress(OSError):
                        if serve is not None:
                            serve(taken)

        threading.Thread(target=accept, daemon=True).start()

    def close_ports(self) -> None:
        """Close what `listen` has opened."""
        while self._sockets:
            one = self._sockets.pop()
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def inside(self, make: Callable[[], _Made]) -> _Made:
        """Return what `make` gives in the namespace."""
        made: list[_Made] = []
        failed: list[BaseException] = []

        def enter() -> None:
            try:
                with open(f"/run/netns/{self._name}") as namespace:
                    if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), _CLONE_NEWNET) != 0:
                        raise OSError(ctypes.get_errno(), "setns")
                made.append(make())
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
        return made[0]


def ip(*words: str) -> None:
    """Run the program ip. Raises CalledProcessError."""
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
