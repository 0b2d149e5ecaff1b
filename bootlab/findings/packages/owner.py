"""Who a part of a boot's time belongs to: a package, or what belongs to none, each kind of it by itself."""

from enum import StrEnum
from typing import Final, NamedTuple


class OwnerKind(StrEnum):
    """What time is put down to."""

    PACKAGE = "package"
    SHARED = "files of several packages"
    UNPACKAGED = "files of no package"
    UNKNOWN = "programs that are not known"
    KERNEL = "kernel"
    STAGE = "before the kernel"
    IDLE = "idle, and nobody waited"


class Owner(NamedTuple):
    """`name`: the package, the packages with commas between them, the stage, the file; empty where the kind says it."""

    kind: OwnerKind
    name: str = ""


KERNEL: Final = Owner(OwnerKind.KERNEL)
IDLE: Final = Owner(OwnerKind.IDLE)
UNKNOWN: Final = Owner(OwnerKind.UNKNOWN)


def owner_of(packages: tuple[str, ...], path: str) -> Owner:
    """Return who a file belongs to: its package, all of several, or nobody."""
    if not packages:
        return Owner(OwnerKind.UNPACKAGED, path)
    if len(packages) > 1:
        return Owner(OwnerKind.SHARED, ", ".join(packages))
    return Owner(OwnerKind.PACKAGE, packages[0])
