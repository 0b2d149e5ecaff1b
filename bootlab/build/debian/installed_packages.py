"""Which packages a root file system holds, as dpkg's own database in it says: their files, and who needs whom.

    var/lib/dpkg/status               a stanza a package: its state, what it depends on, whether it is essential
    var/lib/dpkg/info/NAME.list       the paths that it put there; NAME:ARCH.list where it is one of several
    var/lib/dpkg/diversions           whose file of a name was put elsewhere, three lines each

The database is the guest's, and may say anything: what cannot be is left out, and told as a doubt.
"""

import re
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from bootlab.build.debian.packages import PACKAGE_NAME
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.errors import InputError

STATUS: Final = "var/lib/dpkg/status"
INFO: Final = "var/lib/dpkg/info"
_DIVERSIONS: Final = "var/lib/dpkg/diversions"
_OTHERS: Final = {
    "usr/lib/sysimage/rpm": "rpm",
    "var/lib/rpm": "rpm",
    "lib/apk/db/installed": "apk",
    "usr/lib/apk/db/installed": "apk",
    "var/lib/pacman/local": "pacman",
    "usr/lib/opkg/status": "opkg",
    "var/lib/opkg/status": "opkg",
    "var/lib/dpkg/status.d": "dpkg's of an image without a package manager",
    "nix/var/nix/db": "Nix's",
}
"""Where other package managers keep their database, and whose it is."""
_THERE: Final = frozenset({"installed", "unpacked", "half-configured", "triggers-awaited", "triggers-pending"})
"""States of dpkg(1) in which a package's files are there."""
_ARCHITECTURE: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
_NAME_IN_DEPENDS: Final = re.compile(r"\s*([a-z0-9][a-z0-9+.-]+)")
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class DpkgPackage:
    """A package. `name` is dpkg's, with the architecture behind it where the root has several of that name."""

    name: str
    version: str
    depends: tuple[tuple[str, ...], ...]
    """What it depends on, Depends and Pre-Depends alike: each a choice of names."""
    provides: tuple[str, ...]
    """All names that it answers to, its own first."""
    essential: bool
    """dpkg refuses to remove it: Essential, Protected or Important."""
    kib: int
    """What it takes on the disk, by its own word; 0 where it does not say."""


@dataclass(frozen=True)
class InstalledPackages:
    """All packages of a root. `owners`: where a file or link lies -> the packages that it belongs to, sorted."""

    packages: Mapping[str, DpkgPackage]
    owners: Mapping[str, tuple[str, ...]]
    paths: FollowedPaths
    diverting: frozenset[str] = frozenset()
    """Packages that have put files of others elsewhere."""
    doubts: tuple[str, ...] = ()
    """What of the database cannot be, in a sentence each."""
    _needing: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def owner(self, path: str) -> tuple[str, ...]:
        """Return the packages of the file that a path leads to, links followed; none where it belongs to nobody."""
        target = self.paths.target(path)
        found = self.owners.get(target, ()) if target is not None else ()
        return found or self.owners.get(self.paths.place(path), ())

    def dependents(self, names: Collection[str]) -> frozenset[str]:
        """Return the packages that cannot be there without all of `names`: those that need one, and those that need
        these, and so on. Recommended packages are not needed.
        """
        gone, left = set(names), list(names)
        while left:
            for other in self._needing.get(left.pop(), ()):
                if other not in gone and not self._is_satisfied(self.packages[other], gone):
                    gone.add(other)
                    left.append(other)
        return frozenset(gone - set(names))

    def _is_satisfied(self, package: DpkgPackage, gone: Collection[str]) -> bool:
        for choice in package.depends:
            there = {one for name in choice for one in self._by_name.get(name, ())}
            # What was not there before either, the package has always done without.
            if there and there <= set(gone):
                return False
        return True

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[str, ...]]:
        return _by_name(self.packages.values())


def read_installed_packages(paths: FollowedPaths, where: str) -> InstalledPackages:
    """Return the packages that dpkg's database in a root names. `where` is the root's name, for messages.

    Raises InputError where there is no such database, or none of it can be read.
    """
    status = paths.entries.get(STATUS)
    if status is None or not stat.S_ISREG(status.mode):
        raise _no_database(paths, where)
    doubts = list[str]()
    packages = _read_status(status.data.decode(errors="replace"), doubts)
    if not packages:
        raise InputError(
            f"{where}: /{STATUS} names no package that is installed: empty or damaged",
            hint="build or copy the root again; dpkg --audit says more in the running system",
        )
    diverted = _read_diversions(paths, doubts)
    owners = _read_owners(paths, packages, diverted, doubts)
    needing: dict[str, set[str]] = {}
    known = _by_name(packages.values())
    for package in packages.values():
        for name in {name for choice in package.depends for name in choice}:
            for provider in known.get(name, ()):
                needing.setdefault(provider, set()).add(package.name)
    frozen = {name: frozenset(others) for name, others in needing.items()}
    diverting = frozenset(who for _, who in diverted.values())
    return InstalledPackages(packages, owners, paths, diverting, tuple(doubts), frozen)


def _no_database(paths: FollowedPaths, where: str) -> InputError:
    for place, whose in _OTHERS.items():
        if place in paths.entries or any(path.startswith(f"{place}/") for path in paths.entries):
            return InputError(
                f"{where}: its packages are in a database of {whose} (/{place}), which bootlab does not read",
                hint="dpkg's is read: Debian, Ubuntu and what is made of them",
            )
    return InputError(
        f"{where}: no database of packages in it (/{STATUS})",
        hint="of a recipe's packages dpkg keeps one where scripts = true installs them",
    )


def _read_status(text: str, doubts: list[str]) -> dict[str, DpkgPackage]:
    stanzas = list[dict[str, str]]()
    bad, torn = list[str](), 0
    for fields in _stanzas(text):
        name, state = fields.get("package"), fields.get("status", "").split()
        if name is None or len(state) != 3:
            torn += 1
        elif not PACKAGE_NAME.fullmatch(name) or not _ARCHITECTURE.fullmatch(fields.get("architecture", "all")):
            bad.append(name)
        elif state[2] in _THERE:
            stanzas.append(fields)
    if torn:
        doubts.append(f"{torn} stanzas of /{STATUS} are damaged: without a package's name or state; left out")
    if bad:
        doubts.append(f"{len(bad)} packages have names that no package can have, and are left out: {_some(bad)}")
    several = Counter(fields["package"] for fields in stanzas)
    found: dict[str, DpkgPackage] = {}
    for fields in stanzas:
        name = fields["package"]
        if several[name] > 1:
            name = f"{name}:{fields.get('architecture', 'all')}"
        if name in found:
            doubts.append(f"/{STATUS} has {name} more than once: the last stanza counts")
        found[name] = _package(name, fields)
    return found


def _package(name: str, fields: Mapping[str, str]) -> DpkgPackage:
    depends = [*_choices(fields.get("pre-depends", "")), *_choices(fields.get("depends", ""))]
    provides = [one for choice in _choices(fields.get("provides", "")) for one in choice]
    size = fields.get("installed-size", "0")
    return DpkgPackage(
        name=name,
        version=fields.get("version", ""),
        depends=tuple(depends),
        provides=tuple(dict.fromkeys([name, name.partition(":")[0], *provides])),
        essential=any(fields.get(word) == "yes" for word in ("essential", "protected", "important")),
        kib=int(size) if size.isascii() and size.isdecimal() and len(size) < 12 else 0,
    )


def _stanzas(text: str) -> Iterator[dict[str, str]]:
    fields: dict[str, str] = {}
    last = ""
    # Not splitlines(): that also splits at characters that end no line of a stanza.
    for line in [*text.split("\n"), ""]:
        if not line.strip():
            if fields:
                yield fields
            fields, last = {}, ""
        elif line[0] in " \t":
            if last:
                fields[last] += f" {line.strip()}"
        else:
            key, colon, value = line.partition(":")
            last = key.lower() if colon else ""
            fields[last or "?"] = value.strip()


def _choices(text: str) -> list[tuple[str, ...]]:
    found = []
    for clause in text.split(","):
        names = [match[1] for one in clause.split("|") if (match := _NAME_IN_DEPENDS.match(one))]
        if names:
            found.append(tuple(names))
    return found


def _by_name(packages: Iterable[DpkgPackage]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for package in packages:
        for name in package.provides:
            found.setdefault(name, []).append(package.name)
    return {name: tuple(providers) for name, providers in found.items()}


def _read_owners(
    paths: FollowedPaths,
    packages: Mapping[str, DpkgPackage],
    diverted: Mapping[str, tuple[str, str]],
    doubts: list[str],
) -> dict[str, tuple[str, ...]]:
    lists = {
        path.removeprefix(f"{INFO}/").removesuffix(".list"): entry
        for path, entry in paths.entries.items()
        if path.startswith(f"{INFO}/") and path.endswith(".list")
    }
    # libc6:amd64.list of a root that has but one libc6.
    plain = {name.partition(":")[0]: entry for name, entry in lists.items()}
    owners: dict[str, set[str]] = {}
    without = list[str]()
    for name in packages:
        entry = lists.get(name) or (plain.get(name) if ":" not in name else lists.get(name.partition(":")[0]))
        if entry is None:
            without.append(name)
            continue
        for line in entry.data.decode(errors="surrogateescape").split("\n"):
            if not line.startswith("/") or line == "/.":
                continue
            by = diverted.get(line)
            path = line if by is None or by[1] == name.partition(":")[0] else by[0]
            place = paths.place(path)
            there = paths.entries.get(place)
            if there is not None and not stat.S_ISDIR(there.mode):
                owners.setdefault(place, set()).add(name)
    if without:
        doubts.append(f"{len(without)} packages have no list of their files in /{INFO}: {_some(without)}")
    return {path: tuple(sorted(names)) for path, names in owners.items()}


def _read_diversions(paths: FollowedPaths, doubts: list[str]) -> dict[str, tuple[str, str]]:
    """Return the path that was diverted -> where all others' file of that name is, and who diverted it."""
    entry = paths.entries.get(_DIVERSIONS)
    if entry is None or not entry.data:
        return {}
    lines = entry.data.decode(errors="surrogateescape").removesuffix("\n").split("\n")
    if len(lines) % 3 or not all(line.startswith("/") for number, line in enumerate(lines) if number % 3 != 2):
        doubts.append(f"/{_DIVERSIONS} is damaged: whose files were diverted is not known")
        return {}
    return {lines[at]: (lines[at + 1], lines[at + 2]) for at in range(0, len(lines), 3)}


def _some(names: Collection[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(sorted(names)[:_SHOWN]) + more
