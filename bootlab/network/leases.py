"""DHCP: the guest gets its one address, and is told who routes and who knows names."""

from ipaddress import IPv4Address
from typing import Any

from dpkt import dhcp, ip, udp

from bootlab.network.addresses import EVERYWHERE, GUEST, NAMESERVER, NETMASK, ROUTER
from bootlab.network.frames import ipv4_frame

SERVER_PORT, CLIENT_PORT = 67, 68
_LEASE_S = 86400
_ANSWERS = {dhcp.DHCPDISCOVER: dhcp.DHCPOFFER, dhcp.DHCPREQUEST: dhcp.DHCPACK, dhcp.DHCPINFORM: dhcp.DHCPACK}


def answer_lease(asked: Any, hostname: str = "") -> bytes | None:
    """Return the answer to a message of DHCP; None for one that wants none. `hostname`: given along, empty: none.

    A guest that asks for another address than ours gets a refusal, and asks anew (RFC 2131, 4.3.2).
    """
    given = dict(asked.opts)
    kind = given.get(dhcp.DHCP_OPT_MSGTYPE, b"\0")[0]
    if asked.op != dhcp.DHCP_OP_REQUEST or kind not in _ANSWERS:
        return None
    wanted = given.get(dhcp.DHCP_OPT_REQ_IP) or asked.ciaddr.to_bytes(4, "big")
    if kind == dhcp.DHCPREQUEST and wanted not in (GUEST.packed, bytes(4)):
        return _message(asked, IPv4Address(0), dhcp.DHCPNAK, [])
    options = [
        (dhcp.DHCP_OPT_NETMASK, NETMASK.packed),
        (dhcp.DHCP_OPT_ROUTER, ROUTER.packed),
        (dhcp.DHCP_OPT_DNS_SVRS, NAMESERVER.packed),
        (dhcp.DHCP_OPT_LEASE_SEC, _LEASE_S.to_bytes(4, "big")),
        *([(dhcp.DHCP_OPT_HOSTNAME, hostname.encode())] if hostname else []),
    ]
    if kind == dhcp.DHCPINFORM:
        options = [option for option in options if option[0] != dhcp.DHCP_OPT_LEASE_SEC]
    return _message(asked, GUEST, _ANSWERS[kind], options)


def _message(asked: Any, address: IPv4Address, kind: int, options: list[tuple[int, bytes]]) -> bytes:
    said = dhcp.DHCP(
        op=dhcp.DHCP_OP_REPLY,
        xid=asked.xid,
        flags=asked.flags,
        ciaddr=asked.ciaddr,
        yiaddr=int(address),
        siaddr=int(ROUTER),
        chaddr=asked.chaddr,
        opts=((dhcp.DHCP_OPT_MSGTYPE, bytes([kind])), (dhcp.DHCP_OPT_SERVER_ID, ROUTER.packed), *options),
    )
    packet = udp.UDP(sport=SERVER_PORT, dport=CLIENT_PORT, data=bytes(said))
    packet.ulen = len(packet)
    # To everywhere: a guest without an address may take nothing else. One that has it, and renews it, may listen there
    # alone, as systemd-networkd does (RFC 2131, 4.1); a refusal goes to everywhere in any case.
    has_address = kind != dhcp.DHCPNAK and asked.ciaddr == int(GUEST)
    return ipv4_frame(ROUTER, GUEST if has_address else EVERYWHERE, ip.IP_PROTO_UDP, packet)
