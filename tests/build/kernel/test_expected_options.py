"""What a system needs of its kernel's configuration is refused by its key where the kernel is without."""

from pathlib import Path

import pytest

from bootlab.build.kernel.expected_options import expect_options, expect_restorer
from bootlab.errors import InputError
from bootlab.sources import EXAMPLES
from bootlab.system import read_system
from tests.system.power_on.test_hibernated import RESTORED
from tests.system.power_on.test_hibernated import read as read_restored
from tests.system.power_on.test_power_on import SYSTEM, read, sleeper


def test_files_are_mapped_by_a_kernel_that_can(tmp_path: Path) -> None:
    text = SYSTEM.replace("size_mib = 8 }", 'size_mib = 8, verify = "all", dax = true }')
    mapped, plain = read(tmp_path, text), read(tmp_path, SYSTEM)
    expect_options(mapped, {"FS_DAX": "y"})
    expect_options(plain, {})
    for options in ({}, {"FS_DAX": "n"}):
        with pytest.raises(InputError, match=r"rootfs\.kept_ram\.dax needs a kernel with FS_DAX"):
            expect_options(mapped, options)


def test_an_image_is_looked_at_before_the_kernel_takes_it(tmp_path: Path) -> None:
    built_in = {"HIBERNATION": "y", "VIRTIO_BLK": "y"}
    expect_options(read(tmp_path, sleeper().replace("resume=", "noresume resume=")), built_in)
    expect_options(read(tmp_path, sleeper().replace('"hibernated"', '"cold"')), built_in)
    expect_options(read(tmp_path, sleeper()), {"HIBERNATION": "y", "VIRTIO_BLK": "m"})
    with pytest.raises(InputError, match=r"kernel\.cmdline: this kernel has its disk's driver built in"):
        expect_options(read(tmp_path, sleeper()), built_in)


def test_a_board_that_hibernates_has_a_kernel_that_can() -> None:
    system = read_system(EXAMPLES / "persistence/hibernated-board.toml")
    able = dict.fromkeys(("HIBERNATION", "SUSPEND", "HIBERNATION_COMP_LZ4", "SWAP", "MMC_SUNXI"), "y")
    expect_options(system, able)
    expect_options(read_system(EXAMPLES / "board.toml"), {})
    for option in able:
        with pytest.raises(InputError, match=rf"card\.swap_mib needs a kernel with {option} \("):
            expect_options(system, {**able, option: "m"})


def test_a_restorer_has_what_it_takes_and_the_page_tables_of_the_kernel_that_it_restores(tmp_path: Path) -> None:
    system = read_restored(tmp_path, RESTORED)
    able = {"HIBERNATION": "y", "KEXEC": "y"}
    expect_restorer(system, able, {})
    expect_restorer(system, able, {"X86_5LEVEL": "n"})
    expect_restorer(system, {**able, "X86_5LEVEL": "y"}, {"X86_5LEVEL": "y"})
    for option in able:
        with pytest.raises(InputError, match=rf"restorer\.kernel: without {option}"):
            expect_restorer(system, {**able, option: "n"}, {})
    with pytest.raises(InputError, match=r"restorer\.kernel: X86_5LEVEL") as caught:
        expect_restorer(system, able, {"X86_5LEVEL": "y"})
    assert caught.value.hint is not None and "X86_5LEVEL = true" in caught.value.hint
    # A kernel that is entered through PVH has four levels, whatever it was built with.
    pvh = read_restored(
        tmp_path,
        RESTORED.replace("[kernel]\n", '[kernel]\nentry = "pvh"\n').replace(
            "[restorer.kernel]\n", '[restorer.kernel]\nentry = "pvh"\n'
        ),
    )
    expect_restorer(pvh, able, {"X86_5LEVEL": "y"})
