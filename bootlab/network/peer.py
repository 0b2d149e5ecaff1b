"""Answers the guest's frames: each is taken with its time, and what is said to it has times as well. Knows no host.

The same frames at the same times have the same answers. What nobody answers is counted, by what it was.
"""

import struct
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import dpkt
from dpkt import arp, ethernet, icmp, icmp6, ip, ip6, tcp, udp

from bootlab.network import leases, metadata, names
from bootlab.network.addresses import GUEST, METADATA, NAMESERVER, NAMESERVER_6, OURS, OURS_6, ROUTER
from bootlab.network.frames import FRAME_MOST, Give, Reply, ipv4_frame, ipv6_frame
from bootlab.network.leases import answer_lease
from bootlab.network.names import answer_name
from bootlab.network.neighbours import (
    answer_arp,
    answer_neighbour,
    asks_for_free_address,
    asks_for_free_neighbour,
)
from bootlab.network.probes import Probes
from bootlab.network.tcp import Connection, Connections
from bootlab.system import Network

_MOST_SORTS = 12
"""So many sorts of what nobody answered are named."""
_GROUPS_LISTENED = (143, 131, 132)
"""Multicast listener reports: the guest says which groups it is in, and wants nothing."""


@dataclass
class FrameAccount:
    """What became of the guest's frames: how many came, and what had no answer, how many of each sort."""

    frames: int = 0
    unanswered: Counter[str] = field(default_factory=Counter)


class Peer:
    """All that is on the guest's wire besides the guest. `files`: what its metadata service has, by path."""

    def __init__(self, network: Network, files: Mapping[str, bytes]) -> None:
        self.account = FrameAccount()
        self._names = {name.lower(): IPv4Address(address) for name, address in network.names.items()}
        self._hostname = network.hostname
        self._ipv6 = network.ipv6
        self._delay_ns = network.delay_us * 1000
        serve = metadata.serve_files(files, self._leave)
        served = {(address, metadata.PORT): serve for address in (METADATA, ROUTER)} if files else {}
        self._connections = Connections(served, self._delay_ns)
        self._probes = Probes(network.probes, self._connections, self._delay_ns)

    def begin(self) -> list[Reply]:
        """Return what is to be done as the machine is switched on."""
        return self._probes.begin()

    def mark(self, name: str, t_ns: int) -> list[Reply]:
        """Return what is to be done as a mark is reached."""
        return self._probes.mark(name, t_ns)

    def wake(self, t_ns: int) -> list[Reply]:
        """Return what is to be done at a time that was asked for."""
        return self._with_marks([*self._probes.wake(t_ns), *self._connections.wake(t_ns)], t_ns)

    def take(self, frame: bytes, t_ns: int) -> list[Reply]:
        """Return what is said to a frame of the guest's. A damaged one is counted, as everything nobody answers."""
        self.account.frames += 1
        try:
            replies = self._answer(ethernet.Ethernet(frame), t_ns)
        except (dpkt.Error, struct.error, ValueError, IndexError):
            replies = self._leave("damaged frames")
        return self._with_marks(replies, t_ns)

    def open(self, connection: Connection, t_ns: int) -> list[Reply]:
        """Open a connection to a port of the guest."""
        return self._with_marks(self._connections.open(connection, t_ns), t_ns)

    def send(self, connection: Connection, data: bytes, t_ns: int) -> list[Reply]:
        """Send bytes on it; b"" closes our half."""
        return self._with_marks(self._connections.send(connection, data, t_ns), t_ns)

    def remarks(self) -> list[str]:
        """Return what a user should know of this boot's network, a line each."""
        told = [f"network: probe {line}" for line in self._probes.unanswered()]
        if self.account.unanswered:
            sorts = self.account.unanswered.most_common()
            most = ", ".join(f"{what} ({count})" for what, count in sorts[:_MOST_SORTS])
            rest = f", and {len(sorts) - _MOST_SORTS} sorts more" if len(sorts) > _MOST_SORTS else ""
            told.append(f"network: not answered: {most}{rest}")
        if self._connections.resent:
            told.append(f"network: {self._connections.resent} TCP segments were sent again: the guest dropped them")
        return told

    def _with_marks(self, replies: list[Reply], t_ns: int) -> list[Reply]:
        if any(isinstance(one, Give) and len(one.frame) > FRAME_MOST for one in replies):
            # An echo of a guest with jumbo frames, say: the plugin takes none of that size.
            self._leave(f"with more than {FRAME_MOST} bytes")
            replies = [one for one in replies if not isinstance(one, Give) or len(one.frame) <= FRAME_MOST]
        # A probe may begin where another has its answer, and be answered at once.
        while marks := self._probes.marks():
            replies = [*replies, *marks]
            for mark in marks:
                replies += self._probes.mark(mark.name, t_ns)
        return replies

    def _leave(self, what: str) -> list[Reply]:
        self.account.unanswered[what] += 1
        return []

    def _answer(self, frame: Any, t_ns: int) -> list[Reply]:
        if isinstance(frame.data, arp.ARP):
            if asks_for_free_address(frame.data):
                return []
            return self._give(answer_arp(frame.data), t_ns, lambda: f"ARP for {IPv4Address(frame.data.tpa)}")
        if isinstance(frame.data, ip.IP):
            return self._answer_ipv4(frame.data, t_ns)
        if isinstance(frame.data, ip6.IP6):
            return self._answer_ipv6(frame.data, t_ns)
        if frame.type in (ethernet.ETH_TYPE_ARP, ethernet.ETH_TYPE_IP, ethernet.ETH_TYPE_IP6):
            return self._leave("damaged frames")
        return self._leave(f"Ethernet type {frame.type:#06x}")

    def _give(self, answer: bytes | None, t_ns: int, what: Callable[[], str]) -> list[Reply]:
        return self._leave(what()) if answer is None else [Give(t_ns + self._delay_ns, answer)]

    def _answer_ipv4(self, packet: Any, t_ns: int) -> list[Reply]:
        to, inner = IPv4Address(packet.dst), packet.data
        if packet.offset or packet.mf:
            return self._leave("fragments of IPv4 packets")
        if packet.p == ip.IP_PROTO_IGMP:
            # Which groups the guest is in: it wants nothing.
            return []
        if isinstance(inner, tcp.TCP):
            if packet.src != GUEST.packed:
                return self._leave(f"TCP from {IPv4Address(packet.src)}: the guest is {GUEST}")
            return self._connections.take(packet, t_ns)
        if isinstance(inner, udp.UDP):
            return self._answer_udp(to, IPv4Address(packet.src), inner, t_ns)
        if isinstance(inner, icmp.ICMP) and inner.type == icmp.ICMP_ECHO and to in OURS:
            said = icmp.ICMP(type=icmp.ICMP_ECHOREPLY, data=inner.data)
            source = IPv4Address(packet.src)
            return [Give(t_ns + self._delay_ns, ipv4_frame(to, source, ip.IP_PROTO_ICMP, said))]
        if (
            isinstance(inner, icmp.ICMP)
            and inner.type == icmp.ICMP_ECHOREPLY
            and isinstance(inner.data, icmp.ICMP.Echo)
        ):
            self._probes.take_echo(inner)
            return []
        return self._leave(f"IPv4 protocol {packet.p} to {to}")

    def _answer_udp(self, to: IPv4Address, source: IPv4Address, inner: Any, t_ns: int) -> list[Reply]:
        where = f"UDP to {to} port {inner.dport}"
        if inner.dport == leases.SERVER_PORT:
            return self._give(answer_lease(dpkt.dhcp.DHCP(inner.data), self._hostname), t_ns, lambda: where)
        if inner.dport == names.PORT and to in (NAMESERVER, ROUTER):
            answer = answer_name(bytes(inner.data), self._names)
            if answer is not None:
                said = _datagram(inner, answer)
                return [Give(t_ns + self._delay_ns, ipv4_frame(to, source, ip.IP_PROTO_UDP, said))]
        return self._leave(where)

    def _answer_ipv6(self, packet: Any, t_ns: int) -> list[Reply]:
        inner, to, source = packet.data, IPv6Address(packet.dst), IPv6Address(packet.src)
        if self._ipv6 == "answered" and isinstance(inner, udp.UDP) and (to, inner.dport) == (NAMESERVER_6, names.PORT):
            answer = answer_name(bytes(inner.data), self._names)
            if answer is not None:
                said = _datagram(inner, answer)
                return [Give(t_ns + self._delay_ns, ipv6_frame(to, source, ip.IP_PROTO_UDP, said))]
        if not isinstance(inner, icmp6.ICMP6):
            port = f" port {inner.dport}" if isinstance(inner, udp.UDP | tcp.TCP) else ""
            return self._leave(f"IPv6 protocol {packet.p} to {to}{port}")
        if inner.type in _GROUPS_LISTENED:
            return []
        if self._ipv6 != "answered":
            return self._leave(f"ICMPv6 type {inner.type}")
        if inner.type == icmp6.ICMP6_ECHO_REQUEST and to in OURS_6:
            said = icmp6.ICMP6(type=icmp6.ICMP6_ECHO_REPLY, code=0, data=bytes(inner.data))
            return [Give(t_ns + self._delay_ns, ipv6_frame(to, source, ip.IP_PROTO_ICMP6, said))]
        message = bytes(inner)
        if asks_for_free_neighbour(message, source):
            return []
        return self._give(answer_neighbour(message, source), t_ns, lambda: f"ICMPv6 type {inner.type} to {to}")


def _datagram(asked: Any, data: bytes) -> Any:
    said = udp.UDP(sport=asked.dport, dport=asked.sport, data=data)
    said.ulen = len(said)
    return said
