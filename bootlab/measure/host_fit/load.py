"""How busy a host was meanwhile: what its CPUs did for others, and what was stolen from it by a host of its own."""

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

_STAT: Final = Path("/proc/stat")
_BUSY_MOST = 0.1
_STOLEN_MOST = 0.01
_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ, _STEAL = 0, 1, 2, 5, 6, 7


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Seconds that all CPUs of the host had spent at a moment: on work, and stolen; and those of our own children."""

    at_s: float
    busy_s: float
    stolen_s: float
    ours_s: float

    @classmethod
    def now(cls, stat: Path = _STAT) -> Self:
        """Return those of now; zeros where the host does not tell."""
        try:
            fields = stat.read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
            times = [int(one) / os.sysconf("SC_CLK_TCK") for one in fields]
            busy = sum(times[index] for index in (_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ))
            stolen = times[_STEAL]
        except (OSError, ValueError, IndexError):
            busy = stolen = 0.0
        children, own = (resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))
        ours = sum(one.ru_utime + one.ru_stime for one in (children, own))
        return cls(time.monotonic(), busy, stolen, ours)


def busy_words(before: CpuTimes, after: CpuTimes, cpus: int) -> list[str]:
    """Return what to doubt of figures that were timed between two moments."""
    there_s = max(1e-3, (after.at_s - before.at_s) * cpus)
    others = (after.busy_s - before.busy_s - (after.ours_s - before.ours_s)) / there_s
    stolen = (after.stolen_s - before.stolen_s) / there_s
    words = []
    if others > _BUSY_MOST:
        words.append(f"the host was busy: {others:.0%} of its CPUs worked for others meanwhile")
    if stolen > _STOLEN_MOST:
        words.append(f"{stolen:.1%} of the CPUs' time was stolen: this host is a guest of another that was busy")
    return words
