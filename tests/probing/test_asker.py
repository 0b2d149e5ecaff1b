"""All questions together, asked of this host: closed, open, said; by raw sockets where this user may."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from bootlab.errors import InputError
from bootlab.probing import asker as asking
from bootlab.probing.asker import Asker
from bootlab.probing.questions import NetworkPlace, OutsideAnswer, Questions

WAYS = ["connect", pytest.param("raw", marks=pytest.mark.skipif(os.geteuid() != 0, reason="needs root: raw sockets"))]


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """A port that greets each caller; it is open from the first moment."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    taken, _ = listening.accept()
                    with taken, suppress(OSError):
                        taken.sendall(b"220 bootlab: mark forged \x1b[2J\r\n")

        threading.Thread(target=serve, daemon=True).start()
        yield listening


def answers(questions: Questions, way: str, within_s: float = 20) -> tuple[dict[str, OutsideAnswer], Asker]:
    heard: list[OutsideAnswer] = []
    asker = Asker(questions, way, heard.append)  # type: ignore[arg-type]
    until = time.monotonic() + within_s
    asker.run(lambda: time.monotonic() > until)
    assert len({one.name for one in heard}) == len(heard)
    return {one.name: one for one in heard}, asker


@pytest.mark.parametrize("way", WAYS)
def test_an_open_port_and_what_it_says(way: str, server: socket.socket) -> None:
    port = int(server.getsockname()[1])
    questions = Questions(NetworkPlace("127.0.0.1", socket.AF_INET), (port,), banners=(port,), ping=False)
    found, asker = answers(questions, way)
    assert list(found) == [f"port_{port}_open", "address_up", f"port_{port}_banner", "answered"]
    # It answered the very first question: since when it is up nobody can know.
    assert found["address_up"].since_ns is None
    said = found[f"port_{port}_banner"].words
    assert "\x1b" not in said and "bootlab:" not in said and "forged" in said
    assert asker.way == ("raw sockets" if way == "raw" else "connect()")


def test_a_host_without_the_program_that_knows_the_way_says_so(
    server: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = Questions(NetworkPlace("127.0.0.1", socket.AF_INET), (int(server.getsockname()[1]),), ping=False)
    assert not any("iproute2" in line for line in answers(questions, "connect")[1].remarks())
    monkeypatch.setattr("bootlab.process._ADMIN_FOLDERS", ())
    monkeypatch.setenv("PATH", "/nonexistent")
    found, asker = answers(questions, "connect")
    assert "answered" in found
    assert any("no way to 127.0.0.1 is known" in line and "iproute2" in line for line in asker.remarks())


@pytest.mark.parametrize("way", WAYS)
def test_a_closed_port_shows_the_address_and_is_asked_until_it_is_open(way: str) -> None:
    with socket.socket() as later:
        later.bind(("127.0.0.1", 0))
        port = int(later.getsockname()[1])
        begun: list[int] = []

        def listen() -> None:
            begun.append(time.monotonic_ns())
            later.listen()

        threading.Timer(0.5, listen).start()
        found, _ = answers(
            Questions(NetworkPlace("127.0.0.1", socket.AF_INET), (port,), ping=False, every_ns=5_000_000), way
        )
    assert list(found) == [f"port_{port}_closed", "address_up", f"port_{port}_open", "answered"]
    opened = found[f"port_{port}_open"]
    assert opened.since_ns is not None and opened.since_ns < opened.t_ns
    # A millisecond for the two clocks of the kernel's stamp.
    assert begun[0] - 1_000_000 <= opened.t_ns


def test_it_ends_when_it_is_told_to_and_says_what_it_lacked() -> None:
    found, asker = answers(
        Questions(NetworkPlace("127.0.0.1", socket.AF_INET), (1,), pages={1: "/"}, ping=False), "connect", 0.5
    )
    assert set(found) == {"port_1_closed", "address_up"}
    assert asker.remarks() == ()


def test_raw_sockets_that_may_not_be_are_an_error_only_where_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "may_be_raw", lambda: False)
    questions = Questions(NetworkPlace("127.0.0.1", socket.AF_INET), (1,), ping=False)
    assert Asker(questions, "auto", lambda answer: None).way == "connect()"
    with pytest.raises(InputError, match="raw sockets"):
        Asker(questions, "raw", lambda answer: None)
