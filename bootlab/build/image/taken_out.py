"""What is to be removed from a root so that some of its packages are not there: their files, and what starts them.

No script of a package is run: users, alternatives and caches that its installation made stay. dpkg's database forgets
the packages, so that it is right about what is left.
"""

import re
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from bootlab.build.debian.installed_packages import INFO, STATUS, InstalledPackages, read_installed_packages
from bootlab.build.formats.cpio import Entry
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.errors import InputError

_STARTS: Final = re.compile(r"etc/systemd/system/[^/]+\.(?:wants|requires)/[^/]+|etc/rc[0-6S]\.d/[^/]+")
"""Links by which systemd and sysvinit start what they lead to."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class TakenOut:
    """`files`: paths to remove; `status`: what /var/lib/dpkg/status then holds."""

    files: tuple[str, ...]
    status: bytes


def take_out(entries: Sequence[Entry], names: Collection[str], where: str) -> TakenOut:
    """Return what is to be removed from a root for the packages `names`. `where` is the root's name, for messages.

    Raises InputError for a package that is not there, that others need, that is essential or has diverted files, and
    for a root without dpkg's database.
    """
    paths = FollowedPaths(entries)
    installed = read_installed_packages(paths, where)
    _expect_possible(installed, names)
    files = {path for path, owners in installed.owners.items() if set(owners) <= set(names)}
    plain = {name.partition(":")[0] for name in names if _is_last(name, names, installed)}
    for path, entry in paths.entries.items():
        starts = stat.S_ISLNK(entry.mode) and _STARTS.fullmatch(path) is not None
        noted = _package_of(path) if path.startswith(f"{INFO}/") else ""
        if noted in names or noted.partition(":")[0] in plain or (starts and _leads_to(paths, path, entry) in files):
            files.add(path)
    for path in files:
        if _CONTROL.search(path):
            raise InputError(f"{where}: {path!r}: a file of this name is not removed", hint="leave its package in")
    return TakenOut(tuple(sorted(files)), _without_stanzas(paths.entries[STATUS].data, set(names) | plain))


def _expect_possible(installed: InstalledPackages, names: Collection[str]) -> None:
    key = "image.without"
    for name in names:
        if name not in installed.packages:
            raise InputError(f"{key}: {name}: no such package on the image", hint="bootlab packages IMAGE lists them")
        if installed.packages[name].essential:
            raise InputError(f"{key}: {name}: is essential", hint="what is essential stays")
        if name.partition(":")[0] in installed.diverting:
            raise InputError(
                f"{key}: {name}: has diverted files of others, which only its own scripts put back",
                hint="remove it in the running system: apt-get remove",
            )
    if needing := sorted(installed.dependents(names)):
        raise InputError(f"{key}: {', '.join(needing)} need what is taken out", hint=f"add them to {key}")


def _is_last(name: str, names: Collection[str], installed: InstalledPackages) -> bool:
    """Say whether nothing of a package's plain name is left, of any architecture."""
    plain = name.partition(":")[0]
    return all(one in names for one in installed.packages if one.partition(":")[0] == plain)


def _leads_to(paths: FollowedPaths, path: str, entry: Entry) -> str:
    to = entry.data.decode(errors="surrogateescape")
    return paths.place(to if to.startswith("/") else f"{PurePosixPath(path).parent}/{to}")


def _package_of(path: str) -> str:
    """Return the package of a file of dpkg's: /var/lib/dpkg/info/NAME.list, NAME:amd64.postinst."""
    return PurePosixPath(path).name.rpartition(".")[0]


def _without_stanzas(status: bytes, names: Collection[str]) -> bytes:
    kept = []
    for stanza in re.split(rb"\n\s*\n", status):
        fields = dict(re.findall(rb"^(Package|Architecture):[ \t]*(\S+)", stanza, re.MULTILINE))
        name = fields.get(b"Package", b"").decode(errors="replace")
        full = f"{name}:{fields.get(b'Architecture', b'').decode(errors='replace')}"
        if name not in names and full not in names:
            kept.append(stanza)
    return b"\n\n".join(kept)
