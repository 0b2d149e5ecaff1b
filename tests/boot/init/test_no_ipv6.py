"""`listen` on a kernel without IPv6: all addresses are those of IPv4, and an address of IPv6 is refused by name."""

import asyncio
import re
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.system import read_system
from bootlab.targets.qemu.argv import Wiring, qemu_argv
from bootlab.targets.qemu.session import make_socket_folder
from tests.boot.conftest import EXAMPLES
from tests.boot.init.conftest import WORKER
from tests.boot.init.guest_console import watch

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

UNITS = {
    "server": "exec /bin/worker serve 1\nlisten tcp 8080\nlisten unix /run/app/one\n",
    "wakes": "exec /bin/worker serve 1\non-demand yes\nlisten tcp 8081\n",
    "six": "exec /bin/worker stay\nlisten tcp [::1]:8082\n",
    "ender": 'exec /bin/busybox sh -c "\\\n'
    "  for port in 8080 8081; do echo answer $port: $(/bin/busybox nc 127.0.0.1 $port </dev/null); done;\\\n"
    '  bootlab-ctl status; exec bootlab-ctl reboot"\n'
    "after server wakes six loopback\noutput console\n",
}


def test_all_addresses_are_those_of_ipv4(cache: Cache, tmp_path: Path) -> None:
    units = tmp_path / "root/etc/bootlab/units"
    units.mkdir(parents=True)
    for name, text in UNITS.items():
        (units / f"{name}.unit").write_text(text.replace("\\\n", ""))
    (units.parent / "init.conf").write_text("lsb no\nconsole info\nshutdown-timeout 5s\n")
    system = read_system(EXAMPLES / "microvm/disk-root.toml")
    assert system.rootfs is not None
    cmdline = "console=ttyS0,115200 panic=-1 reboot=t quiet root=/dev/vda rootfstype=ext4 rw init=/sbin/bootlab-init"
    system = system.with_part("kernel", cmdline=cmdline)
    system = system.with_part(
        "rootfs",
        init=None,
        directory=tmp_path / "root",
        files={"/bin/worker": WORKER},
        bootlab_init=True,
        busybox=True,
        filesystem="ext4",
    ).model_copy(update={"check": None, "network": None})
    prepared = prepare(Workshop(cache), system)
    with make_socket_folder() as sockets:
        wiring = Wiring(sockets / "qmp")
        argv = qemu_argv(prepared.system, prepared.files, wiring)
        watching = watch(argv, wiring.qmp_socket, tmp_path / "stderr")
        console, _ = asyncio.run(asyncio.wait_for(watching, 300))
    assert re.search(r"^answer 8080: \d+ of 2$", console, re.M), console
    assert re.search(r"^answer 8081: \d+ of 1$", console, re.M), console
    assert "six failed: listen tcp [::1]:8082: Address family not supported by protocol" in console, console
