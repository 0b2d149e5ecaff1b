"""Debian source packages of any suite, fetched once: unpacked with Debian's patches, or as their upstream tarball.

As with binary packages, what the cache has is used again, and looked up anew only after a month or when asked to.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.debian.apt import PrivateApt, SourceStanza
from bootlab.build.debian.apt_sources import SOURCE
from bootlab.build.debian.package_records import MAX_AGE_DAYS, PackageRecord, Wanted, fetch_current, look_up
from bootlab.build.debian.packages import PACKAGE_NAME, require_suite, suite_key
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError
from bootlab.process import run

_UNPACK_DEADLINE_S = 900.0


@dataclass(frozen=True, slots=True)
class SourcePackage:
    """A Debian source package, in the cache."""

    name: str
    version: str
    suite: str
    tree: Path
    """Its source, unpacked and patched, or a folder with its upstream tarball. Shared: never to be changed."""
    sha256: str
    """Hash of the .dsc, which has the checksums of all the rest, or of the tarball."""
    notes: tuple[str, ...] = ()
    """What a user should know: an old copy was used, or the version has changed."""


@dataclass(frozen=True, slots=True)
class _PackageForm:
    """How a source package is kept."""

    kind: str
    """Of the cache's entries."""
    ending: str
    """Of the file whose checksum stands for the package."""
    make: Callable[[SourceStanza, PrivateApt, Path], None]
    """Downloads it and makes the folder."""


def fetch_source(shop: Workshop, name: str, suite: str | None, *, key: str) -> SourcePackage:
    """Return the Debian source package `name` of `suite` (by default this machine's), unpacked.

    `key` is what the system file calls it, for messages. What the cache has is used again without a network until it
    is a month old.
    Raises InputError (unknown package or suite), Unreachable (no network, not in the cache), MissingTool, StoreError.
    """
    return _fetch(shop, _PATCHED, name, suite, key)


def fetch_upstream(shop: Workshop, name: str, suite: str | None, *, key: str) -> SourcePackage:
    """Return a folder with the tarball of the release that the Debian source package `name` of `suite` is made of.

    For what is built as its authors released it. Everything else is as of `fetch_source`.
    """
    return _fetch(shop, _UPSTREAM, name, suite, key)


def _fetch(shop: Workshop, form: _PackageForm, name: str, suite: str | None, key: str) -> SourcePackage:
    suite = require_suite(suite, key)
    if not PACKAGE_NAME.fullmatch(name):
        raise InputError(f'{key}: "{name}" is not the name of a Debian source package')

    def download() -> PackageRecord:
        shop.tell(f"looking up the source of {name} in Debian {suite}")
        archive = PrivateApt(shop, suite, SOURCE, suite_key(key))
        package = fetch_current(
            archive,
            lambda: _resolve(name, archive, suite, key),
            lambda found: _kept(shop, form, found, archive),
            refresh=shop.refresh,
        )
        return PackageRecord(package.name, package.version, _sha256(form, package), time.time())

    wanted = Wanted(name, suite, SOURCE, form.kind, f"{key}: the source of {name}")
    record, notes = look_up(shop, wanted, download, max_age_days=MAX_AGE_DAYS)
    return SourcePackage(name, record.version, suite, shop.cache.path(form.kind, record.sha256), record.sha256, notes)


def _resolve(name: str, apt: PrivateApt, suite: str, key: str) -> SourceStanza:
    package = apt.show_source(name)
    if package is None:
        raise InputError(
            f'{key}: Debian {suite} has no source package "{name}"',
            hint="packages.debian.org says of every package which source it is built from",
        )
    return package


def _sha256(form: _PackageForm, package: SourceStanza) -> str:
    found = [sha256 for name, sha256 in package.files if re.search(form.ending, name)]
    if len(found) != 1:
        raise BootlabError(f"{package.name} {package.version}: {len(found)} files {form.ending}, expected one")
    return found[0]


def _kept(shop: Workshop, form: _PackageForm, package: SourceStanza, apt: PrivateApt) -> Path:
    def build(tree: Path) -> None:
        shop.tell(f"downloading the source of {package.name} {package.version}")
        form.make(package, apt, tree)

    return shop.cache.make(form.kind, _sha256(form, package), build)


def _unpack(package: SourceStanza, apt: PrivateApt, tree: Path) -> None:
    dsc = apt.download_source(package, tree.parent)
    # Its checksums are in the archive's signed list, which apt has looked at.
    argv = ["dpkg-source", "--no-check", "--extract", dsc.name, tree.name]
    run(argv, cwd=tree.parent, deadline_s=_UNPACK_DEADLINE_S, package="dpkg-dev")


def _keep_tarball(package: SourceStanza, apt: PrivateApt, tree: Path) -> None:
    tarball = apt.download_upstream(package, tree.parent)
    tree.mkdir()
    tarball.rename(tree / tarball.name)


_PATCHED = _PackageForm("source-package", r"\.dsc$", _unpack)
_UPSTREAM = _PackageForm("source-tarball", r"\.orig\.tar\.\w+$", _keep_tarball)
