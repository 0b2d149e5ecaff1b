"""TCP: both ends open, data in any pieces, windows, what is sent again, and a port that nobody has.

The guest's end is another Connection with the sides changed: what one says, the other has to understand. That both
understand Linux is for the boots (tests/boot/machines/test_exact_network.py).
"""

import random
from collections.abc import Callable
from ipaddress import IPv4Address
from typing import Any

import pytest
from dpkt import ethernet, tcp

from bootlab.network.addresses import ROUTER
from bootlab.network.frames import Give, Wake
from bootlab.network.tcp import RESEND_NS, Connection, Connections
from tests.network.guest import given, peer, segment

PORT = (ROUTER, 80)
SYN, ACK, FIN, RST, PUSH = tcp.TH_SYN, tcp.TH_ACK, tcp.TH_FIN, tcp.TH_RST, tcp.TH_PUSH


def packet(frame: bytes) -> Any:
    return ethernet.Ethernet(frame).data


def echo(connection: Connection) -> Callable[[bytes], None]:
    return lambda data: connection.send(data) if data else connection.close()


class Talk:
    """A guest's connection to an echoing port, segment by segment; `window` is the guest's room."""

    def __init__(self, window: int = 65535, delay_ns: int = 0) -> None:
        self.us = Connections({PORT: echo}, delay_ns)
        self.window, self.number, self.acknowledged, self.t_ns = window, 5000, 0, 0
        self.heard = bytearray()
        self.ended = False
        self.say(SYN)
        assert self.acknowledged != 0

    def say(self, flags: int, data: bytes = b"") -> list[Any]:
        self.t_ns += 1000
        frame = segment(PORT, flags, self.number, self.acknowledged, data, window=self.window)
        self.number += len(data) + bool(flags & SYN) + bool(flags & FIN)
        return self.hear(self.us.take(packet(frame), self.t_ns))

    def hear(self, replies: list[Any]) -> list[Any]:
        said = [one.data for one in given(replies)]
        for one in said:
            if one.flags & SYN:
                self.acknowledged = one.seq + 1
            elif one.seq == self.acknowledged:
                self.heard += one.data
                self.acknowledged += len(one.data) + bool(one.flags & FIN)
                self.ended = self.ended or bool(one.flags & FIN)
        return said


def test_a_port_echoes_and_ends() -> None:
    talk = Talk()
    talk.say(ACK)
    talk.say(ACK | PUSH, b"hello")
    talk.say(ACK)
    assert talk.heard == b"hello" and not talk.ended
    talk.say(ACK | FIN)
    assert talk.ended
    talk.say(ACK)
    # It is forgotten: whatever still comes is refused.
    (said,) = talk.say(ACK | PUSH, b"more")
    assert said.flags & RST


@pytest.mark.parametrize("window", [1, 700, 1460, 5000, 65535])
def test_no_more_is_sent_than_the_guest_has_room_for(window: int) -> None:
    talk = Talk(window)
    talk.say(ACK)
    data = random.Random(1).randbytes(4000 if window == 1 else 40_000)
    for at in range(0, len(data), 1000):
        said = talk.say(ACK | PUSH, data[at : at + 1000])
        assert sum(len(one.data) for one in said) <= window
    while len(talk.heard) < len(data):
        said = talk.say(ACK)
        assert 0 < sum(len(one.data) for one in said) <= window
    assert talk.heard == data


def test_what_comes_twice_counts_once_and_what_comes_too_early_waits() -> None:
    talk = Talk()
    talk.say(ACK)
    talk.say(ACK | PUSH, b"abc")
    talk.number -= 3
    talk.say(ACK | PUSH, b"abcde")
    assert talk.heard == b"abcde"
    talk.number += 1
    talk.say(ACK | PUSH, b"later")
    talk.number -= 6
    talk.say(ACK | PUSH, b"x")
    assert talk.heard == b"abcdex"


def test_what_the_guest_dropped_comes_again() -> None:
    talk = Talk()
    talk.say(ACK)
    talk.us.take(packet(segment(PORT, ACK | PUSH, talk.number, talk.acknowledged, b"lost")), 10_000)
    talk.number += 4
    # It was asked to be woken for its first word, which was acknowledged.
    (wake,) = talk.us.wake(RESEND_NS + 1000)
    assert isinstance(wake, Wake) and talk.us.resent == 0
    assert talk.us.wake(wake.t_ns - 1) == []
    talk.hear(talk.us.wake(wake.t_ns))
    assert talk.heard == b"lost" and talk.us.resent == 1
    talk.say(ACK)
    assert [one for one in talk.us.wake(wake.t_ns + 2 * RESEND_NS) if isinstance(one, Give)] == []


def test_an_opening_that_the_guest_does_not_hear_is_said_again() -> None:
    us, opened = Connections({}), []
    replies = us.open(Connection((ROUTER, 0), 22, lambda data: None, lambda: opened.append(1)), 0)
    (first,) = given(replies)
    (again,) = given(us.wake(RESEND_NS))
    assert (first.data.flags, first.data.seq) == (again.data.flags, again.data.seq) == (SYN, 1000)
    said = segment((ROUTER, first.data.sport), SYN | ACK, 77, 1001, port=22)
    (third,) = given(us.take(packet(said), RESEND_NS + 5))
    assert (third.data.flags, third.data.ack, opened) == (ACK, 78, [1])


@pytest.mark.parametrize(
    ("flags", "data", "wanted"),
    [(SYN, b"", (RST | ACK, 0, 5001)), (ACK | PUSH, b"abc", (RST, 99, 0)), (FIN, b"abc", (RST | ACK, 0, 5004))],
)
def test_a_port_that_nobody_has_says_so(flags: int, data: bytes, wanted: tuple[int, int, int]) -> None:
    (said,) = given(peer().take(segment((ROUTER, 81), flags, 5000, 99, data), 5))
    assert (said.data.flags, said.data.seq, said.data.ack) == wanted
    assert peer().take(segment((ROUTER, 81), RST, 5000), 5) == []


def test_a_guest_that_wants_no_more_is_forgotten() -> None:
    talk = Talk()
    talk.say(ACK)
    assert talk.say(RST | ACK) == []
    (said,) = talk.say(ACK | PUSH, b"x")
    assert said.flags & RST


def test_numbers_may_pass_their_end() -> None:
    talk = Talk()
    talk.number = (1 << 32) - 3
    talk.us = Connections({PORT: echo})
    talk.say(SYN)
    talk.say(ACK)
    talk.say(ACK | PUSH, b"ab")
    talk.number = 0
    talk.say(ACK | PUSH, b"cdef")
    assert talk.heard == b"abcdef"


@pytest.mark.parametrize("seed", range(20))
def test_two_ends_carry_everything_in_any_pieces_although_some_is_lost(seed: int) -> None:
    """Ours against ours with the sides changed; one frame in ten to the guest is lost, as if its buffers were full."""
    rng = random.Random(seed)
    heard: list[bytearray] = [bytearray(), bytearray()]
    ends = [False, False]

    def taken(side: int) -> Callable[[bytes], None]:
        def take(data: bytes) -> None:
            heard[side] += data
            ends[side] = ends[side] or not data

        return take

    us = Connection((ROUTER, 4000), 7777, taken(0))
    them = Connection((ROUTER, 7777), 4000, taken(1), state="listening")
    us.open()
    to_them, to_us = [*us.replies()], list[bytes]()
    data = [rng.randbytes(rng.randrange(60_000)) for _ in range(2)]
    left = [bytearray(one) for one in data]
    for _ in range(5000):
        for side, end in ((0, us), (1, them)):
            if end.state == "open" and rng.random() < 0.3:
                if left[side]:
                    size = rng.randrange(1, 9000)
                    end.send(bytes(left[side][:size]))
                    del left[side][:size]
                elif not end.ending:
                    end.close()
        for queue, end in ((to_them, them), (to_us, us)):
            for one in queue:
                if rng.random() > 0.1:
                    end.take(packet(one).data)
            queue.clear()
        for end in (us, them):
            if end.waits and rng.random() < 0.2:
                end.resend()
        to_them, to_us = us.replies(), them.replies()
        if us.state == them.state == "closed":
            break
    assert ends == [True, True] and heard[0] == data[1] and heard[1] == data[0]


def test_answers_take_the_time_that_is_asked_for() -> None:
    us = Connections({PORT: echo}, delay_ns=150_000)
    (said, _) = us.take(packet(segment(PORT, SYN, 1)), 1000)
    assert isinstance(said, Give) and said.t_ns == 151_000


def test_source_ports_differ() -> None:
    us = Connections({})
    opened = [Connection((IPv4Address("10.0.2.2"), 0), 22, lambda data: None) for _ in range(3)]
    for one in opened:
        us.open(one, 0)
    assert len({one.ours for one in opened}) == 3


def test_a_guest_that_asks_whether_we_are_there_hears_that() -> None:
    talk = Talk()
    talk.say(ACK)
    # Linux asks with the number before its next (tcp_xmit_probe_skb()).
    talk.number -= 1
    (said,) = talk.say(ACK)
    assert (said.flags, said.ack) == (ACK, talk.number + 1)


def test_a_guest_that_forgot_a_connection_hears_of_it_and_opens_another() -> None:
    talk = Talk()
    talk.say(ACK)
    talk.number += 70_000
    (said,) = talk.say(SYN)
    assert (said.flags, said.ack) == (ACK, 5001)
    talk.say(RST)
    (said,) = talk.say(SYN)
    assert said.flags == SYN | ACK


@pytest.mark.parametrize("ours", [True, False])
def test_no_segment_is_larger_than_the_guest_wants_it(ours: bool) -> None:
    small = tcp.TCP(sport=40001, dport=80, seq=1, opts=b"\x02\x04\x02\x18", win=65535, flags=SYN, off=6)
    taken: list[bytes] = []
    one = Connection(PORT, 40001, taken.append)
    if ours:
        one.open()
        small.flags, small.ack = SYN | ACK, 1001
        one.take(small)
    else:
        one.take(small)
        one.take(tcp.TCP(sport=40001, dport=80, seq=2, ack=1001, flags=ACK, win=65535))
    one.replies()
    one.send(bytes(2000))
    assert [len(packet(said).data.data) for said in one.replies()] == [536, 536, 536, 392]


def test_an_option_that_is_cut_is_none() -> None:
    us = Connections({PORT: echo})
    said = packet(segment(PORT, SYN, 1))
    said.data.opts, said.data.off = b"\x01\x01\x01\x02", 6
    (answer,) = given(us.take(said, 5))
    assert answer.data.flags == SYN | ACK
