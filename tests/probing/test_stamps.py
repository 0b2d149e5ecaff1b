"""The kernel's stamp of a packet lies between its sending and its reading, whatever the date."""

import socket
import time

from bootlab.probing.stamps import receive, stamp_packets


def test_a_packet_is_stamped_when_it_came_and_not_when_it_was_read() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two,
    ):
        one.bind(("127.0.0.1", 0))
        stamp_packets(one)
        # The kernel begins to stamp in a worker of its own, a moment later.
        time.sleep(0.5)
        before_ns = time.monotonic_ns()
        two.sendto(b"here", one.getsockname())
        sent_ns = time.monotonic_ns()
        time.sleep(0.2)
        data, t_ns = receive(one)
    assert data == b"here"
    # Two clocks are read a moment apart.
    assert before_ns - 1_000_000 <= t_ns <= sent_ns + 100_000_000
