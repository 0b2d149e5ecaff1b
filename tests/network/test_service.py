"""The peer's thread: QEMU and the plugin are sockets here, and say what the real ones say."""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dpkt import tcp

from bootlab.network.addresses import ROUTER
from bootlab.network.peer import Peer
from bootlab.network.service import NetworkService
from tests.network.guest import arp_question, peer, segment

HELLO = b"hello 1"


class Qemu:
    """Both ends that QEMU has of a service's sockets."""

    def __init__(self, service: NetworkService) -> None:
        self.wire = socket.socket(fileno=socket.dup(service.guest_end.fileno()))
        self.plugin = (
            None if service.plugin_end is None else socket.socket(fileno=socket.dup(service.plugin_end.fileno()))
        )
        service.let_go()
        for one in (self.wire, self.plugin):
            if one is not None:
                one.settimeout(20)

    def send(self, frame: bytes) -> None:
        self.wire.sendall(struct.pack(">I", len(frame)) + frame)

    def receive(self) -> bytes:
        (size,) = struct.unpack(">I", self.wire.recv(4, socket.MSG_WAITALL))
        return self.wire.recv(size, socket.MSG_WAITALL)

    def ask(self, question: bytes) -> list[bytes]:
        """Return all that the plugin is answered."""
        assert self.plugin is not None
        self.plugin.send(question)
        answers = []
        while (one := self.plugin.recv(1 << 16)) not in (b".", b""):
            answers.append(one)
        return answers


@contextmanager
def serving(one: Peer, folder: Path, *, virtual: bool = True, port: int = 0) -> Iterator[tuple[NetworkService, Qemu]]:
    service = NetworkService(one, folder / "x.pcap", virtual=virtual)
    if port:
        service.listen(port, 7777)
    service.start()
    with contextlib.closing(service):
        qemu = Qemu(service)
        yield service, qemu
        for end in (qemu.wire, qemu.plugin):
            if end is not None:
                end.close()


def test_what_the_guest_sent_is_answered_with_a_time(tmp_path: Path) -> None:
    with serving(peer(delay_us=1), tmp_path) as (service, qemu):
        assert qemu.ask(HELLO) == []
        qemu.send(arp_question(ROUTER))
        (answer,) = qemu.ask(b"sent 5000")
        assert answer[:9] == b"F" + (6000).to_bytes(8, "little")
        assert qemu.ask(b"sent 6000") == []
    assert service.error == ""
    assert (tmp_path / "x.pcap").stat().st_size > 24


def test_more_than_the_socket_holds_is_taken_whole(tmp_path: Path) -> None:
    one = peer()
    with serving(one, tmp_path) as (_, qemu):
        qemu.ask(HELLO)
        # 2 MiB, as fast as the socket takes them: QEMU's main loop does the same.
        sender = threading.Thread(target=lambda: [qemu.send(arp_question(ROUTER) + bytes(1400)) for _ in range(1500)])
        sender.start()
        said = 0
        while sender.is_alive() or said < one.account.frames:
            said += len(qemu.ask(b"sent 5000"))
        said += len(qemu.ask(b"sent 5001"))
    assert said == one.account.frames == 1500


def test_marks_of_probes_are_told(tmp_path: Path) -> None:
    one = peer(probes={"ssh": {"tcp": 22}})
    told: list[str] = []
    with serving(one, tmp_path) as (service, qemu):
        service.told = told.append
        (wake,) = qemu.ask(HELLO)
        assert wake == b"W" + bytes(8)
        frame, *_ = qemu.ask(b"wake 0")
        port = struct.unpack(">H", frame[9 + 34 : 9 + 36])[0]
        qemu.send(segment((ROUTER, port), tcp.TH_SYN | tcp.TH_ACK, 9, 1001, port=22))
        assert b"Mssh" in qemu.ask(b"sent 99")
    assert told == ["ssh"]


def test_a_plugin_of_another_version_is_refused(tmp_path: Path) -> None:
    with serving(peer(), tmp_path) as (service, qemu):
        assert qemu.ask(b"hello 7") == []
    assert "the plugin speaks version 7, this bootlab 1" in service.error


@pytest.mark.parametrize("question", [b"nonsense", b"sent now", b"jump 5"])
def test_nonsense_ends_the_peer_and_is_said(tmp_path: Path, question: bytes) -> None:
    with serving(peer(), tmp_path) as (service, qemu):
        qemu.ask(HELLO)
        qemu.ask(question)
    assert service.error


def test_the_end_of_qemu_is_no_error(tmp_path: Path) -> None:
    with serving(peer(), tmp_path) as (service, qemu):
        qemu.ask(HELLO)
        qemu.wire.close()
        assert qemu.plugin is not None
        qemu.plugin.close()
    assert service.error == ""


def test_on_the_wall_clock_frames_come_and_go_by_themselves(tmp_path: Path) -> None:
    with serving(peer(), tmp_path, virtual=False) as (_, qemu):
        qemu.send(arp_question(ROUTER))
        assert len(qemu.receive()) >= 42


def test_a_connection_of_the_host_is_carried_to_the_guest(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with serving(peer(), tmp_path, port=port) as (_, qemu):
        qemu.ask(HELLO)
        host = socket.create_connection(("127.0.0.1", port), 20)
        syn = qemu.receive()
        source = struct.unpack(">H", syn[34:36])[0]
        to = (ROUTER, source)
        qemu.send(segment(to, tcp.TH_SYN | tcp.TH_ACK, 9, 1001, port=7777))
        qemu.ask(b"sent 5")
        host.sendall(b"ping")
        assert qemu.receive().endswith(b"ping")
        qemu.send(segment(to, tcp.TH_ACK | tcp.TH_PUSH, 10, 1005, b"pong", port=7777))
        qemu.send(segment(to, tcp.TH_ACK | tcp.TH_FIN, 14, 1005, port=7777))
        qemu.ask(b"sent 6")
        assert host.recv(100) == b"pong" and host.recv(100) == b""
        host.close()


def test_a_guest_that_refuses_ends_the_connection_of_the_host(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with serving(peer(), tmp_path, port=port) as (_, qemu):
        qemu.ask(HELLO)
        host = socket.create_connection(("127.0.0.1", port), 20)
        source = struct.unpack(">H", qemu.receive()[34:36])[0]
        qemu.send(segment((ROUTER, source), tcp.TH_RST | tcp.TH_ACK, 0, 1001, port=7777))
        qemu.ask(b"sent 5")
        assert host.recv(100) == b""
        host.close()
