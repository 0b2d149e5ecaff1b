"""A Debian root with its packages installed, scripts and all, by mmdebstrap: users, caches and alternatives are there.

mmdebstrap is run as it finds it possible here: as root, else in a user namespace (unshare), else under fakechroot. The
archive that it makes is kept, and used again until it is a month old or to be looked up anew.
"""

import io
import json
import re
import shlex
import tarfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.debian.apt import Stanza, Unreachable
from bootlab.build.debian.apt_sources import debian_stanzas
from bootlab.build.debian.package_records import ROOTS, is_young
from bootlab.build.debian.packages import ARCHITECTURES, require_suite
from bootlab.build.debian.root import DebianRoot, expect_names
from bootlab.build.formats.ext4 import DATE
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError, MissingTool
from bootlab.process import ProgramFailed, require_program, run

_DEADLINE_S = 3600.0
_STATUS = ("./var/lib/dpkg/status", "var/lib/dpkg/status")
_ERRORS = re.compile(r"^E: .*", re.MULTILINE)
_UNKNOWN = re.compile(r"Unable to locate package|has no installation candidate|unmet dependencies|held broken packages")
_AWAY = re.compile(r"Could not resolve|Could not connect|Failed to fetch|Temporary failure")
_PASSED_ON = re.compile(r"^Acquire::(http|https|ftp)::.*;$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Commands:
    """What is done to a root once its packages are installed: a folder laid over it, then commands run in it."""

    lines: tuple[str, ...] = ()
    directory: Path | None = None
    identity: str = ""
    """A hash of what the folder holds."""

    @property
    def key(self) -> str:
        """Return what tells these commands from others, for the key of the root that they are run in."""
        return f" {self.identity} {list(self.lines)}"

    @property
    def hooks(self) -> list[str]:
        """Return the words by which mmdebstrap copies the folder and runs the lines, in this order."""
        copy = [f"--customize-hook=sync-in {shlex.quote(str(self.directory))} /"] if self.directory else []
        return [*copy, *map(_hook, self.lines)]


def _hook(line: str) -> str:
    # mmdebstrap itself says only that a hook failed; lines of this form are passed on.
    failed = shlex.quote(f"E: run: failed: {line}")
    return f'--customize-hook=chroot "$1" sh -ec {shlex.quote(line)} || {{ echo {failed} >&2; exit 1; }}'


def install_root(
    shop: Workshop,
    names: Sequence[str],
    suite: str | None,
    arch: str,
    *,
    key: str,
    after: Commands | None = None,
) -> DebianRoot:
    """Return Debian's essential packages and `names`, installed, of `suite` (by default this machine's) for `arch`.

    `after`: what is done to it then. `key` is the system file's key for messages. Raises InputError (no such package or
    suite, packages that cannot be together), MissingTool (mmdebstrap, or a right that it needs), Unreachable (no
    network), StoreError.
    """
    cache, suite = shop.cache, require_suite(suite, key)
    expect_names(names, key)
    wanted, architecture = sorted(set(names)), ARCHITECTURES[arch]
    done = after.key if after is not None else ""
    place = cache.root / ROOTS / f"{cache.path('root', f'installed {suite} {architecture} {wanted}{done}').name}.json"
    if (known := _read_record(place, cache)) is not None and not shop.refresh and is_young(known[2]):
        return _root(known[0], known[1], cache)
    waits = f"waiting for another bootlab, which installs packages of Debian {suite} into the same cache"
    with cache.lock(f"installed-{suite}-{architecture}", on_wait=lambda: shop.tell(waits)):
        known = _read_record(place, cache)
        if known is not None and not shop.refresh and is_young(known[2]):
            return _root(known[0], known[1], cache)
        try:
            digest = _install(shop, wanted, suite, architecture, key, after)
        except Unreachable:
            if known is None:
                raise
            shop.tell(f"{', '.join(wanted)}: could not be looked up again; using what the cache has")
            return _root(known[0], known[1], cache)
        packages = _packages(cache.path("package-tar", digest))
        record = {"looked_up_s": time.time(), "sha256": digest, "packages": packages}
        cache.write_text(place, json.dumps(record, indent=1) + "\n")
    return _root(packages, digest, cache)


def _install(shop: Workshop, names: list[str], suite: str, architecture: str, key: str, after: Commands | None) -> str:
    program = require_program("mmdebstrap", package="mmdebstrap")
    shop.tell(f"installing {', '.join(names)} of Debian {suite} with mmdebstrap")
    digest = ""

    def build(path: Path) -> None:
        nonlocal digest
        sources, archive = path.parent / "debian.sources", path.parent / "root.tar"
        sources.write_text(debian_stanzas(shop.apt, suite, architecture)[0], encoding="utf-8")
        argv: list[str | Path] = [program, "--variant=essential", f"--architectures={architecture}", "--format=tar"]
        argv += [f"--include={','.join(names)}", *(after.hooks if after is not None else ()), *_apt_options()]
        argv += [suite, archive, sources]
        # Times of files that scripts make; those of packages are their own.
        run(argv, deadline_s=_DEADLINE_S, env={"SOURCE_DATE_EPOCH": str(DATE)}, package="mmdebstrap")
        digest = file_sha256(archive)
        archive.rename(path)

    try:
        # What a mmdebstrap makes is known by its own bytes, and those only when it is made.
        made = shop.cache.make("installing", f"{time.time_ns()} {suite} {architecture} {names}", build)
    except ProgramFailed as error:
        raise _trouble(error, f"{key}: Debian {suite} ({architecture})") from error
    shop.cache.make("package-tar", digest, lambda path: _move(made, path))
    made.unlink(missing_ok=True)
    return digest


def _move(made: Path, path: Path) -> None:
    made.rename(path)


def _apt_options() -> list[str]:
    # A proxy that this machine's apt is told of.
    try:
        dump = run(["apt-config", "dump"], package="apt").text
    except ProgramFailed:
        return []
    return [f"--aptopt={found[0]}" for found in _PASSED_ON.finditer(dump)]


def _trouble(error: ProgramFailed, where: str) -> BootlabError:
    told = " ".join(line.removeprefix("E: ") for line in _ERRORS.findall(error.stderr)) or error.message
    if "unable to pick chroot mode" in error.stderr:
        return MissingTool(
            f"{where}: mmdebstrap may not make a root here: {told}",
            hint="it needs user namespaces (a line for you in /etc/subuid) or fakechroot; or leave scripts out",
        )
    if _AWAY.search(error.stderr):
        return Unreachable(f"{where}: could not be fetched: {told}", hint="is there a network?")
    if _UNKNOWN.search(error.stderr):
        return InputError(f"{where}: {told}", hint="the suite names the Debian release that has them")
    return BootlabError(f"{where}: mmdebstrap failed: {error.message}", hint="mmdebstrap --debug tells more")


def _packages(archive: Path) -> list[tuple[str, str]]:
    with tarfile.open(archive) as files:
        name = next((name for name in _STATUS if name in files.getnames()), None)
        content = files.extractfile(name) if name is not None else None
        text = (content or io.BytesIO()).read().decode(errors="replace")
    found = re.finditer(r"^Package: (\S+)\n(?:(?!\n\n)[\s\S])*?^Version: (\S+)$", text, re.MULTILINE)
    return [(one[1], one[2]) for one in found]


def _root(packages: Sequence[tuple[str, str]], digest: str, cache: Cache) -> DebianRoot:
    stanzas = [Stanza(name, version, "", "") for name, version in packages]
    return DebianRoot(stanzas, {"": cache.path("package-tar", digest)}, [digest])


def _read_record(place: Path, cache: Cache) -> tuple[list[tuple[str, str]], str, float] | None:
    try:
        document: Any = json.loads(place.read_text(encoding="utf-8"))
        packages = [(str(name), str(version)) for name, version in document["packages"]]
        digest, looked_up_s = str(document["sha256"]), float(document["looked_up_s"])
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None
    return (packages, digest, looked_up_s) if cache.find("package-tar", digest) else None
