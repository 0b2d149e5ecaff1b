"""bootlab-init's DHCP client in a guest: QEMU's own server, who waits for the address, and what becomes of a lease.

On the virtual clock: an idle guest's half hour is over in seconds.
"""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.importers.init_account import AccountEventKind, require_account
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.session import find_free_port
from bootlab.targets.qemu.wiring import Wiring
from bootlab.targets.target import EndReason
from tests.boot.init.dhcp_server import ACK, DISCOVER, NAK, OFFER, REQUEST, Asked, DhcpServer, Reply
from tests.boot.init.guest_console import watch

pytestmark = [pytest.mark.boot, pytest.mark.network]

MACHINES = {"amd64": ("microvm", "ttyS0", "virtio_mmio"), "arm64": ("virt", "ttyAMA0", "virtio_pci")}
SYSTEM = """
name = "dhcp"

[machine]
type = "{machine}"
cpu = "max"
memory_mib = 256

[kernel]
package = "linux-image-cloud-{debian}"
suite = "bookworm"
cmdline = "console={console} panic=-1 cryptomgr.notests quiet net.ifnames=0 tsc=reliable nowatchdog"

[initramfs]
bootlab_init = true
directory = "root"
modules = ["{bus}", "virtio_net"]
compression = "none"

[network]

[booted]
mark = "ready"
deadline_s = 300
"""
CONF = """lsb no
hostname camera
address eth0 dhcp
link /etc/resolv.conf /run/bootlab/resolv.conf
sysctl vm.compaction_proactiveness 0
"""
UNITS = {
    "shown": """exec /bin/sh -c "grep . /proc/net/if_inet6; ip -4 addr show eth0; ip route; cat /etc/resolv.conf"
ready exit
output console
after $network
""",
    "alone": "exec /bin/true\nready exit\n",
    "account": "exec /sbin/bootlab-ctl account --console\nready exit\nafter shown alone\n",
}
LATER = r"""# Until the second lease.
exec /bin/sh -c "\
  until bootlab-ctl log | grep -q 'has 10.0.2.16'; do sleep 60; done; bootlab-ctl log; ip -4 addr"
ready exit
output console
timeout infinity
after account
""".replace("\\\n", "")
LEASE_S = 600
DEADLINE_S = 280


def write_system(folder: Path, units: dict[str, str], conf: str, debian: str = "amd64") -> System:
    (folder / "root/etc/bootlab/units").mkdir(parents=True)
    (folder / "root/etc/bootlab/init.conf").write_text(conf)
    for name, text in units.items():
        (folder / f"root/etc/bootlab/units/{name}.unit").write_text(text)
    path = folder / "dhcp.toml"
    machine, console, bus = MACHINES[debian]
    path.write_text(SYSTEM.format(machine=machine, console=console, bus=bus, debian=debian))
    return read_system(path)


def console_of(record: BootRecord) -> str:
    assert record.outcome is Outcome.READY, record.detail
    return Path(record.run, "console.log").read_text(errors="replace").replace("\r", "")


@pytest.mark.parametrize("debian", [pytest.param("amd64", marks=pytest.mark.promise("process 1 in a guest")), "arm64"])
def test_an_address_of_qemus_own_server_for_who_waits_for_it(tmp_path: Path, shop: Workshop, debian: str) -> None:
    units = {**UNITS, "over": "exec /sbin/bootlab-ctl poweroff\nneeds account\n"}
    prepared = prepare(shop, write_system(tmp_path, units, CONF, debian))
    with make_socket_folder() as sockets:
        argv = qemu_argv(prepared.system, prepared.files, Wiring(sockets / "qmp"))
        watching = watch(argv, sockets / "qmp", tmp_path / "stderr")
        console, reason = asyncio.run(asyncio.wait_for(watching, DEADLINE_S))
    assert "inet 10.0.2.15/24" in console
    assert "default via 10.0.2.2 dev eth0" in console and "nameserver 10.0.2.3" in console
    ready = require_account(console).first_ns(AccountEventKind.READY)
    assert ready["alone"] < ready["dhcp-eth0"] < ready["shown"]
    assert reason is EndReason.GUEST_SHUTDOWN, console[-2000:]


@pytest.mark.parametrize("probed", [True, False])
def test_ipv6_does_not_probe_where_it_is_told_not_to(
    tmp_path: Path, run_boot: Callable[[System], BootRecord], probed: bool
) -> None:
    knobs = "" if probed else "ipv6 eth0 accept_dad=0 accept_ra=0\n"
    units = {**UNITS, "over": "exec /bin/true\nready exit\nneeds account\nmark ready\n"}
    console = console_of(run_boot(write_system(tmp_path, units, CONF + knobs)))
    flags = re.search(r"^fe80\S+ \S+ \S+ \S+ (\S\S) +eth0$", console, re.M)
    assert flags, console[-2000:]
    # IFA_F_TENTATIVE: nobody may use the address before a second of silence.
    assert bool(int(flags[1], 16) & 0x40) == probed


def decide(asked: Asked, number: int) -> Reply | None:
    """Give a lease, extend it once, then be gone but for a no to the last who asks; then give another address."""
    if asked.type == DISCOVER:
        return Reply(OFFER) if number == 1 else Reply(ACK, address="10.0.2.16", lease_s=100_000, rapid=True)
    if asked.own == "0.0.0.0":
        return Reply(ACK)
    if asked.to_server:
        return Reply(ACK) if number == 3 else None
    return Reply(NAK)


async def live(system: System, folder: Path, cache: Cache) -> tuple[str, list[Asked]]:
    prepared = prepare(Workshop(cache), system)
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(lambda: DhcpServer(decide), ("127.0.0.1", 0))
    ends = {"local": find_free_port(), "remote": transport.get_extra_info("sockname")[1]}
    cable = ",".join(f"{end}.type=inet,{end}.host=127.0.0.1,{end}.port={port}" for end, port in ends.items())
    with make_socket_folder() as sockets:
        words = qemu_argv(prepared.system, prepared.files, Wiring(sockets / "qmp"))
        argv = [f"dgram,id=net0,{cable}" if word.startswith("user,id=net0") else word for word in words]
        assert argv != words
        console, _ = await watch(argv, sockets / "qmp", folder / "stderr", until=b"bootlab: mark ready")
    transport.close()
    return console, server.asked


def test_a_lease_is_renewed_refused_and_replaced(tmp_path: Path, cache: Cache) -> None:
    units = {**UNITS, "later": LATER, "over": "exec /bin/true\nready exit\nneeds later\nmark ready\n"}
    # With 250 ticks a second to go through, idle or not, a minute of the guest's is no moment of the host that answers.
    system = write_system(tmp_path, units, CONF).with_cmdline("nohz=off")
    console, asked = asyncio.run(asyncio.wait_for(live(system, tmp_path, cache), DEADLINE_S))
    lines = re.findall(r"^\[ *(\d+)\.\d+\] dhcp-eth0: eth0: (.*)$", console, re.M)
    assert [line for _, line in lines] == [
        "has 10.0.2.15/24 from 10.0.2.2 for 600 s",
        "renewed: 10.0.2.15/24 from 10.0.2.2 for 600 s",
        "10.0.2.15 is given back: the server says no",
        "has 10.0.2.16/24 from 10.0.2.2 for 100000 s",
    ], console[-3000:]
    first_s, renewed_s, refused_s, again_s = (int(second) for second, _ in lines)
    # Half of the lease, then seven eighths of the next; some more pass for an idle guest while the host answers.
    assert LEASE_S // 2 <= renewed_s - first_s < LEASE_S * 7 // 8 <= refused_s - renewed_s < LEASE_S
    assert again_s >= refused_s
    assert (
        "inet 10.0.2.16/24" in console.split("has 10.0.2.16")[-1] and "10.0.2.15/24" not in console.split("inet ")[-1]
    )
    kinds = [(one.type, one.own, one.to_server, one.names_server) for one in asked]
    # A message may be sent again: the guest's second passes while the host thinks.
    order = list(dict.fromkeys(kinds))
    assert order == [
        (DISCOVER, "0.0.0.0", False, False),
        (REQUEST, "0.0.0.0", False, True),
        (REQUEST, "10.0.2.15", True, False),
        (REQUEST, "10.0.2.15", False, False),
    ]
