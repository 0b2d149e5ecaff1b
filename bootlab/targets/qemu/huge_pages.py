"""Can this host back a guest's memory with the pages that a system asks for? Asked of its kernel before a boot."""

from pathlib import Path
from typing import Final

from bootlab.errors import InputError, MissingTool
from bootlab.system import PageSize, System

_MIB: Final = 2
"""Size of the huge pages that `machine.page_size = "2M"` means."""
_POOL: Final = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
_SHARED: Final = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")


def expect_pages(system: System, *, pool: Path = _POOL, shared: Path = _SHARED) -> None:
    """Raise MissingTool where the host cannot give `system` the pages that machine.page_size asks for.

    Raises InputError for memory that is not a whole number of huge pages. `pool`, `shared`: where the host's kernel
    says how many huge pages there are, and whether files in memory get them unasked.
    """
    wanted, memory_mib = wanted_pages(system), system.machine.memory_mib
    if wanted is PageSize.SMALL and (given := _chosen(shared)) not in ("never", "deny", ""):
        raise MissingTool(
            f'machine.page_size = "4K": this host gives huge pages to files in memory ({shared}: {given})',
            hint=f"as root: echo never > {shared}",
        )
    if wanted is not PageSize.HUGE:
        return
    if memory_mib % _MIB:
        raise InputError(
            f'machine.memory_mib: {memory_mib} MiB is no whole number of 2 MiB pages, which page_size = "2M" needs'
        )
    need, free = memory_mib // _MIB, read_free_pages(pool)
    if free < need:
        raise MissingTool(
            f'machine.page_size = "2M": {memory_mib} MiB take {need} huge pages, and this host has {free} free',
            hint=f"as root: sysctl vm.nr_hugepages={_total(pool) + need - free}; 0 gives them back",
        )


def wanted_pages(system: System) -> PageSize:
    """Return what is to back the guest's memory on this host: what the system says, but where a host model is charged.

    There the size says what that model charges, and this host's own pages show nowhere.
    """
    return system.machine.page_size if system.clock.host_model is None else PageSize.AUTO


def read_free_pages(pool: Path = _POOL) -> int:
    """Return how many huge pages are free and promised to nobody; 0 where the host has no such pages."""
    return max(0, _number(pool / "free_hugepages") - _number(pool / "resv_hugepages"))


def _total(pool: Path) -> int:
    return _number(pool / "nr_hugepages")


def _number(path: Path) -> int:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def _chosen(path: Path) -> str:
    # The file lists all that could be chosen, with the choice in brackets.
    try:
        words = path.read_text(encoding="ascii").split()
    except OSError:
        return ""
    return next((word.strip("[]") for word in words if word.startswith("[")), "")
