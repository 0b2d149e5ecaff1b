"""Buildroot's output folders: what start-qemu.sh says, what follows from .config without it, and what is refused."""

from pathlib import Path

import pytest

from bootlab.build.outputs.buildroot import find_images, read_buildroot
from bootlab.errors import InputError
from tests.build.outputs.folders import VIRT, buildroot, buildroot_started, write


def test_a_qemu_defconfig_is_booted_as_its_own_script_does(tmp_path: Path) -> None:
    output = buildroot_started(tmp_path)
    found = read_buildroot(output)
    images = output / "images"
    assert found.about == "Buildroot 2026.02.3 (qemu_x86_64_defconfig)" and found.name == "qemu_x86_64"
    assert (found.kernel, found.rootfs) == (images / "bzImage", images / "rootfs.ext2")
    assert (found.guest.machine, found.guest.memory_mib) == ("pc", 128)
    assert found.guest.cmdline == "rootwait root=/dev/vda console=tty1 console=ttyS0"
    assert found.source is not None and not found.missing and not found.remarks
    assert found.source.source == tmp_path / "dl/linux/linux-6.12.47.tar.xz"
    assert found.source.patches == (tmp_path / "patches/linux/0001-mine.patch",)
    assert found.symbols is None, "a kernel with KALLSYMS brings its own"
    assert list(found.also) == ["start-qemu.sh", "Image", "rootfs.ext4"]


@pytest.mark.parametrize("below", ["", "images"])
def test_the_folder_may_be_the_tree_the_output_or_the_images(below: str, tmp_path: Path) -> None:
    output = buildroot_started(tmp_path)
    assert find_images(output / below) == output / "images" == find_images(tmp_path)
    assert find_images(tmp_path / "dl") is None


def test_an_output_elsewhere_finds_buildroots_tree_by_its_makefile(tmp_path: Path) -> None:
    output = buildroot_started(tmp_path / "out")
    text = (output / ".config").read_text().replace(f"{tmp_path}/out/dl", "$(TOPDIR)/dl")
    (output / ".config").write_text(text)
    write(output / "Makefile", f"MAKEARGS := -C {tmp_path}/buildroot\n")
    assert "as a tarball in BR2_DL_DIR" in read_buildroot(output).missing[0]
    archive = write(tmp_path / "buildroot/dl/linux/linux-6.12.47.tar.xz")
    source = read_buildroot(output).source
    assert source is not None and source.source == archive


def test_symbols_of_a_kernel_without_its_own(tmp_path: Path) -> None:
    output = buildroot_started(tmp_path)
    write(output / "build/linux-6.12.47/.config", "# CONFIG_KALLSYMS is not set\n")
    assert read_buildroot(output).symbols == output / "build/linux-6.12.47/vmlinux"


def test_patches_that_are_gone_are_told(tmp_path: Path) -> None:
    output = buildroot_started(tmp_path)
    (tmp_path / "patches/linux/0001-mine.patch").unlink()
    found = read_buildroot(output)
    assert found.source is None and "1 patches of the kernel" in found.missing[0]


def test_without_a_script_the_machine_follows_from_the_configuration(tmp_path: Path) -> None:
    options = 'BR2_LINUX_KERNEL_INTREE_DTS_NAME="broadcom/bcm2711-rpi-4-b"\n'
    output = buildroot(
        tmp_path, "Image", "rootfs.ext4", "bcm2711-rpi-4-b.dtb", "u-boot.bin", arch="aarch64", more=options,
        defconfig="raspberrypi4_64_defconfig",
    )  # fmt: skip
    found = read_buildroot(output)
    assert (found.guest.arch, found.guest.machine) == ("aarch64", "virt")
    assert found.guest.cmdline == "root=/dev/vda rootwait console=ttyAMA0"
    assert "not its board (bcm2711-rpi-4-b)" in found.remarks[0]
    assert found.also["bcm2711-rpi-4-b.dtb"].startswith("a device tree")
    assert found.also["u-boot.bin"].startswith("a bootloader")
    assert "start-qemu.sh" in found.missing[0]


def test_an_archive_is_the_initramfs_and_one_inside_the_kernel_is_none(tmp_path: Path) -> None:
    found = read_buildroot(buildroot(tmp_path / "a", "bzImage", "rootfs.cpio.zst"))
    assert found.initramfs is not None and found.initramfs.name == "rootfs.cpio.zst" and found.rootfs is None
    inside = read_buildroot(buildroot(tmp_path / "b", "bzImage", "rootfs.cpio", more="BR2_TARGET_ROOTFS_INITRAMFS=y\n"))
    assert inside.initramfs is None and "inside" in inside.also["rootfs.cpio"]


def test_whole_disks_and_cards(tmp_path: Path) -> None:
    disk = read_buildroot(buildroot(tmp_path / "a", "bzImage", "rootfs.ext2", "disk.img"))
    assert disk.image is not None and disk.kernel is None
    options = 'BR2_LINUX_KERNEL_INTREE_DTS_NAME="allwinner/sun8i-h3-orangepi-pc"\n'
    card = read_buildroot(buildroot(tmp_path / "b", "zImage", "sdcard.img", arch="arm", more=options))
    assert card.card is not None and card.guest.machine == "orangepi-pc"


def test_an_initrd_a_firmware_and_further_disks_of_the_script(tmp_path: Path) -> None:
    words = (
        "exec qemu-system-riscv64 -M virt -bios fw_jump.elf -kernel Image -initrd rootfs.cpio -append 'root=/dev/sda' "
        "-drive file=rootfs.ext2,if=none,id=a -device scsi-hd,drive=a -drive file=data.img,if=virtio "
        "-drive file=other.img,if=mtd"
    )
    found = read_buildroot(buildroot_started(tmp_path, words))
    assert found.firmware is not None and found.initramfs is not None and found.rootfs is not None
    assert found.guest.cmdline == "root=/dev/vda" and "attached by scsi" in found.remarks[0]
    assert [path.name for path, _ in found.disks] == ["data.img"]
    assert "by mtd" in found.guest.left_out["-drive other.img"]
    assert read_buildroot(buildroot_started(tmp_path / "arm", VIRT)).rootfs is not None


@pytest.mark.parametrize(
    ("arch", "images", "match"),
    [
        ("mips", ("vmlinux",), "built for mips, and bootlab has no machine"),
        ("x86_64", ("rootfs.ext2",), "no kernel in it"),
    ],
)
def test_what_cannot_be_booted_is_told(arch: str, images: tuple[str, ...], match: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=match):
        read_buildroot(buildroot(tmp_path, *images, arch=arch))


def test_no_root_and_no_getty_are_said(tmp_path: Path) -> None:
    output = buildroot(tmp_path, "bzImage", more="# BR2_TARGET_GENERIC_GETTY is not set\n")
    text = (output / ".config").read_text().replace("BR2_TARGET_GENERIC_GETTY=y\n", "")
    (output / ".config").write_text(text)
    found = read_buildroot(output)
    assert any("a root file system" in one for one in found.missing)
    assert "no login prompt may come" in found.remarks[0]


def test_a_script_that_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no qemu-system"):
        read_buildroot(buildroot_started(tmp_path, "echo nothing"))


def test_a_script_whose_lines_go_on_is_read_as_a_shell_does(tmp_path: Path) -> None:
    words = "exec qemu-system-x86_64 -M pc \\\n -kernel bzImage \\\r\n -drive file=rootfs.ext2,if=virt\\\nio"
    found = read_buildroot(buildroot_started(tmp_path, words))
    assert found.kernel is not None and found.kernel.name == "bzImage"
    assert [path.name for path, _ in found.disks] == ["rootfs.ext2"]


def test_a_link_that_leads_in_a_circle_is_no_file(tmp_path: Path) -> None:
    output = buildroot_started(tmp_path)
    (output / "images/bzImage").unlink()
    (output / "images/bzImage").symlink_to("bzImage")
    assert "bzImage" not in read_buildroot(output).also
