"""Who has which address: ARP and neighbour discovery."""

import struct
from ipaddress import IPv4Address, IPv6Address

import pytest
from dpkt import arp, ethernet, icmp6, ip, ip6

from bootlab.network.addresses import (
    ALL_NODES,
    GUEST,
    GUEST_MAC,
    METADATA,
    NAMESERVER,
    OUR_MAC,
    PREFIX,
    ROUTER,
    ROUTER_LINK_LOCAL,
)
from tests.network.guest import arp_question, frame, given, peer

LINK_LOCAL = IPv6Address("fe80::5054:ff:fe12:3456")


def icmpv6(kind: int, body: bytes, source: IPv6Address = LINK_LOCAL, to: IPv6Address = ROUTER_LINK_LOCAL) -> bytes:
    message = icmp6.ICMP6(type=kind, code=0, data=body)
    packet = ip6.IP6(src=source.packed, dst=to.packed, nxt=ip.IP_PROTO_ICMP6, hlim=255, data=message)
    packet.plen, packet.extension_hdrs = len(message), {}
    return frame(packet, ethernet.ETH_TYPE_IP6)


@pytest.mark.parametrize("wanted", [ROUTER, NAMESERVER, METADATA])
def test_our_addresses_are_ours(wanted: IPv4Address) -> None:
    (said,) = given(peer().take(arp_question(wanted), 5))
    assert (said.op, said.sha, said.spa, said.tha) == (arp.ARP_OP_REPLY, OUR_MAC, wanted.packed, GUEST_MAC)


def test_whether_its_address_is_free_the_guest_learns_by_silence() -> None:
    one = peer()
    assert one.take(arp_question(GUEST, IPv4Address(0)), 5) == []
    assert one.take(arp_question(GUEST), 6) == []
    assert not one.account.unanswered


def test_another_address_is_nobodys_and_that_is_counted() -> None:
    one = peer()
    assert one.take(arp_question(IPv4Address("10.0.2.77")), 5) == []
    assert one.account.unanswered == {"ARP for 10.0.2.77": 1}


def test_the_router_advertises_its_prefix_and_a_name_server() -> None:
    (said,) = given(peer().take(icmpv6(133, bytes(4), to=IPv6Address("ff02::2")), 5))
    message = bytes(said.data)
    assert (message[0], IPv6Address(said.dst), said.hlim) == (134, ALL_NODES, 255)
    assert PREFIX.network_address.packed in message
    # Every option says its own size, in eights of bytes, and they fill the message.
    options, at = {}, 16
    while at < len(message):
        options[message[at]] = message[at + 1]
        assert message[at + 1] > 0
        at += message[at + 1] * 8
    assert (options, at) == ({1: 1, 3: 4, 25: 3}, len(message))


def test_a_neighbour_of_ours_is_advertised_and_no_other() -> None:
    one = peer()
    (said,) = given(one.take(icmpv6(135, struct.pack(">I16s", 0, ROUTER_LINK_LOCAL.packed)), 5))
    assert bytes(said.data)[0] == 136 and bytes(said.data)[-6:] == OUR_MAC
    assert one.take(icmpv6(135, struct.pack(">I16s", 0, LINK_LOCAL.packed), IPv6Address("::")), 6) == []
    assert not one.account.unanswered
    assert one.take(icmpv6(135, struct.pack(">I16s", 0, IPv6Address("fe80::9").packed)), 7) == []
    assert one.account.unanswered == {"ICMPv6 type 135 to fe80::2": 1}


def test_a_silent_network_answers_no_ipv6() -> None:
    one = peer(ipv6="silent")
    assert one.take(icmpv6(133, bytes(4)), 5) == []
    assert one.account.unanswered == {"ICMPv6 type 133": 1}


def test_an_ipv6_echo_is_answered() -> None:
    (said,) = given(peer().take(icmpv6(128, struct.pack(">HH", 7, 1) + b"data"), 5))
    assert bytes(said.data)[:1] == b"\x81" and bytes(said.data)[4:] == struct.pack(">HH", 7, 1) + b"data"
