"""`listen` on kernels that lack what it asks for: without IPv6, and without TCP and all of the internet.

What is left is served: all addresses are those of IPv4 then, and a path is a path. An address of a kind that the kernel
does not have is refused by name, in one line, and costs its unit alone.
"""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.system import read_system
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.wiring import Wiring
from tests.boot.conftest import EXAMPLES
from tests.boot.init.conftest import WORKER
from tests.boot.init.guest_console import watch

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

NO_FAMILY = "Address family not supported by protocol"


def ender(after: str, *asks: str) -> str:
    """Return the unit that asks the others, says what is up and ends the machine."""
    script = "; ".join((*asks, "bootlab-ctl status", "exec bootlab-ctl reboot"))
    return f'exec /bin/busybox sh -c "{script}"\nafter {after}\noutput console\n'


def console_of(units: Mapping[str, str], options: Mapping[str, str], cache: Cache, folder: Path) -> str:
    """Return the console of a microVM that boots these units; `options` are of its kernel, besides those it has."""
    root = folder / "root/etc/bootlab/units"
    root.mkdir(parents=True)
    for name, text in units.items():
        (root / f"{name}.unit").write_text(text)
    (root.parent / "init.conf").write_text("lsb no\nconsole info\nshutdown-timeout 5s\n")
    system = read_system(EXAMPLES / "microvm/disk-root.toml")
    assert system.rootfs is not None and system.kernel is not None and system.kernel.build is not None
    build = system.kernel.build.model_copy(update={"options": {**system.kernel.build.options, **options}})
    cmdline = "console=ttyS0,115200 panic=-1 reboot=t quiet root=/dev/vda rootfstype=ext4 rw init=/sbin/bootlab-init"
    system = system.with_part("kernel", cmdline=cmdline)
    system = system.with_part(
        "rootfs",
        init=None,
        directory=folder / "root",
        files={"/bin/worker": WORKER},
        bootlab_init=True,
        busybox=True,
        filesystem="ext4",
    ).model_copy(update={"check": None, "network": None})
    assert system.kernel is not None
    system = system.model_copy(update={"kernel": system.kernel.model_copy(update={"build": build})})
    prepared = prepare(Workshop(cache), system)
    with make_socket_folder() as sockets:
        wiring = Wiring(sockets / "qmp")
        argv = qemu_argv(prepared.system, prepared.files, wiring)
        watching = watch(argv, wiring.qmp_socket, folder / "stderr")
        console, _ = asyncio.run(asyncio.wait_for(watching, 300))
    return console


def test_without_ipv6_all_addresses_are_those_of_ipv4(cache: Cache, tmp_path: Path) -> None:
    units = {
        "server": "exec /bin/worker serve 1\nlisten tcp 8080\nlisten unix /run/app/one\n",
        "wakes": "exec /bin/worker serve 1\non-demand yes\nlisten tcp 8081\n",
        "six": "exec /bin/worker stay\nlisten tcp [::1]:8082\n",
        "ender": ender(
            "server wakes six loopback",
            "for port in 8080 8081; do echo answer $port: $(/bin/busybox nc 127.0.0.1 $port </dev/null); done",
        ),
    }
    console = console_of(units, {}, cache, tmp_path)
    assert re.search(r"^answer 8080: \d+ of 2$", console, re.M), console
    assert re.search(r"^answer 8081: \d+ of 1$", console, re.M), console
    assert f"six failed: listen tcp [::1]:8082: {NO_FAMILY}" in console, console


def test_without_tcp_paths_are_served_and_the_rest_is_refused_by_name(cache: Cache, tmp_path: Path) -> None:
    units = {
        "server": "exec /bin/worker serve 1\nlisten unix /run/app/one\n",
        "wakes": "exec /bin/worker serve 1\non-demand yes\nlisten unix /run/two 0600\n",
        "each": "exec /bin/worker greet\neach-connection 2\nlisten unix /run/three\n",
        "web": "exec /bin/worker stay\nlisten tcp 8080\n",
        "both": "exec /bin/worker stay\nlisten unix /run/both\nlisten udp 127.0.0.1:53\n",
        "wakes-web": "exec /bin/worker stay\non-demand yes\nlisten tcp 8081\n",
        "needs-web": "exec /bin/worker stay\nneeds web\n",
        "ender": ender(
            "server wakes each web both wakes-web needs-web loopback",
            *(f"echo answer {path}: $(/bin/worker ask {path})" for path in ("/run/app/one", "/run/two", "/run/three")),
        ),
    }
    console = console_of(units, {"INET": "n"}, cache, tmp_path)
    assert re.search(r"^answer /run/app/one: \d+ of 1$", console, re.M), console
    assert re.search(r"^answer /run/two: \d+ of 1$", console, re.M), console
    assert re.search(r"^answer /run/three: \d+ hello$", console, re.M), console
    for name, address in {"web": "tcp 8080", "both": "udp 127.0.0.1:53", "wakes-web": "tcp 8081"}.items():
        assert console.count(f"{name} failed: listen {address}: {NO_FAMILY}\n") == 1, console
    assert re.search(r"^needs-web +blocked .*needs web, which is failed", console, re.M), console
