"""The root file system as another image of the same files, whether the kernel can mount it, and the image's size."""

import re
from collections.abc import Mapping

from bootlab.system import Compression, FileSystem, Rootfs, System
from bootlab.techniques.changes.kernel_options import is_on, known, option_value
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof

_TYPE = re.compile(r"(?<!\S)rootfstype=\S+")
_OPTIONS: Mapping[FileSystem, Mapping[Compression, tuple[str, ...]]] = {
    FileSystem.SQUASHFS: {Compression.LZ4: ("SQUASHFS_LZ4",), Compression.ZSTD: ("SQUASHFS_ZSTD",)},
    FileSystem.EROFS: {Compression.LZ4: ("EROFS_FS_ZIP",)},
}
_MAIN = {FileSystem.EXT4: "EXT4_FS", FileSystem.SQUASHFS: "SQUASHFS", FileSystem.EROFS: "EROFS_FS"}
_MENUS = {"BLOCK": "y", "MISC_FILESYSTEMS": "y"}
"""Without these kconfig does not ask for the others."""


def recipe_of(system: System) -> Rootfs | None:
    """Return the recipe of the root file system, None when there is none or it is a finished image."""
    return system.rootfs if system.rootfs is not None and system.rootfs.path is None else None


def no_recipe(system: System) -> str:
    """Say why there is no recipe to change."""
    if system.rootfs is None:
        return "the system has no root file system"
    return "rootfs.path is a finished image; bootlab packs only what it builds from a recipe"


def options_for(filesystem: FileSystem, compression: Compression) -> dict[str, str]:
    """Return the options of the kernel that mounts it, each on."""
    return dict.fromkeys([_MAIN[filesystem], *_OPTIONS.get(filesystem, {}).get(compression, ())], "y")


def lacks(system: System, measured: Measured, options: Mapping[str, str], module: str) -> str | None:
    """Return why this kernel cannot mount it; None when it can, when it will be built so, or when it is not known."""
    if system.kernel.build is not None or not known(system, measured):
        return None
    missing = [option for option in options if not is_on(system, measured, option)]
    if missing:
        return f"the kernel is built without {', '.join(missing)}"
    loaded = system.initramfs.modules if system.initramfs is not None else ()
    if option_value(system, measured, next(iter(options))) == "m" and not {module, "*"} & set(loaded):
        return f"{module} is a module of this kernel, and no initramfs loads it"
    return None


def with_image(system: System, filesystem: FileSystem, compression: Compression) -> System:
    """Return the system with its root packed as another file system, and a kernel to be built that mounts it."""
    changed = system.with_part(
        "rootfs", filesystem=filesystem, compression=compression, size_mib=None, journal=True
    ).with_part("kernel", cmdline=_TYPE.sub(f"rootfstype={filesystem.value}", system.kernel.cmdline))
    if changed.kernel.build is None:
        return changed
    return changed.with_options(**_MENUS, **options_for(filesystem, compression))


def image_grows() -> Proof:
    """The image of the root that booted has more bytes than before."""
    return _size_of_image(larger=True)


def image_shrinks() -> Proof:
    """The image of the root that booted has fewer bytes than before."""
    return _size_of_image(larger=False)


def _size_of_image(*, larger: bool) -> Proof:
    def prove(after: Evidence, before: Evidence) -> Effect:
        new, old = after.sizes.get("rootfs"), before.sizes.get("rootfs")
        if new is None or old is None:
            return Effect.NOT_SHOWN
        return Effect.PROVEN if new != old and (new > old) == larger else Effect.NONE

    return Proof(prove)
