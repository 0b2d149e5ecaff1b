"""What a service, a kernel or a slow reader may do to PID 1 without any right to it: none of it costs another unit."""

import ctypes
import os
import platform
import re
import signal
import socket
import struct
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.boot.init.behaviour.test_confinement import said
from tests.boot.init.namespace import InitNamespace
from tests.boot.init.test_namespace import free_ports

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_NOBODY = 65534
_CLOSE_RANGE = 436
"""Its number is the same on every architecture that is younger than it."""
_STAY = "exec /bin/worker stay\n"


class OldKernelNamespace(InitNamespace):
    """On a kernel without close_range(2), as before Linux 5.9: a filter answers ENOSYS to it."""

    def before(self) -> None:
        load, equal, answer = 0x20, 0x15, 0x06
        error = 0x00050000 | 38
        steps = [(load, 0, 0, 0), (equal, 0, 1, _CLOSE_RANGE), (answer, 0, 0, error), (answer, 0, 0, 0x7FFF0000)]
        text = b"".join(struct.pack("=HBBI", *step) for step in steps)
        kept = ctypes.create_string_buffer(text, len(text))
        program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(kept))
        set_seccomp, mode_filter = 22, 2
        if ctypes.CDLL(None, use_errno=True).prctl(set_seccomp, mode_filter, program, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_SECCOMP)")


class IgnoringNamespace(InitNamespace):
    """Started by something that ignores SIGPIPE, as an initramfs's shell may."""

    def before(self) -> None:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def worker_of(init: InitNamespace) -> int:
    """Return the only worker that runs, as this host numbers it."""
    children = Path(f"/proc/{init.pid}/task/{init.pid}/children").read_text().split()
    (pid,) = (int(child) for child in children if Path(f"/proc/{child}/comm").read_text() == "worker\n")
    return pid


def spawned(init: InitNamespace, unit: str) -> int:
    """Return the process that a unit was started with, as the namespace numbers it."""
    return next(one.pid for one in init.account().records if one.unit == unit and one.pid > 0)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="its filter is for 64-bit machines")
def test_a_kernel_without_close_range(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {"once": "exec /bin/worker say done\nready exit\n", "stays": _STAY}
    (tmp_path / "root/proc").mkdir(parents=True)
    subprocess.run(["mount", "--bind", "/proc", tmp_path / "root/proc"], check=True)
    try:
        with OldKernelNamespace(tmp_path / "root", programs, units) as init:
            assert init.until_settled() == {"once": "up", "stays": "up"}, init.console()
            assert said(init, "once") == ["done"]
            assert {int(fd) for fd in os.listdir(f"/proc/{worker_of(init)}/fd")} == {0, 1, 2}
    finally:
        subprocess.run(["umount", tmp_path / "root/proc"], check=True)


def test_programs_ignore_no_signal_that_pid_1_was_started_with(tmp_path: Path, programs: dict[str, Path]) -> None:
    with IgnoringNamespace(tmp_path / "root", programs, {"unit": "exec /bin/worker pipe\nready exit\n"}) as init:
        init.until_settled()
        assert said(init, "unit") == ["not ignored"]


def test_a_reading_of_all_files_forgets_no_instance_that_is_to_be_started_again(
    tmp_path: Path, programs: dict[str, Path]
) -> None:
    units = {"job@": "exec /bin/worker exit 1\nrestart always\nrestart-delay 1s\n"}
    with InitNamespace(tmp_path / "root", programs, units) as init:
        assert init.ask("start job@a") == "ok\n"
        init.until(lambda: init.states().get("job@a") == "backoff")
        assert "problems" in init.ask("reload")
        init.until(lambda: " 3 restarts" in init.ask("status"))


def test_a_watchdog_is_not_fed_by_who_is_not_started_yet(tmp_path: Path, programs: dict[str, Path]) -> None:
    (port,) = free_ports(1)
    server = f"exec /bin/worker feeds 3\nready notify\non-demand yes\nlisten tcp 127.0.0.1:{port}\nwatchdog 500ms\n"
    with InitNamespace(tmp_path / "root", programs, {"server": server}) as init:
        init.until_settled()
        time.sleep(1)
        assert init.states() == {"server": "up"}, init.console()
        socket.create_connection(("127.0.0.1", port), 10).close()
        init.until(lambda: init.states() == {"server": "failed"})
        assert "its watchdog was not fed" in init.console()


def test_a_daemon_without_a_pid_file_is_asked_to_end_though_its_stop_command_never_does(
    tmp_path: Path, programs: dict[str, Path]
) -> None:
    daemon = "exec /bin/worker tells-daemon /tmp/asked\nready fork\nstop /bin/worker deaf\nstop-timeout 500ms\n"
    with InitNamespace(tmp_path / "root", programs, {"daemon": daemon}) as init:
        assert init.until_settled() == {"daemon": "up"}
        assert init.ctl("stop", "--wait", "daemon") == "ok\n"
        assert (tmp_path / "root/tmp/asked").exists()
        init.until(lambda: init.processes() == 0)


def test_a_flood_of_refused_main_processes_is_said_once(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {
        "victim": _STAY,
        "thief": f"exec /bin/worker claims 2\nready notify\nafter victim\nuser {_NOBODY}\n",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until(lambda: init.states()["thief"] == "up")
        log = init.ask("log")
        assert "victim is up" in log
        assert len(re.findall("process 2 is a process of another unit", log)) == 1


def test_who_ends_without_taking_the_connection_is_not_started_without_end(
    tmp_path: Path, programs: dict[str, Path]
) -> None:
    (port,) = free_ports(1)
    server = f"exec /bin/worker exit 0\non-demand yes\nlisten tcp 127.0.0.1:{port}\n"
    with InitNamespace(tmp_path / "root", programs, {"server": server}) as init:
        init.until_settled()
        with socket.create_connection(("127.0.0.1", port), 10):
            init.until(lambda: init.ask("log").count("is asked for") > 1)
            began_s, before = time.monotonic(), init.ask("log").count("is asked for")
            time.sleep(1)
            starts = init.ask("log").count("is asked for") - before
            assert 2 <= starts <= 12 * (time.monotonic() - began_s)


def test_an_answer_ends_though_another_report_is_not_read(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {f"unit{number}-{'x' * 80}": "exec /bin/worker stay\nenable no\n" for number in range(3000)}
    with InitNamespace(tmp_path / "root", programs, units) as init, socket.socket(socket.AF_UNIX) as slow:
        folder = os.open(init.root / "run/bootlab", os.O_PATH)
        path = f"/proc/self/fd/{folder}/control"
        with socket.socket(socket.AF_UNIX) as quick:
            quick.settimeout(5)
            quick.connect(path)
            slow.connect(path)
            time.sleep(0.2)
            slow.sendall(b"status-json\n")
            time.sleep(0.5)
            quick.sendall(b"stop nobody\n")
            assert b"".join(iter(lambda: quick.recv(4096), b"")).startswith(b"error: nobody: no such unit")
        os.close(folder)


def test_a_run_folder_is_a_folder_and_no_link_to_what_is_roots(tmp_path: Path, programs: dict[str, Path]) -> None:
    root = tmp_path / "root"
    units = {
        name: f"exec /bin/worker exit 0\nready exit\nuser {_NOBODY}\nrun-folder {path}\n"
        for name, path in {
            "plain": "made",
            "deep": "made/in/it",
            "hard": "theirs/hard",
            "soft": "theirs/soft/new",
        }.items()
    }
    (root / "run/theirs").mkdir(parents=True)
    os.chown(root / "run/theirs", _NOBODY, _NOBODY)
    (root / "run/secret").write_text("root's")
    os.link(root / "run/secret", root / "run/theirs/hard")
    (root / "run/place").mkdir()
    (root / "run/theirs/soft").symlink_to("/run/place")
    with InitNamespace(root, programs, units) as init:
        assert init.until_settled() == {"plain": "up", "deep": "up", "hard": "failed", "soft": "failed"}
        assert (root / "run/secret").stat().st_uid == 0 and not (root / "run/place/new").exists()
        assert (root / "run/made").stat().st_uid == (root / "run/made/in/it").stat().st_uid == _NOBODY
        assert (root / "run/made/in").stat().st_uid == 0


@pytest.mark.skipif(
    not Path("/proc/sys/kernel/ns_last_pid").exists(), reason="this kernel gives no pid that is asked for"
)
def test_a_process_group_of_a_stranger_is_not_stopped(tmp_path: Path, programs: dict[str, Path]) -> None:
    """What a start command left behind has ended, and somebody else has its number now."""
    with InitNamespace(tmp_path / "root", programs, {"daemon": "exec /bin/worker exit 0\nready fork\n"}) as init:
        assert init.until_settled() == {"daemon": "up"}
        enter, pid = ("nsenter", f"--target={init.pid}", "--pid"), spawned(init, "daemon")
        subprocess.run([*enter, "sh", "-c", f"echo {pid - 1} > /proc/sys/kernel/ns_last_pid"], check=True)
        with subprocess.Popen(
            [*enter, "setsid", "sh", "-c", "echo $$; exec sleep 60"], stdout=subprocess.PIPE
        ) as stranger:
            assert stranger.stdout is not None and int(stranger.stdout.readline()) == pid
            assert init.ctl("stop", "--wait", "daemon") == "ok\n"
            time.sleep(0.2)
            assert stranger.poll() is None
            stranger.kill()


@pytest.mark.skipif(not Path("/dev/fuse").exists(), reason="needs FUSE, for a file system that hangs")
def test_a_disk_that_hangs_holds_up_nobody_but_who_reads_it(tmp_path: Path, programs: dict[str, Path]) -> None:
    root, fuse = tmp_path / "root", os.open("/dev/fuse", os.O_RDWR)
    (root / "mnt").mkdir(parents=True)
    # Nobody ever answers it.
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0".encode()
    if ctypes.CDLL(None, use_errno=True).mount(b"hangs", os.fsencode(root / "mnt"), b"fuse", 0, options):
        raise OSError(ctypes.get_errno(), "mount")
    units = {"stays": _STAY, "job@": "exec /bin/worker say %i\nready exit\n"}
    try:
        with InitNamespace(root, programs, units) as init, ThreadPoolExecutor() as pool:
            init.until_settled()
            (init.root / "etc/bootlab/units/far.unit").symlink_to("/mnt/far.unit")
            began_s = time.monotonic()
            asked = pool.submit(init.ask_slowly, "reload", 0.0, 60)
            time.sleep(0.5)
            later = pool.submit(init.ask_slowly, "start job@later wait", 0.0, 60)
            for _ in range(20):
                assert init.ctl("restart", "--wait", "stays") == "ok\n"
            assert time.monotonic() - began_s < 10 and not asked.done() and not later.done()
            assert asked.result().startswith(b"error: files could not be read in time: their disk hangs")
            # What was asked meanwhile about a name that only the files know is looked for then, once that disk answers.
            assert not later.done() and init.states() == {"stays": "up"}
            os.close(fuse)
            assert later.result() == b"ok\n" and said(init, "job@later") == ["later"]
    finally:
        subprocess.run(["umount", "--lazy", root / "mnt"], check=True)
