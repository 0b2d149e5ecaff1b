"""An initramfs from a recipe: busybox, init, files and kernel modules in a newc archive, the same bytes every time.

Modules are stored uncompressed below /lib/modules, and /etc/bootlab/modules lists their paths in load order, so that
a small init needs no modprobe: `while read -r module; do insmod "$module"; done </etc/bootlab/modules`.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from bootlab.build import archive_check, cpio
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.compress import compress
from bootlab.build.modules import ModuleTree
from bootlab.errors import BootlabError, InputError
from bootlab.system import Initramfs

BUSYBOX = "/bin/busybox"
"""Where a recipe with busybox = true carries it; `programs` must have it under this path."""
MODULE_LIST = "/etc/bootlab/modules"
EVERY_MODULE = "*"
"""As a name in the recipe's modules: every module goes into the archive; only those named go into the load list."""

_FORMAT = 1  # of the archive that a recipe makes; a new number makes cached archives be built again
_FOLDERS = ("dev", "etc", "mnt", "proc", "root", "run", "sbin", "sys")
_APPLET = re.compile(rb"[a-z0-9_.\-\[]{1,24}")


def build(recipe: Initramfs, arch: str, kernel_tree: Path | None, programs: Mapping[str, Path], cache: Cache) -> Path:
    """Return the archive that `recipe` describes, from the cache when it was made before.

    `kernel_tree` is the unpacked kernel package that modules come from, `programs` maps a path in the archive to a
    file made for `arch`. Raises InputError for what the recipe asks and cannot be had.
    """
    key = _key(recipe, arch, kernel_tree, programs)

    def write(path: Path) -> None:
        path.write_bytes(compress(_archive(recipe, kernel_tree, programs), recipe.compression))

    return cache.make("initramfs", key, write)


def contents(path: Path) -> list[cpio.Entry] | None:
    """Return what the archive at `path` carries, in order; None when its form is not known here.

    Raises InputError when it is cut short or damaged.
    """
    try:
        return archive_check.entries(path.read_bytes())
    except InputError as error:
        raise InputError(f"{path}: {error.message}") from error


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


def _archive(recipe: Initramfs, kernel_tree: Path | None, programs: Mapping[str, Path]) -> bytes:
    archive = cpio.Archive()
    for folder in _FOLDERS:
        archive.directory(folder)
    archive.directory("tmp", 0o1777)
    archive.device("dev/console", 5, 1)
    archive.device("dev/null", 1, 3, 0o666)
    if recipe.init is not None:
        archive.file("init", recipe.init.read_bytes(), 0o755)
    for name, path in programs.items():
        if name != BUSYBOX or recipe.busybox:
            archive.file(name, path.read_bytes(), 0o755)
    for name, path in recipe.files.items():
        if name in archive:
            raise InputError(f'initramfs.files."{name}": the recipe puts its own file there')
        archive.file(name, path.read_bytes(), 0o755 if _is_executable(path) else 0o644)
    if recipe.busybox:
        _add_applets(archive, programs)
    if recipe.modules:
        _add_modules(archive, recipe, kernel_tree)
    return archive.to_bytes()


def _add_applets(archive: cpio.Archive, programs: Mapping[str, Path]) -> None:
    folder = str(Path(BUSYBOX).parent)
    for name in applets(programs[BUSYBOX].read_bytes()):
        if f"{folder}/{name}" not in archive:
            archive.link(f"{folder}/{name}", Path(BUSYBOX).name)


def _add_modules(archive: cpio.Archive, recipe: Initramfs, kernel_tree: Path | None) -> None:
    if kernel_tree is None:
        raise InputError(
            "initramfs.modules: the kernel is an image by path, and modules come from a kernel package",
            hint="use kernel.package, or put the modules in with initramfs.files",
        )
    tree = ModuleTree(kernel_tree)
    order = tree.load_order(name for name in recipe.modules if name != EVERY_MODULE)
    for name in tree.files if EVERY_MODULE in recipe.modules else order:
        archive.file(tree.archive_path(name), tree.content(name))
    archive.file(MODULE_LIST, "".join(f"{tree.archive_path(name)}\n" for name in order).encode())


def _key(recipe: Initramfs, arch: str, kernel_tree: Path | None, programs: Mapping[str, Path]) -> str:
    document = {
        "format": _FORMAT,
        "arch": arch,
        "busybox": recipe.busybox,
        "compression": recipe.compression,
        "modules": recipe.modules,
        "kernel": _tree_identity(kernel_tree) if kernel_tree is not None and recipe.modules else None,
        "init": recipe.init and _hashed("initramfs.init", recipe.init),
        "files": {name: _hashed(f'initramfs.files."{name}"', path) for name, path in recipe.files.items()},
        "programs": {name: file_sha256(path) for name, path in programs.items()},
    }
    return json.dumps(document, sort_keys=True)


def _tree_identity(tree: Path) -> str:
    # A package keeps its files' times, so this is the same wherever it is unpacked, and a thousand modules need not
    # be read on every boot.
    facts = []
    for path in sorted(tree.glob("**/modules/**/*")):
        if path.is_file():
            stat = path.stat()
            facts.append(f"{path.relative_to(tree)} {stat.st_size} {int(stat.st_mtime)}")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


def _hashed(key: str, path: Path) -> tuple[str, bool]:
    try:
        return file_sha256(path), _is_executable(path)
    except OSError as error:
        raise InputError(f"{key}: {path}: {error.strerror}") from error


def _is_executable(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o111)
