"""Debian packages of any suite and architecture, fetched once and unpacked into the cache.

Figures are keyed by the hash of the kernel they were measured on, so a package that is in the cache is used again:
it is looked up anew only after a month or when asked to, and a changed version is said in the package's notes.
"""

import difflib
import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from bootlab.build.apt import PrivateApt, Stanza, Unreachable
from bootlab.build.cache import Cache
from bootlab.errors import InputError
from bootlab.process import run

MAX_AGE_DAYS = 30
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Machine architecture -> Debian's name for it."""

_SUITE = re.compile(r"[a-z][a-z0-9-]*")
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_REAL_KERNEL = re.compile(r"\blinux-image-\d[a-z0-9+.~-]*")
_UNPACK_DEADLINE_S = 300.0


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
    """Of the .deb."""
    notes: tuple[str, ...] = ()
    """What a user should know: an old copy was used, or the version has changed."""


@dataclass(frozen=True, slots=True)
class _Record:
    """What a name meant when it was last looked up."""

    name: str
    version: str
    sha256: str
    looked_up_s: float
    """Seconds since the epoch."""


def machine_suite() -> str:
    """Return the Debian suite of this machine. Raises InputError when it does not say."""
    for path in (Path("/etc/os-release"), Path("/usr/lib/os-release")):
        if path.is_file():
            match = re.search(r"^VERSION_CODENAME=\"?([a-z]+)\"?$", path.read_text(encoding="utf-8"), re.MULTILINE)
            return match[1] if match else "sid"
    raise InputError("kernel.suite: not given, and this machine does not say what it runs", hint='suite = "bookworm"')


def fetch(
    name: str,
    suite: str | None,
    arch: str,
    cache: Cache,
    *,
    refresh: bool = False,
    max_age_days: float = MAX_AGE_DAYS,
    apt: Path = Path("/etc/apt"),
    tell: Callable[[str], None] = lambda line: None,
) -> Package:
    """Return the Debian package `name` of `suite` (by default this machine's) for `arch` (x86_64, aarch64), unpacked.

    What the cache has is used again without a network until it is `max_age_days` old; `refresh` looks it up now.
    `tell` gets a line before each step that may take long. `apt` is the folder of apt's configuration.
    Raises InputError (unknown package or suite), Unreachable (no network, not in the cache), MissingTool, StoreError.
    """
    suite = suite or machine_suite()
    if not _SUITE.fullmatch(suite):
        raise InputError(f'kernel.suite: "{suite}" is not a Debian suite', hint='for example "bookworm" or "trixie"')
    if not _NAME.fullmatch(name):
        raise InputError(f'"{name}" is not a Debian package name')
    place = cache.root / "packages" / f"{suite}-{ARCHITECTURES[arch]}-{name}.json"
    # What was looked up lately needs no lock, so nobody waits for another's download, nor needs to write to the cache.
    if (
        (old := _read_record(place, cache))
        and not refresh
        and 0 <= time.time() - old.looked_up_s < max_age_days * 86400
    ):
        return _package(old, suite, arch, cache)
    with cache.lock(f"packages-{suite}-{ARCHITECTURES[arch]}"):
        old = _read_record(place, cache)
        if old and not refresh and 0 <= time.time() - old.looked_up_s < max_age_days * 86400:
            return _package(old, suite, arch, cache)
        try:
            record = _look_up(name, PrivateApt(cache, suite, ARCHITECTURES[arch], apt), suite, refresh, cache, tell)
        except Unreachable as error:
            if old is None:
                raise Unreachable(f"{name}: {error.message}", hint=error.hint) from error
            note = f"{name}: could not be looked up again; using {old.name} {old.version} from the cache"
            return _package(old, suite, arch, cache, note)
        cache.write_text(place, json.dumps(asdict(record), indent=1) + "\n")
    if old and old.sha256 != record.sha256:
        change = f"is now {record.name} {record.version}, was {old.name} {old.version}"
        return _package(record, suite, arch, cache, f"{name}: {change}; older figures do not apply")
    return _package(record, suite, arch, cache)


def _look_up(
    name: str, apt: PrivateApt, suite: str, refresh: bool, cache: Cache, tell: Callable[[str], None]
) -> _Record:
    tell(f"looking up {name} in Debian {suite}")
    apt.update(force=refresh)
    package = _resolve(name, apt, suite)
    try:
        _unpacked(package, apt, cache, tell)
    except Unreachable:
        # The lists may name a version that the archive has replaced since; the second answer counts.
        apt.update(force=True)
        package = _resolve(name, apt, suite)
        _unpacked(package, apt, cache, tell)
    return _Record(package.name, package.version, package.sha256, time.time())


def _resolve(name: str, apt: PrivateApt, suite: str) -> Stanza:
    package = apt.show(name)
    if package is None:
        raise _unknown(name, apt, suite)
    # linux-image-cloud-amd64 and its like are empty and depend on the kernel of the day.
    if name.startswith("linux-image-") and (real := _REAL_KERNEL.search(package.depends)):
        return _resolve(real[0], apt, suite)
    return package


def _unpacked(package: Stanza, apt: PrivateApt, cache: Cache, tell: Callable[[str], None]) -> Path:
    def build(tree: Path) -> None:
        tell(f"downloading {package.name} {package.version}")
        archive = apt.download(package, tree.parent)
        run(["dpkg-deb", "--extract", archive, tree], deadline_s=_UNPACK_DEADLINE_S, package="dpkg")
        archive.unlink()

    return cache.make("package", package.sha256, build)


def _unknown(name: str, apt: PrivateApt, suite: str) -> InputError:
    family = name.split("-")[0]
    near = difflib.get_close_matches(name, apt.names(family), n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "kernel.suite names the Debian release that has it"
    return InputError(f'kernel.package: Debian {suite} has no package "{name}"', hint=hint)


def _read_record(place: Path, cache: Cache) -> _Record | None:
    try:
        record = _Record(**json.loads(place.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return record if cache.find("package", record.sha256) else None


def _package(record: _Record, suite: str, arch: str, cache: Cache, *notes: str) -> Package:
    tree = cache.path("package", record.sha256)
    return Package(record.name, record.version, arch, suite, tree, record.sha256, notes)
