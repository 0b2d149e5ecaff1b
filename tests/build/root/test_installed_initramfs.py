"""The initramfs that an installed root brings along, and the modules that are left in it."""

import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian.root import DebianRoot
from bootlab.build.formats import cpio
from bootlab.build.formats.compress import compress
from bootlab.build.root import initramfs
from bootlab.build.root.content import Ingredients
from bootlab.build.root.file_tree import FileTree
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import Compression, Initramfs

MakePackage = Callable[..., Path]
RELEASE = "6.1.0-test"


@pytest.fixture
def root(tmp_path: Path, module: Callable[..., bytes]) -> DebianRoot:
    """An installed root with an initramfs as initramfs-tools makes it: microcode ahead, the rest compressed."""
    early, tree = FileTree(), FileTree()
    early.add_file("kernel/x86/microcode/some.bin", b"code")
    tree.add_file("init", b"#!/bin/sh\n", 0o755)
    for name, needs in (("virtio_ring", ""), ("virtio", "virtio_ring"), ("virtio-blk", "virtio"), ("nvme", "")):
        tree.add_file(f"usr/lib/modules/{RELEASE}/kernel/drivers/{name}.ko", module(depends=needs))
    image = cpio.write(early.entries()) + compress(cpio.write(tree.entries()), Compression.ZSTD)
    return _installed(tmp_path / "root.tar", {f"boot/initrd.img-{RELEASE}": image})


def _installed(path: Path, files: dict[str, bytes]) -> DebianRoot:
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            about = tarfile.TarInfo(f"./{name}")
            about.size = len(data)
            archive.addfile(about, BytesIO(data))
    return DebianRoot([], {"": path}, ["a checksum"])


def _names(recipe: Initramfs, root: DebianRoot, kernel: Path | None, cache: Path) -> set[str]:
    made_of = Ingredients("initramfs", "x86_64", installed=root, kernel_tree=kernel)
    entries = initramfs.read_contents(initramfs.build(Workshop(Cache(cache)), recipe, made_of))
    assert entries is not None
    return {Path(entry.path).name for entry in entries if entry.data}


def test_it_is_what_the_recipe_begins_with(root: DebianRoot, kernel_package: MakePackage, tmp_path: Path) -> None:
    recipe = Initramfs(installed=True, busybox=False, compression=Compression.ZSTD)
    found = _names(recipe, root, kernel_package(tmp_path / "kernel"), tmp_path / "cache")
    assert found == {"init", "some.bin", "virtio_ring.ko", "virtio.ko", "virtio-blk.ko", "nvme.ko"}


def test_modules_to_keep_keep_what_they_need(root: DebianRoot, kernel_package: MakePackage, tmp_path: Path) -> None:
    recipe = Initramfs(installed=True, busybox=False, keep_modules=("virtio_blk", "xor"))
    found = _names(recipe, root, kernel_package(tmp_path / "kernel"), tmp_path / "cache")
    assert found == {"init", "some.bin", "virtio_ring.ko", "virtio.ko", "virtio-blk.ko"}, "xor is elsewhere: no error"


def test_what_is_no_module_is_named(root: DebianRoot, kernel_package: MakePackage, tmp_path: Path) -> None:
    recipe = Initramfs(installed=True, keep_modules=("virtio_bkl",), busybox=False)
    with pytest.raises(InputError, match='initramfs.keep_modules: there is no module "virtio_bkl"'):
        _names(recipe, root, kernel_package(tmp_path / "kernel"), tmp_path / "cache")


def test_one_of_another_kernel_is_refused(kernel_package: MakePackage, tmp_path: Path) -> None:
    recipe, kernel = Initramfs(installed=True, busybox=False), kernel_package(tmp_path / "kernel")
    other = _installed(tmp_path / "other.tar", {"boot/initrd.img-6.12.1": b""})
    kernels = r"initramfs.installed: the kernel is 6.1.0-test, and \[rootfs\] has 6.12.1"
    with pytest.raises(InputError, match=kernels) as caught:
        _names(recipe, other, kernel, tmp_path / "cache")
    assert caught.value.hint is not None and "remove apt, packages and roots in the cache's folder" in caught.value.hint
    with pytest.raises(InputError, match=r"initramfs.installed: the packages of \[rootfs\] made none in /boot"):
        _names(recipe, _installed(tmp_path / "none.tar", {}), kernel, tmp_path / "cache")


def test_keeping_is_for_an_installed_one() -> None:
    with pytest.raises(ValueError, match="keep_modules is for installed = true"):
        Initramfs(init=Path("init"), keep_modules=("virtio_blk",))
