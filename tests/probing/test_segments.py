"""Packets: what is asked is what others read in it, and only an answer is taken for one."""

import socket

import pytest
from dpkt import arp, ethernet, icmp, tcp

from bootlab.probing.questions import NetworkPlace
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

FOUR, SIX = NetworkPlace("192.0.2.7", socket.AF_INET), NetworkPlace("2001:db8::7", socket.AF_INET6)
CARD = bytes.fromhex("525400123456")


def checksum(data: bytes) -> int:
    words = [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_a_syn_is_whole_and_its_checksum_right() -> None:
    asked = syn(FOUR, "192.0.2.1", 40000, 22, 7)
    read = tcp.TCP(asked)
    assert (read.sport, read.dport, read.seq, read.flags, read.off * 4) == (40000, 22, 7, tcp.TH_SYN, len(asked))
    pseudo = socket.inet_aton("192.0.2.1") + socket.inet_aton("192.0.2.7") + bytes([0, 6]) + len(asked).to_bytes(2)
    assert checksum(pseudo + asked) == 0xFFFF
    # The kernel of IPv6 puts it in, and counts on nothing being there.
    assert syn(SIX, "::", 40000, 22, 7)[16:18] == b"\0\0"


@pytest.mark.parametrize(
    ("flags", "is_open"), [(tcp.TH_SYN | tcp.TH_ACK, True), (tcp.TH_RST | tcp.TH_ACK, False), (tcp.TH_ACK, None),
                           (tcp.TH_RST, None), (tcp.TH_SYN, None)],
)  # fmt: skip
def test_what_a_port_says(flags: int, is_open: bool | None) -> None:
    said = read_port_said(bytes(tcp.TCP(sport=22, dport=40000, seq=1, ack=8, flags=flags)))
    if is_open is None:
        assert said is None
    else:
        assert said is not None
        assert (said.port, said.our_port, said.number, said.is_open) == (22, 40000, 7, is_open)


def test_damaged_packets_are_nothing() -> None:
    assert read_port_said(b"\0" * 19) is None and read_port_said(b"") is None
    assert read_echo(b"\0" * 7, False) is None and without_ip_header(b"") == b""
    assert not tells_arp(b"\0" * 9, FOUR.address) and not tells_neighbour(b"\x88", SIX.address)


def test_pings_of_both_families() -> None:
    for place, answer in ((FOUR, icmp.ICMP_ECHOREPLY), (SIX, 129)):
        asked = echo(place, 0x1234, 0x10005)
        assert read_echo(asked, place.is_ipv6) is None
        assert read_echo(bytes([answer]) + asked[1:], place.is_ipv6) == (0x1234, 5)


def test_who_has_an_address() -> None:
    asked = ethernet.Ethernet(arp_question(CARD, "192.0.2.1", "192.0.2.7"))
    assert asked.dst == b"\xff" * 6 and asked.data.tpa == socket.inet_aton("192.0.2.7")
    assert not tells_arp(bytes(asked), "192.0.2.7")
    told = arp.ARP(op=arp.ARP_OP_REPLY, sha=CARD, spa=socket.inet_aton("192.0.2.7"))
    assert tells_arp(bytes(ethernet.Ethernet(dst=CARD, src=CARD, type=0x806, data=told)), "192.0.2.7")
    assert neighbour_group("2001:db8::12:3456") == "ff02::1:ff12:3456"
    question = neighbour_question(CARD, SIX.address)
    assert len(question) == 32 and not tells_neighbour(question, SIX.address)
    assert tells_neighbour(b"\x88" + question[1:], SIX.address)
    assert not tells_neighbour(b"\x88" + question[1:], "2001:db8::8")
