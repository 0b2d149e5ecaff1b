"""What techniques of the root file system have in common: another image of the same files, and what proves it.

The proof is the kernel's own line about the root that it mounted, a function that only this file system has, or the
image's size. Where an initramfs mounts the root, the kernel's line is missing and the others serve.
"""

import re
from collections.abc import Mapping

from bootlab.system import Compression, FileSystem, Rootfs, System
from bootlab.techniques.build_options import is_on, known, option_value
from bootlab.techniques.evidence import Prove, any_of, line_appears, now_runs
from bootlab.techniques.technique import Evidence, Layer, Measured, Proof, Risk, Source, Technique

_TYPE = re.compile(r"(?<!\S)rootfstype=\S+")
_MOUNTED = r"VFS: Mounted root \({} filesystem\)"
_OPTIONS: Mapping[FileSystem, Mapping[Compression, tuple[str, ...]]] = {
    FileSystem.SQUASHFS: {Compression.LZ4: ("SQUASHFS_LZ4",)},
    FileSystem.EROFS: {Compression.LZ4: ("EROFS_FS_ZIP",)},
}
_MAIN = {FileSystem.EXT4: "EXT4_FS", FileSystem.SQUASHFS: "SQUASHFS", FileSystem.EROFS: "EROFS_FS"}
_MENUS = {"BLOCK": "y", "MISC_FILESYSTEMS": "y"}
"""Without these kconfig does not ask for the others."""
_FILLS = {FileSystem.SQUASHFS: "squashfs_fill_super", FileSystem.EROFS: "erofs_fc_fill_super"}


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


def packed_as(filesystem: FileSystem, *, summary: str, mechanism: str, sources: tuple[Source, ...]) -> Technique:
    """Return the technique that makes the root a read-only `filesystem`, packed with lz4."""
    fills = _FILLS[filesystem]

    def applies(system: System, measured: Measured) -> str | None:
        recipe = recipe_of(system)
        if recipe is None:
            return no_recipe(system)
        if recipe.filesystem is filesystem:
            return f"the root is {filesystem.value} already"
        if "rw" in system.kernel.cmdline.split():
            return "rw on the command line: the system writes to its root, and this one is read-only"
        return lacks(system, measured, options_for(filesystem, Compression.LZ4), filesystem.value)

    return Technique(
        name=f"rootfs_{filesystem.value}",
        layer=Layer.ROOTFS,
        summary=summary,
        mechanism=mechanism,
        knob=f'rootfs.filesystem = "{filesystem.value}", rootfs.compression = "lz4"',
        cost="the root is read-only: whatever is written needs a file system of its own",
        risk=Risk.FUNCTION,
        sources=sources,
        apply=lambda system, measured: with_image(system, filesystem, Compression.LZ4),
        prove=any_of(line_appears_only(_MOUNTED.format(filesystem.value)), now_runs(fills)),
        applies=applies,
        watch=(fills,),
    )


def line_appears_only(pattern: str) -> Prove:
    """The kernel says so now and did not before; that it does not say so shows nothing: an initramfs may mount."""
    prove = line_appears(pattern)

    def shown(after: Evidence, before: Evidence) -> Proof:
        found = prove(after, before)
        return Proof.NOT_SHOWN if found is Proof.NO_EFFECT else found

    return shown


def image_grows(after: Evidence, before: Evidence) -> Proof:
    """The image of the root that booted has more bytes than before."""
    return _image(after, before, larger=True)


def image_shrinks(after: Evidence, before: Evidence) -> Proof:
    """The image of the root that booted has fewer bytes than before."""
    return _image(after, before, larger=False)


def _image(after: Evidence, before: Evidence, *, larger: bool) -> Proof:
    new, old = after.sizes.get("rootfs"), before.sizes.get("rootfs")
    if new is None or old is None:
        return Proof.NOT_SHOWN
    return Proof.PROVEN if new != old and (new > old) == larger else Proof.NO_EFFECT
