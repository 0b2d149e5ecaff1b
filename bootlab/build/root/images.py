"""Makes initramfs archives and root file systems from their recipes, and gets what those need from elsewhere.

That is bootlab's guest programs, busybox and Debian packages for the guest, and programs given as source.
"""

import difflib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bootlab.build.debian import packages
from bootlab.build.debian.install import Commands, install_root
from bootlab.build.debian.root import fetch_root
from bootlab.build.formats.cpio import Entry
from bootlab.build.given_root.given import GivenRoot
from bootlab.build.modules.aliases import read_aliases
from bootlab.build.programs import guest
from bootlab.build.programs.busybox import build_busybox
from bootlab.build.programs.source_program import with_source_programs
from bootlab.build.programs.static_program import with_programs
from bootlab.build.root import initramfs, rootfs
from bootlab.build.root.applets_used import find_applets_spoken, find_applets_used
from bootlab.build.root.content import BUSYBOX, Ingredients, applets, collect, identify_directory
from bootlab.build.root.kept_region import PLAN
from bootlab.build.root.readahead import tell_if_in_vain
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError
from bootlab.system import Content, Initramfs, Rootfs, System

COLD_KERNEL, COLD_INITRAMFS = "/boot/vmlinuz", "/boot/initrd.img"
"""Where a restorer looks for what it starts cold (guest/mount_root.sh)."""
_BUSYBOX_PACKAGE = "busybox-static"
_ROOT_DEVICES = {
    "virtio-blk": "/dev/vda",
    "nvme": "/dev/nvme0n1",
    "scsi": "/dev/sda",
    "pmem": "/dev/pmem0",
    "kept-ram": "/dev/vda",
}

Recipe = Initramfs | Rootfs


@dataclass(frozen=True, slots=True)
class Around:
    """What a recipe takes of the system that it is of."""

    suite: str | None = None
    """The Debian suite of busybox where the recipe names none."""
    kernel_tree: Path | None = None
    """What has the kernel's modules."""
    installed: Rootfs | None = None
    """The root whose own initramfs the recipe begins with, where it does."""
    network: bool = False
    """Whether there is a network card."""
    kept_by_loader: bool = False
    """Whether a board's SPL finds the initramfs in kept RAM, with the kernel that it is in."""
    kept_plan: Path | None = None
    """What the initramfs says of a root in kept RAM, where there is one."""
    cmdline: str = ""
    """The kernel's command line, which may name an init."""
    cold_start: Mapping[str, Path] = field(default_factory=dict)
    """Path in the root -> kernel and initramfs, which a restorer enters where there is no image to take up."""


@dataclass(frozen=True, slots=True)
class BuiltRoot:
    """An archive or image in the cache. Shared: never to be changed."""

    path: Path
    from_cache: bool
    seconds: float
    """Spent now on packing; 0.0 when it came from the cache."""
    packages: tuple[tuple[str, str], ...]
    """Name and version of every Debian package in it, those that others depend on included."""


def build_root(shop: Workshop, recipe: Recipe, arch: str, around: Around | None = None) -> BuiltRoot:
    """Return the archive or image of `recipe`, packed unless the cache has it.

    Raises InputError that begins with the recipe's key (`initramfs.init`, ...), MissingTool, Unreachable (no network),
    StoreError.
    """
    recipe = _with_programs(shop, recipe, arch)
    made_of = _ingredients(shop, recipe, arch, around or Around())
    began = time.monotonic()
    if isinstance(recipe, Initramfs):
        found = shop.cache.find("initramfs", initramfs.key(recipe, made_of))
        path = found or initramfs.build(shop, recipe, made_of)
    else:
        if recipe.readahead is not None and around is not None:
            tell_if_in_vain(recipe.readahead, around.cmdline, around.kernel_tree, shop.tell_once)
        found = shop.cache.find("rootfs", rootfs.key(recipe, made_of))
        path = found or rootfs.build(shop, recipe, made_of)
    debian = made_of.packages.packages if made_of.packages is not None else ()
    return BuiltRoot(
        path=path,
        from_cache=found is not None,
        seconds=0.0 if found is not None else round(time.monotonic() - began, 3),
        packages=tuple((package.name, package.version) for package in debian),
    )


def root_entries(shop: Workshop, recipe: Recipe, arch: str, around: Around) -> tuple[Entry, ...]:
    """Return the files of `recipe`, sorted, without packing them. Arguments and errors as `build_root`."""
    recipe = _with_programs(shop, recipe, arch)
    made_of = _ingredients(shop, recipe, arch, around)
    return collect(recipe, made_of, shop.tell)


def system_suite(system: System) -> str | None:
    """Return the Debian release that the system's kernel is of, for what is to fit to it; None when it names none.

    An addition such as bookworm-backports has next to nothing else: what it has not is its release's.
    """
    build = system.kernel.build
    suite = system.kernel.suite or (build.suite if build is not None else None)
    return suite.partition("-")[0] if suite is not None else None


def _part(recipe: Recipe) -> str:
    return "initramfs" if isinstance(recipe, Initramfs) else "rootfs"


def _with_programs(shop: Workshop, recipe: Recipe, arch: str) -> Recipe:
    return with_source_programs(shop, with_programs(recipe, arch, shop.cache), _part(recipe), arch)


def _ingredients(shop: Workshop, recipe: Recipe, arch: str, around: Around) -> Ingredients:
    cache, part, kernel_tree, installed = shop.cache, _part(recipe), around.kernel_tree, around.installed
    programs = guest.compile_programs(arch, cache)
    if recipe.runs_bootlab_init:
        programs |= guest.compile_runtime(arch, cache)
    if recipe.clone_agent:
        programs |= guest.compile_clone(arch, cache)
    if recipe.sleep_agent:
        programs |= guest.compile_sleep(arch, cache)
    aliases = None
    if recipe.coldplug is not None:
        programs |= guest.compile_coldplug(arch, cache, record=recipe.coldplug.record)
        aliases = read_aliases(shop, kernel_tree) if kernel_tree is not None else None
    if recipe.coldplug is not None or isinstance(recipe, Rootfs):
        programs = guest.add_system_facts(programs)
    if isinstance(recipe, Rootfs) and recipe.readahead is not None:
        programs |= guest.compile_readahead(arch, cache)
    if isinstance(recipe, Rootfs) and recipe.preload is not None:
        programs |= guest.compile_preload(arch, cache)
    if around.kept_plan is not None:
        programs |= {**guest.compile_kept(arch, cache), PLAN: around.kept_plan}
    if isinstance(recipe, Rootfs) and recipe.kept_ram is not None:
        programs |= guest.compile_kept(arch, cache)
    if isinstance(recipe, Rootfs):
        programs |= around.cold_start
    if isinstance(recipe, Initramfs) and around.kept_by_loader:
        programs |= guest.compile_kept_board(arch, cache)
    if recipe.busybox:
        programs[BUSYBOX] = _busybox(shop, recipe.suite or around.suite, arch, f"{part}.busybox")
    if isinstance(recipe, Initramfs) and recipe.mount_root:
        programs |= guest.mount_root_script()
    given = None
    if isinstance(recipe, Rootfs) and recipe.source is not None:
        given = GivenRoot(shop, recipe.source, recipe.source_image, arch)
    root, whole = None, None
    if recipe.packages:
        key = f"{part}.packages"
        if recipe.scripts:
            after = _commands(recipe, part)
            root = install_root(shop, recipe.packages, recipe.suite, arch, key=key, after=after)
        else:
            root = fetch_root(shop, recipe.packages, recipe.suite, arch, key=key)
    if isinstance(recipe, Initramfs) and recipe.installed and installed is not None:
        after = _commands(installed, "rootfs")
        whole = install_root(shop, installed.packages, installed.suite, arch, key="rootfs.packages", after=after)
    made_of = Ingredients(part, arch, programs, root, whole, kernel_tree, aliases, given, around.network)
    return made_of if recipe.busybox_applets is None else _with_few_applets(shop, recipe, made_of, around)


def _with_few_applets(shop: Workshop, recipe: Recipe, made_of: Ingredients, around: Around) -> Ingredients:
    """Return the ingredients with a busybox of the applets that the recipe asks for, and tell which those are."""
    key = f"{made_of.part}.busybox_applets"
    known = applets(made_of.programs[BUSYBOX].read_bytes())
    starts = [word.partition("=")[2] for word in around.cmdline.split() if word.startswith(("init=", "rdinit="))]
    entries = collect(recipe, made_of)
    named = find_applets_used(entries, known, starts=starts, modules=recipe.wants_modules)
    kept = list(named)
    if recipe.busybox_applets != "used":
        kept = list(recipe.busybox_applets or ())
        if unknown := [name for name in kept if name not in known]:
            near = difflib.get_close_matches(unknown[0], known, n=3)
            raise InputError(
                f'{key}: Debian\'s busybox has no applet "{unknown[0]}"',
                hint=f"did you mean {', '.join(near)}?" if near else f"it has {', '.join(known)}",
            )
    built = build_busybox(shop, recipe.suite or around.suite, made_of.arch, kept, key=key)
    said = [f"{name} ({named[name]})" if name in named else name for name in built.applets]
    shop.tell_once(f"{key}: {len(built.applets)} of {len(known)} applets stay: {', '.join(said)}")
    gone = [name for name in known if name not in built.applets]
    shop.tell_once(f"{key}: left out: {', '.join(gone)}")
    missed = {name: by for name, by in named.items() if name in gone}
    spoken = {name: by for name, by in find_applets_spoken(entries, gone).items() if name not in missed}
    for what, words in (("a file names it", missed), ("a program has the word, and may run it", spoken)):
        if words:
            shop.tell_once(f"{key}: left out, but {what}: {', '.join(f'{name} ({by})' for name, by in words.items())}")
    return replace(made_of, programs={**made_of.programs, BUSYBOX: built.path}, applets=built.applets)


def _commands(content: Content, part: str) -> Commands | None:
    if not content.run:
        return None
    folder = content.directory
    identity = identify_directory(folder, f"{part}.directory") if folder is not None else ""
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
    return _ROOT_DEVICES[system.rootfs.device if system.rootfs is not None else "virtio-blk"]


def _busybox(shop: Workshop, suite: str | None, arch: str, key: str) -> Path:
    package = packages.fetch(shop, _BUSYBOX_PACKAGE, suite, arch, key=key)
    for note in package.notes:
        shop.tell(note)
    # Debian 12 has it in /bin, Debian 13 in /usr/bin.
    for path in (package.tree / "bin/busybox", package.tree / "usr/bin/busybox"):
        if path.is_file():
            return path
    raise BootlabError(f"{_BUSYBOX_PACKAGE}: the package holds no busybox")
