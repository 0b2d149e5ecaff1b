"""Runs Debian's own insserv on init scripts in a root folder: the order that bootlab-init's is compared with.

Scripts are put in one by one, as the installation of their packages does: insserv 1.24 crashes when it is given all at
once.
"""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.debian.packages import Package
from bootlab.process import run

FOLDERS = ("etc/init.d", "etc/insserv.conf.d", "etc/insserv/overrides", "usr/share/insserv/overrides")
_LEVELS = "S0123456"

Order = Mapping[str, frozenset[str]]
"""Script -> scripts that it waits for, through others too."""


@dataclass(frozen=True, slots=True)
class Insserv:
    """What insserv made of a root folder. `at_stop`: script -> scripts that are stopped before it."""

    at_boot: Order
    at_start: Order
    at_stop: Order
    said: tuple[str, ...]
    """Its complaints."""


def lay_out(packages: Iterable[Package], root: Path) -> list[str]:
    """Put the packages' scripts and what orders them below `root`; gives the scripts that are no links to others."""
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True)
        for package in packages:
            for path in (package.tree / folder).glob("*"):
                # Two packages may bring a script of the same name; one of them stays, as on a disk.
                (root / folder / path.name).unlink(missing_ok=True)
                shutil.copy2(path, root / folder / path.name, follow_symlinks=False)
    return sorted(path.name for path in (root / "etc/init.d").iterdir() if path.is_file() and not path.is_symlink())


def order(package: Package, root: Path, scripts: Iterable[str]) -> Insserv:
    """Have insserv link the scripts into the runlevels below `root`, and return the order that it wrote down."""
    shutil.copy(package.tree / "etc/insserv.conf", root / "etc/insserv.conf")
    made = root / "lib/insserv"
    made.mkdir(parents=True)
    for level in _LEVELS:
        (root / f"etc/rc{level}.d").mkdir()
    # Without -i it writes to this machine's own /etc/init.d.
    words = [package.tree / "sbin/insserv", "-d", "-f", "-i", made, "-p", root / "etc/init.d"]
    words += ["-c", root / "etc/insserv.conf", "-o", root / "etc/insserv/overrides"]
    command = 'scripts=$1 && shift && for script in $scripts; do "$@" "$script" || exit; done'
    said = (
        run(["sh", "-c", command, "sh", " ".join(scripts), *words], deadline_s=300)
        .stderr.decode(errors="replace")
        .splitlines()
    )
    phases = (reachable(_read(made / f".depend.{phase}")) for phase in ("boot", "start", "stop"))
    return Insserv(*phases, tuple(dict.fromkeys(said)))


def reachable(direct: Mapping[str, Iterable[str]]) -> Order:
    """Return what each key waits for, through others too."""
    found = {}
    for name in direct:
        seen, left = set[str](), list(direct[name])
        while left:
            other = left.pop()
            if other not in seen:
                seen.add(other)
                left += direct.get(other, ())
        found[name] = frozenset(seen)
    return found


def _read(path: Path) -> dict[str, list[str]]:
    direct: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        name, colon, others = line.partition(":")
        if colon:
            direct.setdefault(name.strip(), []).extend(others.split())
        elif line.startswith("TARGETS = "):
            for name in line.removeprefix("TARGETS = ").split():
                direct.setdefault(name, [])
    return direct
