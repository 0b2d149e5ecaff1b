"""Frames to the guest: right addresses, sizes and checksums."""

import struct
from ipaddress import IPv4Address, IPv6Address

from dpkt import ethernet, icmp6, ip, udp

from bootlab.network.addresses import EVERYWHERE, GUEST, GUEST_MAC, ROUTER, ROUTER_LINK_LOCAL
from bootlab.network.frames import ipv4_frame, ipv6_frame


def folded(data: bytes) -> int:
    """Return the sum of all 16-bit words as RFC 1071 has it: 0xffff where a checksum in them is right."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data[: len(data) // 2 * 2]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_an_ipv4_frame_has_right_sums() -> None:
    packet = udp.UDP(sport=1, dport=2, data=b"odd")
    packet.ulen = len(packet)
    made = ipv4_frame(ROUTER, GUEST, ip.IP_PROTO_UDP, packet)
    assert made[:6] == GUEST_MAC
    assert folded(made[14:34]) == 0xFFFF
    pseudo = ROUTER.packed + GUEST.packed + struct.pack(">BBH", 0, 17, 11)
    assert folded(pseudo + made[34:]) == 0xFFFF
    assert struct.unpack(">H", made[16:18])[0] == len(made) - 14


def test_a_frame_to_everywhere_is_a_broadcast() -> None:
    packet = udp.UDP(sport=1, dport=2, data=b"")
    packet.ulen = len(packet)
    assert ipv4_frame(IPv4Address(0), EVERYWHERE, ip.IP_PROTO_UDP, packet)[:6] == b"\xff" * 6


def test_an_ipv6_frame_has_a_right_sum_and_a_hop_limit_of_255() -> None:
    to = IPv6Address("ff02::1")
    made = ipv6_frame(ROUTER_LINK_LOCAL, to, ip.IP_PROTO_ICMP6, icmp6.ICMP6(type=134, code=0, data=b"12345678"))
    assert made[:6] == bytes.fromhex("333300000001")
    packet = ethernet.Ethernet(made).data
    assert (packet.hlim, packet.plen) == (255, len(made) - 54)
    pseudo = ROUTER_LINK_LOCAL.packed + to.packed + struct.pack(">II", packet.plen, 58)
    assert folded(pseudo + made[54:]) == 0xFFFF
