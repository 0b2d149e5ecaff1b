"""The versions of a kernel package as states of a bisection, and the system of each: the user's own, with that kernel.

All else stays as it is, busybox and modules' names among it, so what differs between two states is the kernel alone.
"""

from collections.abc import Sequence

from bootlab.build.debian.packages import fetch
from bootlab.build.debian.versions import find_package_versions
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.ledger.bisect.state import BisectState, Unusable
from bootlab.system import System

_KEY = "kernel.package"


def package_states(shop: Workshop, system: System) -> list[BisectState]:
    """Return every version that this machine's sources have of a system's kernel package, oldest first.

    Raises InputError for a system without one, and what `find_package_versions` raises.
    """
    name = system.kernel.package
    if name is None:
        raise InputError(
            "--packages: kernel.package: this system's kernel is of no Debian package",
            hint='for example kernel.package = "linux-image-cloud-amd64"; commits are bisected without --packages',
        )
    found = find_package_versions(shop, name, system.kernel.suite, system.machine.arch, key=_KEY)
    names = [one.version for one in found]
    states: list[BisectState] = []
    for one in found:
        states.append(
            BisectState(
                name=one.version if names.count(one.version) == 1 else one.wanted,
                subject=f"{one.package}, {one.suite}",
                parents=[states[-1].name] if states else [],
                package=one.wanted,
                suite=one.suite,
            )
        )
    return states


def package_line(states: Sequence[BisectState], good: str | None, bad: str | None) -> list[BisectState]:
    """Return the states from one version to another, both included. Raises InputError for what is none of them.

    A version is named in full, by how it begins (6.12.43), or by its package; without one it is the oldest, the newest.
    """
    if len(states) < 2:
        have = f"only {states[0].package}" if states else "none"
        raise InputError(
            f"--packages: this machine's Debian sources have {have}",
            hint="bookworm-backports and bookworm-security, for example, have more: apt's own sources are looked at",
        )
    first = _chosen(states, good, "--good") if good is not None else 0
    last = _chosen(states, bad, "--bad") if bad is not None else len(states) - 1
    if first == last:
        raise InputError(f"--good and --bad are the same version, {states[first].name}", hint=_listed(states))
    if first > last:
        raise InputError(
            f"--good {states[first].name}: is newer than --bad {states[last].name}",
            hint="the older one is good: steps that save time are found as well as those that cost some",
        )
    return list(states[first : last + 1])


class PackageSystems:
    """Makes the systems of versions; nothing is built, and what is downloaded stays in the cache."""

    builds = 0
    build_s = 0.0

    def __init__(self, shop: Workshop, system: System) -> None:
        self._shop = shop
        self._system = system

    def system(self, state: BisectState) -> System:
        system = self._system
        try:
            fetch(self._shop, state.package, state.suite, system.machine.arch, key=_KEY)
        except InputError as error:
            # It was there when the line was made.
            raise Unusable(state, error.message) from error
        kernel = system.kernel.model_copy(update={"package": state.package, "suite": state.suite})
        return system.model_copy(update={"kernel": kernel})

    def bring_back(self, state: BisectState) -> None:
        """Do nothing: every version has a place of its own in the cache."""

    def inside(self, before: BisectState, after: BisectState) -> Sequence[Sequence[BisectState]]:
        """Return nothing: a version has no history here."""
        return ()


def _chosen(states: Sequence[BisectState], words: str, option: str) -> int:
    exact = [at for at, state in enumerate(states) if words in (state.name, state.package, _package(state))]
    begins = [at for at, state in enumerate(states) if _begins(_version(state), words)]
    found = exact or begins
    if not found:
        raise InputError(f"{option} {words}: no such version is on hand", hint=_listed(states))
    if len(found) > 1:
        names = ", ".join(states[at].package for at in found)
        raise InputError(f"{option} {words}: several are: {names}", hint="name one in full")
    return found[0]


def _begins(version: str, words: str) -> bool:
    """Return whether a version begins so, at a border of its numbers: 6.1 is no beginning of 6.12."""
    rest = version.removeprefix(words)
    return bool(words) and rest != version and not (words[-1].isdigit() and rest[:1].isdigit())


def _package(state: BisectState) -> str:
    return state.package.partition("=")[0]


def _version(state: BisectState) -> str:
    return state.package.partition("=")[2]


def _listed(states: Sequence[BisectState]) -> str:
    return f"there are {', '.join(state.name for state in states)}"
