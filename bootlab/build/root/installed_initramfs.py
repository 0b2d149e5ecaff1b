"""The initramfs that a distribution's own tools made while its packages were installed (Debian: initramfs-tools).

It lies in the installed root as /boot/initrd.img-RELEASE, made for whatever machine it may be booted on. Its modules
can be cut down to those that one machine uses; the modules' indexes stay as they are, and name some that are gone.
"""

import tarfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from bootlab.build.debian.apt import LISTS
from bootlab.build.debian.package_records import PACKAGES, ROOTS
from bootlab.build.debian.root import DebianRoot
from bootlab.build.formats.cpio import Entry
from bootlab.build.modules.package import ModuleTree, module_info, module_name, needed_modules, plain_module
from bootlab.build.root import archive_check
from bootlab.errors import InputError

_KEY = "initramfs.installed"
_IMAGE = "boot/initrd.img-"
_SUFFIXES = (".ko", ".ko.xz", ".ko.zst", ".ko.gz")


def read_installed(root: DebianRoot, kernel_tree: Path | None) -> list[Entry]:
    """Return the files of the initramfs in an installed root that is for the kernel of `kernel_tree`.

    Raises InputError when there is none, or one of another kernel.
    """
    release = ModuleTree(kernel_tree).release if kernel_tree is not None else None
    found: dict[str, bytes] = {}
    for path in root.tars:
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name.removeprefix("./")
                content = archive.extractfile(member) if name.startswith(_IMAGE) and member.isreg() else None
                if content is not None:
                    found[name.removeprefix(_IMAGE)] = content.read()
    if not found:
        raise InputError(
            f"{_KEY}: the packages of [rootfs] made none in /boot",
            hint="rootfs.packages needs initramfs-tools and the kernel package, linux-image-amd64 say",
        )
    if release is None and len(found) == 1:
        release = next(iter(found))
    if release is None or release not in found:
        raise InputError(
            f"{_KEY}: the kernel is {release or 'of an unknown release'}, and [rootfs] has {', '.join(sorted(found))}",
            hint="kernel.package and rootfs.packages need the same kernel package; where they have it, one was looked "
            f"up before the other: remove {LISTS}, {PACKAGES} and {ROOTS} in the cache's folder (docs/building.md), "
            "and both are looked up now",
        )
    entries = archive_check.entries(found[release])
    if entries is None:
        raise InputError(f"{_KEY}: {_IMAGE}{release}: not a cpio archive")
    return entries


def with_modules_kept(entries: Iterable[Entry], keep: Collection[str], known: Collection[str]) -> list[Entry]:
    """Return `entries` without the modules that are neither in `keep` nor needed by one of these.

    `known`: all modules of the kernel. A name of `keep` that is there and not in the archive is none to take out.
    Raises InputError for one that is in neither.
    """
    listed = list(entries)
    files = {module_name(Path(entry.path).name): entry for entry in listed if entry.path.endswith(_SUFFIXES)}
    wanted = [module_name(name) for name in keep]
    for name in wanted:
        if name not in files and name not in known:
            raise InputError(f'initramfs.keep_modules: there is no module "{name}", in the archive or for its kernel')
    kept = _closure(wanted, files)
    gone = {entry.path for name, entry in files.items() if name not in kept}
    return [entry for entry in listed if entry.path not in gone]


def _closure(wanted: Sequence[str], files: Mapping[str, Entry]) -> set[str]:
    kept, left = set[str](), list(wanted)
    while left:
        name = left.pop()
        if name in kept or name not in files:
            continue
        kept.add(name)
        entry = files[name]
        for needed in needed_modules(module_info(entry.path, plain_module(entry.path, entry.data))):
            left += needed
    return kept
