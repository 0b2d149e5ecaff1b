"""Disks that answer at once: boots that read and write them repeat to the nanosecond, and lose nothing.

The guest mounts the disk's file system and changes it, then has several processes read and write the disk itself at
random and compare all they read (disk_work/).
"""

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.profile.recorded.trace import Charge, Stamp
from bootlab.system import System, read_system
from bootlab.targets.qemu import argv
from tests.boot.disks.disk_boots import HOLDS, boot_alike, boot_once, write_disk_work

pytestmark = [pytest.mark.boot, pytest.mark.network]

EXAMPLES = Path(__file__).parents[3] / "examples"
BUSY = 10
WriteSystem = Callable[..., System]


@pytest.fixture
def busy_host() -> Iterator[None]:
    """Ten processes that want a CPU all the time."""
    burners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(BUSY)]
    try:
        yield
        assert all(burner.poll() is None for burner in burners)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


@pytest.fixture(scope="session")
def write_work(tmp_path_factory: pytest.TempPathFactory) -> WriteSystem:
    """Write the system of disk_work/ for a machine and a disk, and read it."""

    def write(machine: str = "q35", attach: str = "virtio", arch: str = "x86_64") -> System:
        folder = tmp_path_factory.mktemp(f"disk-work-{machine}-{attach}")
        changes = {'"q35"': f'"{machine}"', "size_mib = 16": f'size_mib = 16\nattach = "{attach}"'}
        return write_disk_work(folder, changes, arch)

    return write


@pytest.mark.parametrize(
    ("machine", "attach", "arch"),
    [
        pytest.param("q35", "virtio", "x86_64", marks=pytest.mark.promise("exact disks")),
        ("q35", "nvme", "x86_64"),
        ("q35", "scsi", "x86_64"),
        ("pc", "virtio", "x86_64"),
        ("microvm", "virtio", "x86_64"),
        ("microvm", "scsi", "x86_64"),
        ("virt", "virtio", "aarch64"),
        ("virt", "virtio", "riscv64"),
    ],
)
def test_boots_that_read_and_write_a_disk_repeat_and_lose_nothing(
    machine: str, attach: str, arch: str, write_work: WriteSystem, shop: Workshop, tmp_path: Path
) -> None:
    first = boot_alike(prepare(shop, write_work(machine, attach, arch)), tmp_path)
    assert first.record.exact_disks is True and first.record.remarks == []
    assert first.trace.exact == ["disks"] and not first.trace.refused
    settled, unsettled = first.trace.settled
    assert settled > 1000 and unsettled == 0
    assert re.search(rf"disk-work: /dev/\w+ holds {HOLDS}\b", first.console), first.console[-500:]
    assert "disk: all as it was written" in first.console


def test_boots_repeat_on_a_host_with_a_load_of_ten(
    write_work: WriteSystem, shop: Workshop, tmp_path: Path, busy_host: None
) -> None:
    """The disks' threads and the vCPU's are held up at any moment, and the guest's time knows nothing of it."""
    boot_alike(prepare(shop, write_work("microvm")), tmp_path)


def test_firmware_that_reads_a_disk_repeats(shop: Workshop, tmp_path: Path) -> None:
    """The kernel's setup code reads each disk through the BIOS (EDD), which the examples ask it not to."""
    asked_not_to = read_system(EXAMPLES / "debian-cloud.toml").with_cmdline("cryptomgr.notests")
    words = asked_not_to.kernel.cmdline.split()
    assert "edd=off" in words
    system = asked_not_to.with_part("kernel", cmdline=" ".join(word for word in words if word != "edd=off"))
    first = boot_alike(prepare(shop, system), tmp_path, times=2)
    settled, unsettled = first.trace.settled
    other = boot_once(prepare(shop, asked_not_to), tmp_path / "asked-not-to")
    assert unsettled == 0 and settled > other.trace.settled[0]


def test_a_disk_that_takes_many_requests_is_named(
    write_work: WriteSystem, shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is waited for all the same, and the boot goes on."""
    prepared = prepare(shop, write_work())
    monkeypatch.setattr(argv, "device_options", lambda driver: "disable-legacy=on")
    booted = boot_once(prepared, tmp_path / "many")
    assert booted.record.outcome is Outcome.READY and HOLDS in booted.console
    assert (
        booted.trace.refused["device"] == "virtio-blk-device takes several requests at a time: queue-size is 256, not 4"
    )
    assert booted.record.remarks == [
        f"exact device: refused: {booted.trace.refused['device']}: this boot may not repeat exactly"
    ]


def test_what_was_charged_and_a_moment_of_the_clock_repeat(
    write_work: WriteSystem, shop: Workshop, tmp_path: Path
) -> None:
    system = write_work().with_part("clock", charges={"vfs_read": 1000})
    prepared = prepare(shop, system)
    assert prepared.plugin_config is not None
    prepared = replace(prepared, plugin_config=f"{prepared.plugin_config}at 400000000 a_moment\n")
    first = boot_alike(prepared, tmp_path)
    assert first.trace.exact == ["disks", "charges", "timers"]
    assert first.trace.marks["a_moment"].t_ns == 400_000_000
    ready: Stamp = first.trace.guest_marks["ready"]
    charge: Charge = first.trace.charges["vfs_read"]
    assert charge.ns == 1000 * charge.count and ready.charged_ns == first.record.charged_ns <= charge.ns
    assert ready.t_ns == ready.instructions + (first.record.idle_ns or 0) + ready.charged_ns
    assert HOLDS in first.console
