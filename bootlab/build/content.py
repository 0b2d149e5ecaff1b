"""A recipe's content -> the files of an initramfs or a root file system, the same on every run.

Later sources lie over earlier ones, by the rules of `file_tree`: packages; the directory; the folders that every Linux
has, where they are missing; bootlab's own programs and busybox; init; files; modules. busybox's applets take only names
that are still free, so that a package's own `ls` stays. `without` leaves out at last.

Modules are stored uncompressed below /lib/modules, and /etc/bootlab/modules lists their paths in load order, so that
a small init needs no modprobe: `while read -r module; do insmod "$module"; done </etc/bootlab/modules`.

Times are zero. File capabilities and other extended attributes are lost; setuid bits, owners of packages' files, hard
links and device nodes are kept.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from bootlab.build.cache import file_sha256
from bootlab.build.cpio import Entry
from bootlab.build.debian_root import DebianRoot
from bootlab.build.file_tree import FileTree
from bootlab.build.modules import ModuleTree
from bootlab.errors import BootlabError, InputError
from bootlab.system import Content, Rootfs

BUSYBOX = "/bin/busybox"
"""Where a recipe with busybox = true carries it; `programs` must have it under this path."""
MODULE_LIST = "/etc/bootlab/modules"
EVERY_MODULE = "*"
"""As a name in the recipe's modules: every module goes into the archive; only those named go into the load list."""

_FORMAT = 3  # of what a recipe makes; a new number makes cached archives be built again
_FOLDERS = ("dev", "etc", "mnt", "proc", "root", "run", "sbin", "sys")
_ENTRY = re.compile(r"[0-9a-f]{64}")
_APPLET = re.compile(rb"[a-z0-9_.\-\[]{1,24}")

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ingredients:
    """What a recipe is made of besides the files that it names; all of it on this host."""

    part: str
    """Of the system file: `initramfs` or `rootfs`, for messages."""
    arch: str
    programs: Mapping[str, Path] = field(default_factory=dict)
    """Path in the guest -> a file made for `arch`."""
    packages: DebianRoot | None = None
    kernel_tree: Path | None = None
    """The unpacked kernel package, or the built kernel, that modules come from."""


def collect(content: Content, made_of: Ingredients, tell: Tell = lambda line: None) -> tuple[Entry, ...]:
    """Return the files of `content`, sorted by path.

    `tell` gets a line about what the user should know. Raises InputError that names the key of what cannot be had.
    """
    tree = FileTree()
    for entry in made_of.packages.entries() if made_of.packages is not None else ():
        tree.add(entry)
    if content.directory is not None:
        _lay_directory(tree, content.directory, f"{made_of.part}.directory", tell)
    _add_folders(tree)
    for name, path in made_of.programs.items():
        if name != BUSYBOX or content.busybox:
            tree.file(name, path.read_bytes(), 0o755)
    if content.init is not None:
        tree.file("init", content.init.read_bytes(), 0o755)
        if isinstance(content, Rootfs):
            # On a root file system the kernel looks for /sbin/init, unless told otherwise.
            tree.link("sbin/init", "/init")
    for name, path in content.files.items():
        if f"/{name.lstrip('/')}" in made_of.programs:
            raise InputError(
                f'{made_of.part}.files."{name}": the recipe puts its own file there', hint="give yours another path"
            )
        tree.file(name, path.read_bytes(), 0o755 if _is_executable(path) else 0o644)
    if content.modules:
        _add_modules(tree, content, made_of)
    if content.busybox:
        _add_applets(tree, made_of.programs)
    for path_ in content.without:
        if not tree.remove(path_):
            tell(f"{made_of.part}.without: {path_} is not there")
    return tree.entries()


def identity(content: Content, made_of: Ingredients) -> str:
    """Return what decides every byte of `content`, as text: files count by what they hold, never by path.

    Raises InputError that names the key of a file that cannot be read.
    """
    part, tree = made_of.part, made_of.kernel_tree
    document = {
        "format": _FORMAT,
        "arch": made_of.arch,
        "packages": made_of.packages.identity if made_of.packages is not None else None,
        "directory": content.directory and _directory_identity(content.directory, f"{part}.directory"),
        "busybox": content.busybox,
        "modules": content.modules,
        "kernel": _tree_identity(tree) if tree is not None and content.modules else None,
        "init": content.init and _hashed(f"{part}.init", content.init),
        "files": {name: _hashed(f'{part}.files."{name}"', path) for name, path in content.files.items()},
        "programs": {name: file_sha256(path) for name, path in made_of.programs.items()},
        "without": content.without,
    }
    return json.dumps(document, sort_keys=True)


def applets(busybox: bytes) -> list[str]:
    """Return the names that a busybox binary answers to, read from its own table, so any architecture's will do.

    Raises BootlabError when the binary has no such table.
    """
    # busybox finds an applet by binary search: its names lie in one sorted run of C strings, the longest there is.
    best: list[bytes] = []
    run: list[bytes] = []
    for word in busybox.split(b"\0"):
        if not _APPLET.fullmatch(word):
            run = []
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
            tree.directory(folder)
    if "tmp" not in tree:
        tree.directory("tmp", 0o1777)
    tree.device("dev/console", 5, 1)
    tree.device("dev/null", 1, 3, 0o666)


def _lay_directory(tree: FileTree, folder: Path, key: str, tell: Tell) -> None:
    linked: dict[tuple[int, int], str] = {}
    for path, name in _walk(folder, key):
        status = path.lstat()
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


def _directory_identity(folder: Path, key: str) -> str:
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


def _add_applets(tree: FileTree, programs: Mapping[str, Path]) -> None:
    folder = str(Path(BUSYBOX).parent)
    for name in applets(programs[BUSYBOX].read_bytes()):
        if f"{folder}/{name}" not in tree:
            tree.link(f"{folder}/{name}", Path(BUSYBOX).name)


def _add_modules(tree: FileTree, content: Content, made_of: Ingredients) -> None:
    if made_of.kernel_tree is None:
        raise InputError(
            f"{made_of.part}.modules: the kernel is an image by path, and modules come from a kernel package",
            hint=f"use kernel.package, or put the modules in with {made_of.part}.files",
        )
    modules = ModuleTree(made_of.kernel_tree)
    order = modules.load_order((name for name in content.modules if name != EVERY_MODULE), f"{made_of.part}.modules")
    for name in modules.files if EVERY_MODULE in content.modules else order:
        tree.file(modules.archive_path(name), modules.content(name))
    tree.file(MODULE_LIST, "".join(f"{modules.archive_path(name)}\n" for name in order).encode())


@lru_cache
def _tree_identity(tree: Path) -> str:
    # An entry of the cache never changes and is named by what it was made from, wherever the cache lies, so a thousand
    # modules need not be read on every boot.
    for at, name in enumerate(tree.parts):
        if _ENTRY.fullmatch(name):
            return "/".join(tree.parts[at - 1 :])
    facts = (f"{path.relative_to(tree)} {file_sha256(path)}" for path in sorted(tree.rglob("*")) if path.is_file())
    return hashlib.sha256("\n".join(facts).encode(errors="surrogateescape")).hexdigest()


def _hashed(key: str, path: Path) -> tuple[str, bool]:
    try:
        return file_sha256(path), _is_executable(path)
    except OSError as error:
        raise InputError(f"{key}: {path}: {error.strerror}") from error


def _is_executable(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o111)
