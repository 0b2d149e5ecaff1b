"""bootlab-init with units that behave badly: PID 1 of a PID namespace on this host, alive whatever they do."""

import contextlib
import ctypes
import os
import platform
import re
import resource
import signal
import socket
import time
from pathlib import Path

import pytest

from bootlab.importers.init_account import AccountEventKind, parse_account
from tests.boot.init.namespace import InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_FILLED_KIB = 8192


@pytest.mark.promise("process 1")
def test_every_way_to_be_ready_and_the_account_of_it(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {
        "once": f"exec /bin/worker fill {_FILLED_KIB}\nready exit\n",
        "barrier": "exec /bin/worker barrier\nready notify\nneeds once\n",
        "fd": "exec /bin/worker fd 7\nready fd 7\nneeds barrier\n",
        "stays": "exec /bin/worker stay\nafter fd\n",
        "group": "needs fd stays\n",
    }
    with InitNamespace(tmp_path / "root", programs, units, "goal group\n") as init:
        init.until(lambda: "barrier passed" in init.ctl("log"))
        assert set(init.until_settled().values()) == {"up"}
        account = init.account()
        ready = account.first_ns(AccountEventKind.READY)
        assert sorted(ready, key=ready.__getitem__) == ["once", "barrier", "fd", "stays", "group"]
        assert account.goal_ns is not None and account.lost == 0
        exits = [record for record in account.records if record.kind is AccountEventKind.EXIT and record.unit == "once"]
        assert [(record.detail, record.memory_kib > _FILLED_KIB // 2) for record in exits] == [(0, True)]
        spans = {span.name: span.duration_ns for span in account.timeline().spans}
        assert set(spans) == {"once", "barrier", "fd", "stays"} and min(spans.values()) > 0
        assert "the goal after" in init.ctl("chart")
        assert init.shut_down(20) < 10


@pytest.mark.promise("process 1")
def test_bad_units_are_told_and_cost_nothing_else(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {
        "good": "exec /bin/worker stay\n",
        "missing": "exec /bin/worker exit 0\nstop /bin/true\n\nexec /bin/nothing\nready exit\n",
        "dependent": "exec /bin/worker stay\nneeds missing\n",
        "late": "exec /bin/worker stay\nready notify\ntimeout 300ms\n",
        "closes": "exec /bin/worker close 5\nready fd 5\n",
        "fails": "exec /bin/worker exit 3\nready exit\n",
        "nobody": "exec /bin/worker stay\nuser no-such-user\n",
        "folder": "exec /bin/worker stay\nrun-folder mine\n",
        "no-folder": "exec /bin/worker stay\nrun-folder bootlab/control/mine\n",
        "garbage": "exec /bin/worker garbage\nready notify\ntimeout 2s\n",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        states = init.until_settled()
        assert {name for name, state in states.items() if state == "up"} == {"good", "folder"}
        assert (tmp_path / "root/run/mine").stat().st_mode & 0o7777 == 0o755
        assert states["dependent"] == "blocked"
        console = init.console()
        assert "missing failed: /etc/bootlab/units/missing.unit:4: /bin/nothing: exec: No such file" in console
        assert "late failed: not ready after 0.300 s" in console
        assert "closes failed: closed its readiness descriptor without writing a line to it" in console
        assert "fails failed: /bin/worker ended with status 3" in console
        assert (
            "no-folder failed: /etc/bootlab/units/no-folder.unit:1: /bin/worker: run-folder: Not a directory" in console
        )
        assert "nobody failed: /etc/bootlab/units/nobody.unit:1: /bin/worker: user: No such file" in console
        assert console.splitlines()[-1].startswith("init: the first that failed:")
        assert "needs missing, which is failed" in init.ctl("why", "dependent")


@pytest.mark.promise("process 1")
@pytest.mark.parametrize("poll", [False, True], ids=["epoll", "ppoll"])
def test_unruly_units_and_a_shutdown_in_time(tmp_path: Path, programs: dict[str, Path], poll: bool) -> None:
    class Polling(InitNamespace):
        def environment(self) -> dict[str, str]:
            return {"bootlab_poll": "1"} if poll else {}

    units = {
        "deaf": "exec /bin/worker deaf\nstop-timeout 500ms\n",
        "children": "exec /bin/worker children\n",
        "flood": "exec /bin/worker flood\n",
        "helped": "exec /bin/worker flood\npost /bin/worker exit 0\n",
        "never": "exec /bin/worker stay\nready notify\ntimeout infinity\n",
        "waits": "exec /bin/worker stay\nneeds never\n",
        "dies": "exec /bin/worker exit 1\nrestart always\nrestart-delay 1ms\n",
    }
    with Polling(tmp_path / "root", programs, units, "shutdown-timeout 10s\n") as init:
        init.until(lambda: init.states()["dies"] == "backoff" and init.states()["flood"] == "up")
        # What it writes is read on when a command beside it has had its own say.
        init.until(lambda: init.states()["helped"] == "up")
        for number in set(range(1, 65)) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT}:
            if number not in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPWR, 32, 33):
                os.kill(init.pid, number)
        assert init.is_alive
        assert "\033" not in init.ctl("log")
        assert init.states()["helped"] == "up"
        assert init.states()["waits"] == "waiting"
        assert init.shut_down(30) < 12


@pytest.mark.parametrize("restarts", [1000, pytest.param(10_000, marks=pytest.mark.bench)])
def test_restarts_leave_nothing_behind(tmp_path: Path, programs: dict[str, Path], restarts: int) -> None:
    units = {
        "broker": "exec /bin/worker barrier\nready notify\n",
        "user": "exec /bin/worker children\nneeds broker\n",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until_settled()
        # 41 and one more; the fork that wrote the last report has been reaped.
        init.until(lambda: init.processes() == 42)
        descriptors, resident_kib, began_s = init.descriptors(), init.resident_kib(), time.monotonic()
        for turn in range(restarts):
            assert init.ask("restart broker") == "ok\n"
            # Most come while the units are still on their way up or down from the one before.
            if turn % 4 == 0:
                init.until(lambda: set(init.states().values()) == {"up"})
        init.until(lambda: set(init.states().values()) == {"up"})
        init.until(lambda: (init.descriptors(), init.processes()) == (descriptors, 42))
        assert len(os.listdir(f"/proc/{init.pid}/task")) == 1
        # More than a socket holds, for one who takes his time.
        assert len(parse_account(init.ask_slowly("account", 1.0)).records) > 1000
        print(
            f"{restarts} restarts in {time.monotonic() - began_s:.0f} s, {descriptors} descriptors; "
            f"resident {resident_kib} KiB before, {init.resident_kib()} after"
        )


@pytest.mark.promise("process 1")
def test_sockets_stay_open_while_their_program_is_started_again(tmp_path: Path, programs: dict[str, Path]) -> None:
    with socket.socket() as taken, socket.socket() as probe:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        probe.bind(("127.0.0.1", 0))
        port, taken_port = probe.getsockname()[1], taken.getsockname()[1]
        probe.close()
        serve = "/bin/worker serve 3\nrestart always\nrestart-delay 20ms\n"
        units = {
            "server": f"exec {serve}listen tcp 127.0.0.1:{port}\nlisten unix /run/app/socket 0600\n",
            "reader": "exec /bin/worker fd 4\nready fd 4\nlisten udp 127.0.0.1:9\n",
            "client": "exec /bin/worker stay\nneeds refused\n",
            "refused": f"exec {serve}listen tcp 127.0.0.1:{taken_port}\nrestart-limit 2\n",
        }
        with InitNamespace(tmp_path / "root", programs, units) as init:
            init.until(lambda: init.states()["refused"] == "failed")
            assert f"refused failed: listen tcp 127.0.0.1:{taken_port}: Address in use" in init.console()
            assert init.states()["reader"] == "up" and init.states()["client"] == "blocked"
            path = tmp_path / "root/run/app/socket"
            assert path.stat().st_mode & 0o7777 == 0o600
            descriptors, answers = init.descriptors(), set()
            # A program ends after three clients; nobody is refused while the next one is on its way.
            for turn in range(30):
                with socket.create_connection(("127.0.0.1", port), 10) as connection:
                    answers.add(connection.makefile().read())
                if turn == 20:
                    assert init.ask("restart server") == "ok\n"
            assert len(answers) >= 10 and all(answer.endswith(" of 2\n") for answer in answers)
            init.until(lambda: init.descriptors() == descriptors)
            assert init.ask("stop server") == "ok\n"
            init.until(lambda: init.states()["server"] == "off")
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), 10)
            assert init.descriptors() < descriptors
            assert init.shut_down(20) < 10


def refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 10).close()
    except ConnectionRefusedError:
        return True
    return False


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in found]


def test_sockets_go_with_what_is_stopped_or_cannot_be(tmp_path: Path, programs: dict[str, Path]) -> None:
    blocked, stopping, cycled = free_ports(3)
    units = {
        "broker": "exec /bin/worker stay\nready notify\ntimeout 300ms\n",
        "blocked": f"exec /bin/worker stay\nneeds broker\nlisten tcp 127.0.0.1:{blocked}\n",
        "slow": "exec /bin/worker deaf\nready notify\ntimeout 300ms\nstop-timeout 2s\nrestart always\n"
        f"listen tcp 127.0.0.1:{stopping}\n",
        "cycled": f"exec /bin/worker stay\nlisten tcp 127.0.0.1:{cycled}\n",
        **{f"dies{n}": "exec /bin/worker exit 1\nrestart always\nrestart-delay 0\n" for n in range(4)},
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until(lambda: init.states()["blocked"] == "blocked")
        assert refused(blocked)
        init.until(lambda: init.states()["slow"] == "stopping")
        assert not refused(stopping)
        assert init.ask("stop slow") == "ok\n"
        init.until(lambda: init.states()["slow"] == "off")
        assert refused(stopping)
        # Forks of others hold PID 1's sockets for a moment; the address is free at once all the same.
        for _ in range(30):
            assert init.ask("stop cycled") == "ok\n"
            for other in range(4):
                init.ask(f"restart dies{other}")
            init.until(lambda: init.states()["cycled"] == "off")
            assert init.ask("start cycled") == "ok\n"
            init.until(lambda: init.states()["cycled"] in ("up", "failed"))
            assert init.states()["cycled"] == "up"
        assert init.ask("restart cycled") == "ok\n" and init.ask("stop cycled") == "ok\n"
        init.until(lambda: init.states()["cycled"] == "off")
        assert init.shut_down(20) < 10


def test_addresses_that_are_taken_cost_no_more_than_their_units(tmp_path: Path, programs: dict[str, Path]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        again = "exec /bin/worker stay\nrestart always\nrestart-delay 0\n"
        # Not the same address: that is refused when the files are read.
        units = {
            "first": f"{again}listen tcp 127.0.0.1:{port}\n",
            "second": f"{again}listen tcp 0.0.0.0:{port}\nenable no\n",
        }
        with InitNamespace(tmp_path / "root", programs, units) as init:
            init.until(lambda: "Address in use" in init.console())
            assert init.ask("start second") == "ok\n"
            time.sleep(0.5)
            restarts = [int(number) for number in re.findall(r"(\d+) restarts", init.ask("status"))]
            assert restarts and max(restarts) < 50
            assert init.shut_down(20) < 5


def test_few_descriptors_are_enough_for_sockets(tmp_path: Path, programs: dict[str, Path]) -> None:
    class Poor(InitNamespace):
        def before(self) -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    units = {
        "listens": "exec /bin/worker fd 20\nready fd 20\n" + "".join(f"listen unix /run/s{n}\n" for n in range(16)),
        "line": "exec /bin/worker fd 7\nready fd 7\n",
    }
    with Poor(tmp_path / "root", programs, units) as init:
        assert init.until_settled() == {"listens": "up", "line": "up"}
        assert init.shut_down(20) < 5


def test_out_of_descriptors_it_goes_on(tmp_path: Path, programs: dict[str, Path]) -> None:
    class Poor(InitNamespace):
        def before(self) -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))

    units = {f"unit{number}": "exec /bin/worker stay\ntimeout 1s\n" for number in range(30)}
    with Poor(tmp_path / "root", programs, units, "shutdown-timeout 10s\nstarting 30\n") as init:
        init.until(lambda: "for want of a process or a descriptor" in init.console())
        # Some run, the others have failed; with those gone there is room again.
        init.until(lambda: "30 units are up" not in init.console() and "the first that failed" in init.console())
        assert init.is_alive
        assert init.shut_down(30) < 12


@pytest.mark.promise("process 1")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="sets a register of this CPU")
@pytest.mark.parametrize("then", ["hold", "reboot"])
def test_a_crash_of_pid_1_itself(tmp_path: Path, programs: dict[str, Path], then: str) -> None:
    units = {"good": "exec /bin/worker stay\n"}
    with InitNamespace(tmp_path / "root", programs, units, f"on-crash {then}\n") as init:
        init.until_settled()
        os.kill(init.pid, signal.SIGSEGV)  # sent by somebody: nothing happens
        assert init.until_settled() == {"good": "up"}
        jump_to_zero(init.pid)
        init.until(lambda: not init.is_alive or "PID 1 has crashed: signal 11" in init.console(), 20)
        assert "PID 1 has crashed: signal 11 at address" in init.console()
        if then == "reboot":
            deadline = time.monotonic() + 15
            while init.is_alive and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not init.is_alive
        else:
            # The unit runs on, and what ends is reaped.
            init.until(lambda: init.processes() == 1, 20)


def jump_to_zero(pid: int) -> None:
    """Make a process execute address 0, as a wild pointer would."""
    libc = ctypes.CDLL(None, use_errno=True)
    attach, get, put, detach, rip = 16, 12, 13, 17, 16
    registers = (ctypes.c_ulong * 27)()
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    assert libc.ptrace(attach, pid, None, None) == 0, os.strerror(ctypes.get_errno())
    os.waitpid(pid, 0x40000000)
    assert libc.ptrace(get, pid, None, ctypes.byref(registers)) == 0
    registers[rip] = 0
    registers[15] = ctypes.c_ulong(-1).value  # orig_rax: no system call is begun again
    assert libc.ptrace(put, pid, None, ctypes.byref(registers)) == 0
    assert libc.ptrace(detach, pid, None, None) == 0
