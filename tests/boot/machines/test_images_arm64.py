"""arm64 images on real boots: a unified kernel image and a disk with systemd-boot, by AAVMF, exactly and untouched."""

import subprocess
import sys
from pathlib import Path

import pytest

from bootlab.build.cache import file_sha256
from bootlab.build.debian import packages
from bootlab.build.image.efi_program import make_uki
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import BootFiles, read_system
from bootlab.timeline import marks as m
from scripts.publishing.boots_table import Row, boots_table
from tests.build.image.small_images import make_disk, make_fat
from tests.handed_over import Table

pytestmark = [pytest.mark.boot, pytest.mark.network]

ROOT = Path(__file__).parents[3]
WORDS = "console=ttyAMA0 panic=-1"
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /dev
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
while read -r module; do /bin/busybox insmod "$module"; done < /etc/bootlab/modules
[ ! -b /dev/vda ] || /bin/busybox sha256sum /dev/vda
/sbin/bootlab-mark ready
while :; do /bin/busybox sleep 5; done
"""
SYSTEM = """
[machine]
type = "virt"
[kernel]
package = "linux-image-cloud-arm64"
suite = "bookworm"
[initramfs]
init = "init"
modules = ["virtio_pci", "virtio_blk"]
[booted]
mark = "ready"
"""
EFI = "usr/lib/systemd/boot/efi"
CHAIN = {
    "SEC to DXE": "phase SEC, PEI, DXE",
    "BDS": "phase BDS",
    "loader": "phase loader",
    "EFI stub, end of UEFI": "phase EFI stub, end of UEFI",
    "kernel to init": "phase kernel head, kernel core, initcalls, before init, exec of init",
    "user space": "phase user space",
    "ready": "ready",
}
FIRMWARE = [m.PEI_ENTRY, m.DXE_ENTRY, m.BDS_ENTRY, m.LOADER_ENTRY, m.EFI_STUB_ENTRY, m.EXIT_BOOT_SERVICES]
KERNEL = [m.KERNEL_ENTRY, m.START_KERNEL, m.INITCALLS_START, m.INITCALLS_END, m.INIT_EXEC]


def bootlab(*words: str | Path, expect: int = 0) -> str:
    argv = [sys.executable, "-m", "bootlab", *map(str, words)]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, check=False, timeout=600)
    assert done.returncode == expect, done.stderr
    return done.stderr


@pytest.fixture
def files(shop: Workshop, tmp_path: Path) -> BootFiles:
    (tmp_path / "init").write_text(INIT)
    (tmp_path / "made.toml").write_text(SYSTEM)
    return prepare(shop, read_system(tmp_path / "made.toml")).files


@pytest.fixture
def systemd_boot(shop: Workshop) -> Path:
    return packages.fetch(shop, "systemd-boot-efi", "trixie", "aarch64", key="test").tree / EFI


def three_alike(image: Path, shop: Workshop, folder: Path, menu: str = "") -> BootRecord:
    path, before = image.with_suffix(".toml"), file_sha256(image)
    told = bootlab("boot", image, "--write-system", path)
    assert "boots by UEFI (AAVMF)" in told and "for arm64" in told
    text = path.read_text().replace('mark = "ssh"', 'mark = "ready"')
    path.write_text(text.replace('firmware = "ovmf"', f'firmware = "ovmf"\nfirmware_suite = "trixie"{menu}'))
    prepared = prepare(shop, read_system(path))
    records = []
    for number in range(3):
        (folder / str(number)).mkdir(parents=True)
        records.append(boot(prepared, folder / str(number)))
    first = records[0]
    assert first.outcome is Outcome.READY, first.detail
    for other in records[1:]:
        assert (other.marks, other.instructions, other.console_sha256, other.drivers) == (
            first.marks, first.instructions, first.console_sha256, first.drivers,
        )  # fmt: skip
    assert first.exact_disks is True and file_sha256(image) == before
    assert [name for name in first.marks if name in (*FIRMWARE, *KERNEL)] == [*FIRMWARE, *KERNEL]
    assert {"PlatformPei", "Fat", "BdsDxe"} <= {driver.name for driver in first.drivers}
    return first


def test_a_unified_kernel_image_and_a_disk_with_systemd_boot(
    files: BootFiles, systemd_boot: Path, shop: Workshop, tmp_path: Path, table: Table
) -> None:
    assert files.initramfs is not None
    words, uki = tmp_path / "words", tmp_path / "uki.efi"
    words.write_text(WORDS)
    sections = {".cmdline": words, ".linux": files.kernel, ".initrd": files.initramfs}
    make_uki(systemd_boot / "linuxaa64.efi.stub", sections, uki)
    booted = {"UKI by itself": three_alike(uki, shop, tmp_path / "uki")}
    path = uki.with_suffix(".toml")
    path.write_text(path.read_text().replace('type = "virt"', 'type = "q35"'))
    assert "boots aarch64, and the machine is x86_64" in bootlab("boot", path, expect=2)
    esp = {
        "EFI/BOOT/BOOTAA64.EFI": (systemd_boot / "systemd-bootaa64.efi").read_bytes(),
        "loader/loader.conf": b"timeout 0\n",
        "loader/entries/small.conf": f"title Small\nlinux /vmlinuz\ninitrd /initrd\noptions {WORDS}\n".encode(),
        "vmlinuz": files.kernel.read_bytes(),
        "initrd": files.initramfs.read_bytes(),
    }
    disk = make_disk(tmp_path / "small.img", [make_fat(tmp_path, esp, mib=64)])
    record = booted["disk, systemd-boot"] = three_alike(disk, shop, tmp_path / "disk")
    read = {phase.name: phase.read_bytes for phase in record.phases}
    assert (read["loader"] or 0) > 20_000_000, "the kernel"
    assert file_sha256(disk) in (tmp_path / "disk/0/console.log").read_text(), "all of the disk, read by the guest"
    # Where nobody says anything of a menu, AAVMF waits five seconds for a key.
    at_once = booted["the same, `boot_menu_s = 0`"] = three_alike(disk, shop, tmp_path / "at-once", "\nboot_menu_s = 0")
    assert record.marks["ready"] - at_once.marks["ready"] >= 4_900_000_000
    table(boots_table([Row(name, [record]) for name, record in booted.items()], CHAIN))
