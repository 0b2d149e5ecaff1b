"""What goes over the wire: frames put together, with their checksums, and what is asked of the plugin besides."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from dpkt import ethernet, ip, ip6

from bootlab.network.addresses import BROADCAST_MAC, EVERYWHERE, GUEST_MAC, OUR_MAC

FRAME_MOST = 9216
"""The largest frame that the plugin gives to a card (plugin/network/protocol.h)."""
_TTL = 64


@dataclass(frozen=True, slots=True)
class Give:
    """Give this frame to the guest's card, `t_ns` on its clock."""

    t_ns: int
    frame: bytes


@dataclass(frozen=True, slots=True)
class Wake:
    """Wake the peer at this time."""

    t_ns: int


@dataclass(frozen=True, slots=True)
class Mark:
    """The guest has answered what it was asked: a mark of this name is reached now."""

    name: str


Reply = Give | Wake | Mark


def ipv4_frame(source: IPv4Address, target: IPv4Address, protocol: int, payload: Any) -> bytes:
    """Return a frame to the guest with an IPv4 packet. `payload`: dpkt's packet of that protocol."""
    packet = ip.IP(src=source.packed, dst=target.packed, p=protocol, ttl=_TTL, df=1, data=payload)
    packet.len = len(packet)
    mac = BROADCAST_MAC if target == EVERYWHERE else GUEST_MAC
    return ethernet_frame(mac, ethernet.ETH_TYPE_IP, packet)


def ipv6_frame(source: IPv6Address, target: IPv6Address, protocol: int, payload: Any) -> bytes:
    """Return a frame to the guest with an IPv6 packet; neighbour discovery wants its hop limit at 255 (RFC 4861)."""
    packet = ip6.IP6(src=source.packed, dst=target.packed, nxt=protocol, hlim=255, data=payload)
    packet.plen = len(payload)
    packet.extension_hdrs = {}
    # A group of receivers is a card's address, too (RFC 2464, 7).
    mac = b"\x33\x33" + target.packed[-4:] if target.is_multicast else GUEST_MAC
    return ethernet_frame(mac, ethernet.ETH_TYPE_IP6, packet)


def ethernet_frame(mac: bytes, kind: int, payload: Any) -> bytes:
    """Return a frame to the card `mac`; `kind` is its EtherType."""
    return bytes(ethernet.Ethernet(dst=mac, src=OUR_MAC, type=kind, data=payload))
