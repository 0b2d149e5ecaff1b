"""Modules of a kernel package: dependencies and order, both layouts, every compression that Debian has used."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.modules.package import ModuleTree
from bootlab.errors import InputError

MakePackage = Callable[..., Path]


@pytest.mark.parametrize("suffix", [".ko", ".ko.xz", ".ko.zst"])
def test_dependencies_come_first_and_once(
    kernel_package: MakePackage, module: Callable[..., bytes], tmp_path: Path, suffix: str
) -> None:
    tree = ModuleTree(kernel_package(tmp_path, suffix=suffix))
    assert tree.load_order(["virtio_blk", "virtio_rng"]) == ["virtio_ring", "virtio", "virtio_blk", "virtio_rng"]
    assert tree.archive_path("virtio_rng") == "/lib/modules/6.1.0-test/kernel/drivers/virtio-rng.ko"
    assert tree.content("virtio_rng") == module(depends="virtio")


def test_the_layout_of_debian_13(kernel_package: MakePackage, tmp_path: Path) -> None:
    tree = ModuleTree(kernel_package(tmp_path, base="usr/lib", suffix=".ko.xz"))
    assert tree.release == "6.1.0-test"
    assert tree.archive_path("xor") == "/lib/modules/6.1.0-test/kernel/lib/xor.ko"


def test_names_are_taken_with_either_dash(kernel_package: MakePackage, tmp_path: Path) -> None:
    assert ModuleTree(kernel_package(tmp_path)).load_order(["virtio-ring"]) == ["virtio_ring"]


def test_soft_dependencies_come_first_where_they_exist(kernel_package: MakePackage, tmp_path: Path) -> None:
    assert ModuleTree(kernel_package(tmp_path)).load_order(["btrfs"]) == ["xor", "crc32c", "btrfs"]


def test_a_built_in_module_needs_no_file(kernel_package: MakePackage, tmp_path: Path) -> None:
    assert ModuleTree(kernel_package(tmp_path)).load_order(["ext4", "crc32c_generic"]) == []


def test_an_unknown_name_is_told_with_what_it_may_have_meant(kernel_package: MakePackage, tmp_path: Path) -> None:
    with pytest.raises(InputError, match='initramfs.modules: kernel 6.1.0-test has no module "virtio_bkl"') as caught:
        ModuleTree(kernel_package(tmp_path)).load_order(["virtio_bkl"])
    assert caught.value.hint is not None and "virtio_blk" in caught.value.hint


def test_a_package_without_modules_and_a_damaged_module(kernel_package: MakePackage, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="modules of 0 kernel releases"):
        ModuleTree(tmp_path)
    tree = ModuleTree(kernel_package(tmp_path, suffix=".ko.xz"))
    tree.files["xor"].write_bytes(b"not xz")
    with pytest.raises(InputError, match="damaged module"):
        tree.load_order(["xor"])
