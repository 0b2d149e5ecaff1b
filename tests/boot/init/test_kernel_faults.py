"""bootlab-init while the guest's kernel refuses memory and disk requests: it stays alive, recovers, and shuts down."""

import asyncio
import re
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.system import read_system
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.wiring import Wiring
from bootlab.targets.target import EndReason
from tests.boot.init.guest_console import watch
from tests.boot.init.unruly_units import BEHAVIOURS

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

SYSTEM = Path(__file__).parent / "faulty_kernel/system.toml"
SHUTDOWN_S = 10
DEADLINE_S = 1800
READS = "exec /bin/busybox md5sum /bin/busybox /bin/worker /sbin/bootlab-init\nready exit\n"


def trouble(cache: Cache, folder: Path, count: int, seed: int) -> tuple[str, EndReason | None]:
    """Let `count` requests of each kind fail; return the console, and how the machine ended."""
    units = folder / "root/etc/bootlab/units"
    units.mkdir(parents=True)
    for name, text in {
        **BEHAVIOURS,
        "reads": READS,
        "trouble": f"exec /bin/trouble {count}\nafter {' '.join(BEHAVIOURS)}\noutput console\n",
    }.items():
        (units / f"{name}.unit").write_text(text)
    (units.parent / "init.conf").write_text(f"lsb no\nshutdown-timeout {SHUTDOWN_S}s\n")
    system = read_system(SYSTEM).with_part("rootfs", directory=folder / "root").with_seed(seed)
    prepared = prepare(Workshop(cache), system)
    with make_socket_folder() as sockets:
        wiring = Wiring(sockets / "qmp")
        argv = qemu_argv(prepared.system, prepared.files, wiring)
        watching = watch(argv, wiring.qmp_socket, folder / "stderr")
        return asyncio.run(asyncio.wait_for(watching, DEADLINE_S))


def expect_survival(console: str, reason: EndReason | None, count: int) -> int:
    """All was refused that should be, everything is up again, and the end came in time; return how many faults."""
    last = console[-3000:]
    assert "has crashed" not in console and "Kernel panic" not in console, last
    assert reason is EndReason.GUEST_RESET, last
    faults = {kind: int(number) for kind, number in re.findall(r"^trouble: (fail\w+): (\d+) faults", console, re.M)}
    assert faults == dict.fromkeys(("failslab", "fail_page_alloc", "fail_make_request"), count), last
    assert "full /run: all restarted" in console and "is not" not in "".join(re.findall("^trouble: .*", console, re.M))
    states = dict(re.findall(r"^trouble: status (\S+) +(\S+)", console, re.M))
    for name in ("good", "tells", "line", "wild", "deaf", "flood", "once", "reads"):
        assert states.get(name) == "up", (name, states, last)
    (before, after) = re.findall(r"descriptors (\d+) before, (\d+) after", console)[0]
    assert int(after) <= int(before) + 3 * len(BEHAVIOURS), last
    (asked,) = re.findall(r"asks for the end at ([\d.]+)", console)
    (ended,) = re.findall(r"\[ *([\d.]+)\] reboot: Restarting system", console)
    print(f"{faults}, {before} descriptors before, {after} after, down in {float(ended) - float(asked):.2f} s")
    assert float(ended) - float(asked) < SHUTDOWN_S + 2, last
    return sum(faults.values())


def test_some_hundred_requests_to_the_kernel_fail(cache: Cache, tmp_path: Path) -> None:
    console, reason = trouble(cache, tmp_path, 200, 1)
    assert expect_survival(console, reason, 200) >= 500
