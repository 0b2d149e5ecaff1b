"""What a unit starts is stopped with it, wherever it forks to; without cgroups, as far as its process group goes."""

import os
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.boot.init.namespace import InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]


def cgroup2_folder() -> Path | None:
    """Return where this host has cgroups v2, or None."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, folder, kind, options, *_ = line.split()
        if kind == "cgroup2" and "rw" in options.split(","):
            return Path(folder)
    return None


needs_cgroups = pytest.mark.skipif(cgroup2_folder() is None, reason="this host has no cgroup v2 that can be written to")


class CgroupNamespace(InitNamespace):
    """With a part of this host's cgroups, where a system has them."""

    def __enter__(self) -> Self:
        above = cgroup2_folder()
        assert above is not None
        self.group = above / f"bootlab-test-{os.getpid()}"
        self.group.mkdir()
        self.place = self.root / "sys/fs/cgroup"
        self.place.mkdir(parents=True)
        subprocess.run(["mount", "--bind", self.group, self.place], check=True)
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        super().__exit__(kind, value, at)
        subprocess.run(["umount", "--lazy", self.place], check=True)
        # What was killed takes a moment to go.
        end = time.monotonic() + 10
        while (self.group / "cgroup.events").read_text().startswith("populated 1") and time.monotonic() < end:
            time.sleep(0.01)
        for path in sorted((path for path in self.group.rglob("*") if path.is_dir()), reverse=True):
            path.rmdir()
        self.group.rmdir()

    def groups(self) -> set[str]:
        return {path.name for path in (self.group / "bootlab").glob("*.unit")}


@needs_cgroups
def test_a_restart_and_a_stop_leave_nothing_behind(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {
        "forks": "exec /bin/worker daemon 2\nready fork\n",
        "runs": "exec /bin/worker parent 2\n",
        "deaf": "exec /bin/worker deaf-daemon 2\nready fork\nstop-timeout 500ms\n",
        "crashes": "exec /bin/worker parent 1 /tmp/crashes\nrestart always\nrestart-delay 20ms\n",
    }
    with CgroupNamespace(tmp_path / "root", programs, units) as init:
        assert set(init.until_settled().values()) == {"up"}
        init.until(lambda: init.processes() == 2 + 3 + 2 + 2)
        for _ in range(3):
            for unit in units:
                assert init.ask(f"restart {unit}") == "ok\n"
            init.until(lambda: set(init.states().values()) == {"up"})
            init.until(lambda: init.processes() == 9)
        assert init.groups() == {f"{unit}.unit" for unit in units}
        for unit in units:
            assert init.ask(f"stop {unit}") == "ok\n"
        init.until(lambda: set(init.states().values()) == {"off"})
        init.until(lambda: init.processes() == 0)
        assert init.groups() == set()
        assert "deaf did not stop in time, and is killed" in init.console()
        assert init.shut_down(20) < 5


@needs_cgroups
def test_a_daemon_without_a_pid_file_is_up_as_long_as_something_of_it_runs(
    tmp_path: Path, programs: dict[str, Path]
) -> None:
    units = {
        "forks": "exec /bin/worker daemon 1 /tmp/forks\nready fork\nrestart always\nrestart-delay 20ms\n",
        "ends": "exec /bin/worker daemon 1 /tmp/ends\nready fork\n",
    }
    with CgroupNamespace(tmp_path / "root", programs, units) as init:
        assert set(init.until_settled().values()) == {"up"}
        for group in ("forks", "ends"):
            (pid,) = (init.group / f"bootlab/{group}.unit/cgroup.procs").read_text().split()
            os.kill(int(pid), 9)
        init.until(lambda: init.states() == {"forks": "up", "ends": "off"} and "1 restarts" in init.ask("status"))
        assert "all that it has started has ended" in init.ask("status")
        init.until(lambda: init.processes() == 1)


@needs_cgroups
def test_a_user_may_name_a_process_of_his_units_cgroup_only(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {
        "helper": "exec /bin/worker daemon 1 /tmp/helper\nready fork\nuser 65534\n",
        "thief": "exec /bin/worker claim /tmp/helper\nready notify\nafter helper\nuser 65534\n",
    }
    root = tmp_path / "root"
    (root / "tmp").mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    with CgroupNamespace(root, programs, units) as init:
        assert set(init.until_settled().values()) == {"up"}
        assert "is not of its session or cgroup" in init.console()


@needs_cgroups
def test_what_is_to_outlive_a_stop_does(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {"runs": "exec /bin/worker parent 2\nkill main\n"}
    with CgroupNamespace(tmp_path / "root", programs, units) as init:
        assert set(init.until_settled().values()) == {"up"}
        init.until(lambda: init.processes() == 3)
        assert init.ask("stop runs") == "ok\n"
        init.until(lambda: init.states() == {"runs": "off"})
        init.until(lambda: init.processes() == 2)


def test_without_cgroups_it_is_the_process_group_and_that_is_said(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {"near": "exec /bin/worker lingers 2\nready fork\n"}
    with InitNamespace(tmp_path / "root", programs, units) as init:
        assert init.until_settled() == {"near": "up"}
        assert "there is no cgroup v2" in init.console()
        for _ in range(3):
            assert init.ask("restart near") == "ok\n"
            init.until(lambda: init.states() == {"near": "up"})
        init.until(lambda: init.processes() == 2)
        assert init.ask("stop near") == "ok\n"
        init.until(lambda: init.states() == {"near": "off"})
        init.until(lambda: init.processes() == 0)
