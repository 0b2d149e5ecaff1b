"""A process for each who connects: `each-connection` in a unit, Accept=yes in one of systemd's .socket files."""

import os
import socket
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.units.plan import read_plan
from tests.boot.init.behaviour.test_confinement import said
from tests.boot.init.behaviour.test_on_demand import row, write
from tests.boot.init.namespace import InitNamespace
from tests.boot.init.test_namespace import free_ports, refused

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_SYSTEMD = "etc/systemd/system"


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 10)


def first_line(connection: socket.socket) -> str:
    return connection.makefile().readline()


def test_each_has_a_process_and_no_more_than_so_many(tmp_path: Path, programs: dict[str, Path]) -> None:
    (port, standard, status, nobody) = free_ports(4)
    units = {
        "greets": f"exec /bin/worker greet\neach-connection 3\nlisten tcp {port}\n",
        "inetd": f"exec /bin/worker greet\neach-connection 2 stdio\nlisten tcp 127.0.0.1:{standard}\n",
        "ends-badly": f"exec /bin/worker greet 7\neach-connection 2\nlisten tcp 127.0.0.1:{status}\n",
        "no-program": f"exec /bin/nothing\neach-connection 2\nlisten tcp 127.0.0.1:{nobody}\n",
        "client": "exec /bin/worker stay\nneeds greets\n",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        assert init.until_settled() == dict.fromkeys(units, "up")
        # The report that was asked for is written by a process that may end a little later.
        init.until(lambda: init.processes() == 1)
        descriptors = init.descriptors()
        held = [connect(port) for _ in range(3)]
        lines = [first_line(one) for one in held]
        assert len({line.split()[0] for line in lines}) == 3
        assert [line.split()[1:] for line in lines] == [["hello", "127.0.0.1"]] * 3
        assert row(init, "greets").endswith("listens, 3 connections of 3")
        # The fourth waits until one has gone, and is refused by nobody.
        fourth = connect(port)
        fourth.settimeout(0.3)
        with pytest.raises(TimeoutError):
            fourth.recv(1)
        assert "greets: 3 connections at once, as many as each-connection says: others wait" in init.console()
        held.pop().close()
        fourth.settimeout(10)
        assert first_line(fourth).split()[1] == "hello"
        # A number in JSON, and who comes and goes a hundred times leaves nothing behind.
        assert '"connections": 3' in init.ctl("status", "--json")
        for _ in range(100):
            with connect(standard) as one:
                assert first_line(one).split()[1:] == ["hello", "127.0.0.1"]
        init.until(lambda: said(init, "inetd").count("greeted") == 100)
        with connect(status) as one:
            assert first_line(one)
        init.until(lambda: "the process of a connection ended with status 7" in init.ask("log ends-badly"))
        with connect(nobody) as one:
            assert one.recv(1) == b""
        init.until(lambda: "/bin/nothing: exec: No such file or directory" in init.ask("log no-program"))
        assert init.states() == dict.fromkeys(units, "up")
        # It reads its files anew with three connections open, and they go on.
        assert init.ask("reload").startswith("0 new, 0 changed")
        assert row(init, "greets").endswith("3 connections of 3")
        # A stop ends them with it.
        assert init.ctl("stop", "--wait", "greets") == "ok\n"
        assert [one.recv(1) for one in (*held, fourth)] == [b""] * 3 and refused(port)
        assert init.ctl("start", "--wait", "greets") == "ok\n" and row(init, "greets").endswith("listens")
        assert init.ctl("start", "--wait", "client") == "ok\n"
        init.until(lambda: (init.processes(), init.descriptors()) == (1, descriptors))
        left = connect(port)
        assert first_line(left)
        assert init.shut_down(30) < 12
        assert left.recv(1) == b""


@pytest.mark.parametrize(
    "lines",
    [
        "each-connection 0\nlisten unix /run/one\n",
        "each-connection 1001\nlisten unix /run/one\n",
        "each-connection 2 sometimes\nlisten unix /run/one\n",
        "each-connection 2\n",
        "each-connection 2\nlisten udp 53\n",
        "each-connection 2\nlisten unix /run/one\nready notify\n",
        "each-connection 2\nlisten unix /run/one\npre /bin/worker\n",
        "each-connection 2\nlisten unix /run/one\ntty /dev/tty1\n",
    ],
)
def test_what_cannot_be_is_said_and_not_started(lines: str, tmp_path: Path) -> None:
    units = tmp_path / "etc/bootlab/units"
    units.mkdir(parents=True)
    (units / "one.unit").write_text(f"exec /bin/worker greet\n{lines}")
    plan = read_plan(tmp_path, Cache.default())
    assert [unit.broken for unit in plan.units if unit.is_work] == [True]
    assert plan.problems and all(one.path.endswith("/one.unit") for one in plan.problems)


def test_socket_files_that_accept(tmp_path: Path, programs: dict[str, Path]) -> None:
    (port, second) = free_ports(2)
    root = tmp_path / "root"
    greets = "[Service]\nExecStart=-/bin/worker greet\n"
    files = {
        "each@.service": f"{greets}StandardInput=socket\nStandardError=journal\nUser=nobody\n",
        "each.socket": f"[Socket]\nListenStream=127.0.0.1:{port}\nAccept=yes\nMaxConnections=2\n",
        "plain@.service": greets,
        "plain.socket": f"[Socket]\nAccept=true\nListenStream=127.0.0.1:{second}\n",
        "named@.service": "[Service]\nExecStart=/bin/worker greet %i\n",
        "named.socket": "[Socket]\nAccept=yes\nListenStream=/run/named\n",
        "limited@.service": f"{greets}MemoryMax=1G\n",
        "limited.socket": "[Socket]\nAccept=yes\nListenStream=/run/limited\n",
        "ready@.service": f"{greets}Type=notify\n",
        "ready.socket": "[Socket]\nAccept=yes\nListenStream=/run/ready\n",
        "most.socket": "[Socket]\nAccept=yes\nMaxConnections=many\nListenStream=/run/most\n",
    }
    for name, text in files.items():
        write(root, name, text)
        if name.endswith(".socket"):
            link = root / _SYSTEMD / "sockets.target.wants" / name
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(f"../{name}")
    (root / "etc/passwd").write_text("nobody:x:65534:65534::/nonexistent:/bin/false\n")
    (root / "etc/group").write_text("nogroup:x:65534:\n")
    with InitNamespace(root, programs, {}, "systemd yes\n") as init:
        states = init.until_settled()
        assert {name: states[name] for name in ("each@", "plain@")} == {"each@": "up", "plain@": "up"}
        assert {states[name] for name in ("named@", "limited@", "ready@")} == {"failed"}
        held = [connect(port), connect(port)]
        assert [first_line(one).split()[1:] for one in held] == [["hello", "127.0.0.1"]] * 2
        assert row(init, "each@").endswith("listens, 2 connections of 2")
        init.until(lambda: said(init, "each@").count("greeted") == 2)
        with connect(second) as one:
            assert first_line(one).split()[1:] == ["hello", "127.0.0.1"]
        assert "2 connections of 2" in init.ask("status")
        for one in held:
            one.close()
        assert init.shut_down(30) < 12
    problems = {Path(one.path).name: one.message for one in read_plan(root, Cache.default()).problems if one.line}
    assert "a connection has no name here" in problems["named@.service"]
    assert "expected a number from 1 to 1000" in problems["most.socket"]
    whole = " ".join(one.message for one in read_plan(root, Cache.default()).problems if not one.line)
    assert "would be of all its connections together" in whole and "is one ExecStart of Type=simple here" in whole
