"""Units that are started when somebody connects: from `listen` and `on-demand`, and from systemd's .socket files."""

import os
import socket
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.units.plan import read_plan
from tests.boot.init.behaviour.test_confinement import said
from tests.boot.init.namespace import InitNamespace
from tests.boot.init.test_namespace import free_ports, refused

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_SYSTEMD = "etc/systemd/system"


def ask(port: int) -> str:
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        return connection.makefile().read()


def row(init: InitNamespace, unit: str) -> str:
    return next(line for line in init.ask("status").splitlines() if line.split()[0] == unit)


def test_a_program_is_started_by_the_first_who_connects(tmp_path: Path, programs: dict[str, Path]) -> None:
    (port, bad) = free_ports(2)
    units = {
        "server": f"exec /bin/worker serve 3\npre /bin/worker say begun\non-demand yes\nlisten tcp 127.0.0.1:{port}\n",
        "client": "exec /bin/worker stay\nneeds server\n",
        "broken": f"exec /bin/worker exit 3\non-demand yes\nlisten tcp 127.0.0.1:{bad}\nready notify\n",
        "wrong": "exec /bin/worker stay\non-demand yes\n",
        "once": "exec /bin/worker exit 0\nready exit\non-demand yes\nlisten unix /run/once\n",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        states = init.until_settled()
        assert states == {"server": "up", "client": "up", "broken": "up", "wrong": "failed", "once": "failed"}
        assert row(init, "server").endswith("listens") and said(init, "server") == []
        # The report's own process may not be reaped yet.
        init.until(lambda: init.processes() == 1)
        processes, descriptors = init.processes(), init.descriptors()
        # Nine clients, three programs: each ends after three, and who needs it stays.
        client = row(init, "client").split("pid ")[1]
        answers = [ask(port) for _ in range(9)]
        assert len(set(answers)) == 3
        init.until(lambda: row(init, "server").endswith("listens"))
        assert said(init, "server") == ["begun"] * 3
        assert row(init, "client").split("pid ")[1] == client
        init.until(lambda: (init.processes(), init.descriptors()) == (processes, descriptors))
        assert init.ask("reload server").startswith("error: server: it is not up, so there is nothing to reload")
        # One that fails has failed, and refuses from then on.
        socket.create_connection(("127.0.0.1", bad), 10).close()
        init.until(lambda: init.states()["broken"] == "failed")
        init.until(lambda: refused(bad))
        # It listens past a new reading of all files, and is stopped, listening, at once.
        assert init.ask("reload").startswith("0 new, 0 changed")
        assert ask(port)
        assert init.ctl("stop", "--wait", "server") == "ok\n"
        assert refused(port) and init.states()["client"] == "off"
        assert init.ctl("start", "--wait", "server") == "ok\n" and row(init, "server").endswith("listens")
        assert init.shut_down(30) < 12


def write(root: Path, name: str, text: str) -> None:
    path = root / _SYSTEMD / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_socket_files_of_systemd(tmp_path: Path, programs: dict[str, Path]) -> None:
    (port,) = free_ports(1)
    root = tmp_path / "root"
    service = "[Service]\nExecStart=/bin/worker serve 3\n"
    write(root, "echo.service", service)
    write(
        root, "echo.socket", f"[Socket]\nListenStream=127.0.0.1:{port}\nListenStream=/var/run/echo\nSocketMode=0600\n"
    )
    write(root, "other.service", service)
    write(root, "named.socket", "[Socket]\nService=other.service\nListenStream=/run/other\n")
    write(root, "each.service", service)
    write(root, "each.socket", "[Socket]\nAccept=yes\nListenStream=/run/each\nListenFIFO=/run/fifo\n")
    write(root, "unlinked.service", service)
    write(root, "unlinked.socket", "[Socket]\nListenStream=/run/unlinked\n")
    for name in ("echo.socket", "named.socket", "each.socket"):
        link = root / _SYSTEMD / f"sockets.target.wants/{name}"
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(f"../{name}")
    write(root, "multi-user.target.wants/other.service", service)
    with InitNamespace(root, programs, {}, "systemd yes\n") as init:
        assert init.until_settled() == {"echo": "up", "other": "up"}
        # What is started at boot anyway has its sockets from the beginning.
        assert row(init, "echo").endswith("listens") and "pid" in row(init, "other")
        assert (root / "run/echo").stat().st_mode & 0o7777 == 0o600 and (root / "run/other").exists()
        assert ask(port).endswith(" of 2\n")
        assert not (root / "run/each").exists() and not (root / "run/unlinked").exists()
        init.until(lambda: "pid" in row(init, "echo"))
    problems = {(one.path, one.line, one.message) for one in read_plan(root, Cache.default()).problems}
    left_out = "this socket file is left out"
    assert problems == {
        (f"/{_SYSTEMD}/each.socket", 4, f"ListenFIFO: it is not known here: {left_out}"),
    }


def test_a_broken_pipe_is_as_systemd_has_it(tmp_path: Path, programs: dict[str, Path]) -> None:
    """Services of systemd ignore SIGPIPE unless they say otherwise; units and scripts do not unless they say so."""
    root = tmp_path / "root"
    once = "[Service]\nType=oneshot\nExecStart=/bin/worker pipe\n"
    for name, text in {"service": once, "plain-service": f"{once}IgnoreSIGPIPE=no\n"}.items():
        write(root, f"{name}.service", text)
        write(root, f"multi-user.target.wants/{name}.service", text)
    unit = "exec /bin/worker pipe\nready exit\n"
    units = {"unit": unit, "ignoring-unit": f"{unit}ignore-sigpipe yes\n"}
    with InitNamespace(root, programs, units, "systemd yes\n") as init:
        init.until_settled()
        assert said(init, "service") == said(init, "ignoring-unit") == ["ignored"]
        assert said(init, "plain-service") == said(init, "unit") == ["not ignored"]
