"""Mount points are found by the kernel's list, also those that no file system's number tells."""

import os
import subprocess
from pathlib import Path

import pytest

from bootlab.build.eviction.mounts import mount_point_in


def test_a_folder_of_a_test_has_no_mount_and_the_root_has(tmp_path: Path) -> None:
    assert mount_point_in(tmp_path) is None
    assert mount_point_in(tmp_path / "none") is None
    assert mount_point_in(Path("/proc")) == Path("/proc")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
def test_a_folder_that_is_mounted_again_is_found_whatever_its_name(tmp_path: Path) -> None:
    place, other = tmp_path / "of [a] \\ b", tmp_path / "of"
    point, source = place / os.fsdecode(b"x y\n\xff"), tmp_path / "source"
    for folder in (point, source, other):
        folder.mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    mounted = subprocess.run(["mount", "--bind", source, point], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("this root may not mount")
    try:
        assert mount_point_in(place) == mount_point_in(link / place.name) == mount_point_in(point) == point
        assert mount_point_in(other) is None
    finally:
        subprocess.run(["umount", point], check=True)
