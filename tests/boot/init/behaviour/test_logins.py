"""utmp and wtmp as who(1), last(1) and utmpdump(1) read them: the boot, its runlevel, a login and its end, the end."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.boot.init.behaviour.machine_namespace import MachineNamespace
from tests.boot.init.behaviour.test_early import EarlyNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
    pytest.mark.skipif(not all(map(shutil.which, ("who", "last", "utmpdump"))), reason="needs who, last and utmpdump"),
]
UNITS = {
    "getty@tty7": "exec /bin/worker stay\ntty /dev/tty7\nlogin yes\nrestart always\n",
    "plain": "exec /bin/worker stay\ntty /dev/tty8\n",
    "wrong": "exec /bin/worker stay\nlogin yes\n",
}


class WithTerminals(EarlyNamespace):
    """Its terminals are plain files, and wtmp is there, as a distribution has it."""

    def before(self) -> None:
        super().before()
        for name in ("tty7", "tty8"):
            (self.root / "dev" / name).touch()
        (self.root / "var/log").mkdir(parents=True, exist_ok=True)
        (self.root / "var/log/wtmp").touch()
        (self.root / "var/log/wtmp").chmod(0o664)
        os.chown(self.root / "var/log/wtmp", 0, 43)

    @property
    def utmp(self) -> Path:
        return self.root / "run/utmp"


def read(*argv: str | Path) -> str:
    """Return what one of the programs says, in no language and in UTC."""
    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    return subprocess.run(argv, capture_output=True, text=True, check=True, env=environment).stdout


def records(path: Path) -> list[tuple[int, int, str, str, str]]:
    """Return type, pid, id, user and line of each record."""
    rows = re.findall(r"^\[(\d+)\] \[(\d+)\] \[(.{4})\] \[(.*?) *\] \[(.*?) *\]", read("utmpdump", path), re.M)
    return [(int(kind), int(pid), name.strip(), user, line) for kind, pid, name, user, line in rows]


def test_who_and_last_read_what_init_has_written(tmp_path: Path, programs: dict[str, Path]) -> None:
    root = tmp_path / "root"
    with WithTerminals(root, programs, UNITS, "early yes\nlevel 3\n") as init:
        assert {name: init.until_settled()[name] for name in ("logins", *UNITS)} == {
            "logins": "up",
            **dict.fromkeys(UNITS, "up"),
        }
        assert "login: expected a tty line, and a program that runs on" in init.console()
        assert re.search(r"^ *system boot +\S.* \d\d:\d\d$", read("who", "-b", init.utmp))
        assert re.search(r"run-level 3 .*last=S", read("who", "-r", init.utmp))
        assert (init.utmp.stat().st_mode & 0o777, init.utmp.stat().st_gid) == (0o664, 43)
        (getty,) = (row for row in records(init.utmp) if row[4] == "tty7")
        assert getty[0] == 5 and getty[2] == "tty7"
        assert not any(row[4] == "tty8" for row in records(init.utmp))
        # Its end is written, then the next one waits for a login in the same place.
        (pid,) = (int(row.split("pid ")[1].split()[0]) for row in init.ask("status").splitlines() if "getty@" in row)
        os.kill(pid_outside(init, pid), signal.SIGKILL)
        wtmp = root / "var/log/wtmp"
        init.until(lambda: [row[:2] for row in records(wtmp) if row[0] == 8] == [(8, pid)])
        init.until(lambda: any(row[0] == 5 and row[1] != pid for row in records(init.utmp)))
        assert len([row for row in records(init.utmp) if row[4] == "tty7"]) == 1
        # Somebody who may read the file, and keeps it locked, keeps no login from coming up.
        with init.utmp.open() as held:
            fcntl.lockf(held, fcntl.LOCK_SH)
            assert init.ctl("restart", "--wait", "getty@tty7") == "ok\n"
        init.power_off()
        assert [row[3] for row in records(wtmp) if row[0] in (1, 2)] == ["reboot", "runlevel", "shutdown"]
        said = read("last", "-x", "-f", wtmp)
        assert re.search(r"^shutdown system down", said, re.M) and re.search(r"^reboot +system boot", said, re.M), said
        assert re.search(r"^runlevel \(to lvl 3\)", said, re.M), said


def pid_outside(init: MachineNamespace, pid: int) -> int:
    """Return the number that this host has for a process of the namespace."""
    space = os.readlink(f"/proc/{init.pid}/ns/pid")
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if (
                os.readlink(path / "ns/pid") == space
                and f"NSpid:\t{path.name}\t{pid}\n" in (path / "status").read_text()
            ):
                return int(path.name)
        except OSError:
            continue
    raise AssertionError(f"no process {pid} in the namespace")
