"""The way to an address, as far as this host knows it."""

import socket

from bootlab.probing.questions import NetworkPlace
from bootlab.probing.route import Route, find_route, has_link_addresses


def test_an_address_of_this_host_is_on_no_link() -> None:
    route = find_route(NetworkPlace("127.0.0.1", socket.AF_INET))
    assert route.is_here and not route.on_link
    assert not has_link_addresses("lo") and not has_link_addresses("no-such-card")


def test_of_an_address_that_nothing_leads_to_nothing_is_known() -> None:
    assert find_route(NetworkPlace("not an address", socket.AF_INET)) == Route()
