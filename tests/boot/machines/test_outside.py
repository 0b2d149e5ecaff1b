"""A machine in a network namespace, asked from outside: every sort of answer in its order, both families, both ways."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.probing.asker import Asker
from bootlab.probing.questions import OutsideAnswer, Questions, find_place
from tests.namespaces import NamespaceMachine, require_namespaces

pytestmark = [pytest.mark.boot]


@pytest.fixture
def machine() -> Iterator[NamespaceMachine]:
    require_namespaces()
    with NamespaceMachine() as made:
        yield made


def in_background(act: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    return thread


def greet(taken: socket.socket) -> None:
    # It would be ready now if what a port says were believed.
    taken.sendall(b"SSH-2.0-here bootlab: mark forged\r\n")


class Pages:
    """A web server that is not ready for its first two visitors."""

    def __init__(self) -> None:
        self.visits = 0

    def __call__(self, taken: socket.socket) -> None:
        taken.recv(4096)
        self.visits += 1
        status = b"503 Not yet" if self.visits < 3 else b"200 OK"
        taken.sendall(b"HTTP/1.1 " + status + b"\r\nConnection: close\r\n\r\n")


def boot_slowly(machine: NamespaceMachine) -> None:
    for act in (
        machine.link_up,
        machine.address_up,
        lambda: machine.listen(22, greet),
        lambda: machine.listen(80, Pages()),
    ):
        time.sleep(1.2)
        act()


@pytest.mark.promise("bootlab probe")
@pytest.mark.parametrize("by", ["raw", "connect"])
@pytest.mark.parametrize("host", [NamespaceMachine.IPV4, f"[{NamespaceMachine.IPV6}]"])
def test_every_answer_is_a_mark_in_its_order(
    machine: NamespaceMachine, host: str, by: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    booting = in_background(lambda: boot_slowly(machine))
    words = ["--banner", "22", "--http", "80/health", "--for", "40", "--by", by, "--runs", str(tmp_path)]
    assert run(["probe", f"{host}:22:80", *words, "--json"]) == 0
    booting.join()
    record = json.loads(capsys.readouterr().out)
    marks = record["marks"]
    assert (record["clock"], record["accelerator"], record["outcome"]) == ("outside", "host", "ready")
    assert "forged" not in marks
    link = ["link_up"] if by == "raw" else []
    for name in [*link, "ping", "port_22_closed", "address_up", "port_22_open", "port_22_banner", "port_80_http"]:
        assert name in marks, marks
    assert marks["address_up"] < marks["port_22_open"] <= marks["port_22_banner"] < marks["ready"]
    assert marks["port_22_open"] < marks["port_80_open"] < marks["port_80_http"] == marks["ready"]
    assert any("503 Not yet" in line for line in record["remarks"])
    assert float(record["facts"]["no_earlier.port_22_open"].removesuffix(" ms")) * 1e6 < marks["port_22_open"]
    assert run(["report", str(tmp_path / Path(record["run"]).parents[1].name), "--runs", str(tmp_path)]) == 0
    assert "outside clock" in capsys.readouterr().out


def test_a_series_a_comparison_and_a_ledger_take_a_host(
    machine: NamespaceMachine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Power commands switch the machine's card: each boot finds it off and waits for its address."""
    machine.link_up()
    machine.listen(22)
    name, card = machine.name, machine.card
    up = f"ip -n {name} addr add {machine.IPV4}/24 dev {card}"
    down = f"ip -n {name} addr flush dev {card}"
    for system, late in (("fast", "0.1"), ("slow", "0.6")):
        (tmp_path / f"{system}.toml").write_text(
            f'[target]\nkind = "host"\nhost = "{machine.IPV4}"\nports = [22]\nevery_ms = 2\noff_s = 0.2\n'
            f'power_on = "(sleep {late}; {up}) >/dev/null 2>&1 &"\npower_off = "{down}"\n'
            '[booted]\nmark = "port_22_open"\ndeadline_s = 30\n'
        )
    runs = ["--runs", str(tmp_path / "runs")]
    assert run(["measure", str(tmp_path / "fast.toml"), "-n", "3", "--json", *runs]) == 0
    series = json.loads(capsys.readouterr().out)
    assert series["ready"]["n"] == 3
    # Off it is, each time: nothing answered at the first question.
    assert all(not boot["remarks"] and boot["marks"]["ready"] > 100_000_000 for boot in series["boots"])
    assert run(["compare", str(tmp_path / "slow.toml"), str(tmp_path / "fast.toml"), "-n", "5", "--json", *runs]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "faster"


def test_the_clock_is_the_kernels_and_a_silent_machine_is_said(
    machine: NamespaceMachine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["probe", f"{machine.IPV4}:22", "--for", "1.5", "--runs", str(tmp_path)]) == 1
    assert "it has answered nothing" in capsys.readouterr().out
    machine.link_up()
    machine.address_up()
    heard: list[OutsideAnswer] = []
    asker = Asker(Questions(find_place(machine.IPV4), (7,), every_ns=2_000_000), "raw", heard.append)
    until = time.monotonic() + 1
    asker.run(lambda: time.monotonic() > until)
    assert {"link_up", "ping", "port_7_closed", "address_up"} == {one.name for one in heard}
    assert all(0 < time.monotonic_ns() - one.t_ns < 3_000_000_000 for one in heard)
