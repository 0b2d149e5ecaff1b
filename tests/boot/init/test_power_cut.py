"""The power is cut at a random moment of a shutdown, while a daemon writes: what bootlab-init said was done, is.

QEMU is killed. What the guest's disk was told to keep is in the image then, and nothing else.
"""

import asyncio
import os
import random
import re
import signal
import subprocess
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.process import ProgramFailed, run
from bootlab.system import System, read_system
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.session import QemuSession
from bootlab.targets.qemu.wiring import Wiring
from bootlab.targets.target import ConsoleBytes
from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.network, pytest.mark.kernel]

DONE = "all is written, and the root is read-only"
WRITER = """exec /bin/busybox sh -c "\
  i=0; while :; do i=$((i+1)); echo $i $i $i >/data/$((i%50)); [ $((i%20)) = 0 ] && sync; done"
stop-timeout 200ms
""".replace("\\\n", "")
ENDER = 'exec /bin/busybox sh -c "sleep 0.3; exec /sbin/bootlab-ctl poweroff"\nafter writer\n'
LONGEST_S = 0.5
"""From the beginning of a shutdown to the last moment at which the power may go."""


def system_of(folder: Path) -> System:
    units = folder / "root/etc/bootlab/units"
    units.mkdir(parents=True)
    (folder / "root/data").mkdir()
    (units / "writer.unit").write_text(WRITER)
    (units / "ender.unit").write_text(ENDER)
    (units.parent / "init.conf").write_text("lsb no\nconsole info\nshutdown-timeout 5s\n")
    system = read_system(EXAMPLES / "microvm/disk-root.toml")
    assert system.rootfs is not None
    cmdline = "console=ttyS0,115200 panic=-1 reboot=t quiet root=/dev/vda rootfstype=ext4 rw init=/sbin/bootlab-init"
    system = system.with_part("kernel", cmdline=cmdline)
    system = system.with_part(
        "rootfs", init=None, directory=folder / "root", bootlab_init=True, busybox=True, filesystem="ext4"
    )
    return system.model_copy(update={"check": None, "network": None})


async def cut(argv: list[str], qmp_socket: Path, stderr: Path, after_s: float) -> str:
    """Run it; so long after the shutdown has begun, kill it. Return the console up to then."""
    console, killed = b"", None
    async with QemuSession(argv, qmp_socket, stderr=stderr) as session:
        await session.power_on()
        async for event in session.events():
            if isinstance(event, ConsoleBytes):
                console += event.data
            if killed is None and b"shutting down" in console:
                killed = asyncio.get_running_loop().call_later(after_s, os.kill, session.pid, signal.SIGKILL)
        if killed is not None:
            killed.cancel()
    return console.decode(errors="replace")


def is_clean(image: Path) -> bool:
    """Whether a check finds nothing wrong, and no journal has to be replayed."""
    header = run(["dumpe2fs", "-h", image], package="e2fsprogs").text
    try:
        run(["e2fsck", "-fn", image], deadline_s=300, package="e2fsprogs")
    except ProgramFailed:
        return False
    return bool(re.search(r"^Filesystem state: +clean$", header, re.M)) and "needs_recovery" not in header


def cut_at_random(cache: Cache, folder: Path, times: int) -> None:
    dice = random.Random(100)
    prepared = prepare(Workshop(cache), system_of(folder))
    (shared,) = prepared.files.disks
    image, done = folder / "root.ext4", 0
    for turn in range(times):
        run(["cp", "--sparse=always", "--reflink=auto", shared, image], deadline_s=300)
        image.chmod(0o644)
        with make_socket_folder() as sockets:
            wiring = Wiring(sockets / "qmp")
            argv = [
                word.replace(f"snapshot=on,file={shared}", f"snapshot=off,file={image}").replace(
                    "sleep=off", "sleep=on"
                )
                for word in qemu_argv(prepared.system, prepared.files, wiring)
            ]
            assert "snapshot=off" in ",".join(argv)
            moment_s = dice.random() * LONGEST_S
            watching = cut(argv, wiring.qmp_socket, folder / "stderr", moment_s)
            console = asyncio.run(asyncio.wait_for(watching, 300))
        assert "shutting down" in console, console
        was_done = DONE in console
        done += was_done
        assert not was_done or is_clean(image), (turn, moment_s, console[-1500:])
        # Before that it is what a power cut is: the journal is replayed, and nothing is lost but what was not synced.
        assert subprocess.run(["e2fsck", "-p", image], capture_output=True, check=False).returncode in (0, 1)
        assert is_clean(image), (turn, moment_s)
        print(f"{turn + 1} of {times}: cut after {moment_s * 1000:.0f} ms, {done} were done", flush=True)
    assert done > 0


@pytest.mark.boot
def test_the_power_goes_at_a_few_moments_of_a_shutdown(cache: Cache, tmp_path: Path) -> None:
    cut_at_random(cache, tmp_path, 6)


@pytest.mark.bench
def test_the_power_goes_at_a_hundred_moments_of_a_shutdown(cache: Cache, tmp_path: Path) -> None:
    cut_at_random(cache, tmp_path, 100)
