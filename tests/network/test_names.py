"""DNS: names that are given, and the answer that there are no others."""

from typing import Any

from dpkt import dns, ethernet, ip, ip6, udp
from dpkt.dpkt import in_cksum

from bootlab.network.addresses import NAMESERVER, NAMESERVER_6, PREFIX, ROUTER
from tests.network.guest import datagram, frame, given, peer


def ask(name: str, kind: int = dns.DNS_A, **settings: Any) -> dns.DNS:
    question = dns.DNS(id=9, qd=[dns.DNS.Q(name=name, type=kind, cls=dns.DNS_IN)])
    (said,) = given(peer(**settings).take(datagram(NAMESERVER, 53, bytes(question)), 5))
    answer = dns.DNS(said.data.data)
    assert (answer.id, answer.qr, len(answer.qd)) == (9, dns.DNS_R, 1)
    return answer


def test_a_name_that_is_given() -> None:
    said = ask("Registry.Test", names={"registry.test": "10.0.2.100"})
    assert (said.rcode, said.an[0].ip) == (dns.DNS_RCODE_NOERR, b"\x0a\x00\x02\x64")


def test_a_name_that_has_no_ipv6_address_is_there_all_the_same() -> None:
    said = ask("registry.test", dns.DNS_AAAA, names={"registry.test": "10.0.2.100"})
    assert (said.rcode, said.an) == (dns.DNS_RCODE_NOERR, [])


def test_any_other_name_does_not_exist() -> None:
    assert ask("nothing.test").rcode == dns.DNS_RCODE_NXDOMAIN


def test_what_is_no_question_is_counted() -> None:
    one = peer()
    answer = dns.DNS(id=9, qr=dns.DNS_R, qd=[dns.DNS.Q(name="a.test")])
    assert one.take(datagram(NAMESERVER, 53, bytes(answer)), 5) == []
    assert one.take(datagram(NAMESERVER, 53, b"short"), 5) == []
    assert one.take(datagram(ROUTER, 123, b"what time is it"), 5) == []
    assert one.account.unanswered == {
        "UDP to 10.0.2.3 port 53": 1,
        "damaged frames": 1,
        "UDP to 10.0.2.2 port 123": 1,
    }


def ask_by_ipv6(**settings: Any) -> list[Any]:
    question = udp.UDP(sport=40000, dport=53, data=bytes(dns.DNS(id=9, qd=[dns.DNS.Q(name="registry.test")])))
    question.ulen = len(question)
    packet = ip6.IP6(src=PREFIX[9].packed, dst=NAMESERVER_6.packed, nxt=ip.IP_PROTO_UDP, hlim=64, data=question)
    packet.plen, packet.extension_hdrs = len(question), {}
    return given(peer(names={"registry.test": "10.0.2.100"}, **settings).take(frame(packet, ethernet.ETH_TYPE_IP6), 5))


def test_the_name_server_that_ipv6_advertises_answers() -> None:
    """systemd-resolved asks the one of the router's advertisement, and would wait five seconds for each name."""
    (said,) = ask_by_ipv6()
    assert (said.src, said.dst, said.data.dport) == (NAMESERVER_6.packed, PREFIX[9].packed, 40000)
    assert dns.DNS(said.data.data).an[0].ip == b"\x0a\x00\x02\x64"
    # Unlike IPv4's, its checksum is not optional (RFC 8200, 8.1): all of it with the pseudo header adds up to nothing.
    pseudo = said.src + said.dst + len(bytes(said.data)).to_bytes(4, "big") + ip.IP_PROTO_UDP.to_bytes(4, "big")
    assert said.data.sum and in_cksum(pseudo + bytes(said.data)) == 0
    assert ask_by_ipv6(ipv6="silent") == []
