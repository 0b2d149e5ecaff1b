"""Packets that are asked and answered with, as bytes: TCP's first segments, pings, ARP, IPv6's neighbour discovery."""

import socket
import struct
from dataclasses import dataclass
from typing import Any

import dpkt
from dpkt import arp, ethernet, icmp, icmp6, ip, tcp

from bootlab.probing.questions import NetworkPlace

_MOST_SEGMENT = b"\x02\x04\x05\xb4"
_TCP_HEADER = struct.Struct(">HHIIBBHHH")
_NEIGHBOUR_ASKED, _NEIGHBOUR_TOLD = 135, 136
_OWN_CARD, _ITS_CARD = 1, 2


@dataclass(frozen=True, slots=True)
class PortSaid:
    """What a port said to a SYN: `number` is the question's, `is_open` whether it takes a connection."""

    port: int
    our_port: int
    number: int
    is_open: bool


def syn(place: NetworkPlace, source: str, our_port: int, port: int, number: int) -> bytes:
    """Return the segment that asks to open a connection. `number`: its sequence number, by which its answer is known.

    Its checksum is there for IPv4; for IPv6 the kernel works it out.
    """
    segment = tcp.TCP(sport=our_port, dport=port, seq=number, flags=tcp.TH_SYN, win=64240, opts=_MOST_SEGMENT)
    segment.off = (20 + len(_MOST_SEGMENT)) // 4
    if place.is_ipv6:
        return bytes(segment)
    packet = ip.IP(src=socket.inet_aton(source), dst=socket.inet_aton(place.address), p=ip.IP_PROTO_TCP, data=segment)
    packet.len = len(packet)
    whole = bytes(packet)
    return whole[packet.hl * 4 :]


def read_port_said(data: bytes) -> PortSaid | None:
    """Return what a segment says of its port; None for any other than an answer to a SYN."""
    if len(data) < _TCP_HEADER.size:
        return None
    port, our_port, _, acknowledged, _, flags, *_ = _TCP_HEADER.unpack_from(data)
    if not flags & tcp.TH_ACK or not flags & (tcp.TH_SYN | tcp.TH_RST):
        return None
    return PortSaid(port, our_port, (acknowledged - 1) % (1 << 32), bool(flags & tcp.TH_SYN))


def echo(place: NetworkPlace, identity: int, number: int) -> bytes:
    """Return a ping; for IPv6, and on a socket for pings alone, the kernel works out its checksum."""
    said = icmp.ICMP.Echo(id=identity, seq=number & 0xFFFF, data=b"bootlab")
    if place.is_ipv6:
        return bytes(icmp6.ICMP6(type=icmp6.ICMP6_ECHO_REQUEST, sum=1, data=bytes(said)))
    return bytes(icmp.ICMP(type=icmp.ICMP_ECHO, data=said))


def read_echo(data: bytes, is_ipv6: bool) -> tuple[int, int] | None:
    """Return identity and number of an answer to a ping; None for any other message."""
    kind = icmp6.ICMP6_ECHO_REPLY if is_ipv6 else icmp.ICMP_ECHOREPLY
    if len(data) < 8 or data[0] != kind:
        return None
    identity, number = struct.unpack_from(">HH", data, 4)
    return identity, number


def without_ip_header(data: bytes) -> bytes:
    """Return what an IPv4 packet holds: a raw socket of IPv4 gives its header, too."""
    return data[(data[0] & 0xF) * 4 :] if data else data


def arp_question(card: bytes, source: str, address: str) -> bytes:
    """Return the frame that asks who has an IPv4 address."""
    asked = arp.ARP(sha=card, spa=socket.inet_aton(source), tha=bytes(6), tpa=socket.inet_aton(address))
    frame = ethernet.Ethernet(dst=b"\xff" * 6, src=card, type=ethernet.ETH_TYPE_ARP, data=asked)
    return bytes(frame)


def tells_arp(frame: bytes, address: str) -> bool:
    """Return whether a frame says who has this IPv4 address: an answer, or an announcement."""
    try:
        told: Any = ethernet.Ethernet(frame).data
    except (dpkt.Error, ValueError, IndexError):
        return False
    return isinstance(told, arp.ARP) and bytes(told.spa) == socket.inet_aton(address)


def neighbour_group(address: str) -> str:
    """Return the group in which the owner of an IPv6 address listens (RFC 4291, 2.7.1)."""
    packed = socket.inet_pton(socket.AF_INET6, address)
    return socket.inet_ntop(socket.AF_INET6, bytes.fromhex("ff0200000000000000000001ff") + packed[-3:])


def neighbour_question(card: bytes, address: str) -> bytes:
    """Return the ICMPv6 message that asks who has an IPv6 address (RFC 4861, 4.3)."""
    wanted = socket.inet_pton(socket.AF_INET6, address)
    return struct.pack(">BBHI", _NEIGHBOUR_ASKED, 0, 0, 0) + wanted + bytes([_OWN_CARD, 1]) + card


def tells_neighbour(message: bytes, address: str) -> bool:
    """Return whether an ICMPv6 message says who has this address."""
    wanted = socket.inet_pton(socket.AF_INET6, address)
    return len(message) >= 24 and message[0] == _NEIGHBOUR_TOLD and message[8:24] == wanted
