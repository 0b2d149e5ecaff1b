"""Who is who on the guest's network: the same addresses as on QEMU's user-mode network, so that one image fits both.

IPv6 has a private prefix of its own (RFC 4193); that of QEMU's network, fec0::/64, is of a kind that RFC 3879 withdrew.
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Final

GUEST_MAC: Final = bytes.fromhex("525400123456")
"""That of the first card of any QEMU."""
OUR_MAC: Final = bytes.fromhex("52550a000202")
BROADCAST_MAC: Final = b"\xff" * 6
GUEST: Final = IPv4Address("10.0.2.15")
ROUTER: Final = IPv4Address("10.0.2.2")
NAMESERVER: Final = IPv4Address("10.0.2.3")
NETMASK: Final = IPv4Address("255.255.255.0")
METADATA: Final = IPv4Address("169.254.169.254")
"""Where EC2, and every cloud that looks like it, tells a machine about itself."""
PREFIX: Final = IPv6Network("fd62:6f6f:746c:6162::/64")
ROUTER_LINK_LOCAL: Final = IPv6Address("fe80::2")
NAMESERVER_6: Final = IPv6Address("fe80::3")
ALL_NODES: Final = IPv6Address("ff02::1")
EVERYWHERE: Final = IPv4Address("255.255.255.255")
OURS: Final = frozenset({ROUTER, NAMESERVER, METADATA})
OURS_6: Final = frozenset({ROUTER_LINK_LOCAL, NAMESERVER_6})


def mac_words(mac: bytes) -> str:
    """Return a card's address as people write it, `52:54:00:12:34:56`."""
    return mac.hex(":")
