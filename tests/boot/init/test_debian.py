"""A Debian 12 with bootlab-init as process 1, by init scripts and by systemd services: up, asked, shut down, clean.

Time is counted in instructions while the guest works, so a busy host does not make its deadlines shorter. While it
waits, time is the host's, whose disk it waits for: on the exact clock, which jumps over idle, all of its minute for
shutting down could be over while the host wrote.
"""

import asyncio
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.guest.tcp_check import ask
from bootlab.measure.prepare import prepare
from bootlab.process import run
from bootlab.system import System, read_system
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.session import QemuSession, find_free_port
from bootlab.targets.qemu.wiring import Wiring
from bootlab.targets.target import ConsoleBytes, Ended, EndReason
from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.network, pytest.mark.kernel]

MODES = {"lsb": (), "systemd": ("bootlab_lsb=no", "bootlab_systemd=yes")}
SERVICES = {
    "lsb": {"cron", "dbus", "networking", "nginx", "rsyslog", "selfcheck", "ssh", "udev"},
    "systemd": {"cron", "dbus", "networking", "nginx", "rsyslog", "selfcheck", "ssh", "systemd-udevd"},
}
# An initramfs puts an empty file system where cgroups are mounted, which process 1 leaves as it is: it has none then.
HAND_OVER = "exec switch_root"
NO_CGROUPS = """mount -t sysfs sysfs /newroot/sys
mount -t tmpfs -o ro tmpfs /newroot/sys/fs/cgroup
"""
ON_REQUEST = r"""# Once nginx is asked for /poweroff, and all that was to start has: the end.
exec /bin/bash -c "\
  asked() { grep -q /poweroff /var/log/nginx/access.log; };\
  settled() { ! bootlab-ctl status | grep -qE ' (waiting|eligible|starting) '; };\
  until asked && settled; do sleep 0.1; done; bootlab-ctl status;\
  echo cgroups of services: $(ls -d /sys/fs/cgroup/bootlab/*.unit | wc -l); exec bootlab-ctl poweroff"
after nginx
output console
""".replace("\\\n", "")
DEADLINE_S = 900
SERIES = 20


@dataclass(frozen=True)
class Life:
    """One boot to its end."""

    console: str
    served: str
    reason: EndReason | None
    image: Path

    def states(self) -> dict[str, str]:
        """Unit -> state, as bootlab-ctl told just before the end."""
        return {found[1]: found[2] for found in re.finditer(r"^(\S+) +(up|failed|blocked|off)\b", self.console, re.M)}


def live(mode: str, cache: Cache, folder: Path, *, cgroups: bool = True, seed: int = 1) -> Life:
    """Boot it on a disk of its own that keeps what is written, ask for its services and for its end."""
    unit = folder / "on-request.unit"
    unit.write_text(ON_REQUEST)
    system = read_system(EXAMPLES / "debian-init.toml").with_cmdline(*MODES[mode]).with_seed(seed)
    system = system.with_part("rootfs", files={"/etc/bootlab/units/on-request.unit": unit})
    if not cgroups:
        system = system.with_part("initramfs", init=_without_cgroups(system, folder))
    prepared = prepare(Workshop(cache), system)
    (shared,) = prepared.files.disks
    image = folder / "root.ext4"
    run(["cp", "--sparse=always", "--reflink=auto", shared, image], deadline_s=300)
    image.chmod(0o644)
    with make_socket_folder() as sockets:
        wiring = Wiring(sockets / "qmp", host_port=find_free_port())
        argv = [
            word.replace(f"snapshot=on,file={shared}", f"snapshot=off,file={image}").replace("sleep=off", "sleep=on")
            for word in qemu_argv(prepared.system, prepared.files, wiring)
        ]
        assert {"snapshot=off", "sleep=on"} <= set(",".join(argv).split(","))
        return asyncio.run(asyncio.wait_for(_live(argv, wiring, system, folder, image), DEADLINE_S))


def _without_cgroups(system: System, folder: Path) -> Path:
    """Return the system's /init, changed: its guest has no cgroups."""
    assert system.initramfs is not None and system.initramfs.init is not None
    text = system.initramfs.init.read_text()
    assert text.count(HAND_OVER) == 1
    changed = folder / "initramfs"
    changed.write_text(text.replace(HAND_OVER, NO_CGROUPS + HAND_OVER))
    changed.chmod(0o755)
    return changed


async def _live(argv: list[str], wiring: Wiring, system: System, folder: Path, image: Path) -> Life:
    console, asked, reason = b"", None, None
    assert wiring.host_port is not None and system.check is not None
    async with QemuSession(argv, wiring.qmp_socket, stderr=folder / "stderr") as session:
        await session.power_on()
        async for event in session.events():
            if isinstance(event, ConsoleBytes):
                console += event.data
            if isinstance(event, Ended):
                reason = event.reason
            # Now, and not at the deadline.
            if b"bootlab: check failed" in console or b"cannot be reached" in console:
                await session.stop()
            if asked is None and b"bootlab: check ok" in console:
                asked = asyncio.create_task(_ask(wiring.host_port, system))
    served = await asked if asked is not None else ""
    return Life(console.decode(errors="replace").replace("\r", ""), served, reason, image)


async def _ask(port: int, system: System) -> str:
    assert system.check is not None and system.check.send is not None and system.check.expect is not None
    served = await ask(port, system.check.send, system.check.expect)
    await ask(port, "GET /poweroff HTTP/1.0\r\n\r\n", "404")
    return served


def expect_whole(life: Life, mode: str, system: System, *, cgroups: bool = True) -> None:
    """Everything was up, the host was served, and the disk is as after any good shutdown."""
    assert life.reason is EndReason.GUEST_SHUTDOWN, life.console[-2000:]
    assert system.check is not None and system.check.expect is not None
    assert re.search(system.check.expect, life.served), life.served
    states = life.states()
    assert {name for name in SERVICES[mode] if states.get(name) == "up"} == SERVICES[mode], life.console[-3000:]
    assert set(states.values()) <= {"up", "off"}, states
    # A script has no cgroup of its own: in LSB mode they are those of the units.
    (groups,) = re.findall(r"^cgroups of services: (\d+)$", life.console, re.M)
    assert (int(groups) > 0) == cgroups, life.console[-3000:]
    assert "took too long" not in life.console and "the time for shutting down is over" not in life.console
    # Raises when it finds anything.
    run(["e2fsck", "-fn", life.image], deadline_s=300, package="e2fsprogs")
    header = run(["dumpe2fs", "-h", life.image], package="e2fsprogs").text
    assert re.search(r"^Filesystem state: +clean$", header, re.M) and "needs_recovery" not in header


@pytest.mark.boot
@pytest.mark.parametrize("cgroups", [True, False], ids=["cgroups", "no cgroups"])
@pytest.mark.parametrize("mode", MODES)
def test_debian_comes_up_and_goes_down_whole(mode: str, cgroups: bool, cache: Cache, tmp_path: Path) -> None:
    system = read_system(EXAMPLES / "debian-init.toml")
    expect_whole(live(mode, cache, tmp_path, cgroups=cgroups), mode, system, cgroups=cgroups)


@pytest.mark.bench
@pytest.mark.parametrize("cgroups", [True, False], ids=["cgroups", "no cgroups"])
@pytest.mark.parametrize("mode", MODES)
def test_twenty_times_of_twenty(mode: str, cgroups: bool, cache: Cache, tmp_path: Path) -> None:
    system = read_system(EXAMPLES / "debian-init.toml")
    with_or_without = "with" if cgroups else "without"
    for turn in range(SERIES):
        folder = tmp_path / str(turn)
        folder.mkdir()
        life = live(mode, cache, folder, cgroups=cgroups, seed=turn + 1)
        expect_whole(life, mode, system, cgroups=cgroups)
        shutil.rmtree(folder)
        told = f"{mode}, {with_or_without} cgroups: {turn + 1} of {SERIES}: up, served, shut down, clean"
        print(told, flush=True)
