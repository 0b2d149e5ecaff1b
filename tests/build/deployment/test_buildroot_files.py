"""A change as an external tree of Buildroot's: fragments, patches, options, words in files."""

import os
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from bootlab.build.deployment.applied_files import carried
from bootlab.build.deployment.carried import Builder, Carried
from bootlab.build.outputs.assignments import parse_assignments
from bootlab.build.source.config_text import read_fragment
from bootlab.sources import EXAMPLES
from bootlab.system import Compression, System, read_system

CLOUD, MICROVM, BOARD = (read_system(EXAMPLES / f"{name}.toml") for name in ("debian-cloud", "microvm", "board"))
TREE = PurePosixPath("buildroot")
START = (
    '#!/bin/sh\nexec qemu-system-x86_64 -M pc -kernel bzImage -append "rootwait root=/dev/vda console=ttyS0"  '
    '-net nic,model=virtio ${EXTRA_ARGS} "$@"\n'
)
GRUB = 'menuentry "x" {\n\tlinux /boot/bzImage root=/dev/sda1 rootwait\n\tinitrd /boot/x\n}\n'
EXTLINUX = "label x\n  kernel /boot/Image\n  append root=/dev/mmcblk0p2 slow rootwait\n"


def buildroot(before: System, after: System, **settings: str) -> Carried:
    return carried(before, after, {Builder.BUILDROOT}, settings)


def options(made: Carried) -> dict[str, str]:
    return parse_assignments(made.files[TREE / "bootlab.config"])


def test_options_of_the_kernel_are_a_fragment_behind_those_that_are_there(tmp_path: Path) -> None:
    asked = {"SMP": "n", "KERNEL_LZ4": "y", "HZ": "100"}
    made = buildroot(MICROVM, MICROVM.with_options(**asked), BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES="board/mine.frag")
    (tmp_path / "fragment").write_text(made.files[TREE / "linux.fragment"])
    assert {one.option: one.value for one in read_fragment(tmp_path / "fragment", "x")} == asked
    assert options(made) == {
        "BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES": "board/mine.frag $(BR2_EXTERNAL_BOOTLAB_CHANGES_PATH)/linux.fragment",
        "BR2_LINUX_KERNEL_LZ4": "y",
    }
    assert made.files[TREE / "external.desc"].startswith("name: BOOTLAB_CHANGES\n") and not made.by_hand
    assert not any("grub" in str(path) for path in made.files), "a distribution's files are for a distribution"


def test_patches_of_kernel_and_u_boot_go_where_buildroot_looks_for_them(tmp_path: Path) -> None:
    patch = tmp_path / "mine.patch"
    patch.write_text("")
    assert MICROVM.kernel.build is not None
    after = MICROVM.with_part("kernel", build={**dict(MICROVM.kernel.build), "patches": (patch,)})
    made = buildroot(MICROVM, after)
    assert made.copies[TREE / "patches/linux/0001-mine.patch"] == patch
    assert options(made)["BR2_GLOBAL_PATCH_DIR"] == "$(BR2_EXTERNAL_BOOTLAB_CHANGES_PATH)/patches"
    assert BOARD.bootloader is not None
    other = BOARD.with_part("bootloader", options={**BOARD.bootloader.options, "BOOTDELAY": "7"})
    assert "CONFIG_BOOTDELAY=7" in buildroot(BOARD, other).files[TREE / "uboot.fragment"]


def test_an_archive_is_compressed_as_it_was_tried() -> None:
    made = buildroot(CLOUD, CLOUD.with_part("initramfs", compression=Compression.ZSTD))
    assert options(made) == {"BR2_TARGET_ROOTFS_CPIO_ZSTD": "y"} and not made.by_hand


def test_the_script_runs_before_a_boards_own_and_behind_it() -> None:
    made = buildroot(CLOUD, CLOUD.with_cmdline("quiet"), BR2_ROOTFS_POST_IMAGE_SCRIPT="board/image.sh")
    script = "$(BR2_EXTERNAL_BOOTLAB_CHANGES_PATH)/add-words.sh"
    assert options(made) == {
        "BR2_ROOTFS_POST_BUILD_SCRIPT": script,
        "BR2_ROOTFS_POST_IMAGE_SCRIPT": f"{script} board/image.sh {script}",
    }


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """Return files with a command line, as boards of Buildroot's have them."""
    files = {
        "images/start-qemu.sh": START,
        "images/efi-part/EFI/BOOT/grub.cfg": GRUB,
        "images/rpi-firmware/cmdline.txt": "root=/dev/mmcblk0p2 slow rootwait\n",
        "images/efi-part/loader/entries/a.conf": "title x\noptions root=/dev/sda1 slow\n",
        "target/boot/grub/grub.cfg": GRUB.replace("\tlinux", "  linuxefi"),
        "target/boot/extlinux/extlinux.conf": EXTLINUX,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in files}


def change(made: Carried, top: Path) -> str:
    """Run the script as Buildroot does after its images are made; returns what it said."""
    (top / "add-words.sh").write_text(made.files[TREE / "add-words.sh"])
    env = {**os.environ, "BINARIES_DIR": str(top / "images"), "TARGET_DIR": str(top / "target")}
    argv = ["sh", str(top / "add-words.sh"), str(top / "images"), "qemu_x86_64_defconfig"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


def test_words_come_and_go_wherever_a_board_has_them_and_twice_is_once(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    made = buildroot(CLOUD.with_cmdline("slow"), CLOUD.with_cmdline("quiet", "trace.x=a&b#c/d.e"))
    added = ["quiet", "trace.x=a&b#c/d.e"]
    for _ in range(2):
        change(made, tmp_path)
        found = {name: lines(path) for name, path in folders.items()}
        assert (
            found["images/efi-part/EFI/BOOT/grub.cfg"][1]
            == ["linux", "/boot/bzImage", "root=/dev/sda1", "rootwait"] + added
        )
        assert found["images/rpi-firmware/cmdline.txt"] == [["root=/dev/mmcblk0p2", "rootwait", *added]]
        assert found["images/efi-part/loader/entries/a.conf"] == [["title", "x"], ["options", "root=/dev/sda1", *added]]
        assert (
            found["target/boot/grub/grub.cfg"][1][0] == "linuxefi"
            and found["target/boot/grub/grub.cfg"][1][-2:] == added
        )
        assert found["target/boot/grub/grub.cfg"][2] == ["initrd", "/boot/x"]
        assert found["target/boot/extlinux/extlinux.conf"][2] == ["append", "root=/dev/mmcblk0p2", "rootwait", *added]


@pytest.mark.parametrize(
    "word", ["quiet", "a=b.*c", 'a="b"', "tick=$HOME`id`", "back\\slash", "x=[1]&#", "it's", 'it\'s a="b" x']
)
def test_a_word_reaches_qemu_as_it_is(word: str, folders: dict[str, Path], tmp_path: Path) -> None:
    made = buildroot(CLOUD, CLOUD.with_cmdline(*word.split()))
    for _ in range(2):
        change(made, tmp_path)
        text = folders["images/start-qemu.sh"].read_text().replace("exec qemu-system-x86_64", "printf '%s\\n'")
        (tmp_path / "said.sh").write_text(text)
        said = subprocess.run(["sh", str(tmp_path / "said.sh")], capture_output=True, text=True, check=True).stdout
        assert said.splitlines()[5] == f"rootwait root=/dev/vda console=ttyS0 {word}"
        assert folders["images/rpi-firmware/cmdline.txt"].read_text().rstrip("\n").endswith(f" {word}")


def test_where_no_file_says_the_command_line_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    assert "change it where your bootloader has it" in change(buildroot(CLOUD, CLOUD.with_cmdline("quiet")), tmp_path)


def test_what_buildroot_has_no_form_for_is_by_hand() -> None:
    made = buildroot(CLOUD, CLOUD.with_part("initramfs", modules=("ext4",)).with_part("machine", memory_mib=128))
    assert set(made.by_hand) == {"initramfs.modules", "machine.memory_mib"} and not made.files
