"""HOST[:PORT...] as it is typed, addresses of names, and how much may be asked."""

import socket

import pytest

from bootlab.errors import BootFailed, InputError
from bootlab.probing.questions import NetworkPlace, Questions, find_place, is_address, pace_ns, split_host

HERE = NetworkPlace("127.0.0.1", socket.AF_INET)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("192.0.2.7", ("192.0.2.7", ())),
        ("192.0.2.7:22:80:22", ("192.0.2.7", (22, 80))),
        ("[2001:db8::7]:22", ("2001:db8::7", (22,))),
        ("[fe80::1%eth0]", ("fe80::1%eth0", ())),
        ("board.example:443", ("board.example", (443,))),
    ],
)
def test_host_and_ports(text: str, found: tuple[str, tuple[int, ...]]) -> None:
    assert split_host(text) == found


@pytest.mark.parametrize(
    "text",
    ["", ":22", "host:", "host:0", "host:65536", "host:ssh", "2001:db8::7", "[::1]22", "[]:22", "a b:22", "host:²"],
)
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        split_host(text)


def test_an_address_without_brackets_is_told_how() -> None:
    with pytest.raises(InputError) as refused:
        split_host("2001:db8::7")
    assert refused.value.hint == "[2001:db8::7]:22"
    with pytest.raises(InputError, match="17 ports"):
        split_host("host:" + ":".join(str(port) for port in range(1, 18)))


def test_addresses_and_names() -> None:
    assert is_address("::1") and is_address("10.0.0.1") and not is_address("localhost")
    assert find_place("127.0.0.1").to(22) == ("127.0.0.1", 22)
    assert find_place("::1").to(22) == ("::1", 22, 0, 0)
    with pytest.raises(BootFailed, match="of ipv6"):
        find_place("127.0.0.1", "ipv6")
    with pytest.raises(BootFailed, match="no address"):
        find_place("nobody.invalid")


def test_what_counts_as_answered() -> None:
    assert Questions(HERE).wanted == ("ping",)
    asked = Questions(HERE, (22, 80), banners=(22,), pages={80: "/"})
    assert asked.wanted == ("port_22_open", "port_80_open", "port_22_banner", "port_80_http")


def test_no_probe_is_a_flood() -> None:
    """Sixteen ports at 1 ms would be 18,000 packets a second."""
    assert pace_ns(Questions(HERE)) < 1_000_000
    assert pace_ns(Questions(HERE, tuple(range(1, 17)))) == 4_500_000
