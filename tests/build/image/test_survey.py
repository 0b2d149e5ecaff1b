"""What an image would boot, by each firmware and loader; and one sentence for an image that cannot."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.formats.partitions import SECTOR, XBOOTLDR
from bootlab.build.image.as_system import describe_image
from bootlab.build.image.contents import BIOS, UEFI
from bootlab.build.image.image_file import open_image
from bootlab.build.image.kept_contents import ReadImage, read_image
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from tests.build.image.small_images import MIB, archive, efi_program, kernel, make_disk, make_ext4, make_fat

BOOT_CODE = (b"\xeb\x63\x90".ljust(0x5C, b"\0") + (2048).to_bytes(8, "little")).ljust(0x180, b"\0") + b"GRUB \0"
GRUB = efi_program({"mods": b"x"})
GRUB_ARM64 = efi_program({"mods": b"x"}, machine=0xAA64)
SHIM = efi_program({".sbat": b"sbat,1\nshim,3,UEFI shim\n"})
SYSTEMD_BOOT = efi_program(text=b"#### LoaderInfo: systemd-boot 257.8-1 ####")
MENU = """set timeout=2
menuentry 'Small' {
 linux /boot/vmlinuz root=/dev/vda2 console=ttyS0
 initrd /boot/initrd.img
}
"""
ROOT = {
    "boot/grub/grub.cfg": MENU.encode(),
    "boot/vmlinuz": kernel(),
    "boot/initrd.img": archive("conf/initramfs.conf", "init"),
    "usr/lib/os-release": b'NAME=Small\nPRETTY_NAME="Small Linux 1"\n',
}

Read = Callable[..., ReadImage]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Make a disk of an EFI system partition and a root, and read it."""

    def make(esp: Mapping[str, bytes], root: Mapping[str, bytes] | bytes = ROOT, *, code: bytes = b"") -> ReadImage:
        second = root if isinstance(root, bytes) else make_ext4(tmp_path, root)
        path = make_disk(tmp_path / "disk.img", [make_fat(tmp_path, esp), second], code=code)
        return read_image(Workshop(Cache(tmp_path / "cache")), open_image(path))

    return make


def test_grub_by_both_firmwares(read: Read) -> None:
    found = read({"EFI/BOOT/BOOTX64.EFI": GRUB}, code=BOOT_CODE)
    contents = found.contents
    assert contents.os_name == "Small Linux 1" and contents.scheme == "gpt"
    assert [(one.number, one.kind, one.is_esp) for one in contents.partitions] == [(1, "FAT", True), (2, "ext4", False)]
    for key in (BIOS, UEFI):
        chain = contents.chains[key]
        assert (chain.loader, chain.title, chain.wait_s) == ("GRUB", "Small", 2)
        assert chain.words == "root=/dev/vda2 console=ttyS0" and chain.initramfs_maker == "initramfs-tools"
        assert found.file(chain.kernel).read_bytes() == kernel()
    # One file for both.
    assert contents.chains[BIOS].kernel == contents.chains[UEFI].kernel
    assert bytes.fromhex(contents.boot_code) == BOOT_CODE[:16]


def test_shim_starts_grub(read: Read) -> None:
    chain = read({"EFI/BOOT/BOOTX64.EFI": SHIM, "EFI/BOOT/grubx64.efi": GRUB}).contents.chains[UEFI]
    assert chain.loader == "shim + GRUB" and [one.kind for one in chain.programs] == ["shim", "GRUB"]
    assert chain.kernel


def test_arm64_where_there_is_no_x86(read: Read) -> None:
    found = read({"EFI/BOOT/BOOTAA64.EFI": SHIM, "EFI/BOOT/grubaa64.efi": GRUB_ARM64}).contents
    assert found.arch == "aarch64" and found.chains.keys() == {UEFI}
    both = read({"EFI/BOOT/BOOTAA64.EFI": GRUB_ARM64, "EFI/BOOT/BOOTX64.EFI": GRUB}).contents
    assert both.arch == "x86_64" and both.chains[UEFI].programs[0].path.lower() == "/efi/boot/bootx64.efi"


def test_systemd_boot_and_its_entries(read: Read) -> None:
    esp = {
        "EFI/BOOT/BOOTX64.EFI": SYSTEMD_BOOT,
        "loader/loader.conf": b"timeout 4\ndefault old.conf\n",
        "loader/entries/new.conf": b"title New\nversion 6.10\nlinux /vmlinuz-new\noptions quiet\n",
        "loader/entries/old.conf": b"title Old\nlinux /vmlinuz-old\ninitrd /initrd\noptions ro\noptions quiet\n",
        "vmlinuz-old": kernel(),
        "initrd": archive("buildconfig", "init"),
    }
    chain = read(esp).contents.chains[UEFI]
    assert (chain.title, chain.wait_s, chain.words) == ("Old", 4, "ro quiet")
    assert chain.kernel and chain.initramfs_maker == "mkinitcpio" and chain.programs[0].version == "257.8-1"


def test_a_uki_by_itself_and_behind_systemd_boot(read: Read, tmp_path: Path) -> None:
    parts = {".linux": kernel(), ".cmdline": b"console=ttyS0 quiet\0", ".initrd": archive("usr/lib/dracut", "init")}
    uki = efi_program(parts | {".osrel": b"PRETTY_NAME=Whole\n"}, text=b"#### LoaderInfo: systemd-stub 252 ####")
    chain = read({"EFI/BOOT/BOOTX64.EFI": uki}).contents.chains[UEFI]
    assert (chain.loader, chain.words, chain.initramfs_maker) == ("UKI", "console=ttyS0 quiet", "dracut")
    found = read({"EFI/BOOT/BOOTX64.EFI": SYSTEMD_BOOT, "EFI/Linux/whole.efi": uki})
    behind = found.contents.chains[UEFI]
    assert behind.loader == "systemd-boot + UKI" and len(behind.programs) == 2
    assert found.file(behind.kernel).read_bytes() == kernel()
    (tmp_path / "alone.efi").write_bytes(uki)
    alone = read_image(Workshop(Cache(tmp_path / "cache")), open_image(tmp_path / "alone.efi")).contents
    assert alone.os_name == "Whole" and alone.chains[UEFI].words == chain.words and not alone.partitions


def test_fedoras_form(read: Read) -> None:
    menu = b'set default="${saved_entry}"\nblscfg\n'
    entry = b"title Fedora\nversion 6.11\nlinux /boot/vmlinuz\ninitrd /boot/initrd.img\noptions $kernelopts quiet\n"
    root = {
        "boot/grub2/grub.cfg": menu,
        "boot/grub2/grubenv": b"# GRUB Environment Block\nkernelopts=root=/dev/vda2 console=ttyS0\n",
        "boot/loader/entries/ab-6.11.conf": entry,
        "boot/vmlinuz": kernel(),
        "boot/initrd.img": archive("usr/lib/dracut"),
        "usr/lib/os-release": b"PRETTY_NAME=Fedora-like\n",
    }
    chain = read({"EFI/BOOT/BOOTX64.EFI": GRUB}, root).contents.chains[UEFI]
    assert chain.words == "root=/dev/vda2 console=ttyS0 quiet" and chain.initramfs_maker == "dracut"


@pytest.mark.parametrize(
    ("esp", "root", "words"),
    [
        ({"readme": b"x"}, ROOT, "nothing on it boots: its first sector has no code, and there is no EFI/BOOT/BOOTX64"),
        ({"EFI/BOOT/BOOTRISCV64.EFI": GRUB}, ROOT, "boots by UEFI of riscv64 alone"),
        ({"EFI/BOOT/BOOTIA32.EFI": GRUB}, ROOT, "boots by UEFI of i386 alone"),
        ({"EFI/BOOT/BOOTX64.EFI": GRUB}, {"etc/motd": b"x"}, "no kernel found that its bootloader would boot"),
        (
            {"EFI/BOOT/BOOTX64.EFI": GRUB},
            ROOT | {"boot/grub/grub.cfg": b"menuentry 'Gone' {\n linux /boot/gone\n}\n"},
            "by UEFI: GRUB, whose entry 'Gone' names '/boot/gone', which is not there",
        ),
        ({"EFI/BOOT/BOOTX64.EFI": GRUB}, b"unknown".ljust(MIB, b"\1"), r"no kernel found .* partition 2 \(unknown"),
        ({"EFI/BOOT/BOOTX64.EFI": GRUB}, b"LUKS\xba\xbe".ljust(MIB, b"\0"), r"encrypted \(LUKS, partition 2\)"),
        ({"EFI/BOOT/BOOTX64.EFI": b"MZ" + bytes(99)}, ROOT, "/EFI/BOOT/bootx64.efi: not an EFI program"),
    ],
)  # fmt: skip
def test_images_that_cannot_boot(esp: Mapping[str, bytes], root: object, words: str, read: Read) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read(esp, root)
    assert "\n" not in caught.value.message


def test_an_efi_program_that_is_no_uki(tmp_path: Path) -> None:
    (tmp_path / "a.efi").write_bytes(GRUB)
    with pytest.raises(InputError, match=r"an EFI program \(GRUB\), and no unified kernel image"):
        read_image(Workshop(Cache(tmp_path / "cache")), open_image(tmp_path / "a.efi"))


def test_first_sectors_that_say_to_load_what_is_behind_everything(read: Read) -> None:
    code = (b"\xeb\x63\x90".ljust(0x5C, b"\0") + b"\xff" * 8).ljust(0x180, b"\0") + b"GRUB \0"
    contents = read({"EFI/BOOT/BOOTX64.EFI": GRUB}, code=code).contents
    assert contents.boot_code == code[:16].hex() and contents.core_code == ""


def test_a_program_of_100_gb_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.efi").write_bytes(GRUB)
    os.truncate(tmp_path / "a.efi", 100 << 30)
    with pytest.raises(InputError, match="larger than 1 GiB"):
        read_image(Workshop(Cache(tmp_path / "cache")), open_image(tmp_path / "a.efi"))


def test_an_initramfs_that_is_not_there_is_named(read: Read) -> None:
    menu = MENU.replace("initrd /boot/initrd.img", "initrd /boot/gone.img /boot/initrd.img")
    found = read({"EFI/BOOT/BOOTX64.EFI": GRUB}, ROOT | {"boot/grub/grub.cfg": menu.encode()})
    chain = found.contents.chains[UEFI]
    assert chain.missing == ("/boot/gone.img",) and chain.initramfs
    assert any(line.endswith("; its initramfs /boot/gone.img is not there") for line in describe_image(found))


def test_an_entry_that_counts_its_tries_is_a_file_of_another_name(read: Read) -> None:
    esp = {
        "EFI/BOOT/BOOTX64.EFI": SYSTEMD_BOOT,
        "loader/loader.conf": b"default a*\n",
        "loader/entries/a+3-1.conf": b"linux\t/vmlinuz\n",
        "vmlinuz": kernel(),
    }
    chain = read(esp).contents.chains[UEFI]
    assert chain.kernel and chain.texts[1].path == "loader/entries/a+3-1.conf"


def test_of_two_ukis_the_newest_is_booted_and_one_that_is_damaged_is_named(read: Read) -> None:
    def uki(version: bytes) -> bytes:
        osrel = b"ID=small\nVERSION_ID=" + version + b"\nPRETTY_NAME=Small " + version + b"\n"
        return efi_program({".linux": kernel(), ".cmdline": b"v=" + version, ".osrel": osrel})

    esp = {"EFI/BOOT/BOOTX64.EFI": SYSTEMD_BOOT, "EFI/Linux/a.efi": uki(b"9"), "EFI/Linux/b.efi": uki(b"10")}
    newest = read(esp).contents.chains[UEFI]
    assert (newest.words, newest.title, newest.unusable) == ("v=10", "/EFI/Linux/b.efi", ())
    others = {"EFI/Linux/cut.efi": uki(b"11")[:-SECTOR], "EFI/Linux/empty.efi": b"", "EFI/Linux/grub.efi": GRUB}
    found = read(esp | others | {"loader/loader.conf": b"default A*\ntimeout 3\n".lower()})
    chain = found.contents.chains[UEFI]
    assert (chain.words, chain.wait_s, chain.loader) == ("v=9", 3, "systemd-boot + UKI")
    cut, empty, grub = chain.unusable
    assert cut.startswith("/EFI/Linux/cut.efi: an EFI program that is cut off: its section ")
    assert (
        empty.startswith("/EFI/Linux/empty.efi: not an EFI program") and grub == "/EFI/Linux/grub.efi: no kernel in it"
    )
    assert any("; not in its menu: /EFI/Linux/cut.efi: " in line for line in describe_image(found))


def test_an_image_with_a_damaged_uki_alone_does_not_boot(read: Read) -> None:
    with pytest.raises(InputError, match=r"no kernel found .*not in its menu: /EFI/Linux/a.efi: not an EFI program"):
        read({"EFI/BOOT/BOOTX64.EFI": SYSTEMD_BOOT, "EFI/Linux/a.efi": b"MZ"}, {"etc/motd": b"x"})


def test_entries_on_a_boot_partition_of_their_own(tmp_path: Path) -> None:
    boot = {"loader/entries/a.conf": b"title A\nlinux /a/linux\n", "a/linux": kernel()}
    esp = make_fat(tmp_path, {"EFI/BOOT/BOOTX64.EFI": SYSTEMD_BOOT}).read_bytes()
    path = make_disk(tmp_path / "disk.img", [esp, make_fat(tmp_path, boot)], types={2: XBOOTLDR})
    chain = read_image(Workshop(Cache(tmp_path / "cache")), open_image(path)).contents.chains[UEFI]
    assert chain.title == "A" and chain.kernel
    assert [(one.partition, one.path) for one in chain.texts] == [
        (1, "loader/loader.conf"),
        (2, "loader/entries/a.conf"),
    ]
