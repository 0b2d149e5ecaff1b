"""Settings of this host that decide how long KVM takes to make a machine and to give it memory. Read, never changed."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/mounts")
_NX: Final = Path("/sys/module/kvm/parameters/nx_huge_pages")
_THP: Final = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@dataclass(frozen=True, slots=True)
class KvmSettings:
    """What this host's kernel says of itself; None where it does not say."""

    cgroups: str | None
    """Where cgroups are mounted, version 2 before 1."""
    favordynmods: bool | None
    """Whether they are mounted so that moving a task into one does not wait for all CPUs."""
    nx_huge_pages: str | None
    """Of KVM's module: `never` makes no thread for each machine, which would have to be moved into its cgroup."""
    huge_pages: str | None
    """When anonymous memory gets huge pages: `always`, `madvise`, `never`."""


def read_kvm_settings(mounts: Path = _MOUNTS, nx: Path = _NX, thp: Path = _THP) -> KvmSettings:
    """Return this host's settings."""
    where, options = None, ""
    with suppress(OSError):
        rows = [row.split() for row in mounts.read_text(errors="replace").splitlines()]
        for kind in ("cgroup2", "cgroup"):
            if found := [row for row in rows if len(row) > 3 and row[2] == kind]:
                where, options = found[0][1], found[0][3]
                break
    chosen = _line(thp)
    return KvmSettings(
        cgroups=where,
        favordynmods=None if where is None else "favordynmods" in options.split(","),
        nx_huge_pages=_line(nx),
        huge_pages=None if chosen is None else chosen.partition("[")[2].partition("]")[0] or None,
    )


def _line(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
