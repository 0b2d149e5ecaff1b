"""A system with an [image]: what goes with it, and what does not."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import read_system
from bootlab.system.text import system_text

IMAGE = """
[machine]
type = "q35"
firmware = "ovmf"
firmware_suite = "trixie"
[image]
path = "disk.qcow2"
attach = "nvme"
[booted]
console = "login:"
"""


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "disk.qcow2").write_bytes(b"")
    (tmp_path / "vmlinuz").write_bytes(b"")
    path = tmp_path / "system.toml"
    path.write_text(text)
    return path


def test_an_image_brings_its_kernel(tmp_path: Path) -> None:
    system = read_system(written(tmp_path, IMAGE))
    assert system.image is not None and system.image.path == tmp_path / "disk.qcow2" and system.image.order
    assert system.kernel.installed and system.machine.firmware_suite == "trixie"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("disk.qcow2", "none.qcow2", "image.path: no such file"),
        ('"nvme"', '"usb"', "an image is on virtio, nvme, scsi"),
        ('"q35"', '"microvm"', "boots no [image]"),
        ("[image]", '[kernel]\nimage = "vmlinuz"\n[image]', "boots the kernel that is on it"),
        ("[image]", '[kernel]\ninstalled = true\nentry = "pvh"\n[image]', "boots the kernel that is on it"),
        ('firmware = "ovmf"\nfirmware_suite = "trixie"', 'firmware = "qboot"', "boots no disk"),
        ('firmware = "ovmf"\nfirmware_suite = "trixie"\n[image]', '[image]\nloader = "uki"', "is started by UEFI"),
        ('path = "disk.qcow2"', 'path = "disk.qcow2"\nmenu_s = -1', "image.menu_s"),
        (
            "[booted]",
            '[image.files]\n"etc/motd" = "x"\n[booted]',
            "expected the whole path of a file in its root: /etc/motd",
        ),
        ("[booted]", '[image.files]\n"/etc/../x" = "x"\n[booted]', "expected the whole path of a file in its root"),
        ("[booted]", '[image.files]\n"/etc/a b" = "x"\n[booted]', "expected the whole path of a file in its root"),
        ("[booted]", '[image.files]\n"/etc/" = "x"\n[booted]', "expected the whole path of a file in its root"),
        ("[booted]", '[image.files]\n"/etc//a" = "x"\n[booted]', "expected the whole path of a file in its root"),
        ("[booted]", '[image.files]\n"/etc/." = "x"\n[booted]', "expected the whole path of a file in its root"),
        ("[booted]", f'[image.files]\n"/etc/{"a" * 256}" = "x"\n[booted]', "expected the whole path of a file"),
        ("[image]", '[rootfs]\npath = "vmlinuz"\n[image]', "[rootfs] does not go with [image]"),
        ("[image]", "[storage]\nmb_s = 20\n[image]", "[storage] does not go with [image]"),
        ('path = "disk.qcow2"', 'path = "disk.qcow2"\nloader = "direct"\nmenu_s = 0', 'loader "direct" starts none'),
        ('"q35"', '"pc"\nsecure_boot = true', "secure_boot is of firmware"),
        (
            '"q35"\nfirmware = "ovmf"\nfirmware_suite = "trixie"',
            '"q35"\nsecure_boot = true',
            "secure_boot is of firmware",
        ),
        ('"q35"\nfirmware = "ovmf"', '"virt"\narchitecture = "riscv64"\nfirmware = "ovmf"', "boots no [image]"),
        ('"q35"\nfirmware = "ovmf"\nfirmware_suite = "trixie"', '"virt"', "arm64 boots an [image] by UEFI"),
        ("[booted]", '[[disks]]\nsize_mib = 1\nattach = "cd"\n[booted]', 'attach "cd" is of an [image]'),
        (
            "[image]",
            'secure_boot = true\n[image]\nloader = "uki"',
            'image.loader = "uki" starts what machine.secure_boot',
        ),
        ('firmware = "ovmf"', 'firmware = "default"', 'firmware_suite says where firmware = "ovmf" comes from'),
    ],
)
def test_what_does_not_go_with_an_image(old: str, new: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_system(written(tmp_path, IMAGE.replace(old, new)))
    assert words in caught.value.message


def test_a_menu_of_the_firmware_is_for_an_image(tmp_path: Path) -> None:
    text = '[machine]\ntype = "q35"\nboot_menu_s = 3\n[kernel]\nimage = "vmlinuz"\n[booted]\nmark = "ready"\n'
    with pytest.raises(InputError, match="boot_menu_s is of SeaBIOS and OVMF"):
        read_system(written(tmp_path, text))


def test_ovmf_is_for_an_image(tmp_path: Path) -> None:
    text = '[machine]\ntype = "q35"\nfirmware = "ovmf"\n[kernel]\nimage = "vmlinuz"\n[booted]\nmark = "ready"\n'
    with pytest.raises(InputError, match="is for a system that boots from an \\[image\\]"):
        read_system(written(tmp_path, text))


def test_a_later_life_finds_loaded_what_an_earlier_one_read(tmp_path: Path) -> None:
    model = '[image]\npath = "disk.qcow2"\n[image.model]\nlike = "ssd"\nfirst_touch_ns = 5\ntouch_bytes = 512\n'
    text = IMAGE.replace('[image]\npath = "disk.qcow2"\nattach = "nvme"\n', model)
    first = read_system(written(tmp_path, text))
    assert first.image is not None and first.modelled_disks["image"].first_touch_ns == 5
    later = first.model_copy(update={"image": first.image.model_copy(update={"life": 2})})
    assert later.modelled_disks["image"].first_touch_ns == 0
    assert later.modelled_disks["image"].model_copy(update={"first_touch_ns": 5}) == first.modelled_disks["image"]


@pytest.mark.parametrize(("key", "value"), [("life", 0), ("life", 21), ("life_s", 0)])
def test_a_life_that_cannot_be_is_refused(key: str, value: int, tmp_path: Path) -> None:
    text = IMAGE.replace('attach = "nvme"', f"{key} = {value}")
    with pytest.raises(InputError, match=rf"image\.{key}"):
        read_system(written(tmp_path, text))


def test_files_of_an_image_are_read_and_written_again(tmp_path: Path) -> None:
    text = IMAGE + '[image.files]\n"/etc/motd" = """\nhello\n"two"\n"""\n'
    system = read_system(written(tmp_path, text))
    assert system.image is not None and system.image.files == {"/etc/motd": 'hello\n"two"\n'}
    (tmp_path / "again.toml").write_text(system_text(system))
    assert read_system(tmp_path / "again.toml") == system
