"""Questions by raw sockets: SYNs, pings, and who has the address on this link. Root may, and who has CAP_NET_RAW.

On its own link the kernel asks who has an address once a second, and a machine that comes up in between would seem a
second late. So that is asked at the pace of everything else, too; the kernel then learns from the answer.
"""

import errno
import random
import socket
from contextlib import ExitStack

from bootlab.probing.asking import AskingAccount, Rounds, Sockets, send
from bootlab.probing.questions import LINK, NetworkPlace, closed, opened
from bootlab.probing.route import Route, has_link_addresses
from bootlab.probing.segments import (
    arp_question,
    echo,
    neighbour_group,
    neighbour_question,
    read_echo,
    read_port_said,
    syn,
    tells_arp,
    tells_neighbour,
    without_ip_header,
)
from bootlab.probing.stamps import receive, stamp_packets
from bootlab.timeline.marks import PING

_ETH_P_ARP = 0x0806
# Where a TCP header has its checksum: the kernel of IPv6 puts it there.
_CHECKSUM_AT = 16
# Neighbours take only what no router can have passed on (RFC 4861, 7.1).
_HOPS = 255
_A_ROUND_MOST = 256
"""So many packets are read before the next questions are asked."""


def may_be_raw() -> bool:
    """Return whether this process may open raw sockets."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP).close()
    except PermissionError:
        return False
    return True


class RawPorts:
    """A SYN to each port: a closed one refuses, an open one agrees, and this kernel then takes it back (RST)."""

    def __init__(self, place: NetworkPlace, ports: tuple[int, ...], account: AskingAccount, sockets: Sockets) -> None:
        self._place, self._account, self._sockets = place, account, sockets
        self._waiting = set(ports)
        self._rounds = Rounds()
        self._first = random.randrange(1 << 32)
        with ExitStack() as opened_so_far:
            self._line = _raw(place, socket.IPPROTO_TCP)
            opened_so_far.callback(self._line.close)
            if place.is_ipv6:
                self._line.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_CHECKSUM, _CHECKSUM_AT)
            self._line.connect(place.to(0))
            # A port of ours that nobody else gets meanwhile, and nobody listens on.
            self._kept = socket.socket(place.family, socket.SOCK_STREAM)
            opened_so_far.callback(self._kept.close)
            self._kept.bind(("::" if place.is_ipv6 else "", 0))
            opened_so_far.pop_all()
        self._our_port = int(self._kept.getsockname()[1])
        self._source = str(self._line.getsockname()[0])
        sockets.watch(self._line, self._take)

    def ask(self) -> None:
        """Ask every port that is not open yet."""
        if not self._waiting:
            return
        number = self._rounds.ask()
        for port in sorted(self._waiting):
            sequence = (self._first + number) % (1 << 32)
            send(self._line, self._account, syn(self._place, self._source, self._our_port, port, sequence))

    def close(self) -> None:
        """Give back its sockets."""
        self._sockets.forget(self._line)
        self._kept.close()

    def _take(self) -> None:
        for data, t_ns in _packets(self._line):
            said = read_port_said(data if self._place.is_ipv6 else without_ip_header(data))
            if said is None or said.our_port != self._our_port or said.port not in self._waiting:
                continue
            number = (said.number - self._first) % (1 << 32)
            if not self._rounds.knows(number):
                continue
            since_ns = self._rounds.since_ns(number)
            if said.is_open:
                self._waiting.discard(said.port)
                self._account.answer(opened(said.port), t_ns, since_ns, f"TCP port {said.port} takes a connection")
            else:
                self._account.answer(closed(said.port), t_ns, since_ns, f"TCP port {said.port} refuses")


class Pings:
    """ICMP's echo, of both families: by a raw socket, or by one for pings alone where this user may have that."""

    def __init__(self, place: NetworkPlace, account: AskingAccount, sockets: Sockets) -> None:
        self._place, self._account, self._sockets = place, account, sockets
        self._rounds = Rounds()
        self._identity = random.randrange(1 << 16)
        protocol = socket.IPPROTO_ICMPV6 if place.is_ipv6 else socket.IPPROTO_ICMP
        try:
            self._line = _raw(place, protocol)
            self._is_raw = True
        except PermissionError:
            self._line = socket.socket(place.family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, protocol)
            stamp_packets(self._line)
            self._is_raw = False
        self._line.connect(place.to(0))
        sockets.watch(self._line, self._take)

    def ask(self) -> None:
        """Ask once more, unless it has answered."""
        if PING not in self._account.answered:
            send(self._line, self._account, echo(self._place, self._identity, self._rounds.ask()))

    def close(self) -> None:
        """Give back its socket."""
        self._sockets.forget(self._line)

    def _take(self) -> None:
        for data, t_ns in _packets(self._line):
            headed = self._is_raw and not self._place.is_ipv6
            found = read_echo(without_ip_header(data) if headed else data, self._place.is_ipv6)
            # A socket for pings alone has an identity of the kernel's, and hears nobody else's answers.
            if found is not None and (found[0] == self._identity or not self._is_raw):
                number = self._rounds_number(found[1])
                self._account.answer(PING, t_ns, self._rounds.since_ns(number), "answers a ping")

    def _rounds_number(self, low: int) -> int:
        # An echo has 16 bits of the number.
        return next((number for number in range(low, 1 << 24, 1 << 16) if self._rounds.knows(number)), low)


class LinkQuestions:
    """Who has the address on this link: ARP for IPv4, neighbour discovery for IPv6."""

    def __init__(self, place: NetworkPlace, card: str, account: AskingAccount, sockets: Sockets) -> None:
        self._place, self._account, self._sockets = place, account, sockets
        self._rounds = Rounds()
        arp = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.htons(_ETH_P_ARP))
        try:
            arp.bind((card, _ETH_P_ARP))
            own = bytes(arp.getsockname()[4])
            if place.is_ipv6:
                self._line = _raw(place, socket.IPPROTO_ICMPV6)
                index = socket.if_nametoindex(card)
                self._line.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
                self._line.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, _HOPS)
                self._to: tuple[str, int, int, int] = (neighbour_group(place.address), 0, 0, index)
                self._question = neighbour_question(own, place.address)
                arp.close()
            else:
                self._line = arp
                stamp_packets(arp)
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
                    asked.connect((place.address, 9))
                    source = str(asked.getsockname()[0])
                self._question = arp_question(own, source, place.address)
        except BaseException:
            arp.close()
            raise
        sockets.watch(self._line, self._take)

    def ask(self) -> None:
        """Ask once more, unless it has answered."""
        if LINK in self._account.answered:
            return
        self._rounds.ask()
        if not self._place.is_ipv6:
            send(self._line, self._account, self._question)
            return
        try:
            self._line.sendto(self._question, self._to)
        except OSError as error:
            self._account.unsent[error.strerror or str(error)] += 1

    def close(self) -> None:
        """Give back its socket."""
        self._sockets.forget(self._line)

    def _take(self) -> None:
        for data, t_ns in _packets(self._line):
            tells = tells_neighbour if self._place.is_ipv6 else tells_arp
            if tells(data, self._place.address):
                # An announcement answers no question, and an answer does not say which one.
                since_ns = self._rounds.last_before(t_ns)
                self._account.answer(LINK, t_ns, since_ns, "has the address on this link")


def open_link(place: NetworkPlace, route: Route, account: AskingAccount, sockets: Sockets) -> LinkQuestions | None:
    """Return the questions on this link; None where a router lies between, or the link has no such addresses."""
    if not route.on_link or route.card is None or not has_link_addresses(route.card):
        return None
    return LinkQuestions(place, route.card, account, sockets)


def _raw(place: NetworkPlace, protocol: int) -> socket.socket:
    line = socket.socket(place.family, socket.SOCK_RAW | socket.SOCK_NONBLOCK, protocol)
    stamp_packets(line)
    return line


def _packets(line: socket.socket) -> list[tuple[bytes, int]]:
    found: list[tuple[bytes, int]] = []
    while len(found) < _A_ROUND_MOST:
        try:
            found.append(receive(line))
        except BlockingIOError:
            break
        except OSError as error:
            # A router's word that nobody is there yet, told to a socket that is connected.
            if error.errno in (errno.EBADF, errno.ENETDOWN):
                break
    return found
