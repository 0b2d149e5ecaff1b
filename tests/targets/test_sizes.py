"""Sizes of what a system boots from have the names that its hashes have; a root is the first of its disks."""

from pathlib import Path

from bootlab.system import BootFiles, System
from bootlab.targets.sizes import sizes_of

GIVEN = {"name": "s", "machine": {"type": "q35"}, "kernel": {"image": "k"}, "booted": {"mark": "ready"}}


def test_each_file_is_named_and_a_root_comes_before_the_other_disks(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("kernel", "first", "second")]
    for number, path in enumerate(paths, 1):
        path.write_bytes(bytes(number))
    files = BootFiles(kernel=paths[0], disks=tuple(paths[1:]))
    disks = {"disks": [{"size_mib": 16}]}
    assert sizes_of(System.model_validate({**GIVEN, **disks, "rootfs": {"path": "r"}}), files) == {
        "kernel": 1, "rootfs": 2, "disk0": 3,
    }  # fmt: skip
    both = {"disks": [{"size_mib": 16}, {"size_mib": 16}]}
    assert sizes_of(System.model_validate({**GIVEN, **both}), files) == {"kernel": 1, "disk0": 2, "disk1": 3}
