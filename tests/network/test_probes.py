"""Probes: when they ask, how often, and what counts as an answer."""

from typing import Any

from dpkt import icmp, ip, tcp

from bootlab.network.addresses import ROUTER
from bootlab.network.frames import Mark, Wake
from bootlab.network.peer import Peer
from tests.network.guest import given, ipv4, peer, segment

SYN, ACK, FIN, RST, PUSH = tcp.TH_SYN, tcp.TH_ACK, tcp.TH_FIN, tcp.TH_RST, tcp.TH_PUSH


def wakes(replies: list[Any]) -> list[int]:
    return [one.t_ns for one in replies if isinstance(one, Wake)]


def marks(replies: list[Any]) -> list[str]:
    return [one.name for one in replies if isinstance(one, Mark)]


def asked(one: Peer, t_ns: int) -> tuple[Any, list[Any]]:
    """Wake the peer, and return the segment that it asks with, and all of what it said."""
    replies = one.wake(t_ns)
    return given(replies)[0].data, replies


def test_a_port_is_asked_until_it_is_open() -> None:
    one = peer(probes={"ssh": {"tcp": 22, "every_us": 1000, "from_us": 500}})
    assert wakes(one.begin()) == [500_000]
    first, replies = asked(one, 500_000)
    assert (first.flags, first.dport) == (SYN, 22) and 1_500_000 in wakes(replies)
    refused = segment((ROUTER, first.sport), RST | ACK, 0, first.seq + 1, port=22)
    assert marks(one.take(refused, 600_000)) == []
    second, _ = asked(one, 1_500_000)
    assert second.sport != first.sport
    opened = one.take(segment((ROUTER, second.sport), SYN | ACK, 7, second.seq + 1, port=22), 1_600_000)
    assert marks(opened) == ["ssh"]
    assert given(one.wake(2_500_000)) == [] and one.remarks() == []


def test_a_port_that_refuses_shows_that_the_address_is_up() -> None:
    one = peer(probes={"address_up": {"tcp": 22, "every_us": 1000, "refused": True}})
    one.begin()
    first, _ = asked(one, 0)
    assert marks(one.take(segment((ROUTER, first.sport), RST | ACK, 0, first.seq + 1, port=22), 100)) == ["address_up"]
    assert given(one.wake(1_000_000)) == [] and one.remarks() == []


def test_so_does_one_that_is_open() -> None:
    one = peer(probes={"address_up": {"tcp": 22, "refused": True}})
    one.begin()
    first, _ = asked(one, 0)
    assert marks(one.take(segment((ROUTER, first.sport), SYN | ACK, 7, first.seq + 1, port=22), 100)) == ["address_up"]


def test_a_guest_that_is_silent_is_asked_from_another_port() -> None:
    one = peer(probes={"ssh": {"tcp": 22, "every_us": 1000}})
    one.begin()
    first, _ = asked(one, 0)
    second, _ = asked(one, 1_000_000)
    assert second.sport != first.sport
    assert one.remarks() == ["network: probe ssh: 2 times asked, never answered"]


def test_a_port_may_have_to_say_something() -> None:
    one = peer(probes={"web": {"tcp": 80, "send": "GET /\n", "expect": "^200"}})
    one.begin()
    syn, _ = asked(one, 0)
    to = (ROUTER, syn.sport)
    opened = one.take(segment(to, SYN | ACK, 7, syn.seq + 1, port=80), 10)
    assert marks(opened) == [] and b"".join(bytes(said.data.data) for said in given(opened)) == b"GET /\n"
    # While it is open, nobody asks again.
    assert given(one.wake(10_000_000)) == []
    acknowledged = syn.seq + 1 + 6
    assert marks(one.take(segment(to, ACK | PUSH, 8, acknowledged, b"20", port=80), 20)) == []
    assert marks(one.take(segment(to, ACK | PUSH, 10, acknowledged, b"0 ok", port=80), 30)) == ["web"]


def test_a_port_that_ends_without_the_answer_is_asked_again() -> None:
    """A web server says 503 and closes, until what is behind it is there."""
    one = peer(probes={"web": {"tcp": 80, "send": "GET /\n", "expect": "^200"}})
    one.begin()
    syn, _ = asked(one, 0)
    to = (ROUTER, syn.sport)
    one.take(segment(to, SYN | ACK, 7, syn.seq + 1, port=80), 10)
    said = given(one.take(segment(to, ACK | PUSH | FIN, 8, syn.seq + 7, b"503", port=80), 20))
    assert said[-1].data.flags & FIN
    one.take(segment(to, ACK, 12, syn.seq + 8, port=80), 30)
    again, _ = asked(one, 10_000_000)
    assert again.flags == SYN and again.sport != syn.sport
    to = (ROUTER, again.sport)
    one.take(segment(to, SYN | ACK, 7, again.seq + 1, port=80), 10_000_010)
    assert marks(one.take(segment(to, ACK | PUSH, 8, again.seq + 7, b"200", port=80), 10_000_020)) == ["web"]


def test_a_ping() -> None:
    one = peer(probes={"up": {"ping": True}})
    one.begin()
    echo = given(one.wake(0))[0].data
    assert echo.type == icmp.ICMP_ECHO
    said = icmp.ICMP(type=icmp.ICMP_ECHOREPLY, data=echo.data)
    assert marks(one.take(ipv4(ROUTER, ip.IP_PROTO_ICMP, said), 5)) == ["up"]
    assert marks(one.take(ipv4(ROUTER, ip.IP_PROTO_ICMP, said), 6)) == []


def test_a_probe_begins_behind_its_mark_or_another_probe() -> None:
    one = peer(probes={"up": {"ping": True, "after": "userspace"}, "ssh": {"tcp": 22, "after": "up", "from_us": 3}})
    assert one.begin() == [] and one.mark("other", 5) == []
    assert wakes(one.mark("userspace", 1000)) == [1000]
    assert one.mark("userspace", 2000) == []
    echo = given(one.wake(1000))[0].data
    replies = one.take(ipv4(ROUTER, ip.IP_PROTO_ICMP, icmp.ICMP(type=icmp.ICMP_ECHOREPLY, data=echo.data)), 9000)
    assert (marks(replies), wakes(replies)) == (["up"], [12_000])
    assert one.remarks() == ["network: probe ssh: never asked"]
