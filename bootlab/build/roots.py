"""What a recipe needs from elsewhere: bootlab's guest programs, busybox and Debian packages, for the guest."""

from collections.abc import Callable
from pathlib import Path

from bootlab.build import guest, packages
from bootlab.build.cache import Cache
from bootlab.build.content import BUSYBOX, Ingredients, Tell
from bootlab.build.debian_root import debian_root
from bootlab.errors import BootlabError, InputError
from bootlab.system import Content, System

_BUSYBOX_PACKAGE = "busybox-static"


def ingredients(
    part: str,
    content: Content,
    system: System,
    kernel_tree: Path | None,
    cache: Cache,
    *,
    refresh: bool = False,
    tell: Tell = lambda line: None,
) -> Ingredients:
    """Return all that the recipe `content`, the `part` (initramfs, rootfs) of `system`, is made of.

    `kernel_tree` is where modules come from. Raises InputError, MissingTool, Unreachable (no network), StoreError.
    """
    arch = system.machine.arch
    programs = guest.programs(arch, cache)
    if content.busybox:
        build = system.kernel.build
        suite = content.suite or system.kernel.suite or (build.suite if build is not None else None)
        programs[BUSYBOX] = _busybox(suite, arch, cache, refresh, tell)
    root = None
    if content.packages:
        key = f"{part}.packages"
        root = debian_root(content.packages, content.suite, arch, cache, key=key, refresh=refresh, tell=tell)
    return Ingredients(part, arch, programs, root, kernel_tree)


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


def _busybox(suite: str | None, arch: str, cache: Cache, refresh: bool, tell: Callable[[str], None]) -> Path:
    package = packages.fetch(_BUSYBOX_PACKAGE, suite, arch, cache, refresh=refresh, tell=tell)
    for note in package.notes:
        tell(note)
    # Debian 12 has it in /bin, Debian 13 in /usr/bin.
    for path in (package.tree / "bin/busybox", package.tree / "usr/bin/busybox"):
        if path.is_file():
            return path
    raise BootlabError(f"{_BUSYBOX_PACKAGE}: the package holds no busybox")
