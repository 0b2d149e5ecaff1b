"""The root on a disk image: found by its os-release among partitions, listed without a mount, taken apart on a copy."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian.installed_packages import read_installed_packages
from bootlab.build.image.changed_copy import LoaderChange, make_changed_copy
from bootlab.build.image.contents import BIOS
from bootlab.build.image.image_file import QCOW2, content_hash, open_image
from bootlab.build.image.image_root import read_image_root
from bootlab.build.image.kept_contents import read_image
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import DiskImage
from tests.build.debian.debian_root_files import DebianRootFiles, Installed
from tests.build.image.small_images import efi_program, make_disk, make_ext4, make_fat
from tests.build.image.test_survey import BOOT_CODE, GRUB, ROOT

DEBIAN = DebianRootFiles(
    {"base-files": Installed(["/etc/debian_version"]), "cron": Installed(["/usr/sbin/cron", "/usr/share/cron/a b"])}
)


def disk(folder: Path, *, format: str = "raw") -> Path:
    files = {entry.path: entry.data for entry in DEBIAN.entries() if entry.mode & 0o170000 == 0o100000}
    root = make_ext4(folder, {**ROOT, **files})
    path = make_disk(folder / "disk.img", [make_fat(folder, {"EFI/BOOT/BOOTX64.EFI": GRUB}), root], code=BOOT_CODE)
    if format == QCOW2:
        run(["qemu-img", "convert", "-O", QCOW2, path, folder / "disk.qcow2"])
        path = folder / "disk.qcow2"
    return path


@pytest.mark.parametrize("format", ["raw", QCOW2])
def test_the_files_of_the_root_partition_are_listed(format: str, tmp_path: Path) -> None:
    entries = read_image_root(open_image(disk(tmp_path, format=format)), Cache(tmp_path / "cache"))
    installed = read_installed_packages(FollowedPaths(entries), "disk.img")
    assert set(installed.packages) == {"base-files", "cron"} and installed.owner("/usr/sbin/cron") == ("cron",)


def test_a_package_is_taken_out_of_a_copy_and_the_image_stays(tmp_path: Path) -> None:
    shop = Workshop(Cache(tmp_path / "cache"))
    read = read_image(shop, open_image(disk(tmp_path)))
    before = content_hash(read.image)
    asked = LoaderChange("", DiskImage(path=tmp_path / "disk.img", without=("cron",)), None)
    changed = make_changed_copy(shop, read, read.contents.chains[BIOS], asked)
    assert changed.contents.chains == read.contents.chains
    installed = read_installed_packages(FollowedPaths(read_image_root(changed.image, shop.cache)), "disk.img")
    assert set(installed.packages) == {"base-files"}
    paths = installed.paths.entries
    assert "etc/debian_version" in paths and not {"usr/sbin/cron", "usr/share/cron/a b"} & set(paths)
    assert content_hash(open_image(tmp_path / "disk.img")) == before
    root = next(one for one in changed.contents.partitions if one.kind == "ext4")
    assert root.number == 2
    run(["qemu-img", "convert", "-O", "raw", changed.image.path, tmp_path / "changed.img"])
    whole = (tmp_path / "changed.img").read_bytes()
    start = whole.index(b"\x53\xef", 0x438 + 512) - 0x438
    (tmp_path / "root.img").write_bytes(whole[start:])
    # Nothing is left to repair: 0.
    run(["e2fsck", "-fn", tmp_path / "root.img"])


def test_an_image_without_a_root_that_is_listed_is_refused(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    empty = make_disk(tmp_path / "empty.img", [make_ext4(tmp_path, {"data": b"x"})])
    with pytest.raises(InputError, match="no root file system found on it"):
        read_image_root(open_image(empty), cache)
    fat = make_disk(tmp_path / "fat.img", [make_fat(tmp_path, {"etc/os-release": b"NAME=x\n"})])
    with pytest.raises(InputError, match="its root is on FAT, whose files are not listed here"):
        read_image_root(open_image(fat), cache)
    uki = tmp_path / "linux.efi"
    uki.write_bytes(efi_program())
    with pytest.raises(InputError, match="a unified kernel image has no root"):
        read_image_root(open_image(uki), cache)
