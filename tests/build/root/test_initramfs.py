"""Recipes: what lands where in the archive, and when the cache makes it anew."""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.modules.package import ModuleTree
from bootlab.build.root import initramfs
from bootlab.build.root.content import BUSYBOX, Ingredients, applets
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError
from bootlab.process import run
from bootlab.system import Compression, Initramfs

MakePackage = Callable[..., Path]

_APPLETS = sorted(["[", "[[", "ash", "cat", "insmod", "mount", "nc", "sh", "zcat"])
_BUSYBOX = b"\x7fELF" + bytes(64) + b"usage\0" + "\0".join(_APPLETS).encode() + b"\0\0/var/log\0a\0b\0c\0"


def _recipe(folder: Path, **changes: object) -> Initramfs:
    (folder / "init").write_text("#!/bin/sh\n")
    return Initramfs.model_validate({"init": folder / "init", "compression": "none", **changes})


def _programs(folder: Path) -> dict[str, Path]:
    (folder / "busybox").write_bytes(_BUSYBOX)
    (folder / "mark").write_bytes(b"mark")
    return {BUSYBOX: folder / "busybox", "/sbin/bootlab-mark": folder / "mark"}


def _build(folder: Path, recipe: Initramfs, tree: Path | None = None) -> Path:
    made_of = Ingredients("initramfs", "x86_64", _programs(folder), kernel_tree=tree)
    return initramfs.build(Workshop(Cache(folder / "cache")), recipe, made_of)


def _listing(path: Path) -> dict[str, tuple[str, bytes]]:
    entries = initramfs.read_contents(path)
    assert entries is not None
    return {entry.path: (stat.filemode(entry.mode), entry.data) for entry in entries}


def test_a_recipe_lands_where_an_init_expects_it(kernel_package: MakePackage, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o700)
    recipe = _recipe(tmp_path, modules=["virtio_blk"], files={"/sbin/tool": tool})
    files = _listing(_build(tmp_path, recipe, kernel_package(tmp_path / "tree")))
    assert files["init"] == ("-rwxr-xr-x", b"#!/bin/sh\n")
    assert files["bin/busybox"] == ("-rwxr-xr-x", _BUSYBOX)
    assert files["bin/["] == files["bin/mount"] == ("lrwxrwxrwx", b"busybox")
    assert files["sbin/bootlab-mark"] == ("-rwxr-xr-x", b"mark")
    assert files["sbin/tool"][0] == "-rwxr-xr-x"
    assert files["dev/console"][0].startswith("c") and files["proc"][0] == "drwxr-xr-x"
    modules = files["etc/bootlab/modules"][1].decode().split()
    assert [Path(path).name for path in modules] == ["virtio_ring.ko", "virtio.ko", "virtio_blk.ko"]
    assert all(path.lstrip("/") in files for path in modules)


def test_every_module_can_be_carried_without_being_loaded(kernel_package: MakePackage, tmp_path: Path) -> None:
    recipe = _recipe(tmp_path, modules=["*", "virtio"])
    tree = kernel_package(tmp_path / "tree", base="usr/lib", suffix=".ko.zst")
    files = _listing(_build(tmp_path, recipe, tree))
    assert sum(path.endswith(".ko") for path in files) == len(ModuleTree(tree).files)
    assert len(files["etc/bootlab/modules"][1].decode().split()) == 2


def test_without_busybox_there_is_none(tmp_path: Path) -> None:
    files = _listing(_build(tmp_path, _recipe(tmp_path, busybox=False)))
    assert [path for path in files if path.startswith("bin")] == []


def test_the_same_recipe_is_the_same_entry_and_any_change_is_another(
    kernel_package: MakePackage, tmp_path: Path
) -> None:
    tree = kernel_package(tmp_path / "tree")
    first = _build(tmp_path, _recipe(tmp_path, modules=["xor"]), tree)
    assert _build(tmp_path, _recipe(tmp_path, modules=["xor"]), tree) == first
    others = [
        _build(tmp_path, _recipe(tmp_path, modules=["virtio"]), tree),
        _build(tmp_path, _recipe(tmp_path, modules=["xor"], compression="zstd"), tree),
        _build(tmp_path, _recipe(tmp_path, modules=["xor"], busybox=False), tree),
    ]
    (tmp_path / "other").write_text("#!/bin/true\n")
    others.append(_build(tmp_path, Initramfs(init=tmp_path / "other", compression=Compression.NONE), tree))
    assert len({first, *others}) == 5


def test_the_bytes_do_not_depend_on_when_or_where(kernel_package: MakePackage, tmp_path: Path) -> None:
    made = []
    for place in ("here", "there"):
        folder = tmp_path / place
        folder.mkdir()
        tree = kernel_package(folder / "tree")
        recipe = _recipe(folder, modules=["virtio_blk"], compression="gzip")
        os.utime(folder / "init", (1, 1) if place == "here" else None)
        made.append(_build(folder, recipe, tree).read_bytes())
    assert made[0] == made[1]


def test_what_cannot_be_had_is_told_by_key(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="initramfs.modules: the kernel is an image by path"):
        _build(tmp_path, _recipe(tmp_path, modules=["virtio"]))
    with pytest.raises(InputError, match='initramfs.files."/sbin/bootlab-mark": the recipe puts its own file there'):
        _build(tmp_path, _recipe(tmp_path, files={"/sbin/bootlab-mark": tmp_path / "init"}))
    with pytest.raises(InputError, match='initramfs.files."/gone": .*No such file'):
        _build(tmp_path, _recipe(tmp_path, files={"/gone": tmp_path / "gone"}))


def test_contents_of_a_cut_archive_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(_build(tmp_path, _recipe(tmp_path, compression="gzip")).read_bytes()[:-100])
    with pytest.raises(InputError, match=r"cut\.gz: cut short"):
        initramfs.read_contents(path)


def test_applets_are_read_from_the_binary() -> None:
    assert applets(_BUSYBOX) == _APPLETS
    with pytest.raises(BootlabError, match="no table of applets"):
        applets(b"\x7fELF" + bytes(1000))


@pytest.mark.skipif(shutil.which("busybox") is None, reason="needs busybox")
def test_applets_of_a_real_busybox() -> None:
    binary = shutil.which("busybox")
    assert binary is not None
    assert applets(Path(binary).read_bytes()) == run([binary, "--list"]).text.split()
