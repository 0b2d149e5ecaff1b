"""Asks the guest from outside, at stated times, until it answers: a ping, or a TCP port, with a question or without."""

import re
from dataclasses import dataclass
from typing import Any

from dpkt import icmp, ip

from bootlab.network.addresses import GUEST, ROUTER
from bootlab.network.frames import Give, Mark, Reply, Wake, ipv4_frame
from bootlab.network.tcp import Connection, Connections
from bootlab.system import NetworkProbe

_ANSWER_MOST = 1 << 20


@dataclass
class _Running:
    name: str
    asked: NetworkProbe
    number: int
    due_ns: int | None = None
    """When it asks next; None before it begins."""
    tries: int = 0
    done: bool = False
    connection: Connection | None = None
    ended: bool = False
    """The port has said all that it says on this connection."""


class Probes:
    """The probes of one boot, by name. Each begins at its time or mark, and marks its name when it is answered."""

    def __init__(self, asked: dict[str, NetworkProbe], connections: Connections, delay_ns: int) -> None:
        self._all = [_Running(name, probe, number) for number, (name, probe) in enumerate(asked.items(), 1)]
        self._connections = connections
        self._delay_ns = delay_ns
        self._reached: list[Mark] = []

    def begin(self) -> list[Reply]:
        """Return what is to be done at power-on."""
        return [reply for one in self._all if not one.asked.after for reply in self._start(one, 0)]

    def mark(self, name: str, t_ns: int) -> list[Reply]:
        """Return what is to be done as a mark is reached."""
        waiting = [one for one in self._all if one.asked.after == name and one.due_ns is None]
        return [reply for one in waiting for reply in self._start(one, t_ns)]

    def wake(self, t_ns: int) -> list[Reply]:
        """Ask once more, whatever is due and was not answered."""
        replies: list[Reply] = []
        for one in self._all:
            if one.done or one.due_ns is None or one.due_ns > t_ns:
                continue
            one.due_ns += one.asked.every_us * 1000
            one.tries += 1
            replies += self._ask(one, t_ns)
            replies.append(Wake(one.due_ns))
        return replies

    def take_echo(self, message: Any) -> None:
        """Take the guest's answer to a ping."""
        for one in self._all:
            if one.asked.ping and not one.done and message.data.id == one.number:
                self._finish(one)

    def marks(self) -> list[Mark]:
        """Return the marks that were reached since this was asked the last time."""
        reached, self._reached = self._reached, []
        return reached

    def unanswered(self) -> list[str]:
        """Return what each probe that has no answer has asked for, in words."""
        return [
            f"{one.name}: {one.tries} times asked, never answered" if one.tries else f"{one.name}: never asked"
            for one in self._all
            if not one.done
        ]

    def _start(self, one: _Running, t_ns: int) -> list[Reply]:
        one.due_ns = t_ns + one.asked.from_us * 1000
        return [Wake(one.due_ns)]

    def _ask(self, one: _Running, t_ns: int) -> list[Reply]:
        if one.asked.ping:
            echo = icmp.ICMP.Echo(id=one.number, seq=one.tries & 0xFFFF, data=b"bootlab")
            asked = icmp.ICMP(type=icmp.ICMP_ECHO, data=echo)
            return [Give(t_ns + self._delay_ns, ipv4_frame(ROUTER, GUEST, ip.IP_PROTO_ICMP, asked))]
        if one.connection is not None:
            if one.connection.state == "open" and not one.ended:
                # It listens; what it says to the question is worth waiting for.
                return []
            self._connections.forget(one.connection)
        assert one.asked.tcp is not None
        answer = bytearray()
        one.ended = False

        def taken(data: bytes) -> None:
            if not data:
                one.ended = True
                connection.close()
            answer.extend(data[: _ANSWER_MOST - len(answer)])
            if not one.done and one.asked.expect and re.search(one.asked.expect, answer.decode(errors="replace")):
                self._finish(one)

        def opened() -> None:
            if one.asked.send:
                connection.send(one.asked.send.encode())
            elif not one.asked.expect:
                self._finish(one)

        def refused() -> None:
            if one.asked.refused and not one.done:
                self._finish(one)

        connection = Connection((ROUTER, 0), one.asked.tcp, taken, opened, refused)
        one.connection = connection
        return self._connections.open(connection, t_ns)

    def _finish(self, one: _Running) -> None:
        one.done = True
        self._reached.append(Mark(one.name))
        if one.connection is not None:
            one.connection.close()
