"""Yocto's deploy folders: what qemuboot.conf says, which root it means, and what is refused."""

from pathlib import Path

import pytest

from bootlab.build.outputs.yocto import find_confs, read_conf, read_yocto
from bootlab.errors import InputError
from tests.build.outputs.folders import YOCTO_IMAGE, YOCTO_KERNEL, write, yocto, yocto_source


def test_an_image_is_booted_as_runqemu_does(tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    found = read_yocto(folder)
    assert found.about == f"OpenEmbedded nodistro.0: {YOCTO_IMAGE}" and found.name == YOCTO_IMAGE
    assert found.kernel == folder / YOCTO_KERNEL and found.rootfs == folder / f"{YOCTO_IMAGE}.ext4.zst"
    guest = found.guest
    assert (guest.arch, guest.machine, guest.options) == ("x86_64", "q35", {"i8042": "off"})
    assert (guest.cpu, guest.memory_mib, guest.vcpus, guest.network) == ("Skylake-Client", 256, 4, True)
    assert guest.cmdline == (
        "root=/dev/vda rw ip=dhcp oprofile.timer=1 tsc=reliable no_timer_check rcupdate.rcu_expedited=1 swiotlb=0 "
        "console=ttyS0"
    )
    assert "one serial port" in guest.left_out["console=ttyS1"] and "-device usb-tablet" in guest.left_out
    assert "work-shared/qemux86-64" in found.missing[0]
    assert found.also["PREFERRED_PROVIDER_virtual/kernel"].startswith("linux-yocto:")


@pytest.mark.parametrize("below", ["", "tmp", "tmp/deploy", "tmp/deploy/images", "tmp/deploy/images/qemux86-64"])
def test_the_folder_may_be_anywhere_above(below: str, tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    assert find_confs(tmp_path / below) == [folder / f"{YOCTO_IMAGE}.qemuboot.conf"]


def test_the_source_of_its_kernel_is_found_where_it_was_built(tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    yocto_source(tmp_path)
    source = read_yocto(folder).source
    assert source is not None and source.source == tmp_path / "tmp/work-shared/qemux86-64/kernel-source"


def test_symbols_of_a_kernel_without_its_own(tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    yocto_source(tmp_path)
    assert read_yocto(folder).symbols is None
    yocto_source(tmp_path, config="CONFIG_SMP=y\n")
    symbols = read_yocto(folder).symbols
    assert symbols is not None and symbols.name == "System.map-6.18.44-yocto-standard"


def test_of_several_images_one_is_to_be_named(tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    other = write(folder / "other.qemuboot.conf", (folder / f"{YOCTO_IMAGE}.qemuboot.conf").read_text())
    with pytest.raises(InputError, match="2 images, each with its own"):
        read_yocto(folder)
    assert read_conf(other).rootfs is not None


@pytest.mark.parametrize(("root", "part"), [("ext4", "rootfs"), ("cpio.gz", "initramfs"), ("wic.zst", "image")])
def test_other_kinds_of_root(root: str, part: str, tmp_path: Path) -> None:
    kind = f"qb_default_fstype = {root}"
    folder = yocto(tmp_path, root=root)
    conf = folder / f"{YOCTO_IMAGE}.qemuboot.conf"
    conf.write_text(conf.read_text().replace("qb_default_fstype = ext4.zst", kind))
    found = read_conf(conf)
    assert getattr(found, part) == folder / f"{YOCTO_IMAGE}.{root}"
    assert (found.kernel is None) == (part == "image")
    if part == "initramfs":
        assert found.guest.cmdline.startswith("root=/dev/ram0 rw debugshell")


def test_a_wic_without_a_kernel_in_it_is_a_disk_for_the_kernel_beside_it(tmp_path: Path) -> None:
    folder = yocto(tmp_path, root="wic", more="qb_fsinfo = wic:no-kernel-in-fs")
    conf = folder / f"{YOCTO_IMAGE}.qemuboot.conf"
    conf.write_text(conf.read_text().replace("fstype = ext4.zst", "fstype = wic").replace("= /dev/vda", "= /dev/vda2"))
    found = read_conf(conf)
    assert found.kernel is not None and found.rootfs is not None and found.rootfs.name.endswith(".wic")
    assert found.guest.cmdline.startswith("root=/dev/vda2 rw") and not found.remarks


def test_a_firmware_and_a_read_only_root(tmp_path: Path) -> None:
    folder = yocto(tmp_path, more="qb_default_bios = fw_jump.elf")
    conf = folder / f"{YOCTO_IMAGE}.qemuboot.conf"
    conf.write_text(conf.read_text().replace("qb_kernel_root = /dev/vda", "qb_kernel_root = /dev/sda ro"))
    found = read_conf(conf)
    assert found.firmware == folder / "fw_jump.elf"
    assert found.guest.cmdline.startswith("root=/dev/vda ro ip=dhcp") and "/dev/sda for runqemu" in found.remarks[0]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("hello", "not a qemuboot.conf"),
        ("[other]\na = b\n", r"has no \[config_bsp\]"),
        ("[config_bsp]\nmachine = board\nimage_link_name = core-image-minimal-qemux86-64.rootfs\n", "QB_SYSTEM_NAME"),
        ("[config_bsp]\nmachine = qemux86-64\nimage_link_name = other\n", "root file system is not there"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, match: str, tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    with pytest.raises(InputError, match=match):
        read_conf(write(folder / "x.qemuboot.conf", text))


def test_a_kernel_that_is_gone_and_damaged_data(tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    write(folder / f"{YOCTO_IMAGE}.testdata.json", "{")
    with pytest.raises(InputError, match="not JSON"):
        read_yocto(folder)
    write(folder / f"{YOCTO_IMAGE}.testdata.json", "[]")
    (folder / "bzImage").unlink()
    (folder / YOCTO_KERNEL).unlink()
    with pytest.raises(InputError, match="its kernel is not there"):
        read_yocto(folder)
    with pytest.raises(InputError, match="no \\*.qemuboot.conf"):
        read_yocto(tmp_path / "tmp/deploy/nothing")


def test_a_name_leads_to_no_other_folder(tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    conf = folder / f"{YOCTO_IMAGE}.qemuboot.conf"
    text = conf.read_text().replace("= core-image", "= ../../../core-image").replace(f"= {YOCTO_KERNEL}", "= ../../x")
    conf.write_text(text)
    found = read_conf(conf)
    assert found.rootfs == folder / f"{YOCTO_IMAGE}.ext4.zst" and found.kernel == folder / "bzImage"


@pytest.mark.parametrize("kind", ["/bzImage", "**", "../../../other/vmlinuz", "[", "..", "/"])
def test_a_kind_of_kernel_is_a_name_and_no_pattern(kind: str, tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    write(tmp_path / "tmp/deploy/other/vmlinuz")
    conf = folder / f"{YOCTO_IMAGE}.qemuboot.conf"
    text = conf.read_text().replace(f"= {YOCTO_KERNEL}", "= gone").replace("= bzImage\n", f"= {kind}\n")
    conf.write_text(text)
    if kind == "/bzImage":
        assert read_conf(conf).kernel == folder / "bzImage"
        return
    with pytest.raises(InputError, match="its kernel is not there: gone"):
        read_conf(conf)


def test_links_that_lead_in_a_circle_are_no_files(tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    (folder / "circle.dtb").symlink_to("circle.dtb")
    assert "circle.dtb" not in read_yocto(folder).also
