"""TCP, as much as a wire needs on which nothing is lost: both ends may open, and a closed port says so.

No frame is lost or overtaken between the guest's card and us, so there is no congestion, no selective acknowledgement
and no estimate of times. A guest that drops a segment itself, because its buffers are full, gets it again after
RESEND_NS.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any, Final

from dpkt import ip, tcp

from bootlab.network.addresses import GUEST
from bootlab.network.frames import Give, Reply, Wake, ipv4_frame

RESEND_NS: Final = 200_000_000
_SEGMENT: Final = 1460
_WINDOW: Final = 65535
_FIRST_SEQUENCE: Final = 1000
_MODULO: Final = 1 << 32
_OPTION_SEGMENT: Final = b"\x02\x04" + _SEGMENT.to_bytes(2, "big")

Address = tuple[IPv4Address, int]


@dataclass
class Connection:
    """One connection between us (`ours`) and a port of the guest. `taken(data)`: what it sent; b"" is its end.

    `opened()`: it is there. `refused()`: the guest has no such port, or wants no more.
    """

    ours: Address
    guest_port: int
    taken: Callable[[bytes], None]
    opened: Callable[[], None] = lambda: None
    refused: Callable[[], None] = lambda: None
    state: str = "listening"
    unsent: bytearray = field(default_factory=bytearray)
    unacknowledged: bytearray = field(default_factory=bytearray)
    ending: bool = False
    """We send no more once all is sent."""
    _next: int = _FIRST_SEQUENCE
    """The first number that was never sent."""
    _first_unacknowledged: int = _FIRST_SEQUENCE
    _wanted: int = 0
    """The number that the guest sends next."""
    _room: int = _WINDOW
    _segment: int = _SEGMENT
    """The most bytes that the guest takes at once."""
    _end_sent: bool = False
    _end_taken: bool = False
    _replies: list[bytes] = field(default_factory=list)

    def open(self) -> None:
        """Ask the guest to open it."""
        self.state = "opening"
        self._put(tcp.TH_SYN)
        self._next += 1

    def send(self, data: bytes) -> None:
        """Send this, as far as the guest has room; the rest follows as it gets some."""
        self.unsent += data
        self._push()

    def close(self) -> None:
        """Send no more than what is to be sent still."""
        self.ending = True
        self._push()

    def resend(self) -> None:
        """Send again what the guest has not acknowledged."""
        if self.state == "opening":
            self._put(tcp.TH_SYN, number=self._first_unacknowledged)
        elif self.state == "answering":
            self._put(tcp.TH_SYN | tcp.TH_ACK, number=self._first_unacknowledged)
        elif self.unacknowledged:
            self._put(tcp.TH_ACK | tcp.TH_PUSH, bytes(self.unacknowledged[: self._segment]), self._first_unacknowledged)
        elif self._end_sent and self._first_unacknowledged != self._next:
            self._put(tcp.TH_FIN | tcp.TH_ACK, number=self._first_unacknowledged)

    @property
    def waits(self) -> bool:
        """Return whether the guest has still to acknowledge something."""
        return self.state != "closed" and self._first_unacknowledged != self._next

    @property
    def progress(self) -> tuple[str, int]:
        """Return what changes when the guest acknowledges something."""
        return (self.state, self._first_unacknowledged)

    def take(self, segment: Any) -> None:
        """Take a segment of the guest's; what is to be said to it is in `replies()`."""
        if segment.flags & tcp.TH_RST:
            before, self.state = self.state, "closed"
            if before != "closed":
                self.refused()
            return
        if self.state == "listening":
            self._wanted = _plus(segment.seq, 1)
            self._room, self._segment = segment.win, _segment_size(segment)
            self.state = "answering"
            self._put(tcp.TH_SYN | tcp.TH_ACK)
            self._next += 1
            return
        if self.state == "opening":
            if segment.flags & (tcp.TH_SYN | tcp.TH_ACK) != tcp.TH_SYN | tcp.TH_ACK:
                return
            self._wanted, self._segment = _plus(segment.seq, 1), _segment_size(segment)
            self._acknowledge(segment)
            self.state = "open"
            self._put(tcp.TH_ACK)
            self.opened()
            self._push()
            return
        self._acknowledge(segment)
        if self.state == "answering" and not self.waits:
            self.state = "open"
            self.opened()
        self._take_data(segment)
        self._push()
        if self._end_taken and self._end_sent and not self.waits:
            self.state = "closed"

    def replies(self) -> list[bytes]:
        """Return the frames that are to be sent now, and forget them."""
        replies, self._replies = self._replies, []
        return replies

    def _acknowledge(self, segment: Any) -> None:
        if not segment.flags & tcp.TH_ACK:
            return
        self._room = segment.win
        done = (segment.ack - self._first_unacknowledged) % _MODULO
        if 0 < done <= (self._next - self._first_unacknowledged) % _MODULO:
            # A SYN and a FIN count as a byte each, and are in no buffer.
            del self.unacknowledged[:done]
            self._first_unacknowledged = segment.ack

    def _take_data(self, segment: Any) -> None:
        data, is_end = bytes(segment.data), bool(segment.flags & tcp.TH_FIN)
        known = (self._wanted - segment.seq) % _MODULO
        if not data and not is_end:
            # A number from before is a question whether we are there still, and one that opens is from a guest that
            # knows nothing of this connection: either wants to hear where it is (RFC 9293, 3.8.4 and 3.10.7.4).
            if self.state == "open" and (segment.flags & tcp.TH_SYN or 0 < known < _MODULO // 2):
                self._put(tcp.TH_ACK)
            return
        if known > len(data) + is_end or self._end_taken:
            # Sent again, or from before our time: it only wants to hear that it has come.
            self._put(tcp.TH_ACK)
            return
        fresh = data[known:]
        self._wanted = _plus(self._wanted, len(fresh) + is_end)
        self._put(tcp.TH_ACK)
        if fresh:
            self.taken(fresh)
        if is_end:
            self._end_taken = True
            self.taken(b"")

    def _push(self) -> None:
        if self.state != "open":
            return
        while self.unsent and len(self.unacknowledged) < self._room:
            size = min(self._segment, self._room - len(self.unacknowledged))
            data = bytes(self.unsent[:size])
            del self.unsent[:size]
            self._put(tcp.TH_ACK | tcp.TH_PUSH, data)
            self.unacknowledged += data
            self._next = _plus(self._next, len(data))
        if self.ending and not self.unsent and not self._end_sent:
            self._put(tcp.TH_FIN | tcp.TH_ACK)
            self._next = _plus(self._next, 1)
            self._end_sent = True

    def _put(self, flags: int, data: bytes = b"", number: int | None = None) -> None:
        segment = tcp.TCP(
            sport=self.ours[1],
            dport=self.guest_port,
            seq=self._next if number is None else number,
            ack=self._wanted if flags & tcp.TH_ACK else 0,
            flags=flags,
            win=_WINDOW,
            opts=_OPTION_SEGMENT if flags & tcp.TH_SYN else b"",
            data=data,
        )
        segment.off = (20 + len(segment.opts)) // 4
        self._replies.append(ipv4_frame(self.ours[0], GUEST, ip.IP_PROTO_TCP, segment))


Serve = Callable[[Connection], Callable[[bytes], None]]
"""Given a connection that the guest opens, returns what takes its bytes."""


class Connections:
    """All connections of the guest's wire. `served`: the ports of ours that somebody answers."""

    def __init__(self, served: dict[Address, Serve], delay_ns: int = 0) -> None:
        self._served = served
        self._delay_ns = delay_ns
        self._open: dict[tuple[Address, int], Connection] = {}
        self._waiting: dict[tuple[Address, int], tuple[int, tuple[str, int]]] = {}
        self._resent = 0
        self._port = 49152

    @property
    def resent(self) -> int:
        """Return how many segments had to be sent again."""
        return self._resent

    def take(self, packet: Any, t_ns: int) -> list[Reply]:
        """Return what is said to a packet of the guest's with a TCP segment in it."""
        segment = packet.data
        key = ((IPv4Address(packet.dst), segment.dport), segment.sport)
        connection = self._open.get(key)
        opens = segment.flags & (tcp.TH_SYN | tcp.TH_ACK) == tcp.TH_SYN
        if opens and (connection is None or connection.state == "closed") and (serve := self._served.get(key[0])):
            connection = Connection(key[0], segment.sport, taken=lambda data: None)
            connection.taken = serve(connection)
            self._open[key] = connection
        if connection is None:
            if segment.flags & tcp.TH_RST:
                return []
            return [Give(t_ns + self._delay_ns, _refusal(key[0], segment))]
        connection.take(segment)
        return self._said(key, connection, t_ns)

    def open(self, connection: Connection, t_ns: int) -> list[Reply]:
        """Open a connection to the guest; a source port is chosen where it has none (0)."""
        if connection.ours[1] == 0:
            connection.ours = (connection.ours[0], self._port)
            self._port = 49152 + (self._port + 1 - 49152) % 16384
        key = (connection.ours, connection.guest_port)
        self._open[key] = connection
        connection.open()
        return self._said(key, connection, t_ns)

    def send(self, connection: Connection, data: bytes, t_ns: int) -> list[Reply]:
        """Send bytes on it; b"" closes our half."""
        if data:
            connection.send(data)
        else:
            connection.close()
        return self._said((connection.ours, connection.guest_port), connection, t_ns)

    def forget(self, connection: Connection) -> None:
        """Know nothing more of it: what the guest says on it is refused."""
        self._open.pop((connection.ours, connection.guest_port), None)
        self._waiting.pop((connection.ours, connection.guest_port), None)

    def wake(self, t_ns: int) -> list[Reply]:
        """Send again what has waited too long."""
        replies: list[Reply] = []
        for key, (due_ns, progress) in list(self._waiting.items()):
            connection = self._open[key]
            if due_ns > t_ns:
                continue
            del self._waiting[key]
            if connection.waits and connection.progress == progress:
                connection.resend()
                self._resent += 1
            replies += self._said(key, connection, t_ns)
        return replies

    def _said(self, key: tuple[Address, int], connection: Connection, t_ns: int) -> list[Reply]:
        replies: list[Reply] = [Give(t_ns + self._delay_ns, frame) for frame in connection.replies()]
        if connection.state == "closed":
            self.forget(connection)
        elif connection.waits and key not in self._waiting:
            self._waiting[key] = (t_ns + self._delay_ns + RESEND_NS, connection.progress)
            replies.append(Wake(t_ns + self._delay_ns + RESEND_NS))
        return replies


def _refusal(ours: Address, segment: Any) -> bytes:
    # RFC 9293, 3.5.2.
    flags, number, acknowledged = tcp.TH_RST, segment.ack, 0
    if not segment.flags & tcp.TH_ACK:
        flags, number = tcp.TH_RST | tcp.TH_ACK, 0
        ends = bool(segment.flags & tcp.TH_SYN) + bool(segment.flags & tcp.TH_FIN)
        acknowledged = _plus(segment.seq, len(segment.data) + ends)
    said = tcp.TCP(sport=ours[1], dport=segment.sport, seq=number, ack=acknowledged, flags=flags, win=0)
    said.off = 5
    return ipv4_frame(ours[0], GUEST, ip.IP_PROTO_TCP, said)


def _segment_size(opening: Any) -> int:
    # dpkt gives None for an option that is cut.
    for option in tcp.parse_opts(opening.opts):
        if option is not None and option[0] == tcp.TCP_OPT_MSS and len(option[1]) == 2:
            return max(1, min(_SEGMENT, int.from_bytes(option[1], "big")))
    return _SEGMENT


def _plus(number: int, more: int) -> int:
    return (number + more) % _MODULO
