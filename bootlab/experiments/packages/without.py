"""A system without some of its packages: its recipe's list without them, and what is then really gone."""

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bootlab.build import boot_files
from bootlab.build.debian.installed_packages import InstalledPackages, read_installed_packages
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.findings.packages.package_costs import PackageCosts
from bootlab.findings.packages.removal import NOTHING_RAN, Removals
from bootlab.system import ClockKind, System


@dataclass(frozen=True, slots=True)
class Without:
    """`system` has none of the packages `gone`; `came` are in it instead."""

    system: System
    gone: tuple[str, ...]
    came: tuple[str, ...]


def expect_removable(system: System) -> None:
    """Raise InputError for a system whose packages cannot be left out: no image, and no recipe that installs them.

    And for one on the wall clock, on which the exact boots of a proof are not to be had.
    """
    if system.clock.kind is not ClockKind.VIRTUAL:
        raise InputError(
            f"{system.name}: packages are left out of systems on the virtual clock",
            hint='clock.kind = "virtual"; bootlab compare takes two systems on any clock',
        )
    root = system.rootfs
    if system.image is None and (root is None or not root.packages or not root.scripts):
        raise InputError(
            f"{system.name}: its packages cannot be left out: its root is not made from a list of them",
            hint="[rootfs] with packages and scripts = true, or a disk image; without --prove the costs are told, too",
        )


def choose(costs: PackageCosts, removals: Removals, number: int) -> list[str]:
    """Return the first `number` packages that can be removed, each of which takes more along than those before it."""
    chosen, gone_ns = list[str](), 0
    for row in costs.removable:
        if len(chosen) == number:
            break
        names = [*chosen, row.name]
        with_it = removals.gone([*names, *removals.with_them(names)]).ns
        if with_it > gone_ns:
            chosen, gone_ns = names, with_it
    return chosen


def expect_there(names: Sequence[str], installed: InstalledPackages) -> None:
    """Raise InputError for a package that is not in the root: what is known of it before a boot."""
    for name in names:
        if name not in installed.packages:
            near = difflib.get_close_matches(name, installed.packages, n=3)
            hint = f"did you mean {', '.join(near)}?" if near else "bootlab packages lists those that cost something"
            raise InputError(f"--remove {name}: no such package in the root", hint=hint)


def expect_allowed(names: Sequence[str], removals: Removals, installed: InstalledPackages) -> None:
    """Raise InputError for a package that is not there, or that is kept, with the reason."""
    expect_there(names, installed)
    for name in names:
        if (why := removals.why_kept(name)) and why != NOTHING_RAN:
            raise InputError(f"--remove {name}: is kept: {why}", hint="the first table has what can be removed")


def leave_out(shop: Workshop, system: System, names: Sequence[str], installed: InstalledPackages) -> Without:
    """Return `system` without the packages `names` and those that need them: a root made anew, or a copy of its image.

    Raises InputError when one of them comes back, as another needs it; else as making a root or changing an image does.
    """
    leaving = {*names, *installed.dependents(names)}
    if system.image is not None:
        without = tuple(sorted({*system.image.without, *leaving}))
        return Without(system.with_part("image", without=without), tuple(sorted(leaving)), ())
    root = system.rootfs
    assert root is not None  # expect_removable
    left = left_of(root.packages, leaving, installed)
    if not left:
        raise InputError(
            f"{system.name}: nothing is left of rootfs.packages without {', '.join(sorted(names))}",
            hint="leave out fewer of them",
        )
    changed = system.with_part("rootfs", packages=left)
    entries = boot_files.root_entries_of(shop, changed, "rootfs")
    now = read_installed_packages(FollowedPaths(entries), f"{system.name} without {', '.join(names)}").packages.keys()
    back = sorted(leaving & now)
    if back:
        raise InputError(
            f"{', '.join(back)}: cannot be left out: another package of the list brings it along",
            hint=f"apt-cache rdepends {back[0]} names who may; leave that out of rootfs.packages as well",
        )
    was = installed.packages.keys()
    return Without(changed, tuple(sorted(was - now)), tuple(sorted(now - was)))


def left_of(listed: Sequence[str], leaving: Collection[str], installed: InstalledPackages) -> tuple[str, ...]:
    """Return a recipe's list without the packages `leaving`, and without names that stand for one of them alone."""
    return tuple(name for name in listed if not {name, *_real(name, installed)} & set(leaving))


def _real(name: str, installed: InstalledPackages) -> Collection[str]:
    """Return the packages that a name of the recipe's list stands for, where no package has that name itself."""
    if name in installed.packages:
        return ()
    found = {one.name for one in installed.packages.values() if name in one.provides}
    # One of several may be gone.
    return found if len(found) == 1 else ()
