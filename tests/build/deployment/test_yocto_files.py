"""A change as a layer of Yocto's: appends to recipes, fragments, words, and the series that it is for."""

from pathlib import Path, PurePosixPath

import pytest

from bootlab.build.deployment.applied_files import carried
from bootlab.build.deployment.carried import Builder, Carried
from bootlab.build.source.config_text import read_fragment
from bootlab.sources import EXAMPLES
from bootlab.system import Compression, System, read_system

CLOUD, MICROVM, BOARD = (read_system(EXAMPLES / f"{name}.toml") for name in ("debian-cloud", "microvm", "board"))
LAYER = PurePosixPath("yocto/meta-bootlab")


def yocto(before: System, after: System, **settings: str) -> Carried:
    return carried(before, after, {Builder.YOCTO}, settings)


def test_options_and_patches_of_the_kernel_are_an_append_to_its_recipe(tmp_path: Path) -> None:
    patch = tmp_path / "mine.patch"
    patch.write_text("")
    assert MICROVM.kernel.build is not None
    after = MICROVM.with_options(SMP="n", HZ="100")
    assert after.kernel.build is not None
    after = after.with_part("kernel", build={**dict(after.kernel.build), "patches": (patch,)})
    settings = {"PREFERRED_PROVIDER_virtual/kernel": "linux-mine", "LAYERSERIES_CORENAMES": "wrynose"}
    made = yocto(MICROVM, after, **settings)
    append = made.files[LAYER / "recipes-kernel/linux/linux-mine_%.bbappend"]
    assert append.splitlines()[1:] == [
        'FILESEXTRAPATHS:prepend := "${THISDIR}/linux-mine:"',
        'SRC_URI += "file://bootlab.cfg file://0001-mine.patch"',
    ]
    folder = LAYER / "recipes-kernel/linux/linux-mine"
    (tmp_path / "cfg").write_text(made.files[folder / "bootlab.cfg"])
    assert {one.option: one.value for one in read_fragment(tmp_path / "cfg", "x")} == {"SMP": "n", "HZ": "100"}
    assert made.copies[folder / "0001-mine.patch"] == patch
    layer = made.files[LAYER / "conf/layer.conf"]
    assert 'LAYERSERIES_COMPAT_bootlab = "wrynose"' in layer and 'BBFILE_COLLECTIONS += "bootlab"' in layer
    assert not made.by_hand


def test_a_build_that_does_not_say_its_kernel_or_its_series() -> None:
    made = yocto(MICROVM, MICROVM.with_options(SMP="n"))
    assert LAYER / "recipes-kernel/linux/linux-yocto_%.bbappend" in made.files
    assert "scarthgap" in made.files[LAYER / "conf/layer.conf"]


def test_u_boots_options_are_an_append_to_its_recipe() -> None:
    assert BOARD.bootloader is not None
    made = yocto(BOARD, BOARD.with_part("bootloader", options={**BOARD.bootloader.options, "BOOTDELAY": "7"}))
    assert "CONFIG_BOOTDELAY=7" in made.files[LAYER / "recipes-bsp/u-boot/u-boot/bootlab.cfg"]
    assert LAYER / "recipes-bsp/u-boot/u-boot_%.bbappend" in made.files


@pytest.mark.parametrize(("word", "said"), [("quiet", "quiet"), ("a=${X}", "a=$${X}"), ('a="b"', "a='b'")])
def test_words_are_settings_for_images_runqemu_and_extlinux(word: str, said: str) -> None:
    made = yocto(CLOUD.with_cmdline("slow"), CLOUD.with_cmdline(word))
    lines = made.files[LAYER / "conf/bootlab.conf"].splitlines()[1:]
    assert lines[:2] == [f'APPEND:append = " {said}"', 'APPEND:remove = "slow"']
    assert [line.split(":")[0] for line in lines[2::2]] == ["QB_KERNEL_CMDLINE_APPEND", "UBOOT_EXTLINUX_KERNEL_ARGS"]
    assert LAYER / "conf/layer.conf" in made.files and not made.by_hand


@pytest.mark.parametrize(
    ("how", "kind"), [(Compression.NONE, "cpio"), (Compression.GZIP, "cpio.gz"), (Compression.ZSTD, "cpio.zst")]
)
def test_an_archive_is_of_the_kind_that_was_tried(how: Compression, kind: str) -> None:
    before = CLOUD.with_part("initramfs", compression=Compression.LZ4)
    made = yocto(before, before.with_part("initramfs", compression=how))
    assert f'INITRAMFS_FSTYPES = "{kind}"' in made.files[LAYER / "conf/bootlab.conf"]


def test_what_has_no_form_is_by_hand() -> None:
    made = yocto(CLOUD, CLOUD.with_part("machine", memory_mib=128))
    assert set(made.by_hand) == {"machine.memory_mib"} and not made.files
