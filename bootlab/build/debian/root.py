"""Debian packages as the files of a root: exactly the packages asked for and what they depend on, unpacked.

apt of its own decides what belongs together, for any suite and architecture; no root is needed and nothing is run: the
packages' own installation scripts are not, so what these would make (users, caches, alternatives) is not there.
Recommended packages are left out. Each package is fetched once, and kept under its checksum.
"""

import json
import stat
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bootlab.build.cache import Cache
from bootlab.build.debian.apt import PrivateApt, Stanza, Unreachable
from bootlab.build.debian.package_records import ROOTS, fetch_current, is_young
from bootlab.build.debian.packages import ARCHITECTURES, PACKAGE_NAME, require_suite, suite_key
from bootlab.build.formats.cpio import Entry
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import run

MERGED = ("bin", "lib", "lib64", "sbin")
"""Links to the folders of the same name in /usr, as every installed Debian has them."""

_UNPACK_DEADLINE_S = 300.0
_TYPES = {
    tarfile.REGTYPE: stat.S_IFREG,
    tarfile.AREGTYPE: stat.S_IFREG,
    tarfile.DIRTYPE: stat.S_IFDIR,
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
}


class DebianRoot:
    """Packages with all they need, as tar archives of their files in the cache.

    `tars`: name -> archive, in the order in which they are unpacked. `identity`: what decides every byte, checksums.
    """

    def __init__(self, packages: Sequence[Stanza], tars: Mapping[str, Path], identity: Sequence[str]) -> None:
        self.packages = tuple(packages)
        self.identity = list(identity)
        self._tars = dict(tars)

    @property
    def tars(self) -> tuple[Path, ...]:
        """The archives, in the order in which they are unpacked."""
        return tuple(self._tars.values())

    def entries(self) -> Iterator[Entry]:
        """Return the files of one package after the other, in the order in which apt would install them."""
        for folder in MERGED:
            yield Entry(folder, stat.S_IFLNK | 0o777, f"usr/{folder}".encode())
            yield Entry(f"usr/{folder}", stat.S_IFDIR | 0o755)
        for name, path in self._tars.items():
            yield from _entries(name, path)


def fetch_root(shop: Workshop, names: Sequence[str], suite: str | None, arch: str, *, key: str) -> DebianRoot:
    """Return the Debian packages `names` of `suite` (by default this machine's) for `arch`, and what they depend on.

    What the cache has is used without a network until it is a month old. `key` is the system file's key for messages.
    Raises InputError (no such package, no such suite, packages that cannot be together),
    Unreachable (no network), StoreError.
    """
    cache, suite = shop.cache, require_suite(suite, key)
    expect_names(names, key)
    wanted = sorted(set(names))
    architecture = ARCHITECTURES[arch]
    place = cache.root / ROOTS / f"{cache.path('root', f'{suite} {architecture} {wanted}').name}.json"
    if (known := _read_record(place, cache)) is not None and not shop.refresh and is_young(known[1]):
        return _root(known[0], cache)
    with cache.lock(f"packages-{suite}-{architecture}"):
        known = _read_record(place, cache)
        if known is not None and not shop.refresh and is_young(known[1]):
            return _root(known[0], cache)
        try:
            archive = PrivateApt(shop, suite, architecture, suite_key(key))
            packages = _look_up(shop, wanted, archive, key, suite)
        except Unreachable as error:
            if known is None:
                raise Unreachable(f"{', '.join(wanted)}: {error.message}", hint=error.hint) from error
            shop.tell(f"{', '.join(wanted)}: could not be looked up again; using what the cache has")
            return _root(known[0], cache)
        record = {"looked_up_s": time.time(), "packages": [[one.name, one.version, one.sha256] for one in packages]}
        cache.write_text(place, json.dumps(record, indent=1) + "\n")
    return _root(packages, cache)


def expect_names(names: Sequence[str], key: str) -> None:
    """Raise InputError, which begins with `key`, for what cannot be a Debian package's name."""
    for name in names:
        if not PACKAGE_NAME.fullmatch(name):
            raise InputError(
                f'{key}: "{name}" is not a Debian package name', hint="these are like busybox-static, in lower case"
            )


def _look_up(shop: Workshop, names: Sequence[str], apt: PrivateApt, key: str, suite: str) -> list[Stanza]:
    shop.tell(f"looking up {', '.join(names)} in Debian {suite}")
    return fetch_current(
        apt, lambda: apt.closure(names, key), lambda found: _fetch_tars(shop, found, apt), refresh=shop.refresh
    )


def _fetch_tars(shop: Workshop, packages: Sequence[Stanza], apt: PrivateApt) -> None:
    for package in packages:

        def build(path: Path, package: Stanza = package) -> None:
            shop.tell(f"downloading {package.name} {package.version}")
            archive = apt.download(package, path.parent)
            path.write_bytes(run(["dpkg-deb", "--fsys-tarfile", archive], deadline_s=_UNPACK_DEADLINE_S).stdout)

        shop.cache.make("package-tar", package.sha256, build)


def _root(packages: Sequence[Stanza], cache: Cache) -> DebianRoot:
    tars = {package.name: cache.path("package-tar", package.sha256) for package in packages}
    return DebianRoot(packages, tars, [package.sha256 for package in packages])


def _read_record(place: Path, cache: Cache) -> tuple[list[Stanza], float] | None:
    try:
        document: Any = json.loads(place.read_text(encoding="utf-8"))
        packages = [Stanza(name, version, "", sha256) for name, version, sha256 in document["packages"]]
        looked_up_s = float(document["looked_up_s"])
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None
    whole = all(cache.find("package-tar", package.sha256) for package in packages)
    return (packages, looked_up_s) if whole else None


def _entries(package: str, path: Path) -> Iterator[Entry]:
    with tarfile.open(path) as archive:
        targets = {member.linkname for member in archive if member.islnk()}
        files: dict[str, Entry] = {}
        for member in archive:
            name = member.name.removeprefix("./").strip("/")
            if name in ("", "."):
                continue
            owner = (member.uid, member.gid)
            if member.islnk():
                first = files[member.linkname]
                yield Entry(name, first.mode, first.data, owner=first.owner, linked=first.linked)
                continue
            data = b""
            if member.isreg():
                content = archive.extractfile(member)
                data = content.read() if content is not None else b""
            elif member.issym():
                data = member.linkname.encode()
            mode = _TYPES[member.type] | (0o777 if member.issym() else member.mode)
            linked = f"{package} {member.name}" if member.name in targets else ""
            entry = Entry(name, mode, data, (member.devmajor, member.devminor), owner, linked)
            files[member.name] = entry if linked else Entry(name, mode)
            yield entry
