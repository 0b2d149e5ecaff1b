"""How far a probe's times are from what the other kernel did: 20 times an address comes up, and a port behind it.

The other machine is a network namespace. Its address comes up inside of one ioctl (devinet_ioctl), its port opens
inside of one listen() (inet_csk_listen_start): this process makes both calls, so their begin and end bound the moment.
"""

import fcntl
import socket
import statistics
import struct
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from bootlab.probing.asker import Asker, Way
from bootlab.probing.questions import NetworkPlace, OutsideAnswer, Questions
from tests.namespaces import NamespaceMachine, require_namespaces

pytestmark = pytest.mark.bench

ROUNDS = 20
WITHIN_NS = 2_000_000
_SIOCSIFADDR = 0x8916
Calls = tuple[tuple[int, int], tuple[int, int]]
Boot = Callable[[], Calls]


@pytest.fixture
def machine() -> Iterator[NamespaceMachine]:
    require_namespaces()
    with NamespaceMachine() as made:
        made.link_up()
        yield made


def set_address(card: str, address: str) -> tuple[int, int]:
    """Give a card its only address (0.0.0.0: none), and return when the call began and when it ended."""
    request = struct.pack("16sHH4s8x", card.encode(), socket.AF_INET, 0, socket.inet_aton(address))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        begun_ns = time.monotonic_ns()
        fcntl.ioctl(line, _SIOCSIFADDR, request)
        return begun_ns, time.monotonic_ns()


def distance(answer: OutsideAnswer, call: tuple[int, int]) -> int:
    """Return how far an answer is from the moment of a call, in ns; the call's own length is nobody's error."""
    return max(call[0] - answer.t_ns, answer.t_ns - call[1], 0)


def ask_meanwhile(machine: NamespaceMachine, way: Way, boot: Boot) -> tuple[dict[str, OutsideAnswer], Calls]:
    """Ask while the machine boots, and return the answers and when its calls were."""
    heard: dict[str, OutsideAnswer] = {}
    ending = threading.Event()

    def say(one: OutsideAnswer) -> None:
        heard[one.name] = one

    place = NetworkPlace(machine.IPV4, socket.AF_INET)
    asker = Asker(Questions(place, (22,), every_ns=2_000_000), way, say)
    asking = threading.Thread(target=asker.run, args=(ending.is_set,))
    asking.start()
    calls = machine.inside(boot)
    ending.set()
    asking.join()
    return heard, calls


@pytest.mark.parametrize("way", ["raw"])
def test_closed_and_open_are_as_the_kernel_has_them(machine: NamespaceMachine, way: Way) -> None:
    def boot() -> Calls:
        time.sleep(0.3)
        closed = set_address(machine.card, machine.IPV4)
        time.sleep(0.3)
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("0.0.0.0", 22))
        begun_ns = time.monotonic_ns()
        listening.listen()
        calls = closed, (begun_ns, time.monotonic_ns())
        time.sleep(0.3)
        listening.close()
        set_address(machine.card, "0.0.0.0")
        return calls

    off = {"port_22_closed": list[int](), "port_22_open": list[int]()}
    for _ in range(ROUNDS):
        heard, calls = ask_meanwhile(machine, way, boot)
        for name, call in zip(off, calls, strict=True):
            off[name].append(distance(heard[name], call))
    for name, values in off.items():
        values.sort()
        middle = statistics.median(values)
        print(f"{name}: median {middle / 1e6:.3f} ms, {values[0] / 1e6:.3f} to {values[-1] / 1e6:.3f}")
        assert middle <= WITHIN_NS, values
