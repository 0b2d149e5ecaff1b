"""What a process of this host has used so far: CPU, time that it waited for one, page faults, memory. Read from /proc.

Also where its threads are held up inside the kernel: by the names of the kernel's functions.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_UNINTERRUPTIBLE: Final = "D"
"""Waits for a lock, a page or a disk (proc_pid_stat(5)); a thread that only has nothing to do is in S."""


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """Of one process. `ran_ns`, `waited_ns`: of its hungriest thread, on a CPU and ready but without one."""

    ran_ns: int
    waited_ns: int
    minor_faults: int
    major_faults: int
    """Those for which a page had to be read."""


def read_use(pid: int) -> ProcessUse:
    """Return what a process has used; zeros where it is gone, or Linux does not tell."""
    hungriest = (0, 0)
    for path in (_PROC / str(pid) / "task").glob("*/schedstat"):
        # Time on a CPU, time waiting for one, both in ns, and turns (Documentation/scheduler/sched-stats.rst).
        with suppress(OSError, ValueError, IndexError):
            ran, waited = (int(word) for word in path.read_text().split()[:2])
            hungriest = max(hungriest, (ran, waited), key=sum)
    fields = _stat(_PROC / str(pid) / "stat")
    faults = (int(fields[7]), int(fields[9])) if len(fields) > 9 else (0, 0)
    return ProcessUse(*hungriest, *faults)


def is_there(pid: int) -> bool:
    """Return whether a process lives; one that has ended and was not asked for yet does not."""
    fields = _stat(_PROC / str(pid) / "stat")
    return bool(fields) and fields[0] not in ("Z", "X")


def read_pss_kib(pid: int) -> int | None:
    """Return a process' memory, each page divided by how many processes share it; None where Linux does not tell."""
    with suppress(OSError, ValueError, IndexError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return None


def read_available_kib() -> int:
    """Return the memory that this host can still give without swapping; 0 where Linux does not tell."""
    with suppress(OSError, ValueError, IndexError):
        for line in (_PROC / "meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1])
    return 0


def held_up_in(pid: int) -> list[str]:
    """Return the kernel function that each of a process' held-up threads waits in; `?` where Linux does not tell."""
    found = []
    for task in (_PROC / str(pid) / "task").glob("*"):
        fields = _stat(task / "stat")
        if fields and fields[0] == _UNINTERRUPTIBLE:
            name = ""
            with suppress(OSError):
                name = (task / "wchan").read_text().strip()
            found.append(name if name not in ("", "0") else "?")
    return found


def read_pressure_us() -> dict[str, int]:
    """Return for how long some task was held up so far for want of `cpu`, `memory`, `io`, in us; what Linux tells."""
    found = {}
    for name in ("cpu", "memory", "io"):
        with suppress(OSError, ValueError, IndexError):
            row = (_PROC / "pressure" / name).read_text().splitlines()[0]
            found[name] = int(row.rpartition("total=")[2])
    return found


def _stat(path: Path) -> list[str]:
    """Return the fields behind the name, which may have blanks and brackets in it: the state is the first."""
    try:
        return path.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
