"""DHCP: one address for the guest, and what goes with it."""

from ipaddress import IPv4Address
from typing import Any

import pytest
from dpkt import dhcp

from bootlab.network.addresses import EVERYWHERE, GUEST, NAMESERVER, NETMASK, ROUTER
from tests.network.guest import given, lease_question, peer


def lease(question: bytes, to: IPv4Address = EVERYWHERE, **settings: Any) -> tuple[dhcp.DHCP, dict[int, bytes]]:
    (said,) = given(peer(**settings).take(question, 5))
    assert (said.src, said.dst) == (ROUTER.packed, to.packed)
    answer = dhcp.DHCP(said.data.data)
    return answer, dict(answer.opts)


@pytest.mark.parametrize(("asked", "answered"), [(1, 2), (3, 5)])
def test_the_guest_gets_its_address(asked: int, answered: int) -> None:
    said, options = lease(lease_question(asked), hostname="board-7")
    assert (said.yiaddr, said.xid) == (int(GUEST), 77)
    assert options[dhcp.DHCP_OPT_MSGTYPE] == bytes([answered])
    assert options[dhcp.DHCP_OPT_NETMASK] == NETMASK.packed
    assert options[dhcp.DHCP_OPT_ROUTER] == ROUTER.packed
    assert options[dhcp.DHCP_OPT_DNS_SVRS] == NAMESERVER.packed
    assert options[dhcp.DHCP_OPT_LEASE_SEC] == (86400).to_bytes(4, "big")
    assert options[dhcp.DHCP_OPT_HOSTNAME] == b"board-7"


def test_without_a_host_name_none_is_given() -> None:
    assert dhcp.DHCP_OPT_HOSTNAME not in lease(lease_question(1))[1]


def test_another_address_is_refused() -> None:
    said, options = lease(lease_question(3, (dhcp.DHCP_OPT_REQ_IP, b"\x0a\x00\x02\x63")))
    assert (said.yiaddr, options[dhcp.DHCP_OPT_MSGTYPE]) == (0, bytes([dhcp.DHCPNAK]))


def test_who_has_an_address_is_told_the_rest() -> None:
    _, options = lease(lease_question(8, ciaddr=int(GUEST)), GUEST)
    assert options[dhcp.DHCP_OPT_MSGTYPE] == bytes([dhcp.DHCPACK]) and dhcp.DHCP_OPT_LEASE_SEC not in options


def test_a_release_wants_no_answer() -> None:
    assert peer().take(lease_question(7), 5) == []


def test_who_renews_an_address_is_answered_there() -> None:
    _, options = lease(lease_question(3, ciaddr=int(GUEST)), GUEST)
    assert options[dhcp.DHCP_OPT_MSGTYPE] == bytes([dhcp.DHCPACK])
    _, options = lease(lease_question(3, ciaddr=int(GUEST) + 1))
    assert options[dhcp.DHCP_OPT_MSGTYPE] == bytes([dhcp.DHCPNAK])
