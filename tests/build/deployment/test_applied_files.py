"""What the changes of a stack become, and that no change is left out."""

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from bootlab.build.deployment.applied_files import carried
from bootlab.build.deployment.carried import Carried
from bootlab.build.deployment.differences import differences
from bootlab.build.source.config_text import read_fragment
from bootlab.errors import InputError
from bootlab.findings.technique_evidence import measured_of
from bootlab.measure.record_files import read_record
from bootlab.sources import EXAMPLES
from bootlab.system import Compression, DiskImage, Kernel, Machine, MachineType, System, read_system
from bootlab.techniques.model.catalogue import load_catalogue
from tests.targets.replay.record_boots import DATA

CLOUD, MICROVM, BOARD = (read_system(EXAMPLES / f"{name}.toml") for name in ("debian-cloud", "microvm", "board"))
GRUB = PurePosixPath("root/etc/default/grub.d/90-bootlab.cfg")
TOOLS = PurePosixPath("root/etc/initramfs-tools/conf.d/90-bootlab")


def text(made: Carried, path: str | PurePosixPath) -> str:
    first, _, rest = made.files[PurePosixPath(path)].partition("\n")
    assert first == "# Written by bootlab apply."
    return rest


@pytest.mark.parametrize("word", ["quiet", 'a="b c"', "tick=$HOME`id`", "back\\slash"])
def test_words_reach_the_kernel_through_grub_as_they_are(word: str, tmp_path: Path) -> None:
    made = carried(CLOUD, CLOUD.with_cmdline(*word.split()))
    (tmp_path / "grub").write_text(f'GRUB_CMDLINE_LINUX=before\n{made.files[GRUB]}printf %s "$GRUB_CMDLINE_LINUX"\n')
    said = subprocess.run(["sh", str(tmp_path / "grub")], capture_output=True, text=True, check=True).stdout
    assert said == f"before {word}"
    assert made.words == word.split() and made.lost_words == [] and made.by_hand == {}
    assert text(made, "mkosi.conf.d/90-bootlab.conf") == f"[Content]\nKernelCommandLine={word}\n"


def test_words_that_go_are_said() -> None:
    made = carried(CLOUD.with_cmdline("slow"), CLOUD)
    assert made.lost_words == ["slow"]
    assert made.by_hand == {"kernel.cmdline": "take out of what the bootloader says: slow"}


def test_options_of_the_kernel_are_a_fragment_that_reads_back(tmp_path: Path) -> None:
    options = {"SMP": "n", "HZ": "100", "CMDLINE": "say x", "EXT4_FS": "m", "PHYSICAL_START": "0x1000000"}
    made = carried(MICROVM, MICROVM.with_options(**options))
    (tmp_path / "fragment").write_text(made.files[PurePosixPath("kernel/bootlab.config")])
    asked = {one.option: one.value for one in read_fragment(tmp_path / "fragment", "x")}
    assert asked == options


def test_an_option_of_u_boot_without_a_value_is_in_its_fragment() -> None:
    stock = BOARD.with_part("bootloader", options={})
    made = carried(stock, stock.with_part("bootloader", options={"PREBOOT": ""}))
    assert text(made, "u-boot/bootlab.config") == 'CONFIG_PREBOOT=""\n' and made.by_hand == {}


def test_an_initramfs_of_fewer_modules_and_another_compression() -> None:
    changed = CLOUD.with_part("initramfs", compression=Compression.LZO, modules=("ext4", "virtio_blk"))
    made = carried(CLOUD, changed)
    assert text(made, TOOLS) == "COMPRESS=lzop\nMODULES=list\n"
    assert text(made, "root/usr/share/initramfs-tools/modules.d/90-bootlab") == "ext4\nvirtio_blk\n"
    assert text(made, "root/etc/dracut.conf.d/90-bootlab.conf") == 'compress="lzo"\ndrivers=" ext4 virtio_blk "\n'
    assert made.remakes_initramfs and made.by_hand == {}


def test_what_initramfs_tools_cannot_do_is_said() -> None:
    made = carried(CLOUD, CLOUD.with_part("initramfs", compression=Compression.NONE))
    assert TOOLS not in made.files
    assert "initramfs-tools always compresses" in made.by_hand["initramfs.compression"]
    # In the configuration of the whole image it would be of the image, and not of its initrd.
    assert not any(path.parts[0] == "mkosi.conf.d" for path in made.files)


def image_system(tmp_path: Path) -> System:
    (tmp_path / "disk.img").write_bytes(b"")
    image = DiskImage(path=tmp_path / "disk.img")
    return System.model_validate(
        {**dict(CLOUD), "image": image, "kernel": Kernel(installed=True), "initramfs": None, "disks": (),
         "machine": Machine(type=MachineType.Q35)}
    )  # fmt: skip


def test_texts_of_a_recipe_lie_in_the_root_too() -> None:
    system = read_system(EXAMPLES / "distribution/on-hdd.toml")
    made = carried(system, system.with_part("rootfs", texts={"/etc/a.conf": "a\n"}))
    assert made.files == {PurePosixPath("root/etc/a.conf"): "a\n"} and made.by_hand == {}


def test_files_of_an_image_lie_in_the_root(tmp_path: Path) -> None:
    system = image_system(tmp_path)
    one = system.with_part("image", files={"/etc/a.conf": "a\n"})
    two = one.with_part("image", files={"/etc/a.conf": "a\n", "/etc/generators/b": "#!/bin/sh\n"})
    place = PurePosixPath("root/etc/a.conf")
    for made in (carried(system, one), carried(system, two)):
        # As it is written into the image, without a line of ours.
        assert made.files[place] == "a\n" and not made.by_hand
    made = carried(one, two)
    assert set(made.files) == {PurePosixPath("root/etc/generators/b")} and not made.by_hand
    assert list(carried(two, one).by_hand) == ["image.files./etc/generators/b"]


def test_modules_of_an_images_initramfs(tmp_path: Path) -> None:
    system = image_system(tmp_path)
    made = carried(system, system.with_part("image", keep_modules=("ext4", "virtio_blk")))
    place = PurePosixPath("root/usr/share/initramfs-tools/modules.d/90-bootlab")
    assert made.files[place].endswith("ext4\nvirtio_blk\n") and made.remakes_initramfs and not made.by_hand


def test_a_menu_that_does_not_wait(tmp_path: Path) -> None:
    system = image_system(tmp_path)
    words = carried(system, system.with_cmdline("quiet"))
    assert set(map(str, words.files)) == {str(GRUB), "mkosi.conf.d/90-bootlab.conf"}, "not the image's whole line"
    made = carried(system, system.with_part("image", menu_s=0))
    assert text(made, GRUB) == "GRUB_TIMEOUT=0\nGRUB_TIMEOUT_STYLE=hidden\n"
    assert "loader/loader.conf" in made.by_hand["image.menu_s"]
    made = carried(system, system.with_part("image", loader="direct"))
    assert "-kernel, -initrd and -append" in made.by_hand["image.loader"]


def test_what_is_the_machines_is_said_to_be() -> None:
    made = carried(CLOUD, CLOUD.with_part("machine", memory_mib=128))
    assert made.files == {}
    assert made.by_hand["machine.memory_mib"].startswith("256 -> 128: it is the machine's")


def test_no_technique_of_the_catalogue_is_lost() -> None:
    """Each change of a system shows in a file or among what is by hand, whatever its technique."""
    measured = measured_of(read_record(DATA / "virtual/ready-s1"))
    seen = 0
    for technique in load_catalogue():
        for system in (CLOUD, MICROVM, BOARD):
            try:
                if technique.change.applies(system, measured) is not None:
                    continue
                changed = technique.change.apply(system, measured)
            except InputError:
                continue
            keys = differences(system, changed)
            made = carried(system, changed)
            if keys:
                seen += 1
                assert made.files or made.copies or made.by_hand, technique.name
                assert not made.by_hand.keys() - keys.keys()
            assert set(made.uses) == set(made.files) | set(made.copies), technique.name
    assert seen > 100
