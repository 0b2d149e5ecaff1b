"""What one unit, one user or one terminal does must not cost the others: logs, messages, requests, stops."""

import os
import re
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.boot.init.namespace import CTL, InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_NOBODY = 65534
_REQUESTS = 320


def processor_s(init: InitNamespace) -> float:
    """Return the processor time that PID 1 has used."""
    fields = Path(f"/proc/{init.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_stop_command_that_never_ends_costs_its_own_time_only(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {
        "asked": "exec /bin/worker tells /tmp/asked\nstop /bin/worker deaf\nstop-timeout 500ms\n",
        "deaf": "exec /bin/worker deaf\nstop /bin/worker deaf\nstop-timeout 500ms\n",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until_settled()
        for unit in units:
            assert init.ask(f"stop {unit}") == "ok\n"
        init.until(lambda: set(init.states().values()) == {"off"})
        # SIGTERM came, and there was time to answer it.
        assert (tmp_path / "root/tmp/asked").exists()
        assert "asked: its stop command did not end in time" in init.console()
        assert "asked did not stop in time" not in init.console()
        assert "deaf did not stop in time, and is killed" in init.console()


def test_who_has_no_stop_command_is_killed_after_one_stop_timeout(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {"deaf": "exec /bin/worker deaf\nstop-timeout 1s\n"}
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until_settled()
        began_s = time.monotonic()
        assert init.ctl("stop", "--wait", "deaf") == "ok\n"
        assert 1 <= time.monotonic() - began_s < 1.9
        assert "deaf did not stop in time, and is killed" in init.console()
        assert "stop command" not in init.console()


def test_what_can_never_start_is_not_started_by_hand_either(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {
        "lonely": "exec /bin/worker stay\nneeds nothing-such\nenable no\n",
        "two": "exec /bin/worker stay\nexec /bin/worker stay\n",
        "good": "exec /bin/worker stay\n",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until_settled()
        assert init.ask("start lonely") == "ok\n"
        assert init.until_settled() == {"lonely": "failed", "two": "failed", "good": "up"}
        assert "lonely.unit:2: lonely needs nothing-such, and nothing provides it" in init.console()
        assert "two.unit:2: exec: a program that runs on is one line" in init.console()


def test_a_user_by_number_is_who_passwd_says(tmp_path: Path, programs: dict[str, Path]) -> None:
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nann:x:1000:1234:Ann:/home/ann:/bin/zsh\n")
    (root / "etc/group").write_text("ann:x:1234:\naudio:x:29:bob,ann\n")
    expected = {"HOME": "/home/ann", "USER": "ann", "LOGNAME": "ann", "SHELL": "/bin/zsh"}
    units = {
        "number": "exec /bin/worker environment\nready exit\nuser 1000\n",
        "name": "exec /bin/worker environment\nready exit\nuser ann\n",
        "ids": "exec /bin/worker limits\nready exit\nuser 1000\n",
        "nobody": "exec /bin/worker limits\nready exit\nuser 4711\n",
    }
    with InitNamespace(root, programs, units) as init:
        assert set(init.until_settled().values()) == {"up"}
        log = init.ask("log")
        for unit in ("number", "name"):
            said = dict(re.findall(rf"\] {unit}: (\w+)=(.*)", log))
            assert {key: said.get(key) for key in expected} == expected
        assert "] ids: 1000 1234\n" in log and "] nobody: 4711 4711\n" in log


def test_one_that_writes_without_end_takes_neither_the_log_nor_pid_1(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {
        "quiet": "exec /bin/worker say hello\nready exit\n",
        "yes": "exec /bin/worker yes\nafter quiet\n",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until_settled()
        before_s = processor_s(init)
        time.sleep(2)
        assert processor_s(init) - before_s < 0.6
        assert "] quiet: hello\n" in init.ask("log") and "yes is up" in init.ask("log")
        assert [line.split("] ")[1] for line in init.ask("log quiet").splitlines()] == ["quiet: hello", "quiet is up"]
        assert "quiet" not in init.ask("log yes") and "] yes: y\n" in init.ask("log yes")
        assert init.ask("log nothing-such").startswith("error: nothing-such: no such unit")
        assert init.shut_down(20) < 5


def abstract_names() -> set[str]:
    return {line.split()[-1] for line in Path("/proc/net/unix").read_text().splitlines() if line.split()[-1][:1] == "@"}


def flood(name: str, seconds: float) -> None:
    """As a user who has no business there, send as fast as it goes to an abstract socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                sender.sendto(b"READY=1\n", f"\0{name}".encode())
            except BlockingIOError:
                time.sleep(0.0001)


def test_a_stranger_who_floods_a_notify_socket(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {"waits": "exec /bin/worker stay\nready notify\ntimeout infinity\n"}
    before = abstract_names()
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until(lambda: init.states()["waits"] == "starting")
        (name,) = abstract_names() - before
        child = os.fork()
        if child == 0:
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
            flood(name[1:], 3.0)
            os._exit(0)
        time.sleep(0.5)
        before_s = processor_s(init)
        time.sleep(2)
        used_s = processor_s(init) - before_s
        assert os.waitpid(child, 0)[1] == 0
        assert used_s < 0.4 and init.states()["waits"] == "starting"


def test_hundreds_of_requests_at_once_are_all_answered(tmp_path: Path, programs: dict[str, Path]) -> None:
    with InitNamespace(tmp_path / "root", programs, {"good": "exec /bin/worker stay\n"}) as init:
        init.until_settled()
        argv = ["chroot", str(tmp_path / "root"), CTL, "status"]
        asking = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(_REQUESTS)]
        answers = [child.communicate(timeout=60)[0] for child in asking]
        assert {child.returncode for child in asking} == {0}
        assert all(answer.startswith(b"good") for answer in answers)
        # Those who connect and say nothing make room.
        silent = [socket.socket(socket.AF_UNIX) for _ in range(70)]
        folder = os.open(tmp_path / "root/run/bootlab", os.O_PATH)
        for one in silent:
            one.connect(f"/proc/self/fd/{folder}/control")
        os.close(folder)
        began_s = time.monotonic()
        assert init.ask("status").startswith("good") and time.monotonic() - began_s < 6
        for one in silent:
            one.close()


def test_a_watchdog_that_is_not_there_is_told(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {"good": "exec /bin/worker stay\n"}
    with InitNamespace(tmp_path / "root", programs, units, "watchdog /dev/watchdog 3s\n") as init:
        init.until(lambda: "/dev/watchdog: No such file or directory: nothing watches PID 1" in init.console(), 10)
