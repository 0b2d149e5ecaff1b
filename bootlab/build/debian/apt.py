"""apt with a state of its own: any suite and architecture, without touching this machine's packages or being root.

The machine's configuration still applies (proxy, credentials, certificates, keys); what runs after an update of its
own lists (hooks) does not.
"""

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.debian.apt_sources import RELEASES, SOURCE, debian_stanzas
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError, StoreError
from bootlab.process import Output, ProgramFailed, run

LISTS = "apt"
"""Folder of the cache in which the archives' lists are kept."""
_LISTS_LAST_S = 24 * 3600
_UPDATE_DEADLINE_S = 300.0
_DOWNLOAD_DEADLINE_S = 1200.0
_PACKAGE = "apt"
_NO_SUCH_SUITE = re.compile(r"does not have a Release file|/dists/\S+\s+(404 |File not found)")

_MIRROR_CHANGES = "Mirror sync in progress?"
"""What apt says of a package list that is not the one in the signed list of lists."""


class Unreachable(BootlabError):
    """The archive did not answer, so what it has is not known."""


@dataclass(frozen=True, slots=True)
class Stanza:
    """What the archive says about one version of one package."""

    name: str
    version: str
    depends: str
    sha256: str


@dataclass(frozen=True, slots=True)
class SourceStanza:
    """What the archive says about one version of one source package."""

    name: str
    version: str
    files: tuple[tuple[str, str], ...]
    """Name and sha256 of each, sorted by name."""


class PrivateApt:
    """apt for one suite and Debian architecture, or SOURCE for its source packages.

    The caller holds a lock: apt refuses to run twice on one state. `key` is what a system file calls the suite.
    """

    def __init__(self, shop: Workshop, suite: str, architecture: str, key: str) -> None:
        self._cache = shop.cache
        self._key = key
        self._suite = suite
        self._architecture = architecture
        self._folder = shop.cache.root / LISTS / f"{suite}-{architecture}"
        self._stanzas = debian_stanzas(shop.apt, suite, architecture)

    def update(self, *, force: bool = False) -> None:
        """Fetch the package lists unless they are younger than a day.

        Raises Unreachable, InputError when there is no such suite, StoreError.
        """
        stamp = self._folder / "updated"
        if not force and stamp.exists() and 0 <= time.time() - stamp.stat().st_mtime < _LISTS_LAST_S:
            return
        missing = []
        for stanza in self._stanzas:
            self._configure(stanza)
            try:
                self._run("apt-get", "update", "--quiet", deadline_s=_UPDATE_DEADLINE_S)
            except ProgramFailed as error:
                if not _NO_SUCH_SUITE.search(error.stderr):
                    raise self._trouble(error) from error
                missing.append(error)
                continue
            if self._is_debian():
                self._cache.write_text(stamp, "")
                return
        raise InputError(
            f'{self._key}: this machine\'s Debian sources have no suite "{self._suite}" for {self._architecture}',
            hint=f"Debian's suites are {', '.join(RELEASES[:6])}",
        ) from (missing[-1] if missing else None)

    def show(self, name: str) -> Stanza | None:
        """Return the newest version of a package, or None when the suite does not have it. Needs an update() before."""
        try:
            name, _, version = name.partition("=")
            wanted = f"{name}:{self._architecture}" + (f"={version}" if version else "")
            text = self._run("apt-cache", "show", "--no-all-versions", wanted).text
        except ProgramFailed as error:
            if "No packages found" in error.stderr or "Unable to locate" in error.stderr:
                return None
            raise
        return _stanza(text.split("\n\n")[0])

    def show_all(self, names: Sequence[str]) -> dict[str, Stanza]:
        """Return what `show` says of each of the packages that the suite has, in one look-up."""
        words = [f"{name}:{self._architecture}" for name in names]
        try:
            text = self._run("apt-cache", "show", "--no-all-versions", *words).text
        except ProgramFailed as error:
            if "No packages found" in error.stderr or "Unable to locate" in error.stderr:
                return {}
            raise
        found = (_stanza(paragraph) for paragraph in text.split("\n\n"))
        return {stanza.name: stanza for stanza in found if stanza is not None}

    def show_versions(self, names: Sequence[str]) -> list[Stanza]:
        """Return every version of each of the packages that the suite has. Needs an update() before."""
        if not names:
            return []
        words = [f"{name}:{self._architecture}" for name in names]
        text = self._run("apt-cache", "show", "--all-versions", *words).text
        found = (_stanza(paragraph) for paragraph in text.split("\n\n"))
        return [stanza for stanza in found if stanza is not None]

    def closure(self, names: Sequence[str], key: str) -> list[Stanza]:
        """Return the packages `names` and all they depend on, in the order in which apt would install them.

        Needs an update() before. Raises InputError that begins with `key` for what apt cannot put together.
        """
        words = ["install", "--simulate", "--quiet", "--no-install-recommends", *names]
        try:
            lines = self._run("apt-get", *words).text.splitlines()
        except ProgramFailed as error:
            told = " ".join(line.removeprefix("E: ") for line in error.stderr.splitlines() if line.startswith("E: "))
            hint = "the suite names the Debian release that has them"
            raise InputError(f"{key}: Debian {self._suite} ({self._architecture}): {told}", hint=hint) from error
        chosen = [line.split()[1:3] for line in lines if line.startswith("Inst ")]
        # All in one look-up: each reads the whole list of packages anew.
        wanted = [f"{name}:{self._architecture}={version.lstrip('(')}" for name, version in chosen]
        text = self._run("apt-cache", "show", "--no-all-versions", *wanted).text if wanted else ""
        found = {stanza.name: stanza for one in text.split("\n\n") if (stanza := _stanza(one)) is not None}
        if missing := [f"{name} {version.lstrip('(')}" for name, version in chosen if name not in found]:
            raise Unreachable(f"{missing[0]}: its package list says nothing of it")
        return [found[name] for name, _ in chosen]

    def show_source(self, name: str) -> SourceStanza | None:
        """Return the newest version of a source package, or None when the suite does not have it.

        Needs an apt for SOURCE, and an update() before.
        """
        text = self._run("apt-cache", "showsrc", "--only-source", name).text
        found: list[SourceStanza] = []
        for paragraph in text.strip().split("\n\n"):
            version = re.search(r"^Version: (\S+)$", paragraph, re.MULTILINE)
            sums = re.search(r"^Checksums-Sha256:((?:\n .*)+)", paragraph, re.MULTILINE)
            # Kept for the licence of what was built from it, and no version of this suite.
            if version and sums and "\nExtra-Source-Only: yes" not in paragraph:
                files = [line.split() for line in sums[1].strip().splitlines()]
                found.append(SourceStanza(name, version[1], tuple(sorted((file[2], file[0]) for file in files))))
        return found[-1] if found else None

    def download_source(self, package: SourceStanza, folder: Path) -> Path:
        """Return the package's .dsc, fetched with its other files into the empty `folder`; apt has compared checksums.

        Raises Unreachable, StoreError.
        """
        words = ["source", "--download-only", "--only-source", "--quiet", f"{package.name}={package.version}"]
        try:
            self._run("apt-get", *words, cwd=folder, deadline_s=_DOWNLOAD_DEADLINE_S)
        except ProgramFailed as error:
            raise self._trouble(error) from error
        found = list(folder.glob("*.dsc"))
        if len(found) != 1:
            raise BootlabError(f"apt-get source {package.name}: left {len(found)} .dsc files, expected one")
        return found[0]

    def download_upstream(self, package: SourceStanza, folder: Path) -> Path:
        """Return the tarball of the release that Debian packaged, fetched into the empty `folder`; checksum compared.

        Raises Unreachable, StoreError.
        """
        wanted = f"{package.name}={package.version}"
        words = ["source", "--download-only", "--tar-only", "--only-source", "--quiet", wanted]
        try:
            self._run("apt-get", *words, cwd=folder, deadline_s=_DOWNLOAD_DEADLINE_S)
        except ProgramFailed as error:
            raise self._trouble(error) from error
        found = list(folder.glob("*.orig.tar.*"))
        if len(found) != 1:
            raise BootlabError(f"apt-get source {package.name}: left {len(found)} upstream tarballs, expected one")
        return found[0]

    def names(self, prefix: str) -> list[str]:
        """Return the names of the suite's packages that start with `prefix`."""
        names = self._run("apt-cache", "pkgnames", prefix).text.split()
        return sorted({name.partition(":")[0] for name in names})

    def download(self, package: Stanza, folder: Path) -> Path:
        """Return the package's .deb, fetched into the empty `folder`; apt has compared its checksum.

        Raises Unreachable, StoreError.
        """
        wanted = f"{package.name}:{self._architecture}={package.version}"
        try:
            self._run("apt-get", "download", "--quiet", wanted, cwd=folder, deadline_s=_DOWNLOAD_DEADLINE_S)
        except ProgramFailed as error:
            raise self._trouble(error) from error
        found = list(folder.glob("*.deb"))
        if len(found) != 1:
            raise BootlabError(f"apt-get download {wanted}: left {len(found)} packages, expected one")
        return found[0]

    def download_all(self, packages: Sequence[Stanza], folder: Path) -> dict[str, Path]:
        """Return name -> .deb of several packages, fetched at once into the empty `folder`; checksums compared.

        Raises Unreachable, StoreError.
        """
        wanted = [f"{one.name}:{self._architecture}={one.version}" for one in packages]
        try:
            self._run("apt-get", "download", "--quiet", *wanted, cwd=folder, deadline_s=_DOWNLOAD_DEADLINE_S)
        except ProgramFailed as error:
            raise self._trouble(error) from error
        found = {path.name.partition("_")[0]: path for path in folder.glob("*.deb")}
        if missing := [one.name for one in packages if one.name not in found]:
            raise BootlabError(f"apt-get download: left no package {', '.join(missing)}")
        return found

    def _configure(self, stanza: str) -> None:
        sources = self._folder / "sources"
        for folder in (self._folder / "lists" / "partial", self._folder / "cache" / "archives" / "partial", sources):
            folder.mkdir(parents=True, exist_ok=True)
        self._cache.write_text(sources / "debian.sources", stanza)
        # Sources are for every architecture; apt wants to hear of one.
        binary = "amd64" if self._architecture == SOURCE else self._architecture
        # Given with -c, this is read after the machine's own configuration and so has the last word.
        settings = [
            "#clear APT::Update;",
            "#clear APT::Architectures;",
            "#clear APT::Default-Release;",
            f'APT::Architecture "{binary}";',
            f'APT::Architectures {{ "{binary}"; }};',
            'APT::Update::Error-Mode "any";',
            'Acquire::Languages "none";',
            f'Dir::State "{self._folder}";',
            f'Dir::State::lists "{self._folder}/lists";',
            'Dir::State::status "/dev/null";',
            f'Dir::Cache "{self._folder}/cache";',
            f'Dir::Cache::archives "{self._folder}/cache/archives";',
            'Dir::Etc::sourcelist "/dev/null";',
            f'Dir::Etc::sourceparts "{sources}";',
            'Dir::Etc::preferences "/dev/null";',
            'Dir::Etc::preferencesparts "/dev/null";',
        ]
        if os.geteuid() == 0:
            # apt as root drops to a user of its own, who cannot enter root's cache folder.
            settings.append('APT::Sandbox::User "root";')
        self._cache.write_text(self._folder / "apt.conf", "\n".join(settings) + "\n")

    def _run(self, program: str, *words: str, cwd: Path | None = None, deadline_s: float = 60.0) -> Output:
        argv = [program, "-c", str(self._folder / "apt.conf"), *words]
        return run(argv, cwd=cwd, deadline_s=deadline_s, package=_PACKAGE)

    def _is_debian(self) -> bool:
        releases = (self._folder / "lists").glob("*Release")
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in releases]
        return any(re.search(r"^Origin: Debian( Backports)?$", text, re.MULTILINE) for text in texts)

    def _trouble(self, error: ProgramFailed) -> BootlabError:
        where = f"Debian {self._suite} ({self._architecture})"
        if "No space left on device" in error.stderr:
            hint = "BOOTLAB_CACHE=/path/with/space names another folder for the cache"
            return StoreError(f"{self._cache.root}: no space left for {where}", hint=hint)
        if "NO_PUBKEY" in error.stderr or "is not signed" in error.stderr:
            return BootlabError(
                f"{where}: this machine has no key to verify it with\n  {error.message}",
                hint="apt-get install debian-archive-keyring",
            )
        hint = "is there a network? a package fetched once stays in the cache and needs none"
        if _MIRROR_CHANGES in error.stderr:
            hint = "this mirror's package lists are not those that it has signed: try again later, or another mirror"
        return Unreachable(f"{where}: could not be fetched\n  {error.message}", hint=hint)


def _stanza(paragraph: str) -> Stanza | None:
    fields: dict[str, str] = {}
    for line in paragraph.splitlines():
        key, colon, value = line.partition(": ")
        if colon and not line[0].isspace():
            fields[key] = value.strip()
    if "SHA256" not in fields:
        return None
    return Stanza(fields["Package"], fields["Version"], fields.get("Depends", ""), fields["SHA256"])
