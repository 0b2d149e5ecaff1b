"""Which versions of a package this machine's Debian sources have, oldest first: of a kernel, under all of its names.

A Debian kernel is in a package of another name with each change of its interface to modules: linux-image-6.1.0-50-amd64
comes after linux-image-6.1.0-49-amd64, and both are kernels of the flavour amd64.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cmp_to_key

from bootlab.build.debian.apt import PrivateApt
from bootlab.build.debian.apt_sources import suites_on_hand
from bootlab.build.debian.packages import ARCHITECTURES, PACKAGE_NAME, real_kernel, require_suite, suite_key
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import ProgramFailed, run

_KERNEL = re.compile(r"linux-image-(?:(?P<interface>\d[a-z0-9.+~]*(?:-\d+)?)-)?(?P<flavour>[a-z][a-z0-9-]*)")


@dataclass(frozen=True, slots=True)
class PackageVersion:
    """One version of a package, and the suite that has it: the first of several."""

    package: str
    version: str
    suite: str

    @property
    def wanted(self) -> str:
        """Return how `packages.fetch` is asked for it."""
        return f"{self.package}={self.version}"


def find_package_versions(shop: Workshop, name: str, suite: str | None, arch: str, *, key: str) -> list[PackageVersion]:
    """Return what a suite and the additions to it on this machine have of a package, oldest first; none for none.

    `key` is what names the package in the system file. Raises InputError, Unreachable, MissingTool, StoreError.
    """
    name = name.partition("=")[0]
    if not PACKAGE_NAME.fullmatch(name):
        raise InputError(f'{key}: "{name}" is not a Debian package name')
    debian = ARCHITECTURES[arch]
    release = require_suite(suite, key)
    # An addition names its release: of bookworm-backports the kernels of bookworm are on hand as well.
    release = release.partition("-")[0]
    found: dict[tuple[str, str], PackageVersion] = {}
    for one in suites_on_hand(shop.apt, release):
        with shop.cache.lock(f"packages-{one}-{debian}"):
            shop.tell(f"looking for versions of {name} in Debian {one}")
            archive = PrivateApt(shop, one, debian, suite_key(key))
            archive.update(force=shop.refresh)
            for stanza in archive.show_versions(_names(name, archive)):
                if real_kernel(stanza) is None:
                    version = PackageVersion(stanza.name, stanza.version, one)
                    found.setdefault((stanza.name, stanza.version), version)
    return _sorted(list(found.values()))


def flavour_of(name: str) -> str | None:
    """Return the flavour of a kernel package, such as `cloud-amd64`; None for what is no kernel."""
    kernel = _KERNEL.fullmatch(name)
    return kernel["flavour"] if kernel is not None else None


def _names(name: str, archive: PrivateApt) -> list[str]:
    flavour = flavour_of(name)
    if flavour is None:
        return [one for one in archive.names(name) if one == name]
    kernels = ((one, _KERNEL.fullmatch(one)) for one in archive.names("linux-image-"))
    return [
        one for one, kernel in kernels if kernel is not None and kernel["interface"] and kernel["flavour"] == flavour
    ]


def _sorted(versions: Sequence[PackageVersion]) -> list[PackageVersion]:
    return sorted(sorted(versions, key=lambda one: one.package), key=cmp_to_key(_compare))


def _compare(one: PackageVersion, other: PackageVersion) -> int:
    if one.version == other.version:
        return 0
    try:
        run(["dpkg", "--compare-versions", one.version, "lt", other.version], package="dpkg")
    except ProgramFailed:
        return 1
    return -1
