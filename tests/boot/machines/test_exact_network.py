"""A network whose answers come at stated times: boots that need it before ready repeat to the nanosecond.

The guest gets its address by DHCP and one by IPv6, pings, asks for names, and fetches metadata and 300 kB over HTTP
(network_work/). From outside it is pinged, and its port asked until it is open.
"""

import asyncio
import contextlib
import hashlib
import random
import shutil
from pathlib import Path

import pytest
from dpkt import pcap
from qemu.qmp import QMPError

from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system
from bootlab.targets.qemu.session import QemuSession

pytestmark = [pytest.mark.boot, pytest.mark.network]

SOURCES = Path(__file__).parent / "network_work"
EXAMPLE = Path(__file__).parents[3] / "examples" / "distribution" / "on-disk.toml"
LARGE = random.Random(1).randbytes(300_000)
ARM64 = [("linux-image-cloud-amd64", "linux-image-cloud-arm64"), ("ttyS0", "ttyAMA0")]
OVER_TCP = '[check]\nconsole = "network: listens"\nsend = "ping\\n"\nexpect = "^pong"\n'
SAID = [
    "lease: 10.0.2.15 10.0.2.2 10.0.2.3 guest",
    "2 packets transmitted, 2 packets received",
    "Address: 10.0.2.100",
    "can't find nothing.test: NXDOMAIN",
    "instance-id",
    f"{hashlib.md5(LARGE).hexdigest()}  /tmp/large",
    "network: port 81 is closed",
    "network: fd626f6f746c6162505400fffe123456",
]
"""What the guest says of each thing that it asks for."""
UNTOLD = ("network: no ", "bad address")


def network_work(folder: Path, *changes: tuple[str, str]) -> System:
    """Return the system of network_work/ with its text changed."""
    folder.mkdir()
    for name in ("init", "lease"):
        shutil.copy(SOURCES / name, folder)
    (folder / "metadata" / "latest" / "meta-data").mkdir(parents=True)
    (folder / "metadata" / "latest" / "meta-data" / "instance-id").write_text("i-0001\n")
    (folder / "metadata" / "large").write_bytes(LARGE)
    text = (SOURCES / "system.toml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "system.toml").write_text(text)
    return read_system(folder / "system.toml")


def expect_all_answered(directory: Path) -> None:
    console = (directory / "console.log").read_text(errors="replace")
    for words in SAID:
        assert words in console, (words, console[-2000:])
    for words in UNTOLD:
        assert words not in console, (words, console[-2000:])


def boot_alike(system: System, shop: Workshop, folder: Path, times: int = 2) -> BootRecord:
    """Boot so often; trace, console and every frame on the wire must be the same."""
    prepared = prepare(shop, system)
    records, seen = [], []
    for number in range(1, times + 1):
        directory = folder / str(number)
        directory.mkdir()
        records.append(boot(prepared, directory))
        expect_all_answered(directory)
        trace = (directory / "trace.txt").read_text()
        assert "\nexact network\n" in trace
        seen.append((trace, (directory / "console.log").read_bytes(), (directory / "network.pcap").read_bytes()))
    assert all(one == seen[0] for one in seen)
    assert records[0].outcome is Outcome.READY, records[0].detail
    assert records[0].remarks == []
    return records[0]


@pytest.mark.parametrize(
    ("machine", "changes"),
    [
        pytest.param("q35", [], marks=pytest.mark.promise("exact network")),
        ("q35", [('type = "q35"', 'type = "q35"\nvcpus = 2')]),
        ("microvm", []),
        ("virt", ARM64),
    ],
)
def test_boots_that_need_the_network_repeat(
    machine: str, changes: list[tuple[str, str]], shop: Workshop, tmp_path: Path
) -> None:
    system = network_work(tmp_path / "system", ('"q35"', f'"{machine}"'), *changes)
    record = boot_alike(system, shop, tmp_path)
    # Each probe has its answer, and that of the port is the check: nothing else stopped the boot.
    assert record.marks["answers_ping"] < record.marks["ready"] < record.marks["port_open"]
    with (tmp_path / "1" / "network.pcap").open("rb") as file:
        times = [t for t, _ in pcap.Reader(file)]
    assert len(times) > 400


def test_a_boot_is_over_when_it_answers_from_outside(shop: Workshop, tmp_path: Path) -> None:
    """Ready is the first answer to a ping; the host's own connection then goes the same way."""
    head, _ = (SOURCES / "system.toml").read_text().split("[check]\n")
    check = (SOURCES / "system.toml").read_text().removeprefix(head)
    system = network_work(tmp_path / "system", ('mark = "ready"', 'mark = "answers_ping"'), (check, OVER_TCP))
    prepared = prepare(shop, system)
    (tmp_path / "boot").mkdir()
    record = boot(prepared, tmp_path / "boot")
    assert record.outcome is Outcome.READY, record.detail
    assert record.marks["ready"] == record.marks["answers_ping"]
    assert record.remarks == [] or "port_open" in record.remarks[0]


def test_what_is_answered_is_what_the_kernels_functions_did(shop: Workshop, tmp_path: Path) -> None:
    """The address and the port, from outside and by the functions that give and open them, to one question's time."""
    probes = (
        "[network.probes.answers_ping]",
        "[network.probes.address_up]\ntcp = 9\nrefused = true\nevery_us = 1000\n[network.probes.answers_ping]",
    )
    marks = ("[booted]", '[marks]\naddress = "inet_rtm_newaddr"\nlistens = "inet_csk_listen_start"\n[booted]')
    system = network_work(tmp_path / "system", probes, marks, ("tcp = 7777", "tcp = 7777\nevery_us = 1000"))
    (tmp_path / "boot").mkdir()
    record = boot(prepare(shop, system), tmp_path / "boot")
    assert record.outcome is Outcome.READY, record.detail
    # One question, the way there and back, and what the guest takes to answer.
    within_ns = 1_000_000 + 2 * 150_000 + 850_000
    assert 0 < record.marks["address_up"] - record.marks["address"] < within_ns, record.marks
    assert 0 < record.marks["port_open"] - record.marks["listens"] < within_ns, record.marks
    assert record.marks["address_up"] < record.marks["ready"] < record.marks["listens"]


def test_the_wall_clock_has_the_same_network(shop: Workshop, tmp_path: Path) -> None:
    head, rest = (SOURCES / "system.toml").read_text().split("[network.probes.port_open]")
    probes = "[network.probes.port_open]" + rest.partition("[booted]")[0]
    check = "[check]" + rest.partition("[check]")[2]
    clock = ("[kernel]\n", '[clock]\nkind = "wall"\naccelerator = "tcg"\n\n[kernel]\n')
    system = network_work(tmp_path / "system", (probes, ""), (check, OVER_TCP), clock)
    (tmp_path / "boot").mkdir()
    record = boot(prepare(shop, system), tmp_path / "boot")
    assert record.outcome is Outcome.READY, record.detail
    expect_all_answered(tmp_path / "boot")


def test_boots_repeat_although_qemu_is_kept_busy(
    shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU's main loop wakes up all the time, and a guest that halts just then is not given a clock that is ahead."""
    power_on = QemuSession.power_on

    async def keep_asking(session: QemuSession) -> None:
        with contextlib.suppress(QMPError, OSError):
            while True:
                await session._qmp.execute("query-status")

    busy: list[asyncio.Task[None]] = []

    async def power_on_and_ask(session: QemuSession) -> int:
        begun = await power_on(session)
        busy.append(asyncio.create_task(keep_asking(session)))
        return begun

    monkeypatch.setattr(QemuSession, "power_on", power_on_and_ask)
    boot_alike(network_work(tmp_path / "system", ('"q35"', '"microvm"')), shop, tmp_path, times=4)
    assert len(busy) == 4


def test_a_whole_debian_on_a_disk_repeats_until_its_server_answers(shop: Workshop, tmp_path: Path) -> None:
    """Its initramfs, udev, systemd, ifupdown and nginx: ext4 on virtio-blk, and booted is an answer from outside."""
    prepared = prepare(shop, read_system(EXAMPLE))
    seen = []
    for number in (1, 2):
        directory = tmp_path / str(number)
        directory.mkdir()
        record = boot(prepared, directory)
        assert record.outcome is Outcome.READY, record.detail
        assert record.marks["ready"] == record.marks["web"]
        to_ready, found, _ = (directory / "trace.txt").read_text().partition("answered web ")
        assert found and "exact disks\nexact network\n" in to_ready
        seen.append((to_ready, record.marks, record.console_sha256))
    assert seen[0] == seen[1]
