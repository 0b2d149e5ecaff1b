"""Copies whose loader boots otherwise: what changes, that nothing else does, and what cannot be changed."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.formats import cpio
from bootlab.build.formats.compress import compress
from bootlab.build.image.changed_copy import LoaderChange, make_changed_copy
from bootlab.build.image.contents import BIOS, UEFI
from bootlab.build.image.image_file import QCOW2, content_hash, open_image
from bootlab.build.image.kept_contents import ReadImage, read_image
from bootlab.build.root.file_tree import FileTree
from bootlab.build.root.initramfs import read_contents
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import ProgramFailed, run
from bootlab.system import Compression, DiskImage
from tests.build.image.small_images import MIB, efi_program, make_disk, make_ext4, make_fat
from tests.build.image.test_survey import BOOT_CODE, GRUB, ROOT, SYSTEMD_BOOT, kernel

ENTRIES = {
    "EFI/BOOT/BOOTX64.EFI": SYSTEMD_BOOT,
    "loader/loader.conf": b"timeout 4\n",
    "loader/entries/a.conf": b"linux /vmlinuz\noptions ro\n",
    "vmlinuz": kernel(),
}


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(Cache(tmp_path / "cache"))


def disk(tmp_path: Path, shop: Workshop, esp: Mapping[str, bytes], *, format: str = "raw") -> ReadImage:
    parts = [make_fat(tmp_path, esp), make_ext4(tmp_path, ROOT)]
    path = make_disk(tmp_path / "disk.img", parts, code=BOOT_CODE)
    if format == QCOW2:
        run(["qemu-img", "convert", "-O", QCOW2, path, tmp_path / "disk.qcow2"])
        path = tmp_path / "disk.qcow2"
    return read_image(shop, open_image(path))


def asked(words: str = "", **image: object) -> LoaderChange:
    return LoaderChange(words, DiskImage.model_validate({"path": Path("disk.img"), **image}), None)


@pytest.mark.parametrize("format", ["raw", QCOW2])
def test_grub_is_told_more_words_and_to_wait_less(format: str, tmp_path: Path, shop: Workshop) -> None:
    read = disk(tmp_path, shop, {"EFI/BOOT/BOOTX64.EFI": GRUB}, format=format)
    before = content_hash(read.image)
    chain = read.contents.chains[BIOS]
    changed = make_changed_copy(shop, read, chain, asked("quiet x=1", menu_s=0))
    found = changed.contents.chains[BIOS]
    assert found.words == f"{chain.words} quiet x=1" and (chain.wait_s, found.wait_s) == (2, 0)
    assert changed.file(found.kernel).read_bytes() == kernel() and found.texts == chain.texts
    # The image is as it was, and the overlay of it small.
    assert content_hash(open_image(read.image.path)) == before != changed.sha256
    assert changed.image.format == QCOW2 and changed.image.path.stat().st_size < 2 * MIB < read.image.bytes
    told: list[str] = []
    again = make_changed_copy(Workshop(shop.cache, tell=told.append), read, chain, asked("quiet x=1", menu_s=0))
    assert again == changed and told == []


def test_nothing_but_the_menu_differs(tmp_path: Path, shop: Workshop) -> None:
    read = disk(tmp_path, shop, {"EFI/BOOT/BOOTX64.EFI": GRUB})
    changed = make_changed_copy(shop, read, read.contents.chains[BIOS], asked("quiet"))
    whole = tmp_path / "whole"
    run(["qemu-img", "convert", "-O", "raw", changed.image.path, whole])
    old, new = (tmp_path / "disk.img").read_bytes(), whole.read_bytes()
    start = read.contents.partitions[0].bytes + MIB
    assert len(old) == len(new) and old[:start] == new[:start]
    run(["e2fsck", "-fn", f"{whole}?offset={start}"], package="e2fsprogs")


def test_systemd_boot(tmp_path: Path, shop: Workshop) -> None:
    read = disk(tmp_path, shop, ENTRIES)
    found = make_changed_copy(shop, read, read.contents.chains[UEFI], asked("quiet", menu_s=0)).contents.chains[UEFI]
    assert (found.words, found.wait_s) == ("ro quiet", 0)


def test_what_cannot_be_changed(tmp_path: Path, shop: Workshop) -> None:
    parts = {".linux": kernel(), ".cmdline": b"ro\0"}
    uki = efi_program(parts, text=b"#### LoaderInfo: systemd-stub 252 ####")
    read = disk(tmp_path, shop, {"EFI/BOOT/BOOTX64.EFI": uki})
    with pytest.raises(InputError, match="UKI on it keeps its words in the program itself"):
        make_changed_copy(shop, read, read.contents.chains[UEFI], asked("quiet"))
    (tmp_path / "alone.efi").write_bytes(uki)
    alone = read_image(shop, open_image(tmp_path / "alone.efi"))
    with pytest.raises(InputError, match="has its words in the program itself"):
        make_changed_copy(shop, alone, alone.contents.chains[UEFI], asked("quiet"))


def test_a_root_with_changes_in_its_journal_is_left_alone(tmp_path: Path, shop: Workshop) -> None:
    read = disk(tmp_path, shop, {"EFI/BOOT/BOOTX64.EFI": GRUB})
    with (tmp_path / "disk.img").open("r+b") as file:
        at = read.contents.partitions[0].bytes + MIB + 1024 + 0x60
        file.seek(at)
        features = file.read(1)[0]
        file.seek(at)
        file.write(bytes([features | 4]))
    os.utime(tmp_path / "disk.img")
    dirty = read_image(shop, open_image(tmp_path / "disk.img"))
    with pytest.raises(InputError, match="was not unmounted: its journal has changes that are due"):
        make_changed_copy(shop, dirty, dirty.contents.chains[BIOS], asked("quiet"))


def test_files_are_written_into_the_root_with_the_folders_that_they_need(tmp_path: Path, shop: Workshop) -> None:
    read = disk(tmp_path, shop, {"EFI/BOOT/BOOTX64.EFI": GRUB})
    files = {"/etc/cloud/cloud.cfg.d/90.cfg": "a: [b]\n", "/usr/lib/os-release": "PRETTY_NAME=Other\n"}
    changed = make_changed_copy(shop, read, read.contents.chains[BIOS], asked(files=files))
    assert changed.contents.os_name == "Other"
    whole = tmp_path / "whole"
    run(["qemu-img", "convert", "-O", "raw", changed.image.path, whole])
    place = f"{whole}?offset={read.contents.partitions[0].bytes + MIB}"
    run(["e2fsck", "-fn", place], package="e2fsprogs")
    assert run(["debugfs", "-R", "cat /etc/cloud/cloud.cfg.d/90.cfg", place]).text == "a: [b]\n"
    assert "Mode:  0644" in run(["debugfs", "-R", "stat /etc/cloud/cloud.cfg.d/90.cfg", place]).text
    assert "Mode:  0755" in run(["debugfs", "-R", "stat /etc/cloud/cloud.cfg.d", place]).text
    # Other files, another copy.
    other = make_changed_copy(shop, read, read.contents.chains[BIOS], asked(files={"/etc/x": "1"}))
    assert other.sha256 not in (changed.sha256, read.sha256)


def test_modules_are_left_out_of_the_initramfs_that_is_booted(
    tmp_path: Path, shop: Workshop, module: Callable[..., bytes]
) -> None:
    tree = FileTree()
    tree.add_file("conf/initramfs.conf", b"MODULES=most\n")
    for name in ("virtio_blk", "nvme"):
        tree.add_file(f"lib/modules/6.1/{name}.ko", module(depends=""))
    archive = compress(cpio.write(tree.entries()), Compression.ZSTD)
    parts = [
        make_fat(tmp_path, {"EFI/BOOT/BOOTX64.EFI": GRUB}),
        make_ext4(tmp_path, {**ROOT, "boot/initrd.img": archive}),
    ]
    read = read_image(shop, open_image(make_disk(tmp_path / "disk.img", parts, code=BOOT_CODE)))
    chain = read.contents.chains[BIOS]
    assert chain.initramfs_place is not None and chain.initramfs_place.path == "boot/initrd.img"
    changed = make_changed_copy(shop, read, chain, asked("quiet", keep_modules=["virtio_blk"]))
    found = changed.contents.chains[BIOS]
    entries = read_contents(changed.file(found.initramfs))
    assert entries is not None
    assert [entry.path for entry in entries if entry.path.endswith(".ko")] == ["lib/modules/6.1/virtio_blk.ko"]
    assert found.initramfs_maker == "initramfs-tools" and found.words.endswith(" quiet")


def test_a_file_below_a_link_is_to_be_named_where_it_lies(tmp_path: Path, shop: Workshop) -> None:
    root = make_ext4(tmp_path, ROOT)
    run(["debugfs", "-w", "-R", "symlink /lib usr/lib", root])
    path = make_disk(tmp_path / "disk.img", [make_fat(tmp_path, {"EFI/BOOT/BOOTX64.EFI": GRUB}), root], code=BOOT_CODE)
    read = read_image(shop, open_image(path))
    with pytest.raises(InputError, match="/lib/systemd/a.service: /lib is a link on it") as refused:
        make_changed_copy(shop, read, read.contents.chains[BIOS], asked(files={"/lib/systemd/a.service": "x"}))
    assert "/usr/lib/NAME" in (refused.value.hint or "")


def full_of(size: int, block: int) -> bytes:
    """Return a file that leaves no whole block of a file system free whose free room is `size`."""
    return b"f" * (size - size % block)


def expect_refused(shop: Workshop, image: Path, key: str, change: LoaderChange, match: str) -> None:
    before = image.read_bytes()
    read = read_image(shop, open_image(image))
    with pytest.raises(InputError, match=match) as refused:
        make_changed_copy(shop, read, read.contents.chains[key], change)
    assert refused.value.hint is not None and "make the partition larger" in refused.value.hint
    # Neither the image nor the cache has anything of it: asked again, it is refused again.
    assert image.read_bytes() == before and not list((shop.cache.root / "image-changed").glob("*/*"))


MANY_WORDS = " ".join(f"word{number:04}=1" for number in range(700))


def test_an_efi_system_partition_that_is_full(tmp_path: Path, shop: Workshop) -> None:
    esp = make_fat(tmp_path, ENTRIES)
    with pytest.raises(ProgramFailed, match="Disk full"):
        (tmp_path / "filler").write_bytes(bytes(60 * MIB))
        run(["mcopy", "-i", esp, tmp_path / "filler", "::filler"])
    listed = run(["mdir", "-i", esp, "::"]).text.splitlines()
    free = int("".join(letter for letter in next(line for line in listed if "bytes free" in line) if letter.isdigit()))
    (tmp_path / "filler").write_bytes(full_of(free, 512))
    run(["mcopy", "-i", esp, tmp_path / "filler", "::filler"])
    path = make_disk(tmp_path / "disk.img", [esp, make_ext4(tmp_path, ROOT)], code=BOOT_CODE)
    told = (
        r"partition 1 \(the EFI system partition, FAT, 40 MiB\) has no room for loader/entries/a.conf: "
        r"it needs 7,7\d{2} bytes, and \d{1,3} bytes are free"
    )
    expect_refused(shop, path, UEFI, asked(MANY_WORDS), told)


def test_a_root_that_is_full(tmp_path: Path, shop: Workshop) -> None:
    root = make_ext4(tmp_path, ROOT)
    free = ext4_free(root)
    (tmp_path / "filler").write_bytes(b"f" * (64 * MIB))
    run(["debugfs", "-w", "-R", f"write {tmp_path / 'filler'} /filler", root])
    assert ext4_free(root) == 0 < free
    path = make_disk(tmp_path / "disk.img", [make_fat(tmp_path, {"EFI/BOOT/BOOTX64.EFI": GRUB}), root], code=BOOT_CODE)
    told = (
        r"partition 2 \(ext4, 16 MiB\) has no room for /boot/grub/grub.cfg: it needs 7,8\d{2} bytes, and \d{1,3} bytes "
        "are free"
    )
    expect_refused(shop, path, BIOS, asked(MANY_WORDS), told)


def ext4_free(image: Path) -> int:
    told = run(["dumpe2fs", "-h", image]).text
    return next(int(line.split()[-1]) for line in told.splitlines() if line.startswith("Free blocks:"))


def test_the_kernel_is_laid_where_a_boot_entry_names_it(tmp_path: Path, shop: Workshop) -> None:
    linux = bytearray(efi_program())
    linux[0x202:0x206] = b"HdrS"
    entries = ENTRIES | {"vmlinuz": bytes(linux), "loader/entries/a.conf": b"linux /vmlinuz\ninitrd /i\noptions ro\n"}
    read = disk(tmp_path, shop, entries | {"i": b"an archive"})
    changed = make_changed_copy(shop, read, read.contents.chains[UEFI], asked("quiet", loader="efi-stub"))
    entry = changed.boot_entry
    assert entry is not None and entry.endswith("initrd=\\EFI\\BOOT\\INITRD.IMG ro quiet\0".encode("utf-16-le"))
    assert "\\EFI\\BOOT\\VMLINUZ.EFI\0".encode("utf-16-le") in entry
    whole = tmp_path / "whole"
    run(["qemu-img", "convert", "-O", "raw", changed.image.path, whole])
    esp = f"{whole}@@{MIB}"
    for name, content in (("VMLINUZ.EFI", bytes(linux)), ("INITRD.IMG", b"an archive")):
        run(["mcopy", "-n", "-i", esp, f"::EFI/BOOT/{name}", tmp_path / name])
        assert (tmp_path / name).read_bytes() == content
    again = make_changed_copy(shop, read, read.contents.chains[UEFI], asked("quiet", loader="efi-stub"))
    assert again == changed


def test_a_kernel_that_is_no_program_of_uefis(tmp_path: Path, shop: Workshop) -> None:
    read = disk(tmp_path, shop, ENTRIES | {"vmlinuz": b"MZ" + bytes(2000)})
    with pytest.raises(InputError, match="not an EFI program|no EFI stub"):
        make_changed_copy(shop, read, read.contents.chains[UEFI], asked(loader="efi-stub"))
