"""What a system needs of its kernel's configuration is refused by its key where the kernel is without."""

from pathlib import Path

import pytest

from bootlab.build.kernel.expected_options import expect_options
from bootlab.errors import InputError
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
