"""Makes initramfs archives and root file systems from their recipes, and gets what those need from elsewhere.

That is bootlab's guest programs, busybox and Debian packages for the guest, and programs given as source.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.debian import packages
from bootlab.build.debian.install import Commands, installed_root
from bootlab.build.debian.root import debian_root
from bootlab.build.formats.cpio import Entry
from bootlab.build.modules.aliases import read_aliases
from bootlab.build.programs import guest
from bootlab.build.programs.source_program import with_source_programs
from bootlab.build.programs.static_program import with_programs
from bootlab.build.root import initramfs, rootfs
from bootlab.build.root.content import BUSYBOX, Ingredients, Tell, collect, directory_identity
from bootlab.errors import BootlabError, InputError
from bootlab.system import Content, Initramfs, Rootfs, System

_BUSYBOX_PACKAGE = "busybox-static"

Recipe = Initramfs | Rootfs


@dataclass(frozen=True, slots=True)
class BuiltRoot:
    """An archive or image in the cache. Shared: never to be changed."""

    path: Path
    from_cache: bool
    seconds: float
    """Spent now on packing; 0.0 when it came from the cache."""
    packages: tuple[tuple[str, str], ...]
    """Name and version of every Debian package in it, those that others depend on included."""


def build_root(
    recipe: Recipe,
    arch: str,
    cache: Cache,
    *,
    suite: str | None = None,
    kernel_tree: Path | None = None,
    installed: Rootfs | None = None,
    refresh: bool = False,
    tell: Tell = lambda line: None,
) -> BuiltRoot:
    """Return the archive or image of `recipe`, packed unless the cache has it.

    `suite` is the Debian suite of busybox where the recipe names none; `kernel_tree` has the modules; `installed` is
    the root whose own initramfs the recipe begins with, where it does. Raises InputError that begins with the recipe's
    key (`initramfs.init`, ...), MissingTool, Unreachable (no network), StoreError.
    """
    part = "initramfs" if isinstance(recipe, Initramfs) else "rootfs"
    recipe = with_source_programs(with_programs(recipe, arch, cache), part, arch, cache, refresh=refresh, tell=tell)
    made_of = _ingredients(part, recipe, arch, suite, kernel_tree, installed, cache, refresh, tell)
    began = time.monotonic()
    if isinstance(recipe, Initramfs):
        found = cache.find("initramfs", initramfs.key(recipe, made_of))
        path = found or initramfs.build(recipe, made_of, cache, tell)
    else:
        found = cache.find("rootfs", rootfs.key(recipe, made_of))
        path = found or rootfs.build(recipe, made_of, cache, tell)
    debian = made_of.packages.packages if made_of.packages is not None else ()
    return BuiltRoot(
        path=path,
        from_cache=found is not None,
        seconds=0.0 if found is not None else round(time.monotonic() - began, 3),
        packages=tuple((package.name, package.version) for package in debian),
    )


def root_entries(
    recipe: Recipe,
    arch: str,
    cache: Cache,
    *,
    suite: str | None = None,
    kernel_tree: Path | None = None,
    installed: Rootfs | None = None,
    tell: Tell = lambda line: None,
) -> tuple[Entry, ...]:
    """Return the files of `recipe`, sorted, without packing them. Arguments and errors as `build_root`."""
    part = "initramfs" if isinstance(recipe, Initramfs) else "rootfs"
    recipe = with_source_programs(with_programs(recipe, arch, cache), part, arch, cache, tell=tell)
    made_of = _ingredients(part, recipe, arch, suite, kernel_tree, installed, cache, False, tell)
    return collect(recipe, made_of, tell)


def system_suite(system: System) -> str | None:
    """Return the Debian suite that the system's kernel is of, for what is to fit to it; None when it names none."""
    build = system.kernel.build
    return system.kernel.suite or (build.suite if build is not None else None)


def _ingredients(
    part: str,
    content: Content,
    arch: str,
    suite: str | None,
    kernel_tree: Path | None,
    installed: Rootfs | None,
    cache: Cache,
    refresh: bool,
    tell: Tell,
) -> Ingredients:
    programs = guest.programs(arch, cache)
    if content.bootlab_init:
        programs |= guest.runtime(arch, cache)
    aliases = None
    if content.coldplug is not None:
        programs |= guest.coldplug(arch, cache, record=content.coldplug.record)
        aliases = read_aliases(kernel_tree, cache, tell) if kernel_tree is not None else None
    if content.busybox:
        programs[BUSYBOX] = _busybox(content.suite or suite, arch, cache, f"{part}.busybox", refresh, tell)
    root, whole = None, None
    if content.packages:
        key = f"{part}.packages"
        if content.scripts:
            after = _commands(content, part)
            root = installed_root(
                content.packages, content.suite, arch, cache, key=key, after=after, refresh=refresh, tell=tell
            )
        else:
            root = debian_root(content.packages, content.suite, arch, cache, key=key, refresh=refresh, tell=tell)
    if isinstance(content, Initramfs) and content.installed and installed is not None:
        names, key = installed.packages, "rootfs.packages"
        after = _commands(installed, "rootfs")
        whole = installed_root(names, installed.suite, arch, cache, key=key, after=after, refresh=refresh, tell=tell)
    return Ingredients(part, arch, programs, root, whole, kernel_tree, aliases)


def _commands(content: Content, part: str) -> Commands | None:
    if not content.run:
        return None
    folder = content.directory
    identity = directory_identity(folder, f"{part}.directory") if folder is not None else ""
    return Commands(content.run, folder, identity)


def expect_root(system: System) -> None:
    """Raise InputError when nothing tells the kernel where its root file system is."""
    rootfs = system.rootfs
    if rootfs is None or system.initramfs is not None:
        return
    words = system.kernel.cmdline.split()
    device = root_device(system)
    if not any(word.startswith("root=") for word in words):
        raise InputError(
            "kernel.cmdline: there is a [rootfs] and no initramfs, but no root= that names it to the kernel",
            hint=f'add root={device} to kernel.cmdline, and "rw" if the guest writes to it',
        )


def root_device(system: System) -> str:
    """Return the device file of the system's root file system, as the guest's kernel names it."""
    return "/dev/pmem0" if system.rootfs is not None and system.rootfs.device == "pmem" else "/dev/vda"


def _busybox(suite: str | None, arch: str, cache: Cache, key: str, refresh: bool, tell: Tell) -> Path:
    package = packages.fetch(_BUSYBOX_PACKAGE, suite, arch, cache, key=key, refresh=refresh, tell=tell)
    for note in package.notes:
        tell(note)
    # Debian 12 has it in /bin, Debian 13 in /usr/bin.
    for path in (package.tree / "bin/busybox", package.tree / "usr/bin/busybox"):
        if path.is_file():
            return path
    raise BootlabError(f"{_BUSYBOX_PACKAGE}: the package holds no busybox")
