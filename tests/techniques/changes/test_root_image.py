"""The root file system as another image: what the kernel must have for it, and what proves its size."""

from pathlib import Path

import pytest

from bootlab.system import Compression, FileSystem, Rootfs, System
from bootlab.techniques.changes.root_image import (
    image_grows,
    image_shrinks,
    lacks,
    no_recipe,
    options_for,
    recipe_of,
    with_image,
)
from bootlab.techniques.model.evidence import Effect, Evidence, Measured

ROOT = "root=/dev/vda rootfstype=ext4 ro"


def rooted(system: System, **root: object) -> System:
    with_root = system.model_copy(update={"rootfs": Rootfs.model_validate({"packages": ("busybox-static",), **root})})
    return with_root.with_cmdline(*ROOT.split())


def configured(**config: str) -> Measured:
    return Measured({}, {}, {}, "", config)


def test_only_a_recipe_can_be_packed_anew(system: System) -> None:
    made = rooted(system)
    assert recipe_of(made) is made.rootfs is not None
    finished = system.model_copy(update={"rootfs": Rootfs(path=Path("root.img"))})
    assert recipe_of(finished) is None and "rootfs.path is a finished image" in no_recipe(finished)
    assert recipe_of(system) is None and no_recipe(system) == "the system has no root file system"


@pytest.mark.parametrize(
    ("filesystem", "compression", "options"),
    [
        (FileSystem.EXT4, Compression.NONE, {"EXT4_FS"}),
        (FileSystem.SQUASHFS, Compression.NONE, {"SQUASHFS"}),
        (FileSystem.SQUASHFS, Compression.LZ4, {"SQUASHFS", "SQUASHFS_LZ4"}),
        (FileSystem.EROFS, Compression.LZ4, {"EROFS_FS", "EROFS_FS_ZIP"}),
    ],
)
def test_options_of_the_kernel_that_mounts_it(
    filesystem: FileSystem, compression: Compression, options: set[str]
) -> None:
    assert options_for(filesystem, compression) == dict.fromkeys(options, "y")


def test_a_kernel_without_the_driver_cannot_mount_it(system: System) -> None:
    made, wanted = rooted(system), options_for(FileSystem.SQUASHFS, Compression.LZ4)
    reason = lacks(made, configured(EXT4_FS="y", SQUASHFS="y"), wanted, "squashfs")
    assert reason == "the kernel is built without SQUASHFS_LZ4"
    assert lacks(made, configured(SQUASHFS="y", SQUASHFS_LZ4="y"), wanted, "squashfs") is None
    # Nobody looked into the kernel: it is tried.
    assert lacks(made, Measured({}, {}, {}, ""), wanted, "squashfs") is None


def test_a_driver_that_is_a_module_has_to_be_loaded(system: System) -> None:
    made, wanted = rooted(system), {"SQUASHFS": "y"}
    as_module = configured(SQUASHFS="m")
    assert lacks(made, as_module, wanted, "squashfs") == (
        "squashfs is a module of this kernel, and no initramfs loads it"
    )
    assert lacks(made.with_part("initramfs", modules=("squashfs",)), as_module, wanted, "squashfs") is None
    assert lacks(made.with_part("initramfs", modules=("*",)), as_module, wanted, "squashfs") is None
    bare = made.model_copy(update={"initramfs": None})
    assert "no initramfs loads it" in (lacks(bare, as_module, wanted, "squashfs") or "")


def test_a_kernel_that_will_be_built_gets_the_driver(built: System) -> None:
    made = rooted(built, size_mib=64, journal=False)
    assert lacks(made, configured(EXT4_FS="y"), {"EROFS_FS": "y"}, "erofs") is None
    changed = with_image(made, FileSystem.EROFS, Compression.LZ4)
    assert changed.kernel.build is not None and changed.rootfs is not None
    assert changed.kernel.build.options == dict.fromkeys(("BLOCK", "MISC_FILESYSTEMS", "EROFS_FS", "EROFS_FS_ZIP"), "y")
    assert changed.kernel.cmdline == "console=ttyS0 root=/dev/vda rootfstype=erofs ro"
    assert (changed.rootfs.filesystem, changed.rootfs.compression) == (FileSystem.EROFS, Compression.LZ4)
    assert (changed.rootfs.size_mib, changed.rootfs.journal) == (None, True)


def test_a_finished_kernel_stays_what_it_is(system: System) -> None:
    changed = with_image(rooted(system), FileSystem.SQUASHFS, Compression.NONE)
    assert changed.kernel.build is None and "rootfstype=squashfs" in changed.kernel.cmdline


@pytest.mark.parametrize(
    ("before", "after", "grows", "shrinks"),
    [
        (100, 200, Effect.PROVEN, Effect.NONE),
        (200, 100, Effect.NONE, Effect.PROVEN),
        (100, 100, Effect.NONE, Effect.NONE),
        (None, 100, Effect.NOT_SHOWN, Effect.NOT_SHOWN),
        (100, None, Effect.NOT_SHOWN, Effect.NOT_SHOWN),
    ],
)
def test_the_size_of_the_image_proves_it(before: int | None, after: int | None, grows: Effect, shrinks: Effect) -> None:
    def sized(size: int | None) -> Evidence:
        return Evidence({}, {}, {}, "", None, sizes={} if size is None else {"rootfs": size})

    assert image_grows().prove(sized(after), sized(before)) is grows
    assert image_shrinks().prove(sized(after), sized(before)) is shrinks
