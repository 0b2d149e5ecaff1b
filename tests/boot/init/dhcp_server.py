"""A DHCP server for one guest, on the other end of QEMU's `-netdev dgram`: each datagram is an Ethernet frame.

What it answers to each message is the test's word, so a lease can be refused, forgotten or taken over.
"""

import asyncio
import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

_COOKIE = bytes([99, 130, 83, 99])
_MAC = bytes.fromhex("525400000002")
_SERVER = bytes([10, 0, 2, 2])
DISCOVER, OFFER, REQUEST, ACK, NAK = 1, 2, 3, 5, 6


@dataclass(frozen=True)
class Asked:
    """One message of the client. `own`: the address it says it has; `to_server`: not to everybody."""

    type: int
    own: str
    requested: str
    to_server: bool
    names_server: bool
    rapid: bool


@dataclass(frozen=True)
class Reply:
    """One answer. `rapid`: an acknowledgement without an offer (RFC 4039)."""

    type: int
    address: str = "10.0.2.15"
    lease_s: int = 600
    rapid: bool = False


class DhcpServer(asyncio.DatagramProtocol):
    """Answers with what `decide` says, and keeps what was asked."""

    def __init__(self, decide: Callable[[Asked, int], Reply | None]) -> None:
        self.asked: list[Asked] = []
        self._decide = decide

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # asyncio's own class for it is not derived from this one before Python 3.12.
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: object) -> None:
        if data[12:14] == b"\x08\x06":
            self._answer_arp(data, addr)
        elif data[12:14] == b"\x08\x00" and data[23] == 17 and data[36:38] == struct.pack(">H", 67):
            self._answer_dhcp(data, addr)

    def _answer_arp(self, frame: bytes, addr: object) -> None:
        if frame[20:22] == b"\x00\x01" and frame[38:42] == _SERVER:
            head = frame[6:12] + _MAC + frame[12:20] + b"\x00\x02"
            self._transport.sendto(head + _MAC + _SERVER + frame[22:32], addr)

    def _answer_dhcp(self, frame: bytes, addr: object) -> None:
        message = frame[42:]
        options = dict(_options(message[240:]))
        asked = Asked(
            type=options[53][0],
            own=socket.inet_ntoa(message[12:16]),
            requested=socket.inet_ntoa(options.get(50, bytes(4))),
            to_server=frame[30:34] == _SERVER,
            names_server=54 in options,
            rapid=80 in options,
        )
        self.asked.append(asked)
        reply = self._decide(asked, len(self.asked))
        if reply is not None:
            self._transport.sendto(_frame(frame[6:12], message, reply), addr)


def _options(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while data[at] != 255:
        yield data[at], data[at + 2 : at + 2 + data[at + 1]]
        at += 2 + data[at + 1]


def _frame(card: bytes, message: bytes, reply: Reply) -> bytes:
    address = socket.inet_aton(reply.address)
    options = bytes([53, 1, reply.type, 54, 4]) + _SERVER
    if reply.type != NAK:
        options += bytes([1, 4, 255, 255, 255, 0, 3, 4]) + _SERVER + b"\x33\x04" + struct.pack(">I", reply.lease_s)
    options += (b"\x50\x00" if reply.rapid else b"") + b"\xff"
    yours = bytes(4) if reply.type == NAK else address
    answer = b"\x02" + message[1:12] + message[12:16] + yours + bytes(8) + message[28:44] + bytes(192)
    answer += _COOKIE + options
    udp = struct.pack(">HHHH", 67, 68, 8 + len(answer), 0) + answer
    # A renewing client is answered at its own address, any other by a broadcast.
    to = message[12:16] if any(message[12:16]) and reply.type != NAK else b"\xff" * 4
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + _SERVER + to
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = struct.pack(">H", ~(total + (total >> 16)) & 0xFFFF)
    return (b"\xff" * 6 if to == b"\xff" * 4 else card) + _MAC + b"\x08\x00" + head[:10] + checksum + head[12:] + udp
