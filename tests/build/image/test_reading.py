"""Files read out of images without a mount: ext4, FAT, btrfs and XFS, raw and qcow2; what cannot be read is named."""

import os
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.build.image.image_file import open_image
from bootlab.build.image.reading import ImageReader
from bootlab.errors import InputError
from bootlab.process import run
from tests.build.image.small_images import MIB, make_disk, make_ext4, make_fat

_ADMIN = "/usr/sbin:/sbin:/usr/bin:/bin"
FILES = {"boot/vmlinuz-6.1": b"kernel" * 1000, "etc/a b": b"blank\n", "etc/os-release": b"PRETTY_NAME=Small\n"}


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    fat = make_fat(tmp_path, {"EFI/BOOT/BOOTX64.EFI": b"MZ" * 100})
    return make_disk(tmp_path / "disk.img", [fat, make_ext4(tmp_path, FILES), b"LUKS\xba\xbe".ljust(MIB, b"\0")])


def reading(path: Path) -> Iterator[ImageReader]:
    with ImageReader(open_image(path), path.parent) as reader:
        yield reader


@pytest.mark.parametrize("format", ["raw", "qcow2"])
def test_files_and_folders_of_each_partition(format: str, disk: Path, tmp_path: Path) -> None:
    path = disk
    if format == "qcow2":
        path = tmp_path / "with, comma (and) brackets.qcow2"
        run(["qemu-img", "convert", "-O", "qcow2", disk, path])
    before = (path.read_bytes(), sorted(os.listdir(tmp_path)))
    for reader in reading(path):
        fat, ext4, secret = reader.volumes
        assert [one.kind for one in reader.volumes] == ["FAT", "ext4", "LUKS"]
        assert [one.readable for one in reader.volumes] == [True, True, False]
        assert reader.read(ext4, "/boot/vmlinuz-6.1") == FILES["boot/vmlinuz-6.1"]
        assert reader.read(ext4, "etc/a b") == b"blank\n"
        assert reader.read(ext4, "boot/none") is None and reader.read(ext4, "boot") is None
        assert reader.list_folder(ext4, "etc") == (["a b", "os-release"], [])
        assert reader.list_folder(ext4, "/") == ([], ["boot", "etc", "lost+found"])
        assert reader.list_folder(ext4, "none") == ([], []) and reader.read(secret, "etc") is None
        assert reader.read(fat, "EFI/BOOT/BOOTX64.EFI") == b"MZ" * 100
    # Nothing is left behind, and nothing was written to.
    assert (path.read_bytes(), sorted(os.listdir(tmp_path))) == before


@pytest.mark.skipif(shutil.which("mkfs.btrfs", path=_ADMIN) is None, reason="needs btrfs-progs")
def test_btrfs(tmp_path: Path) -> None:
    make_ext4(tmp_path, FILES)
    image = tmp_path / "root.img"
    image.write_bytes(b"")
    os.truncate(image, 128 * MIB)
    run(["mkfs.btrfs", "-q", "--rootdir", tmp_path / "ext4-files", image])
    for reader in reading(make_disk(tmp_path / "disk.img", [image])):
        (whole,) = reader.volumes
        assert whole.kind == "btrfs"
        assert reader.read(whole, "etc/os-release") == FILES["etc/os-release"]


@pytest.mark.skipif(shutil.which("mkfs.xfs", path=_ADMIN) is None, reason="needs xfsprogs")
def test_xfs(tmp_path: Path) -> None:
    image, source = tmp_path / "root.img", tmp_path / "os-release"
    source.write_bytes(FILES["etc/os-release"])
    plan = f"/dev/null\n0 0\nd--755 0 0\netc d--755 0 0\nos-release ---644 0 0 {source}\n$\n$\n"
    (tmp_path / "plan").write_text(plan)
    image.write_bytes(b"")
    os.truncate(image, 320 * MIB)
    # bigtime and inobtcount are newer than the reader of Debian 12's GRUB.
    run(["mkfs.xfs", "-q", "-m", "bigtime=0,inobtcount=0", "-p", tmp_path / "plan", image])
    for reader in reading(image):
        (whole,) = reader.volumes
        assert whole.kind == "xfs" and reader.read(whole, "etc/os-release") == FILES["etc/os-release"]


def test_a_partition_that_is_not_all_there(disk: Path) -> None:
    os.truncate(disk, disk.stat().st_size - 3 * MIB // 2)
    with pytest.raises(InputError, match=r"cut off: partition 3 ends at byte [\d,]+, and the image has [\d,]+"):
        next(reading(disk))


def test_a_qcow2_that_is_not_all_there(disk: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.qcow2"
    run(["qemu-img", "convert", "-O", "qcow2", disk, path])
    os.truncate(path, 300_000)
    with pytest.raises(InputError, match="qemu-img finds it cut off or damaged"):
        next(reading(path))


def test_two_tib_with_nothing_on_them(disk: Path) -> None:
    os.truncate(disk, 2 << 40)
    for reader in reading(disk):
        assert [one.kind for one in reader.volumes] == ["FAT", "ext4", "LUKS"]


def test_a_file_system_that_leads_in_a_circle_is_an_error_and_not_a_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fat = bytearray(make_fat(tmp_path, {"EFI/BOOT/BOOTX64.EFI": b"MZ"}).read_bytes())
    reserved, tables, sectors, root = struct.unpack_from("<HB19xI4xI", fat, 14)
    # The root's first cluster is followed by itself, and has no end of its own.
    for table in range(tables):
        struct.pack_into("<I", fat, (reserved + table * sectors) * 512 + 4 * root, root)
    at = (reserved + tables * sectors + (root - 2) * fat[13]) * 512
    for place in range(at, at + fat[13] * 512, 32):
        if fat[place] == 0:
            fat[place : place + 32] = b"FILE       \x20".ljust(32, b"\0")
    disk = make_disk(tmp_path / "disk.img", [bytes(fat)])
    monkeypatch.setattr("bootlab.build.image.reading._CPU_S", 1)
    with pytest.raises(InputError, match=r"'/' of partition 1: not read after 1 s of work: its file system is damaged"):
        next(reading(disk))


def test_a_file_too_large_for_anything_that_boots_is_named(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bootlab.build.image.reading._LARGEST", 4096)
    for reader in reading(disk):
        with pytest.raises(InputError, match=r"'/boot/vmlinuz-6.1' of partition 2: larger than"):
            reader.read(reader.volumes[1], "boot/vmlinuz-6.1")
        assert reader.read(reader.volumes[1], "etc/a b") == b"blank\n"


def test_a_colon_in_a_relative_path_is_no_protocols(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(["qemu-img", "convert", "-O", "qcow2", disk, disk.parent / "nbd:x.qcow2"])
    monkeypatch.chdir(disk.parent)
    with ImageReader(open_image(Path("nbd:x.qcow2")), disk.parent) as reader:
        assert [one.kind for one in reader.volumes] == ["FAT", "ext4", "LUKS"]
