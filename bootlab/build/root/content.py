"""A recipe's content -> the files of an initramfs or a root file system, the same on every run.

Later sources lie over earlier ones, by the rules of `file_tree`: the installed initramfs; packages, or a root that was
handed over; the directory; the folders that every Linux has, where they are missing; bootlab's own programs and
busybox; init; files; modules. Applets of busybox take only names that are still free, so that a package's own `ls`
stays. `without` leaves out at last.

Modules are stored uncompressed below /lib/modules, and /etc/bootlab/modules lists their paths in load order, so that
a small init needs no modprobe: `while read -r module; do insmod "$module"; done </etc/bootlab/modules`.

Times are zero. A root that was handed over keeps its file capabilities; all else loses its extended attributes. Setuid
bits, owners of packages' files, hard links and device nodes are kept.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bootlab.build.cache import file_sha256
from bootlab.build.debian.root import DebianRoot
from bootlab.build.formats.cpio import Entry
from bootlab.build.given_root.command import command_entries
from bootlab.build.given_root.given import GivenRoot
from bootlab.build.given_root.image_config import ImageProcess, arch_of
from bootlab.build.modules.aliases import ModuleAliases
from bootlab.build.modules.coldplug_plan import PLAN, plan_coldplug
from bootlab.build.modules.package import ModuleTree, identify_modules
from bootlab.build.root.file_tree import FileTree
from bootlab.build.root.init_units import identify_units
from bootlab.build.root.installed_initramfs import read_installed, with_modules_kept
from bootlab.build.root.kept_units import UNITS, lay_kept_units
from bootlab.build.root.preload import identify_preload, lay_preload
from bootlab.build.root.readahead import identify_readahead, lay_readahead
from bootlab.build.workshop import Tell
from bootlab.errors import BootlabError, InputError
from bootlab.system import Coldplug, Content, Initramfs, Rootfs
from bootlab.system.disk_image import written_mode

BUSYBOX = "/bin/busybox"
"""Where a recipe with busybox = true carries it; `programs` must have it under this path."""
MODULE_LIST = "/etc/bootlab/modules"
EVERY_MODULE = "*"
"""As a name in the recipe's modules: every module goes into the archive; only those named go into the load list."""

_INITS = {"initramfs": ("/init",), "rootfs": ("/sbin/init", "/etc/init", "/bin/init", "/bin/sh")}
"""What a kernel starts first, in this order, unless it is told otherwise (init/main.c)."""
_FORMAT = 5  # of what a recipe makes; a new number makes cached archives be built again
_FOLDERS = ("dev", "etc", "mnt", "proc", "root", "run", "sbin", "sys")
_ENTRY = re.compile(r"[0-9a-f]{64}")
_APPLET = re.compile(rb"[a-z0-9_.\-\[]{1,24}\Z")
_LONGEST_APPLET = 24


@dataclass(frozen=True, slots=True)
class Ingredients:
    """What a recipe is made of besides the files that it names; all of it on this host."""

    part: str
    """Of the system file: `initramfs` or `rootfs`, for messages."""
    arch: str
    programs: Mapping[str, Path] = field(default_factory=dict)
    """Path in the guest -> a file made for `arch`."""
    packages: DebianRoot | None = None
    installed: DebianRoot | None = None
    """The installed root whose own initramfs the recipe begins with."""
    kernel_tree: Path | None = None
    """The unpacked kernel package, or the built kernel, that modules come from."""
    aliases: ModuleAliases | None = None
    """What its modules are for, where the recipe has a coldplug plan."""
    given: GivenRoot | None = None
    """The root that was handed over."""
    network: bool = False
    """Whether the system has a network card."""
    applets: tuple[str, ...] | None = None
    """What its busybox answers to; None for one whose binary says so itself."""


def collect(content: Content, made_of: Ingredients, tell: Tell = lambda line: None) -> tuple[Entry, ...]:
    """Return the files of `content`, sorted by path.

    `tell` gets a line about what the user should know. Raises InputError that names the key of what cannot be had.
    """
    tree = FileTree()
    for entry in _installed(content, made_of):
        tree.add(entry)
    for entry in made_of.packages.entries() if made_of.packages is not None else ():
        tree.add(entry)
    process = _lay_given(tree, made_of, tell)
    if content.directory is not None:
        _lay_directory(tree, content.directory, f"{made_of.part}.directory", tell)
    _add_folders(tree)
    for name, path in made_of.programs.items():
        if name != BUSYBOX or content.busybox:
            tree.add_file(name, path.read_bytes(), 0o755)
    if content.init is not None:
        tree.add_file("init", content.init.read_bytes(), 0o755)
        if isinstance(content, Rootfs):
            # On a root file system the kernel looks for /sbin/init, unless told otherwise.
            tree.add_link("sbin/init", "/init")
    elif content.runs_bootlab_init:
        for name in ("init", "sbin/init") if isinstance(content, Rootfs) else ("init",):
            tree.add_link(name, "/sbin/bootlab-init")
    if isinstance(content, Rootfs) and content.start == "command":
        for entry in command_entries(
            tree.entries(), process, content.command, f"{made_of.part}.source", network=made_of.network
        ):
            tree.add(entry)
    for name, path in content.files.items():
        if f"/{name.lstrip('/')}" in made_of.programs:
            raise InputError(
                f'{made_of.part}.files."{name}": the recipe puts its own file there', hint="give yours another path"
            )
        tree.add_file(name, path.read_bytes(), 0o755 if _is_executable(path) else 0o644)
    for name, text in content.texts.items():
        if f"/{name.lstrip('/')}" in made_of.programs:
            raise InputError(
                f'{made_of.part}.texts."{name}": the recipe puts its own file there', hint="give yours another path"
            )
        data = text.encode(errors="surrogateescape")
        tree.add_file(name, data, written_mode(data))
    if isinstance(content, Rootfs) and content.readahead is not None:
        lay_readahead(tree, content.readahead)
    if isinstance(content, Rootfs) and content.preload is not None:
        lay_preload(tree, content.preload)
    if _settles(content):
        lay_kept_units(tree)
    if content.modules or content.coldplug:
        _add_modules(tree, content, made_of)
    if content.busybox:
        _add_applets(tree, made_of)
    _leave_out(tree, content, made_of.part, tell)
    return tree.entries()


def _lay_given(tree: FileTree, made_of: Ingredients, tell: Tell) -> ImageProcess:
    """Lay the root that was handed over, if any; returns what its configuration starts."""
    if made_of.given is None:
        return ImageProcess()
    key = f"{made_of.part}.source"
    try:
        read = made_of.given.read()
        for entry in read.entries:
            tree.add(entry)
    except InputError as error:
        raise InputError(f"{key}: {error.message}", hint=error.hint) from error
    for remark in read.remarks:
        tell(f"{key}: {remark}")
    if read.config is None:
        return ImageProcess()
    arch = arch_of(read.config.os, read.config.architecture, f"{key}: {made_of.given.path}")
    if arch != made_of.arch:
        raise InputError(
            f"{key}: {made_of.given.path}: is for {arch}, and the machine is {made_of.arch}",
            hint='machine.type = "q35" is x86_64, "virt" is aarch64',
        )
    return read.config.started


def _installed(content: Content, made_of: Ingredients) -> list[Entry]:
    if made_of.installed is None or not isinstance(content, Initramfs):
        return []
    found = read_installed(made_of.installed, made_of.kernel_tree)
    # The archive's own root; the kernel has one.
    entries = [entry for entry in found if entry.path.strip("./")]
    if content.keep_modules is None:
        return entries
    modules = ModuleTree(made_of.kernel_tree) if made_of.kernel_tree is not None else None
    known = {*modules.files, *modules.built_in} if modules is not None else set[str]()
    return with_modules_kept(entries, content.keep_modules, known)


def _leave_out(tree: FileTree, content: Content, part: str, tell: Tell) -> None:
    inits = [path for path in _INITS[part] if path in tree]
    kept = content.kept_ram if isinstance(content, Rootfs) else None
    for path in content.without:
        from_disk = kept is not None and path in kept.without
        key = f"{part}.kept_ram.without" if from_disk else f"{part}.without"
        try:
            if not tree.remove(path):
                tell(f"{key}: {path} is not there")
        except InputError as error:
            raise InputError(f"{key}: {error.message}", hint=error.hint) from error
        if from_disk:
            # Whatever it is, the disk has it.
            continue
        if content.init is not None and "/init" not in tree:
            raise InputError(
                f"{part}.without: {path} leaves out /init, the very program that {part}.init puts there",
                hint=f"leave out {part}.init, or do not leave out {path}",
            )
        if inits and not any(init in tree for init in inits):
            inits, word = [], "rdinit=" if part == "initramfs" else "init="
            tell(
                f"{part}.without: {path} leaves out the init that a kernel starts, "
                f"unless kernel.cmdline names another by {word}"
            )


def identify_content(content: Content, made_of: Ingredients) -> str:
    """Return what decides every byte of `content`, as text: files count by what they hold, never by path.

    Raises InputError that names the key of a file that cannot be read.
    """
    part, tree = made_of.part, made_of.kernel_tree
    document: dict[str, Any] = {
        "format": _FORMAT,
        "arch": made_of.arch,
        "packages": made_of.packages.identity if made_of.packages is not None else None,
        "directory": content.directory and identify_directory(content.directory, f"{part}.directory"),
        "busybox": content.busybox,
        "modules": content.modules,
        "kernel": identify_modules(tree) if tree is not None and content.wants_modules else None,
        **({"coldplug": _coldplug_identity(content.coldplug, part)} if content.coldplug else {}),
        "init": content.init and _hashed(f"{part}.init", content.init),
        "files": {name: _hashed(f'{part}.files."{name}"', path) for name, path in content.files.items()},
        "programs": {name: file_sha256(path) for name, path in made_of.programs.items()},
        "without": content.without,
    }
    if isinstance(content, Rootfs) and made_of.given is not None:
        document["source"] = [_given_identity(made_of), content.start, content.command, made_of.network]
    if content.texts:
        document["texts"] = content.texts
    if isinstance(content, Rootfs) and content.layout is not None:
        document["layout"] = _hashed(f"{part}.layout", content.layout)
    if isinstance(content, Rootfs) and content.layout_text:
        document["layout_text"] = content.layout_text
    if isinstance(content, Rootfs) and content.readahead is not None:
        document["readahead"] = identify_readahead(content.readahead)
    if isinstance(content, Rootfs) and content.preload is not None:
        document["preload"] = identify_preload(content.preload)
    if _settles(content):
        document["kept"] = identify_units(UNITS)
    if isinstance(content, Initramfs) and made_of.installed is not None:
        document["installed"] = [made_of.installed.identity, content.keep_modules]
    return json.dumps(document, sort_keys=True)


def _settles(content: Content) -> bool:
    return isinstance(content, Rootfs) and content.kept_ram is not None and content.kept_ram.settles


def _given_identity(made_of: Ingredients) -> str:
    assert made_of.given is not None
    try:
        return made_of.given.identity()
    except InputError as error:
        raise InputError(f"{made_of.part}.source: {error.message}", hint=error.hint) from error


def applets(busybox: bytes) -> list[str]:
    """Return the names that a busybox binary answers to, read from its own table, so any architecture's will do.

    Raises BootlabError when the binary has no such table.
    """
    # busybox finds an applet by binary search: its names lie in one sorted run of C strings, the longest there is.
    best: list[bytes] = []
    run: list[bytes] = []
    for word in busybox.split(b"\0"):
        if not _APPLET.match(word):
            # The first name may stand right behind what is no text.
            run = [tail[0]] if (tail := _APPLET.search(word[-_LONGEST_APPLET:])) else []
            continue
        run = [*run, word] if run and word > run[-1] else [word]
        if len(run) > len(best) and run[0] <= b"a":
            best = run
    if not {b"sh", b"mount", b"insmod"} <= set(best):
        raise BootlabError("busybox: found no table of applets in the binary", hint="is it a busybox? is it packed?")
    return [name.decode() for name in best]


def _add_folders(tree: FileTree) -> None:
    # After packages and directory, in which /sbin may well be a link.
    for folder in _FOLDERS:
        if folder not in tree:
            tree.add_directory(folder)
    if "tmp" not in tree:
        tree.add_directory("tmp", 0o1777)
    tree.add_device("dev/console", 5, 1)
    tree.add_device("dev/null", 1, 3, 0o666)


def _lay_directory(tree: FileTree, folder: Path, key: str, tell: Tell) -> None:
    linked: dict[tuple[int, int], str] = {}
    loose: list[str] = []
    for path, name in _walk(folder, key):
        status = path.lstat()
        if _is_loose(status.st_mode):
            loose.append(name)
        kind, data, link = stat.S_IFMT(status.st_mode), b"", ""
        if kind == stat.S_IFREG:
            data = path.read_bytes()
            if status.st_nlink > 1:
                link = linked.setdefault((status.st_dev, status.st_ino), f"{key} {name}")
        elif kind == stat.S_IFLNK:
            data = os.readlink(os.fsencode(path))
        elif kind == stat.S_IFSOCK:
            raise InputError(f"{key}: {path}: a socket cannot be put into an image")
        numbers = (os.major(status.st_rdev), os.minor(status.st_rdev)) if kind in (stat.S_IFCHR, stat.S_IFBLK) else None
        # A link's own mode is not stored the same everywhere.
        mode = kind | (0o777 if kind == stat.S_IFLNK else stat.S_IMODE(status.st_mode))
        tree.add(Entry(name, mode, data, numbers or (0, 0), linked=link))
        if kind == stat.S_IFREG and _capable(path):
            tell(f"{key}: {name} has file capabilities, which the image does not keep")
    if loose:
        tell(
            f"{key}: others than root may write {len(loose)} files and folders in the image, {loose[0]} the first: git "
            f"keeps no such modes, and a checkout has them of its umask (chmod -R go-w {folder}, or umask 022 before)"
        )


def _is_loose(mode: int) -> bool:
    return (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) and bool(mode & 0o022) and not mode & stat.S_ISVTX


def _walk(folder: Path, key: str) -> Iterator[tuple[Path, str]]:
    try:
        for top, folders, files in os.walk(folder, onerror=_raise):
            folders.sort()
            for name in sorted([*folders, *files]):
                path = Path(top, name)
                yield path, path.relative_to(folder).as_posix()
    except OSError as error:
        raise InputError(f"{key}: {error.filename}: {error.strerror}") from error


def _raise(error: OSError) -> None:
    raise error


def _capable(path: Path) -> bool:
    with suppress(OSError):
        return "security.capability" in os.listxattr(path)
    return False


def identify_directory(folder: Path, key: str) -> str:
    """Return a hash of all that a folder holds. Raises InputError, which begins with `key`."""
    digest = hashlib.sha256()
    links: dict[tuple[int, int], str] = {}
    for path, name in _walk(folder, key):
        status = path.lstat()
        what = ""
        if stat.S_ISREG(status.st_mode):
            what = file_sha256(path)
            if status.st_nlink > 1:
                what += f" {links.setdefault((status.st_dev, status.st_ino), name)}"
        elif stat.S_ISLNK(status.st_mode):
            what = str(path.readlink())
        digest.update(f"{name}\0{status.st_mode:o} {status.st_rdev} {what}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()


def _add_applets(tree: FileTree, made_of: Ingredients) -> None:
    folder = str(Path(BUSYBOX).parent)
    names = made_of.applets
    for name in applets(made_of.programs[BUSYBOX].read_bytes()) if names is None else names:
        if f"{folder}/{name}" not in tree:
            tree.add_link(f"{folder}/{name}", Path(BUSYBOX).name)


def _add_modules(tree: FileTree, content: Content, made_of: Ingredients) -> None:
    if made_of.kernel_tree is None:
        key = "modules" if content.modules else "coldplug"
        raise InputError(
            f"{made_of.part}.{key}: the kernel is an image by path, and modules come from a kernel package",
            hint=f"use kernel.package, or put the modules in with {made_of.part}.files",
        )
    modules = ModuleTree(made_of.kernel_tree)
    order = modules.load_order((name for name in content.modules if name != EVERY_MODULE), f"{made_of.part}.modules")
    for name in modules.files if EVERY_MODULE in content.modules else order:
        tree.add_file(modules.archive_path(name), modules.content(name))
    if content.modules:
        tree.add_file(MODULE_LIST, "".join(f"{modules.archive_path(name)}\n" for name in order).encode())
    if content.coldplug is not None:
        assert made_of.aliases is not None  # there is a kernel tree
        plan = plan_coldplug(content.coldplug, modules, made_of.aliases, made_of.part)
        for name in plan.modules:
            tree.add_file(modules.archive_path(name), modules.content(name))
        tree.add_file(PLAN, plan.text)


def _coldplug_identity(coldplug: Coldplug, part: str) -> dict[str, Any]:
    document = coldplug.model_dump(mode="json", exclude={"devices"})
    if coldplug.devices is not None:
        document["devices"] = _hashed(f"{part}.coldplug.devices", coldplug.devices)
    return document


def _hashed(key: str, path: Path) -> tuple[str, bool]:
    try:
        return file_sha256(path), _is_executable(path)
    except OSError as error:
        raise InputError(f"{key}: {path}: {error.strerror}") from error


def _is_executable(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o111)
