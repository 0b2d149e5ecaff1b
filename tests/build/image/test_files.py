"""The files that a system with an image boots from, and an image that its firmware does not boot."""

from pathlib import Path

import pytest

from bootlab.build.boot_files import prepare
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.image.files import find_image_files
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import Attachment, System, read_system
from tests.build.image.small_images import archive, efi_program, kernel, make_disk, make_ext4, make_fat
from tests.build.image.test_survey import BOOT_CODE, MENU

SYSTEM = """
[machine]
type = "q35"
firmware = "{firmware}"
[image]
path = "disk.img"
[[disks]]
path = "disk.img"
[booted]
console = "login:"
"""
ARCHIVE = archive("init")


def system(tmp_path: Path, *, code: bytes = b"", firmware: str = "default", menu: str = MENU) -> System:
    root = {"boot/grub/grub.cfg": menu.encode(), "boot/vmlinuz": kernel(), "boot/initrd.img": ARCHIVE}
    esp = {"EFI/BOOT/BOOTX64.EFI": efi_program({"mods": b"x"})}
    make_disk(tmp_path / "disk.img", [make_fat(tmp_path, esp), make_ext4(tmp_path, root)], code=code)
    (tmp_path / "system.toml").write_text(SYSTEM.format(firmware=firmware))
    return read_system(tmp_path / "system.toml")


def test_kernel_and_initramfs_come_out_of_the_image(tmp_path: Path) -> None:
    told: list[str] = []
    image = system(tmp_path, code=BOOT_CODE)
    before = file_sha256(tmp_path / "disk.img")
    files = prepare(Workshop(Cache(tmp_path / "cache"), tell=told.append), image)
    assert files.image == tmp_path / "disk.img" and files.image_format == "raw"
    assert files.kernel.read_bytes() == kernel()
    assert files.initramfs is not None and files.initramfs.read_bytes() == ARCHIVE
    assert files.firmware is None and files.loaders == () and files.boot_code == BOOT_CODE[:16].hex()
    assert {"image", "kernel", "initramfs", "disk0"} == files.hashes.keys() and files.disks == (tmp_path / "disk.img",)
    # A kernel whose symbols cannot be had boots all the same.
    assert files.vmlinux is None and any(line.startswith("no symbols: ") for line in told)
    assert file_sha256(tmp_path / "disk.img") == before


@pytest.mark.parametrize(
    ("menu", "remarks"),
    [
        (
            MENU,
            ("the menu of GRUB waits 2 s for a key, in the phase `loader`; bootloader_menu_none leaves it out",),
        ),
        (
            MENU.replace("timeout=2", "timeout=-1"),
            ("the menu of GRUB waits for ever for a key, in the phase `loader`",),
        ),
        (MENU.replace("timeout=2", "timeout=0"), ()),
    ],
)
def test_a_boot_says_that_the_loaders_menu_waits(menu: str, remarks: tuple[str, ...], tmp_path: Path) -> None:
    image = system(tmp_path, code=BOOT_CODE, menu=menu)
    assert find_image_files(Workshop(Cache(tmp_path / "cache")), image).remarks == remarks


def test_an_image_that_this_firmware_does_not_boot(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="image: .*disk.img: does not boot by BIOS") as caught:
        find_image_files(Workshop(Cache(tmp_path / "cache")), system(tmp_path))
    assert caught.value.hint is not None and 'machine.firmware = "ovmf"' in caught.value.hint


def test_a_disk_is_no_cd_and_x86_is_no_arm64(tmp_path: Path) -> None:
    shop, x86 = Workshop(Cache(tmp_path / "cache")), system(tmp_path, code=BOOT_CODE)
    with pytest.raises(InputError, match=r'image.attach = "cd": .*disk.img is no ISO image'):
        find_image_files(shop, x86.with_part("image", attach=Attachment.CD))
    (tmp_path / "system.toml").write_text(SYSTEM.format(firmware="ovmf").replace('"q35"', '"virt"'))
    with pytest.raises(InputError, match="boots x86_64, and the machine is aarch64"):
        find_image_files(shop, read_system(tmp_path / "system.toml"))


def test_a_kernel_that_qemu_loads_has_the_words_of_its_loader_and_the_image_stays(tmp_path: Path) -> None:
    shop = Workshop(Cache(tmp_path / "cache"))
    given = system(tmp_path, code=BOOT_CODE)
    plain = prepare(shop, given)
    direct = prepare(shop, given.with_part("image", loader="direct").with_cmdline("quiet"))
    assert direct.image == tmp_path / "disk.img" and direct.hashes == plain.hashes, "no copy is changed"
    assert direct.words.startswith("root=") and direct.words.endswith(" quiet") and plain.words == ""
    assert (direct.boot_code, direct.core_code, direct.loaders) == ("", "", ())
