"""The kinds of things that the cache holds: a folder each, what is in it in plain words, and what of it may go.

A kind that is not here is somebody else's: it is named, and left alone.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from bootlab.build.cache import LOCKS, NOTES
from bootlab.build.debian.apt import LISTS
from bootlab.build.debian.package_records import PACKAGES, ROOTS


class Layout(Enum):
    """How a kind's folder is filled, which says how one of its items is taken away safely."""

    ENTRIES = auto()
    """By `Cache.make`: each under the hash of its key, with a lock and a note."""
    WORK_FOLDERS = auto()
    """Folders that a bootlab changes while it holds their lock, and hands out to nobody."""
    FILES = auto()
    """Small files that are replaced whole, and written again where they are missing."""
    NOTES = auto()
    """The notes on entries, which go with them."""
    SCRATCH = auto()
    """What a call makes at the cache's top for its own time."""
    LEFT_ALONE = auto()


@dataclass(frozen=True, slots=True)
class CacheKind:
    """One kind. `name`: its folder; `lock`: of a work folder, what its lock's name begins with."""

    name: str
    holds: str
    layout: Layout = Layout.ENTRIES
    lock: str = ""
    only_named: bool = False
    """Whether it goes only where it is named: by age alone, what is still in use would be lost."""
    why_left: str = ""
    """Why nothing of it goes."""


SCRATCH: Final = "scratch"
SCRATCH_PREFIXES: Final = ("bootlab-root-", "bootlab-image-")
"""Of temporary folders at the cache's top."""


def _left(name: str, holds: str, why: str) -> CacheKind:
    return CacheKind(name, holds, Layout.LEFT_ALONE, why_left=why)


_KINDS: Final = (
    CacheKind("bisect-build", "what bisections built of commits"),
    CacheKind("bootloader", "bootloaders, built"),
    CacheKind("busybox", "busybox, built"),
    CacheKind("card", "card images of boards"),
    CacheKind("cards-of-builds", "card images of Buildroot and Yocto, made longer"),
    CacheKind("cluster-input", "inputs that a cluster's client sent to this worker"),
    CacheKind("cluster-kernel", "kernels that this worker compiled, as they are sent"),
    CacheKind("cluster-part", "kernels' symbols, as they are sent to workers"),
    CacheKind("cluster-source", "kernel sources, as they are sent to workers"),
    CacheKind("disk", "empty disks and swap disks"),
    CacheKind("dtb", "device trees, compiled"),
    CacheKind("firmware", "UEFI firmware, built from source"),
    CacheKind("firmware-variables", "UEFI firmware's empty variables"),
    CacheKind("flash", "flash chips of boards"),
    CacheKind("found", "what a power-on finds: disks and RAM that an earlier boot left, with its fault"),
    CacheKind("guest", "bootlab's own programs for guests"),
    CacheKind("guest-map", "symbols of bootlab's own programs"),
    CacheKind("image", "disk images made of packages"),
    CacheKind("image-changed", "disk images changed by techniques"),
    CacheKind("image-contents", "what was read of disk images: kernels, initramfs, loaders' files"),
    CacheKind("initramfs", "initramfs archives, packed or unpacked"),
    CacheKind("installing", "roots while mmdebstrap makes them"),
    CacheKind("kconfig-options", "options of kernel sources"),
    CacheKind("kept-root", "roots kept in RAM, as a boot finds them"),
    CacheKind("kernel", "kernels, built, with modules and debug information"),
    CacheKind("kernel-base", "configurations that kernels begin with"),
    CacheKind("kernel-config", "configurations of kernels, completed"),
    CacheKind("kernel-facts", "symbols and types of kernels, decoded"),
    CacheKind("kernel-source", "kernel sources, unpacked and patched"),
    CacheKind("left", "what a boot left behind: its disks and RAM"),
    CacheKind("life", "disk images as their earlier lives left them"),
    CacheKind("module-aliases", "which modules are for which devices"),
    CacheKind("package", "Debian's packages, unpacked"),
    CacheKind("package-tar", "Debian's packages, and roots installed of them, as archives"),
    CacheKind("padded", "initramfs archives with room for ACPI tables"),
    CacheKind("plugin", "QEMU's plugin, compiled"),
    CacheKind("program", "programs of systems, compiled"),
    CacheKind("program-map", "symbols of systems' programs"),
    CacheKind("root-surveys", "what is in roots that were handed over"),
    CacheKind("rootfs", "root file systems, packed"),
    CacheKind("source-package", "Debian's source packages, unpacked"),
    CacheKind("source-program", "programs built from source, and logs of builds that failed"),
    CacheKind("source-tarball", "tarballs of Debian's source packages"),
    CacheKind("unpacked-images", "disk images, unpacked"),
    CacheKind("vmlinux", "kernels out of their compressed images"),
    CacheKind("whole", "which archives were found to be whole"),
    CacheKind(LISTS, "apt's lists of packages", Layout.WORK_FOLDERS, lock="packages-"),
    CacheKind("bisect", "checkouts of bisections", Layout.WORK_FOLDERS, lock="bisect-"),
    CacheKind("kernel-objects", "objects of kernel and bootloader builds, for the next build", Layout.WORK_FOLDERS),
    CacheKind("cluster-log", "logs of kernels that did not compile on workers", Layout.FILES),
    CacheKind("kernel-trees", "hashes of the files of your own source trees", Layout.FILES),
    CacheKind(PACKAGES, "which version the name of a package means", Layout.FILES, only_named=True),
    CacheKind(ROOTS, "which packages a root is made of", Layout.FILES, only_named=True),
    CacheKind(NOTES, "notes on entries: what they hold, when they were last used", Layout.NOTES),
    CacheKind(SCRATCH, "temporary folders of killed calls, at the cache's top", Layout.SCRATCH),
    _left("ccache", "compiled files of kernels and programs", "ccache keeps it below 5 GB by itself"),
    _left("clean-root", "roots of scripts/clean-root", "it is a script's, for who works on bootlab itself"),
    _left(LOCKS, "locks of entries, and which bootlabs run", "they are empty files"),
    _left("python", "Python's libraries for the Debian package", "bootlab runs from it"),
    _left("same-answers", "what scripts/same-answers compares", "it is a script's, for who works on bootlab itself"),
    _left("zig", "what zig compiled", "zig has no lock that would say whether it is in use"),
)
KINDS: Final = {kind.name: kind for kind in _KINDS}
REMOVABLE: Final = tuple(sorted(kind.name for kind in _KINDS if kind.layout is not Layout.LEFT_ALONE))
"""What --kind takes."""
