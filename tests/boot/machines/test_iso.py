"""ISO images on real boots: as a CD and as a disk, by BIOS and by UEFI, exactly and untouched; and bad ones."""

import subprocess
import sys
from pathlib import Path

import pytest

from bootlab.build.cache import file_sha256
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord
from bootlab.system import System, read_system
from bootlab.timeline import marks as m
from scripts.publishing.boots_table import Row, boots_table
from tests.boot.machines.bootable_iso import SUITE, make_iso
from tests.boot.machines.test_images import boot_alike
from tests.handed_over import Table

pytestmark = [pytest.mark.boot, pytest.mark.network]

ROOT = Path(__file__).parents[3]
WORDS = "console=ttyS0 panic=-1"
# What a live system does: it mounts what it was booted from, and reads all of a file on it.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /dev /cd
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
while read -r module; do /bin/busybox insmod "$module"; done < /etc/bootlab/modules
for device in sr0 vda; do [ -b /dev/$device ] && /bin/busybox mount -t iso9660 -o ro /dev/$device /cd && break; done
/bin/busybox sha256sum /cd/live/initrd.img
echo "small login: on $device"
while :; do /bin/busybox sleep 5; done
"""
SYSTEM = f"""
[machine]
type = "q35"
[kernel]
package = "linux-image-cloud-amd64"
suite = "{SUITE}"
[initramfs]
init = "init"
modules = ["virtio_pci", "virtio_scsi", "virtio_blk", "sr_mod", "isofs"]
[booted]
mark = "ready"
"""
UEFI = ("memory_mib = 1024", 'memory_mib = 1024\nfirmware = "ovmf"\nfirmware_suite = "trixie"')
CHAIN = {
    "SEC to DXE": "phase firmware, SEC, PEI, DXE",
    "BDS": "phase BDS",
    "loader": "phase boot sector, loader",
    "bytes it reads": "read-in boot sector, loader",
    "end of UEFI, decompressor": "phase EFI stub, end of UEFI, decompressor",
    "kernel to init": "phase kernel head, kernel core, initcalls, before init, exec of init",
    "user space": "phase user space",
    "ready": "ready",
}
DISK = ('attach = "cd"', 'attach = "virtio"')
KERNEL_SPEAKS = ('console = "login:"', 'console = "Linux version"')


def bootlab(*words: str | Path, expect: int = 0) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "bootlab", *map(str, words)]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, check=False, timeout=3600)
    assert done.returncode == expect, done.stderr
    return done


def made_iso(shop: Workshop, folder: Path, *, hybrid: bool) -> Path:
    (folder / "init").write_text(INIT)
    (folder / "made.toml").write_text(SYSTEM)
    files = prepare(shop, read_system(folder / "made.toml")).files
    assert files.initramfs is not None
    return make_iso(shop, folder, files.kernel, files.initramfs, WORDS, hybrid=hybrid)


@pytest.fixture
def iso(shop: Workshop, tmp_path: Path) -> Path:
    return made_iso(shop, tmp_path, hybrid=True)


def system_of(iso: Path, *changes: tuple[str, str]) -> System:
    path = iso.with_suffix(".toml")
    told = bootlab("boot", iso, "--write-system", path).stderr
    assert "ISO 9660" in told and "attached as a CD" in told
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return read_system(path)


@pytest.mark.promise("disk images")
def test_an_iso_boots_as_a_cd_by_bios_every_stage_a_mark(iso: Path, shop: Workshop, tmp_path: Path) -> None:
    record = boot_alike(system_of(iso, KERNEL_SPEAKS), shop, tmp_path / "bios", 2)
    stages = [m.POWER_ON, m.BOOT_SECTOR, m.LOADER_ENTRY, m.IMAGE_ENTRY, m.KERNEL_ENTRY, m.START_KERNEL]
    assert [name for name in record.marks if name in stages] == stages
    read = {phase.name: phase.read_bytes for phase in record.phases}
    assert (read["loader"] or 0) > 10_000_000, "the kernel and its initramfs"


def test_three_boots_that_mount_what_they_were_booted_from_are_identical(
    iso: Path, shop: Workshop, tmp_path: Path, table: Table
) -> None:
    """So it goes in each of the four ways that a machine has an ISO in."""
    bios = [m.BOOT_SECTOR, m.LOADER_ENTRY, m.IMAGE_ENTRY]
    uefi = [m.PEI_ENTRY, m.DXE_ENTRY, m.BDS_ENTRY, m.LOADER_ENTRY, m.EXIT_BOOT_SERVICES, m.IMAGE_ENTRY]
    ways: tuple[tuple[str, tuple[tuple[str, str], ...], str, list[str]], ...] = (
        ("BIOS, CD", (), "sr0", bios),
        ("BIOS, disk", (DISK,), "vda", bios),
        ("UEFI, CD", (UEFI,), "sr0", uefi),
        ("UEFI, disk", (DISK, UEFI), "vda", uefi),
    )
    booted: dict[str, BootRecord] = {}
    for name, changes, device, stages in ways:
        system = system_of(iso, ('console = "login:"', f'console = "login: on {device}"'), *changes)
        record = booted[name] = boot_alike(system, shop, tmp_path / name, 3)
        assert [mark for mark in record.marks if mark in (*m.PC_STAGES, m.IMAGE_ENTRY)] == stages, name
        console = (tmp_path / name / "0/console.log").read_text()
        assert file_sha256(tmp_path / "iso/live/initrd.img") in console, name
    table(boots_table([Row(name, [record]) for name, record in booted.items()], CHAIN))


def test_an_iso_that_is_for_cds_alone_or_that_nothing_boots_is_told(shop: Workshop, tmp_path: Path) -> None:
    iso = made_iso(shop, tmp_path, hybrid=False)
    system_of(iso, DISK)
    assert "is no hybrid" in bootlab("boot", iso.with_suffix(".toml"), expect=2).stderr
    system_of(iso, ('attach = "cd"', 'attach = "cd"\nmenu_s = 0'))
    assert "an ISO image is not written to" in bootlab("boot", iso.with_suffix(".toml"), expect=2).stderr
    assert "has lives where" in bootlab("boot", iso, "--lives", "2", expect=2).stderr
    whole = iso.read_bytes()
    bad = tmp_path / "bad.iso"
    for data, words in (
        (whole[:-4096], "cut off: its file system has"),
        (whole.replace(b"EL TORITO SPECIFICATION", b"EL DORADO SPECIFICATION"), "no El Torito boot record"),
    ):
        bad.write_bytes(data)
        told = [line for line in bootlab("boot", bad, expect=2).stderr.splitlines() if "error:" in line]
        assert len(told) == 1 and words in told[0], told
