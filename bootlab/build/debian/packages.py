"""Debian packages of any suite and architecture, fetched once and unpacked into the cache."""

import difflib
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bootlab.build.debian.apt import PrivateApt, Stanza
from bootlab.build.debian.package_records import (
    MAX_AGE_DAYS,
    PackageRecord,
    Wanted,
    fetch_current,
    find_known,
    look_up,
    remember,
)
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import run

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7": "armhf", "riscv64": "riscv64"}
"""Machine architecture -> Debian's name for it."""

_SUITE = re.compile(r"[a-z][a-z0-9-]*")
PACKAGE_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
"""Of binary and source packages alike (Debian Policy, 5.6.1 and 5.6.7)."""
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+~:-]*")
"""Debian Policy, 5.6.12."""
_REAL_KERNEL = re.compile(r"\blinux-image-\d[a-z0-9+.~-]*")
_UNPACK_DEADLINE_S = 300.0
_KIND = "package"


@dataclass(frozen=True, slots=True)
class Package:
    """A Debian package, unpacked."""

    name: str
    """The package that was unpacked: for a meta package the kernel that it stands for."""
    version: str
    arch: str
    suite: str
    tree: Path
    """Its files, as below /. Shared: never to be changed."""
    sha256: str
    """Hash of the .deb."""
    notes: tuple[str, ...] = ()
    """What a user should know: an old copy was used, or the version has changed."""


_SUITE_KEYS = {"machine.firmware": "machine.firmware_suite"}


def suite_key(key: str) -> str:
    """Return the key of a system file that gives the Debian suite of what `key` names: it stands beside it."""
    return _SUITE_KEYS.get(key, f"{key.rpartition('.')[0]}.suite")


def require_suite(asked: str | None, key: str) -> str:
    """Return the Debian suite that is asked for, by default this machine's, of what `key` names.

    Raises InputError for what cannot be one, and when the machine does not say what it is.
    """
    suite = asked or _machine_suite(key)
    if not _SUITE.fullmatch(suite):
        raise InputError(
            f'{suite_key(key)}: "{suite}" is not a Debian suite', hint='for example "bookworm" or "trixie"'
        )
    return suite


def _machine_suite(key: str) -> str:
    for path in (Path("/etc/os-release"), Path("/usr/lib/os-release")):
        if path.is_file():
            match = re.search(r"^VERSION_CODENAME=\"?([a-z]+)\"?$", path.read_text(encoding="utf-8"), re.MULTILINE)
            return match[1] if match else "sid"
    raise InputError(
        f"{suite_key(key)}: not given, and this machine does not say what it runs",
        hint=f'for example {suite_key(key)} = "bookworm"',
    )


def fetch(
    shop: Workshop,
    name: str,
    suite: str | None,
    arch: str,
    *,
    key: str = "kernel.package",
    max_age_days: float = MAX_AGE_DAYS,
) -> Package:
    """Return the Debian package `name` of `suite` (by default this machine's) for `arch`, unpacked.

    `name` may be `NAME=VERSION`, as for apt.
    What the cache has is used again without a network until it is `max_age_days` old. `key` is what asks for it in the
    system file.
    Raises InputError (unknown package or suite), Unreachable (no network, not in the cache), MissingTool, StoreError.
    """
    suite = require_suite(suite, key)
    plain, equals, version = name.partition("=")
    if not PACKAGE_NAME.fullmatch(plain) or (equals and not _VERSION.fullmatch(version)):
        raise InputError(f'"{name}" is not a Debian package name', hint="NAME, or NAME=VERSION")
    debian = ARCHITECTURES[arch]

    def download() -> PackageRecord:
        shop.tell(f"looking up {name} in Debian {suite}")
        archive = PrivateApt(shop, suite, debian, suite_key(key))
        package = fetch_current(
            archive,
            lambda: _resolve(name, archive, suite, key),
            lambda found: _unpacked(shop, found, archive),
            refresh=shop.refresh,
        )
        return PackageRecord(package.name, package.version, package.sha256, time.time())

    wanted = Wanted(name, suite, debian, _KIND, name)
    record, notes = look_up(shop, wanted, download, max_age_days=max_age_days)
    tree = shop.cache.path(_KIND, record.sha256)
    return Package(record.name, record.version, arch, suite, tree, record.sha256, notes)


def fetch_all(
    shop: Workshop, names: Sequence[str], suite: str, arch: str, *, key: str = "kernel.package"
) -> list[Package]:
    """Return many packages as `fetch` does one, in the order of `names`: what the cache has not is fetched at once.

    What the cache has is used however old it is. Raises as `fetch`, but Unreachable for any that is not in the cache.
    """
    cache, debian = shop.cache, ARCHITECTURES[arch]
    wanted = {name: Wanted(name, suite, debian, _KIND, name) for name in names}
    with cache.lock(f"packages-{suite}-{debian}"):
        records = {name: record for name, one in wanted.items() if (record := find_known(one, cache))}
        missing = [name for name in wanted if name not in records]
        if missing:
            shop.tell(f"looking up {len(missing)} packages in Debian {suite}")
            archive = PrivateApt(shop, suite, debian, suite_key(key))
            packages = fetch_current(
                archive,
                lambda: _resolve_all(missing, archive, suite, key),
                lambda found: _unpack_all(shop, found, archive),
                refresh=False,
            )
            for one in packages:
                records[one.name] = PackageRecord(one.name, one.version, one.sha256, time.time())
                remember(wanted[one.name], records[one.name], cache)
    trees = {name: cache.path(_KIND, record.sha256) for name, record in records.items()}
    return [Package(name, records[name].version, arch, suite, trees[name], records[name].sha256) for name in names]


def _resolve_all(names: Sequence[str], apt: PrivateApt, suite: str, key: str) -> list[Stanza]:
    found = apt.show_all(names)
    for name in names:
        if name not in found:
            raise _unknown(name, apt, suite, key)
    return [found[name] for name in names]


def _unpack_all(shop: Workshop, packages: Sequence[Stanza], apt: PrivateApt) -> None:
    needed = [package for package in packages if not shop.cache.find(_KIND, package.sha256)]
    shop.tell(f"downloading {len(needed)} packages")
    with TemporaryDirectory(prefix="bootlab-") as folder:
        archives = apt.download_all(needed, Path(folder)) if needed else {}
        for package in needed:
            shop.cache.make(_KIND, package.sha256, partial(_extract, archives[package.name]))


def _extract(archive: Path, tree: Path) -> None:
    run(["dpkg-deb", "--extract", archive, tree], deadline_s=_UNPACK_DEADLINE_S, package="dpkg")


def _resolve(name: str, apt: PrivateApt, suite: str, key: str) -> Stanza:
    package = apt.show(name)
    if package is None:
        raise _unknown(name, apt, suite, key)
    if (real := real_kernel(package)) is not None:
        return _resolve(real, apt, suite, key)
    return package


def real_kernel(package: Stanza) -> str | None:
    """Return the kernel package that a meta package stands for; None for what is none.

    linux-image-cloud-amd64 and its like are empty and depend on the kernel of the day.
    """
    found = _REAL_KERNEL.search(package.depends) if package.name.startswith("linux-image-") else None
    return found[0] if found is not None else None


def _unpacked(shop: Workshop, package: Stanza, apt: PrivateApt) -> Path:
    def build(tree: Path) -> None:
        shop.tell(f"downloading {package.name} {package.version}")
        archive = apt.download(package, tree.parent)
        _extract(archive, tree)
        archive.unlink()

    return shop.cache.make(_KIND, package.sha256, build)


def _unknown(name: str, apt: PrivateApt, suite: str, key: str) -> InputError:
    family = name.split("-")[0]
    near = difflib.get_close_matches(name, apt.names(family), n=3)
    hint = f"did you mean {', '.join(near)}?" if near else f"{suite_key(key)} names the Debian release that has it"
    return InputError(f'{key}: Debian {suite} has no package "{name}"', hint=hint)
