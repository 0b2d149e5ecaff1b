"""Who has which address: ARP, and for IPv6 neighbour discovery with the router's advertisement."""

import struct
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from dpkt import arp, ethernet, icmp6, ip

from bootlab.network.addresses import (
    ALL_NODES,
    NAMESERVER_6,
    OUR_MAC,
    OURS,
    OURS_6,
    PREFIX,
    ROUTER_LINK_LOCAL,
)
from bootlab.network.frames import ethernet_frame, ipv6_frame

_ROUTER_SOLICITATION, _ROUTER_ADVERTISEMENT = 133, 134
_NEIGHBOUR_SOLICITATION, _NEIGHBOUR_ADVERTISEMENT = 135, 136
_OPTION_SOURCE, _OPTION_TARGET, _OPTION_PREFIX, _OPTION_NAMESERVER = 1, 2, 3, 25
_LIFETIME_S = 1800
_FOR_GOOD_S = 0xFFFFFFFF


def asks_for_free_address(asked: Any) -> bool:
    """Return whether the guest asks by ARP if the address is free that it takes (RFC 5227): silence says that it is."""
    return asked.op == arp.ARP_OP_REQUEST and (not any(asked.spa) or asked.spa == asked.tpa)


def asks_for_free_neighbour(message: bytes, source: IPv6Address) -> bool:
    """Return whether the guest asks the same for IPv6 (RFC 4862, 5.4)."""
    return message[0] == _NEIGHBOUR_SOLICITATION and source.is_unspecified


def answer_arp(asked: Any) -> bytes | None:
    """Return that one of our addresses is ours; None for any other, and for what is no question."""
    if asked.op != arp.ARP_OP_REQUEST or IPv4Address(asked.tpa) not in OURS:
        return None
    said = arp.ARP(op=arp.ARP_OP_REPLY, sha=OUR_MAC, spa=asked.tpa, tha=asked.sha, tpa=asked.spa)
    return ethernet_frame(asked.sha, ethernet.ETH_TYPE_ARP, said)


def answer_neighbour(message: bytes, source: IPv6Address) -> bytes | None:
    """Return the answer to a message of ICMPv6 about neighbours and routers; None for one that wants none.

    `message`: with its header of four bytes.
    """
    kind = message[0]
    if kind == _ROUTER_SOLICITATION:
        return _advertise_router()
    if kind == _NEIGHBOUR_SOLICITATION and len(message) >= 24:
        wanted = IPv6Address(message[8:24])
        if wanted in OURS_6:
            return _advertise_neighbour(wanted, source)
    return None


def _advertise_router() -> bytes:
    # RFC 4861, 4.2 and 4.6.2: hop limit, flags, lifetimes; on-link and autonomous. RFC 8106: the name server.
    body = struct.pack(">BBHII", 64, 0, _LIFETIME_S, 0, 0)
    body += struct.pack(">BB6s", _OPTION_SOURCE, 1, OUR_MAC)
    prefix = PREFIX.network_address.packed
    body += struct.pack(">BBBBIII16s", _OPTION_PREFIX, 4, PREFIX.prefixlen, 0xC0, _FOR_GOOD_S, _FOR_GOOD_S, 0, prefix)
    body += struct.pack(">BBHI16s", _OPTION_NAMESERVER, 3, 0, _LIFETIME_S, NAMESERVER_6.packed)
    return _message(ALL_NODES, ROUTER_LINK_LOCAL, _ROUTER_ADVERTISEMENT, body)


def _advertise_neighbour(wanted: IPv6Address, to: IPv6Address) -> bytes:
    # RFC 4861, 4.4: router, solicited, override.
    body = struct.pack(">I16s", 0xE0000000, wanted.packed) + struct.pack(">BB6s", _OPTION_TARGET, 1, OUR_MAC)
    return _message(to, wanted, _NEIGHBOUR_ADVERTISEMENT, body)


def _message(to: IPv6Address, source: IPv6Address, kind: int, body: bytes) -> bytes:
    return ipv6_frame(source, to, ip.IP_PROTO_ICMP6, icmp6.ICMP6(type=kind, code=0, data=body))
