"""Where a kernel's own part of a boot ends, by its log, and the phases that follow from it.

Kernels say `Run X as init process` since 4.x. Older ones free their own code right before, and what they did not say,
the first line of systemd, init or udev shows. Which of these it was is part of the answer; a log that has none of them
gets one phase that says so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bootlab.importers.kernel import suspend
from bootlab.importers.kernel.dmesg import KernelLog
from bootlab.importers.kernel.line import KernelLine
from bootlab.timeline.event import Span

RUN_INIT: Final = re.compile(r"Run (\S+) as init process")
# Freeing unused kernel memory: 1184K (ffffffff81d2b000 - ffffffff81e53000)      Freeing init memory: 184K
_FREED = re.compile(r"Freeing (?:unused kernel (?:image )?(?:\([^)]{1,40}\) )?memory|init memory): ")
# systemd[1]: systemd 204 running ...    init: plymouth main process ...    init[1]: ...    udevd[64]: starting ...
_PROGRAM = re.compile(r"(?:systemd(?:-[\w-]{1,32})?\[\d+\]|init(?:\[\d+\])?|udevd(?:\[\d+\])?|dracut|initcpio): ")
OPEN_END: Final = "kernel and what follows: no line tells where it ends"
USER_SPACE: Final = "user space, as far as logged"


@dataclass(frozen=True, slots=True)
class KernelEnd:
    """Where the kernel handed over. `how`: by which kind of line; `line`: that line."""

    t_ns: int
    how: str
    line: str


def find_kernel_end(lines: tuple[KernelLine, ...]) -> KernelEnd | None:
    """Return where the kernel's part of a boot ends, by the best line that says so; None when no line does."""
    program = next((line for line in lines if line.t_ns is not None and _PROGRAM.match(line.text)), None)
    freed: KernelLine | None = None
    for line in lines:
        if line.t_ns is None:
            continue
        if RUN_INIT.search(line.text):
            return KernelEnd(line.t_ns, "the line that names init", line.text)
        if _FREED.match(line.text) and (program is None or line.t_ns <= (program.t_ns or 0)):
            # There may be several, for code, data and gaps: the last one is the end.
            freed = line
    if freed is not None and freed.t_ns is not None:
        return KernelEnd(freed.t_ns, "the kernel's freeing of its own code, right before init", freed.text)
    if program is not None and program.t_ns is not None:
        return KernelEnd(program.t_ns, "the first line of a program", program.text)
    return None


def kernel_phases(log: KernelLog) -> Iterator[Span]:
    """Yield the phases of a log: of the boot that it holds, else of a suspend that it holds."""
    stamped = [line for line in log.lines if line.t_ns is not None]
    if not stamped:
        return
    cycle = suspend.find_cycle(stamped)
    if cycle is not None and log.wrapped:
        yield from suspend.phases(cycle, stamped)
        return
    first, last = stamped[0].t_ns or 0, max(line.t_ns or 0 for line in stamped)
    if cycle is not None:
        last = max(first, cycle.entered_ns)
    end = find_kernel_end(log.lines)
    starts = [call.start_ns for call in log.initcalls if call.start_ns is not None and call.pid == 1]
    if end is None and log.wrapped:
        # Neither end of the kernel's part is there.
        return
    cuts: list[tuple[str, int, str]] = [("kernel" if end is not None else OPEN_END, first, "")]
    if end is not None:
        if starts and first < starts[0] < end.t_ns:
            ends = [call.end_ns for call in log.initcalls if call.end_ns is not None and call.end_ns <= end.t_ns]
            cuts = [
                ("kernel, to its initcalls", first, ""),
                ("initcalls", starts[0], ""),
                ("kernel, to init", max(ends, default=end.t_ns), ""),
            ]
        cuts.append((USER_SPACE, end.t_ns, f"from {end.how}"))
    for (name, start, about), (_, following, _) in zip(cuts, [*cuts[1:], ("", last, "")], strict=True):
        yield Span(start, max(start, following), "phase", name, about=about)


def end_notes(log: KernelLog) -> Iterator[str]:
    """Yield what must be said of the phases: by which line the kernel ends, if not by its own."""
    stamped = [line for line in log.lines if line.t_ns is not None]
    cycle = suspend.find_cycle(stamped)
    if cycle is not None:
        if log.wrapped:
            yield "This is the log of a suspend and resume, and of no boot."
        else:
            yield (
                f"The machine was suspended at {cycle.entered_ns / 1e9:.3f} s: the phases end there, and later lines "
                "are of no boot."
            )
    if not stamped or (cycle is not None and log.wrapped):
        return
    end = find_kernel_end(log.lines)
    if end is None and not log.wrapped:
        yield (
            "No line tells where the kernel ends and user space begins (`Run ... as init process`, `Freeing unused "
            "kernel memory`, a line of systemd or init): the one phase is no measure of the kernel."
        )
    elif end is not None and RUN_INIT.search(end.line) is None:
        yield f"The kernel ends at {end.t_ns / 1e9:.6f} s by {end.how}: `{end.line[:80]}`."
