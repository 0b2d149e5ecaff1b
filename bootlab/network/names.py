"""DNS: the names that the system file gives, and for every other one the answer that there is no such name."""

from collections.abc import Mapping
from ipaddress import IPv4Address

from dpkt import dns

PORT = 53
_TTL_S = 60


def answer_name(message: bytes, names: Mapping[str, IPv4Address]) -> bytes | None:
    """Return the answer to a question for a name; None for what is no question. Names are in small letters."""
    asked = dns.DNS(message)
    if asked.qr != dns.DNS_Q or len(asked.qd) != 1:
        return None
    question = asked.qd[0]
    asked.qr, asked.ra, asked.aa = dns.DNS_R, 1, 1
    # What it said besides (EDNS) is not answered.
    asked.an, asked.ns, asked.ar = [], [], []
    address = names.get(question.name.rstrip(".").lower())
    if address is None:
        asked.rcode = dns.DNS_RCODE_NXDOMAIN
    elif question.type == dns.DNS_A:
        asked.an = [dns.DNS.RR(name=question.name, type=dns.DNS_A, cls=dns.DNS_IN, ttl=_TTL_S, ip=address.packed)]
    return bytes(asked)
