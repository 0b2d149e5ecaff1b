"""Early boot uses what is mounted already, and does what /etc/fstab asks for: devices that come late, swap, checks."""

import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType

import pytest

from tests.boot.init.behaviour.machine_namespace import MachineNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_FSTAB = """\
# device mount type options dump pass
/dev/good /mnt/good tmpfs size=1m 0 2
/dev/bad /mnt/bad tmpfs size=1m 0 2
LABEL=late /mnt/late tmpfs size=1m 0 0
UUID=never /mnt/never tmpfs nofail,x-systemd.device-timeout=200ms 0 0
/dev/notswap none swap pri=5 0 0
tmpfs /mnt/plain tmpfs size=1m 0 0
"""


class EarlyNamespace(MachineNamespace):
    """As PID 1 finds it behind an initramfs: /run and /dev/shm are mounted, and something is in them."""

    def before(self) -> None:
        for folder in (self.root / "run", self.root / "dev/shm"):
            folder.mkdir(exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
            (folder / "left-by-initramfs").touch()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        # It has mounted this host's cgroups, and made its own among them.
        made = [Path(line.split()[1]) / "bootlab" for line in Path("/proc/mounts").read_text().splitlines()]
        super().__exit__(kind, value, at)
        time.sleep(0.5)
        for folder in (one for one in made if (one / "cgroup.procs").exists()):
            for unit in folder.glob("*.unit"):
                unit.rmdir()
            folder.rmdir()


def test_what_is_mounted_is_used_and_fstab_is_done(tmp_path: Path, programs: dict[str, Path]) -> None:
    root = tmp_path / "root"
    units = {"good": "exec /bin/worker stay\nafter local-file-systems\n"}
    with EarlyNamespace(root, programs, units, "early yes\n") as init:
        # The folders that the namespace sees are those of its own mounts.
        inside = Path(f"/proc/{init.pid}/root")
        assert (inside / "run/left-by-initramfs").exists() and (inside / "dev/shm/left-by-initramfs").exists()
        assert (inside / "run/bootlab/control").exists()
        assert (inside / "proc/self").is_symlink()


def test_fstab_is_done(tmp_path: Path, programs: dict[str, Path]) -> None:
    root = tmp_path / "root"
    units = {"good": "exec /bin/worker stay\nafter local-file-systems\n"}

    class WithFstab(EarlyNamespace):
        def before(self) -> None:
            super().before()
            shutil.copy(programs["/bin/worker"], root / "sbin/fsck.tmpfs")
            (root / "etc/fstab").write_text(_FSTAB)
            for name in ("good", "bad", "never", "late", "plain"):
                (root / "mnt" / name).mkdir(parents=True)
            (root / "dev/disk/by-label").mkdir(parents=True)
            for name in ("good", "bad", "notswap"):
                (root / "dev" / name).touch()

    with WithFstab(root, programs, units, "early yes\n") as init:
        init.until(lambda: "/mnt/late: waiting for LABEL=late, 10.000 s at most" in init.ask("log"))
        time.sleep(0.2)
        assert init.states()["good"] == "waiting"
        (root / "dev/disk/by-label/late").touch()
        init.until(lambda: init.states()["good"] == "up")
        mounts = Path(f"/proc/{init.pid}/mounts").read_text()
        assert {name for name in ("good", "bad", "late", "never", "plain") if f"/mnt/{name} " in mounts} == {
            "good",
            "late",
            "plain",
        }
        log = init.ask("log")
        assert "/mnt/good: /sbin/fsck.tmpfs -a /dev/good ended with status 1" in log
        assert "/etc/fstab:3: /dev/bad /mnt/bad: I/O error" in log
        assert "/etc/fstab:5: UUID=never /mnt/never: No such device" in log
        # It is no block device: swapon(2) was asked.
        assert "/etc/fstab:6: /dev/notswap none: " in log
        assert init.states()["local-file-systems"] == "failed"
