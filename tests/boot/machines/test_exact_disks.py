"""Disks that answer at once: boots that read and write them repeat to the nanosecond, and lose nothing.

The guest mounts the disk's file system and changes it, then has several processes read and write the disk itself at
random and compare all they read (disk_work/). What the disk holds at the end follows from their numbers alone.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.programs.guest import zig_folders
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.process import run
from bootlab.profile.recorded.trace import Charge, PluginTrace, Stamp, read_trace
from bootlab.system import System, read_system
from bootlab.targets.qemu import argv
from bootlab.targets.target import Prepared

pytestmark = [pytest.mark.boot, pytest.mark.network]

SOURCES = Path(__file__).parent / "disk_work"
AMOUNTS = "3 200\n"
"""Processes, and operations of each."""
HOLDS = "1b2dd14cc9e60325"
"""The hash of what they leave, on whatever machine and disk."""
ARM64 = [("linux-image-cloud-amd64", "linux-image-cloud-arm64"), ("ttyS0", "ttyAMA0")]

WriteSystem = Callable[..., System]


@dataclass(frozen=True)
class Booted:
    """One boot: its record, all of its trace up to ready, and its console."""

    record: BootRecord
    trace: PluginTrace
    to_ready: str
    console: str


@pytest.fixture(scope="session")
def write_disk_work(tmp_path_factory: pytest.TempPathFactory) -> WriteSystem:
    """Write the system of disk_work/ for a machine, with changed text, and read it."""

    def write(machine: str = "q35", attach: str = "virtio", arch: str = "x86_64") -> System:
        folder = tmp_path_factory.mktemp(f"disk-work-{machine}-{attach}")
        shutil.copy(SOURCES / "init", folder)
        (folder / "amounts").write_text(AMOUNTS)
        compiler = [sys.executable, "-m", "ziglang", "cc", "-target", f"{arch}-linux-musl", "-static", "-O1"]
        warnings = ["-Wall", "-Wextra", "-Werror"]
        words = [*compiler, *warnings, "-o", folder / "disk-work", SOURCES / "disk_work.c"]
        run(words, env={**os.environ, **zig_folders(Cache.default())}, deadline_s=300)
        text = (SOURCES / "system.toml").read_text().replace('"q35"', f'"{machine}"')
        text = text.replace("size_mib = 16", f'size_mib = 16\nattach = "{attach}"')
        for old, new in ARM64 if arch == "aarch64" else []:
            text = text.replace(old, new)
        (folder / "system.toml").write_text(text)
        return read_system(folder / "system.toml")

    return write


def boot_once(prepared: Prepared, directory: Path) -> Booted:
    directory.mkdir()
    record = boot(prepared, directory)
    text = (directory / "trace.txt").read_text()
    console = (directory / "console.log").read_text(errors="replace")
    return Booted(record, read_trace(directory / "trace.txt"), text.partition("guest ready")[0], console)


def boot_alike(prepared: Prepared, folder: Path, times: int = 3) -> Booted:
    """Boot so often; every mark, count, initcall and line of the console must be the same each time."""
    boots = [boot_once(prepared, folder / str(number)) for number in range(times)]
    first = boots[0]
    assert first.record.outcome is Outcome.READY, (first.record.detail, first.console[-500:])
    for other in boots[1:]:
        assert (other.record.marks, other.record.instructions) == (first.record.marks, first.record.instructions)
        assert (other.record.idle_ns, other.record.console_sha256) == (
            first.record.idle_ns,
            first.record.console_sha256,
        )
        assert other.to_ready == first.to_ready
    return first


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
    ],
)
def test_boots_that_read_and_write_a_disk_repeat_and_lose_nothing(
    machine: str, attach: str, arch: str, write_disk_work: WriteSystem, shop: Workshop, tmp_path: Path
) -> None:
    first = boot_alike(prepare(shop, write_disk_work(machine, attach, arch)), tmp_path)
    assert first.record.exact_disks is True and first.record.remarks == []
    assert first.trace.exact == ["disks"] and not first.trace.refused
    settled, unsettled = first.trace.settled
    assert settled > 1000 and unsettled == 0
    assert re.search(rf"disk-work: /dev/\w+ holds {HOLDS}\b", first.console), first.console[-500:]
    assert "disk: all as it was written" in first.console


def test_a_disk_that_takes_many_requests_is_named(
    write_disk_work: WriteSystem, shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is waited for all the same, and the boot goes on."""
    prepared = prepare(shop, write_disk_work())
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
    write_disk_work: WriteSystem, shop: Workshop, tmp_path: Path
) -> None:
    system = write_disk_work().with_part("clock", charges={"vfs_read": 1000})
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
