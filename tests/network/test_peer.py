"""The peer as a whole: whom each frame is for, what nobody answers, and that nothing a guest sends upsets it."""

import random
from ipaddress import IPv4Address

from dpkt import ethernet, icmp, ip, tcp

from bootlab.network.addresses import METADATA, ROUTER
from tests.network.guest import arp_question, datagram, frame, given, ipv4, lease_question, peer, segment

IPV6 = b"\x60\0\0\0\0\x18\0\x40" + bytes.fromhex("fe80") + bytes(13) + b"\1" + bytes.fromhex("fe80") + bytes(13) + b"\2"


def test_an_echo_takes_as_long_as_it_is_asked_for() -> None:
    asked = icmp.ICMP(type=icmp.ICMP_ECHO, data=icmp.ICMP.Echo(id=1, seq=2, data=b"x"))
    (said,) = peer(delay_us=150).take(ipv4(ROUTER, ip.IP_PROTO_ICMP, asked), 1000)
    assert getattr(said, "t_ns", None) == 151_000
    (packet,) = given([said])
    assert (packet.data.type, packet.src, packet.data.data.data) == (icmp.ICMP_ECHOREPLY, ROUTER.packed, b"x")


def test_a_guest_with_another_address_is_answered_there_or_counted() -> None:
    other, one = IPv4Address("10.0.2.20"), peer()
    asked = icmp.ICMP(type=icmp.ICMP_ECHO, data=icmp.ICMP.Echo(id=1, seq=2, data=b"x"))
    (said,) = given(one.take(ipv4(ROUTER, ip.IP_PROTO_ICMP, asked, other), 5))
    assert said.dst == other.packed
    opening = tcp.TCP(sport=40001, dport=80, flags=tcp.TH_SYN)
    assert one.take(ipv4(ROUTER, ip.IP_PROTO_TCP, opening, other), 6) == []
    assert one.account.unanswered == {"TCP from 10.0.2.20: the guest is 10.0.2.15": 1}


def test_whatever_nobody_answers_is_counted_by_its_sort() -> None:
    one = peer()
    asked = icmp.ICMP(type=icmp.ICMP_ECHO, data=icmp.ICMP.Echo(id=1, seq=2))
    one.take(ipv4(IPv4Address("192.0.2.1"), ip.IP_PROTO_ICMP, asked), 1)
    one.take(datagram(ROUTER, 123, b"time"), 2)
    one.take(datagram(ROUTER, 123, b"time"), 3)
    one.take(frame(b"x" * 50, 0x88CC), 4)
    one.take(b"short", 5)
    one.take(frame(b"\x45" + b"\0" * 5), 6)
    assert one.account.frames == 6
    assert one.account.unanswered == {
        "IPv4 protocol 1 to 192.0.2.1": 1,
        "UDP to 10.0.2.2 port 123": 2,
        "Ethernet type 0x88cc": 1,
        "damaged frames": 2,
    }
    (told,) = one.remarks()
    assert told.startswith("network: not answered: UDP to 10.0.2.2 port 123 (2), damaged frames (2), ")


def test_many_sorts_are_counted_and_a_few_named() -> None:
    one = peer()
    for port in range(1000, 1050):
        one.take(datagram(ROUTER, port, b"x"), 1)
    (told,) = one.remarks()
    assert told.count("UDP to") == 12 and told.endswith(", and 38 sorts more")


def test_an_answer_that_is_too_large_is_counted_and_not_given() -> None:
    one = peer()
    asked = icmp.ICMP(type=icmp.ICMP_ECHO, data=icmp.ICMP.Echo(id=1, seq=2, data=bytes(9300)))
    assert one.take(ipv4(ROUTER, ip.IP_PROTO_ICMP, asked), 1000) == []
    assert one.account.unanswered == {"with more than 9216 bytes": 1}


def test_which_groups_the_guest_is_in_wants_no_answer() -> None:
    one = peer()
    assert one.take(ipv4(IPv4Address("224.0.0.22"), ip.IP_PROTO_IGMP, b"\x22" + bytes(15)), 5) == []
    assert not one.account.unanswered


def test_metadata_is_served_where_clouds_serve_it_and_only_where_there_is_some() -> None:
    (refused,) = given(peer().take(segment((METADATA, 80), 2, 1), 5))
    assert refused.data.flags & 4
    (accepted,) = given(peer({"/x": b"y"}).take(segment((METADATA, 80), 2, 1), 5))
    assert accepted.data.flags == 0x12


def test_the_same_frames_have_the_same_answers() -> None:
    frames = [arp_question(ROUTER), lease_question(1), lease_question(3), segment((ROUTER, 80), 2, 9)]
    said = []
    for _ in range(2):
        one = peer({"/x": b"y"}, delay_us=3)
        said.append([one.take(each, 1000 * number) for number, each in enumerate(frames)])
    assert said[0] == said[1]


def test_no_frame_upsets_it() -> None:
    rng = random.Random(3)
    good = [
        arp_question(ROUTER),
        lease_question(1),
        datagram(IPv4Address("10.0.2.3"), 53, b"\0\1\1\0\0\1\0\0\0\0\0\0\3abc\0\0\1\0\1"),
        segment((ROUTER, 80), 2, 9),
        segment((ROUTER, 80), 0x18, 10, 1001, b"GET / HTTP/1.1\r\n\r\n"),
        frame(b"\x60" + b"\0" * 60, ethernet.ETH_TYPE_IP6),
        # A hop-by-hop header and a fragment's ahead of ICMPv6.
        frame(IPV6 + b"\x2c\0\5\2\0\0\1\0\x3a\0\0\1\0\0\0\7\x85\0\0\0\0\0\0\0", ethernet.ETH_TYPE_IP6),
        ipv4(ROUTER, ip.IP_PROTO_ICMP, icmp.ICMP(type=0, data=icmp.ICMP.Echo(id=1, seq=1, data=b"bootlab"))),
        ipv4(ROUTER, ip.IP_PROTO_ICMP, icmp.ICMP(type=3, data=icmp.ICMP.Unreach())),
    ]
    one = peer({"/x": b"y"}, probes={"up": {"ping": True}, "web": {"tcp": 80, "expect": "x"}})
    one.begin()
    one.wake(0)
    for number in range(20_000):
        bad = bytearray(rng.choice(good))
        for _ in range(rng.randrange(1, 5)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        one.take(bytes(bad[: rng.randrange(1, len(bad) + 1)]), number)
    assert one.account.frames == 20_000
