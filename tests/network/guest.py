"""A guest's side of the wire: frames as its kernel would send them, and what came back, taken apart."""

from ipaddress import IPv4Address
from typing import Any

from dpkt import arp, dhcp, ethernet, ip, tcp, udp

from bootlab.network.addresses import GUEST, GUEST_MAC, OUR_MAC
from bootlab.network.frames import Give, Reply
from bootlab.network.peer import Peer
from bootlab.system import Network

BROADCAST = b"\xff" * 6


def peer(files: dict[str, bytes] | None = None, **settings: Any) -> Peer:
    return Peer(Network.model_validate({"peer": "bootlab", **settings}), files or {})


def given(replies: list[Reply]) -> list[Any]:
    """Return the packets inside of the frames that the guest is given."""
    return [ethernet.Ethernet(one.frame).data for one in replies if isinstance(one, Give)]


def frame(payload: Any, kind: int = ethernet.ETH_TYPE_IP, to: bytes = OUR_MAC) -> bytes:
    return bytes(ethernet.Ethernet(src=GUEST_MAC, dst=to, type=kind, data=payload))


def arp_question(wanted: IPv4Address, source: IPv4Address = GUEST) -> bytes:
    asked = arp.ARP(op=arp.ARP_OP_REQUEST, sha=GUEST_MAC, spa=source.packed, tha=bytes(6), tpa=wanted.packed)
    return frame(asked, ethernet.ETH_TYPE_ARP, BROADCAST)


def ipv4(to: IPv4Address, protocol: int, payload: Any, source: IPv4Address = GUEST) -> bytes:
    packet = ip.IP(src=source.packed, dst=to.packed, p=protocol, data=payload)
    packet.len = len(packet)
    return frame(packet)


def datagram(to: IPv4Address, port: int, data: bytes, source: IPv4Address = GUEST) -> bytes:
    packet = udp.UDP(sport=40000, dport=port, data=data)
    packet.ulen = len(packet)
    return ipv4(to, ip.IP_PROTO_UDP, packet, source)


def segment(to: tuple[IPv4Address, int], flags: int, number: int, acknowledged: int = 0, data: bytes = b"",
            port: int = 40001, window: int = 65535) -> bytes:  # fmt: skip
    said = tcp.TCP(sport=port, dport=to[1], seq=number, ack=acknowledged, flags=flags, win=window, data=data)
    said.off = 5
    return ipv4(to[0], ip.IP_PROTO_TCP, said)


def lease_question(kind: int, *options: tuple[int, bytes], ciaddr: int = 0) -> bytes:
    said = dhcp.DHCP(chaddr=GUEST_MAC, xid=77, ciaddr=ciaddr, opts=((dhcp.DHCP_OPT_MSGTYPE, bytes([kind])), *options))
    return datagram(IPv4Address("255.255.255.255"), 67, bytes(said), IPv4Address(0))
