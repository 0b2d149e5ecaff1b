"""DNS: names that are given, and the answer that there are no others."""

from typing import Any

from dpkt import dns

from bootlab.network.addresses import NAMESERVER, ROUTER
from tests.network.guest import datagram, given, peer


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
