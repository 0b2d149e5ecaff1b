"""Whose a file is that a boot used: of the root file system by its path, of the initramfs by what is in it.

initramfs-tools and dracut put files of packages into the initramfs under other names: a hook's script is
/scripts/init-top/udev there and /usr/share/initramfs-tools/scripts/init-top/udev in the root, with the same content.
"""

import stat
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from bootlab.build.debian.installed_packages import InstalledPackages
from bootlab.build.formats.cpio import Entry
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.findings.packages.owner import UNKNOWN, Owner, OwnerKind, owner_of
from bootlab.profile.tables.processes import Process

_SWITCHERS: Final = frozenset({"run-init", "switch_root"})
"""Programs by which the first process leaves the initramfs."""


class FileOwners:
    """The files of a root file system and of the initramfs before it, if any, with the packages that they belong to."""

    def __init__(self, installed: InstalledPackages, initramfs: Sequence[Entry] | None) -> None:
        self.installed = installed
        self.initramfs = FollowedPaths(initramfs) if initramfs is not None else None

    def owner(self, path: str, *, early: bool) -> Owner:
        """Return whose the file is that `path` leads to; `early`: while the initramfs was the root.

        UNKNOWN for what is not there, as what is made while the system boots, and for a path without a beginning.
        """
        if not path.startswith("/"):
            return UNKNOWN
        if early and self.initramfs is not None:
            target = self.initramfs.target(path)
            return owner_of(self._of_archive(target), path) if target is not None else UNKNOWN
        owners, target = self.installed.owner(path), self.installed.paths.target(path)
        return owner_of(owners, target or path) if owners or target is not None else UNKNOWN

    def has(self, path: str, *, early: bool) -> bool:
        """Say whether `path` leads to a file."""
        return self.file(path, early=early) is not None

    def file(self, path: str, *, early: bool) -> tuple[str, int] | None:
        """Return where the file lies that `path` leads to, and its bytes; None where it leads to none."""
        paths = self.initramfs if early and self.initramfs is not None else self.installed.paths
        target = paths.target(path) if path.startswith("/") else None
        if target is None or not stat.S_ISREG(paths.entries[target].mode):
            return None
        return target, paths.entries[target].size

    def switched_ns(self, first: Process | None) -> int:
        """Return when the first process left the initramfs: from then on a path is one of the root file system.

        0 without an initramfs. A process that never left it has all its paths there.
        """
        if self.initramfs is None:
            return 0
        programs = first.programs if first is not None else ()
        if programs and not self.has(programs[0][1], early=True) and self.has(programs[0][1], early=False):
            # An archive without an init is left by the kernel itself.
            return 0
        for (_, path), (t_ns, _) in zip(programs, programs[1:], strict=False):
            if PurePosixPath(path).name in _SWITCHERS:
                return t_ns
        # systemd in the initramfs, and a shell with a switch_root of its own, execute the next init themselves.
        there = [t_ns for t_ns, path in programs[1:] if self.has(path, early=False)]
        return there[-1] if there else 1 << 63

    @cached_property
    def archive_files(self) -> Mapping[Owner, list[Entry]]:
        """The initramfs's files by whose they are; of several names of one file the first has it."""
        found: dict[Owner, list[Entry]] = {}
        seen = set[str]()
        for path, entry in self.initramfs.entries.items() if self.initramfs is not None else ():
            if not stat.S_ISREG(entry.mode) or entry.linked in seen:
                continue
            seen |= {entry.linked} - {""}
            owners = self._of_archive(path)
            owner = owner_of(owners, "") if owners else Owner(OwnerKind.UNPACKAGED, "of the initramfs")
            found.setdefault(owner, []).append(entry)
        return found

    def _of_archive(self, path: str) -> tuple[str, ...]:
        assert self.initramfs is not None
        entry = self.initramfs.entries[path]
        if entry.size and (same := self._by_content.get(entry.data)) is not None:
            return same
        # A program may have been stripped, a configuration changed: it goes by its name then.
        return self.installed.owner(path)

    @cached_property
    def _by_content(self) -> Mapping[bytes, tuple[str, ...]]:
        if self.initramfs is None:
            return {}
        sizes = {entry.size for entry in self.initramfs.entries.values()}
        found: dict[bytes, tuple[str, ...]] = {}
        for path, owners in self.installed.owners.items():
            entry = self.installed.paths.entries[path]
            if stat.S_ISREG(entry.mode) and entry.size in sizes:
                # Several packages may have the same text, as a licence: then nobody's name is on it.
                known = found.setdefault(entry.data, owners)
                if known != owners:
                    found[entry.data] = tuple(sorted({*known, *owners}))
        return found
