"""Suspend and resume in a kernel's log: their phases, and what each device's callback took (`initcall_debug`).

[   97.1] PM: suspend entry (deep)                      ... ACPI: PM: Waking up ...   ... PM: suspend exit
[   97.6] calling  0000:00:1f.2+ @ 2475, parent: pci0000:00       kernels before 5.x
[   97.7] call 0000:00:1f.2+ returned 0 after 98123 usecs
[   97.6] sd 0:0:0:0: PM: calling scsi_bus_suspend @ 2475, parent: target0:0:0       since
[   97.7] sd 0:0:0:0: PM: scsi_bus_suspend returned 0 after 98123 usecs
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bootlab.importers.kernel.line import KernelLine
from bootlab.timeline.event import Span

_ENTRY = re.compile(r"PM: (?:suspend entry|hibernation: hibernation entry|hibernation entry|Preparing system for )")
_WAKING = re.compile(
    r"(?:ACPI: )?(?:PM: )?(?:Waking up from system sleep state|Low-level resume complete|resume from suspend-to-idle)"
    r"|Enabling non-boot CPUs"
)
_EXIT = re.compile(r"PM: (?:suspend exit|hibernation: hibernation exit|hibernation exit|Finishing wakeup)")
_BEGINS = re.compile(
    r"calling  (?P<old>\S{1,128})\+ @ \d{1,10}, parent: |"
    r"(?P<device>\S.{0,128}?): PM: calling (?P<callback>\S{1,128}) @ \d{1,10}, parent: "
)
_ENDS = re.compile(
    r"call (?P<old>\S{1,128})\+ returned (?P<result>-?\d{1,12}) after (?P<usecs>\d{1,15}) usecs|"
    r"(?P<device>\S.{0,128}?): PM: (?P<callback>\S{1,128}) returned (?P<answer>-?\d{1,12}) after (?P<us>\d{1,15}) usecs"
)


@dataclass(frozen=True, slots=True)
class SuspendCycle:
    """One suspend, on the PRINTK clock. None: the log does not say when the machine woke, or was up again."""

    entered_ns: int
    woke_ns: int | None
    resumed_ns: int | None


def find_cycle(lines: Sequence[KernelLine]) -> SuspendCycle | None:
    """Return the first suspend of a log, None when it holds none."""
    entered = woke = None
    for line in lines:
        if line.t_ns is None:
            continue
        if entered is None:
            entered = line.t_ns if _ENTRY.match(line.text) else None
        elif woke is None and _WAKING.match(line.text):
            woke = line.t_ns
        elif _EXIT.match(line.text):
            return SuspendCycle(entered, woke, line.t_ns)
    return None if entered is None else SuspendCycle(entered, woke, None)


def phases(cycle: SuspendCycle, stamped: Sequence[KernelLine]) -> Iterator[Span]:
    """Yield the phases of a log of a suspend. The kernel's clock stands still while the machine sleeps."""
    first, last = stamped[0].t_ns or 0, max(line.t_ns or 0 for line in stamped)
    resumed = cycle.resumed_ns if cycle.resumed_ns is not None else last
    cuts = [("before the suspend", first), ("suspend", cycle.entered_ns)]
    if cycle.woke_ns is not None:
        cuts.append(("resume", cycle.woke_ns))
    else:
        cuts[-1] = ("suspend and resume: no line tells where it woke", cycle.entered_ns)
    cuts.append(("after the resume", resumed))
    for (name, start), (_, end) in zip(cuts, [*cuts[1:], ("", last)], strict=True):
        if end > start:
            yield Span(start, end, "phase", name)


def device_callbacks(lines: Sequence[KernelLine]) -> Iterator[Span]:
    """Yield what each device's callback took in suspend and resume, by the stamps of its two lines."""
    begun: dict[tuple[str, str], list[int]] = {}
    for line in lines:
        if line.t_ns is None or "call" not in line.text and " returned " not in line.text:
            continue
        if (found := _BEGINS.match(line.text)) is not None:
            begun.setdefault(_key(found), []).append(line.t_ns)
        elif (found := _ENDS.match(line.text)) is not None and begun.get(_key(found)):
            start = begun[_key(found)].pop(0)
            if line.t_ns >= start:
                result, usecs = found["result"] or found["answer"], found["usecs"] or found["us"]
                about = f"kernel: {usecs} us" + (f"; returned {result}" if result != "0" else "")
                yield Span(start, line.t_ns, "device callback", " ".join(filter(None, _key(found))), about=about)


def is_callback(text: str) -> bool:
    """Return whether a line says that a device's callback began or ended."""
    return _BEGINS.match(text) is not None or _ENDS.match(text) is not None


def _key(found: re.Match[str]) -> tuple[str, str]:
    return (found["old"] or found["device"], (found["callback"] or "").partition("+")[0])
