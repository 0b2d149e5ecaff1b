"""Kernel log text, from `dmesg`, a journal, syslog or a serial console -> stamped lines and initcalls.

What stands before a message is read in line.py. A line without a stamp is kept without a time rather than guessed at.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bootlab.importers.kernel.line import BANNER, KernelLine, parse_row, without_host, without_quoting
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.timeline import Timeline

PRINTK: Final = Clock("printk", 1_000)
"""The kernel's own stamps: local_clock(), printed in microseconds."""

# calling  con_init+0x0/0x22c @ 0                        (two blanks; address only without KALLSYMS; [MOD] for a module)
# Other messages may stand before it on the line; a PCI quirk says `pci 0000:00:1f.0: calling  quirk_x+0x0/0xe0 @ 1`.
_CALLING = re.compile(r"(?<!: )calling  (?P<symbol>\S+)(?: \[(?P<module>[\w-]+)\])? @ (?P<pid>\d{1,10})\s*$")
# initcall con_init+0x0/0x22c returned 0 after 0 usecs
_RETURNED = re.compile(
    r"initcall (?P<symbol>\S+)(?: \[(?P<module>[\w-]+)\])? "
    r"returned (?P<result>-?\d{1,12}) after (?P<usecs>\d{1,15}) usecs"
)
# probe of 0000:00:1f.2 returned 1 after 5123 usecs
PROBE: Final = re.compile(r"probe of (?P<device>\S+) returned (?P<result>-?\d+) after (?P<usecs>\d+) usecs")
# How one of these ends where a mail has broken it.
_CUT = re.compile(
    r"(?:initcall(?: \S{1,256}(?: \[[\w-]{1,64}\])?)?|probe of(?: \S{1,256})?)"
    r"(?: returned(?: -?\d{1,12}(?: after(?: \d{1,15})?)?)?)?\s*$"
    r"|calling {1,2}\S{0,256}(?: \[[\w-]{1,64}\])?(?: @)?\s*$"
)
_LONGEST_CUT: Final = 512
_DISAGREE_NS: Final = 1_000_000_000
# From this line on the kernel's own durations are in microseconds; before it, in jiffies.
#   clocksource: Switched to clocksource tsc       Switched to clocksource tsc (3.12)     Switching to clocksource tsc
_SWITCHED = re.compile(r"(?:clocksource: )?(?:Switched|Switching) to clocksource ")


@dataclass(frozen=True, slots=True)
class LoggedInitcall:
    """One initcall of an `initcall_debug` log. A time is None when the log does not hold or not stamp that line."""

    function: str
    module: str | None
    pid: int | None
    start_ns: int | None
    end_ns: int | None
    result: int | None
    """What it returned; None when it never did."""
    reported_us: int | None
    """The kernel's own "after N usecs"."""
    reported_in_jiffies: bool
    """The figure was taken before the clocksource switch, on a clock that steps once a jiffy (4 ms): use the stamps.

    Soon after the switch it is the other way round: printk's clock can stand still for some ms while it settles.
    """

    @property
    def duration_ns(self) -> int | None:
        """The time between the two lines' stamps, which includes printing the first one; None where one has none."""
        return None if self.start_ns is None or self.end_ns is None else self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class KernelLog:
    """The first boot that a log holds."""

    lines: tuple[KernelLine, ...]
    initcalls: tuple[LoggedInitcall, ...]
    """In the order they began."""
    wrapped: bool
    """The beginning is missing (no `Linux version`): the ring buffer overflowed, or the log was cut."""
    later_boots: int
    """Further boots in the same text, which were left out."""
    later: tuple[KernelLine, ...] = ()
    """The first line of what was left out."""
    later_rows: int = 0
    """How many lines of the file were left out with them."""
    earlier: tuple[KernelLine, ...] = ()
    """The first line of an earlier boot's end, which was left out, too."""
    earlier_rows: int = 0
    empty_rows: int = 0
    received: bool = False
    """Stamps are a journal's: when it received a line, for early ones seconds after the kernel wrote them."""

    @property
    def stamped(self) -> bool:
        """Return whether any line has a time."""
        return any(line.t_ns is not None for line in self.lines)

    def timeline(self) -> Timeline:
        """Return the stamped lines as events (source `kernel`) and the timed initcalls as spans (source `initcall`)."""
        events = [Event(line.t_ns, "kernel", line.text) for line in self.lines if line.t_ns is not None]
        spans = [
            Span(call.start_ns, call.end_ns, "initcall", call.function)
            for call in self.initcalls
            if call.start_ns is not None and call.end_ns is not None
        ]
        return Timeline.of(PRINTK, events, spans)


def parse(text: str) -> KernelLog:
    """Return what a kernel log says. Nothing in it is an error: a log without stamps has lines without times."""
    messages: list[KernelLine] = []
    empty_rows = 0
    for row, rows in _unwrapped(text):
        found = list(parse_row(row))
        empty_rows += rows if not found else 0
        messages += found if rows == 1 else [replace(line, rows=line.rows and rows) for line in found]
    unhosted = without_host(messages)
    return log_of(unhosted, empty_rows=empty_rows, received=unhosted is not messages)


def log_of(messages: list[KernelLine], *, empty_rows: int = 0, received: bool = False) -> KernelLog:
    """Return the log that messages are, in their order. `received`: their stamps are a journal's."""
    lines, later, earlier = _joined(messages), list[KernelLine](), list[KernelLine]()
    banners = list(_banners(lines))
    if len(banners) > 1:
        end = _last_before(lines, banners[1]) + 1
        # Some kernels have a line or two before their banner. What is later ahead of the first one is of neither.
        known = end > banners[0]
        begins = next((one for one in range(end, banners[1]) if known and lines[one].t_ns is not None), banners[1])
        lines, later = lines[:begins], lines[begins:]
    if banners:
        begins = _last_before(lines, banners[0]) + 1
        lines, earlier = lines[begins:], lines[:begins]
    return KernelLog(
        tuple(lines),
        tuple(_initcalls(lines)),
        wrapped=not banners,
        later_boots=max(0, len(banners) - 1),
        later=tuple(later[:1]),
        later_rows=sum(line.rows for line in later),
        earlier=tuple(earlier[:1]),
        earlier_rows=sum(line.rows for line in earlier),
        empty_rows=empty_rows,
        received=received,
    )


def _banners(lines: Sequence[KernelLine]) -> Iterator[int]:
    # The indexes of the banners that begin a boot: not of one that a program printed, as of /proc/version, which has no
    # stamp, and behind which stamps go on.
    behind: list[int | None] = [None] * len(lines)
    t_ns = None
    for index in range(len(lines) - 1, -1, -1):
        t_ns = lines[index].t_ns if lines[index].t_ns is not None else t_ns
        behind[index] = t_ns
    before = None
    for index, (line, next_ns) in enumerate(zip(lines, behind, strict=True)):
        printed = line.t_ns is None and before is not None and (next_ns is None or next_ns >= before)
        if BANNER.match(line.text) and not printed:
            yield index
        before = line.t_ns if line.t_ns is not None else before


def _last_before(lines: Sequence[KernelLine], banner: int) -> int:
    # The index of the last line before a boot's banner that is of another boot: its stamp is later by more than
    # processors disagree. -1 without one.
    t_ns = lines[banner].t_ns
    if t_ns is None:
        return -1
    return next((index for index in range(banner - 1, -1, -1) if (lines[index].t_ns or 0) > t_ns + _DISAGREE_NS), -1)


def _unwrapped(text: str) -> Iterator[tuple[str, int]]:
    # A mail breaks long lines: `initcall x+0x0/0x1 returned 0` and, on the next line, `after 12 usecs`. Yields each
    # line and how many it was.
    if not text:
        return
    rows = text.split("\n")
    if not rows[-1]:
        rows.pop()
    held: str | None = None
    for row in rows:
        if held is not None:
            joined = f"{held.rstrip()} {without_quoting(row).strip()}"
            if is_call(joined):
                yield joined, 2
                held = None
                continue
            yield held, 1
            held = None
        if _CUT.search(row, max(len(row) - _LONGEST_CUT, 0)) is not None:
            held = row
        else:
            yield row, 1
    if held is not None:
        yield held, 1


def is_call(text: str) -> bool:
    """Return whether a line says that an initcall or a probe began or ended."""
    return any(form.search(text) is not None for form in (_RETURNED, _CALLING, PROBE))


def _joined(lines: list[KernelLine]) -> list[KernelLine]:
    # dmesg prints the further lines of one message without a stamp, indented below its first line.
    joined: list[KernelLine] = []
    for line in lines:
        before = joined[-1] if joined else None
        if line.t_ns is None and line.text[:1] in (" ", "\t") and before is not None and before.t_ns is not None:
            joined[-1] = replace(before, text=f"{before.text}\n{line.text.strip()}", rows=before.rows + line.rows)
        else:
            joined.append(line)
    return joined


def _initcalls(lines: list[KernelLine]) -> list[LoggedInitcall]:
    calls: list[LoggedInitcall] = []
    # Static functions of the same name exist, so a return belongs to the oldest call that is still open.
    open_calls: dict[tuple[str, str | None], list[int]] = {}
    until = lines_in_jiffies(lines)
    for number, line in enumerate(lines):
        in_jiffies = number < until
        if (found := _CALLING.search(line.text)) is not None:
            open_calls.setdefault((found["symbol"], found["module"]), []).append(len(calls))
            function, pid = _function(found), int(found["pid"])
            calls.append(LoggedInitcall(function, found["module"], pid, line.t_ns, None, None, None, in_jiffies))
        elif (found := _RETURNED.search(line.text)) is not None:
            waiting = open_calls.get((found["symbol"], found["module"]), [])
            result, usecs = int(found["result"]), int(found["usecs"])
            if waiting:
                index = waiting.pop(0)
                calls[index] = replace(
                    calls[index], end_ns=line.t_ns, result=result, reported_us=usecs, reported_in_jiffies=in_jiffies
                )
            else:
                function = _function(found)
                calls.append(
                    LoggedInitcall(function, found["module"], None, None, line.t_ns, result, usecs, in_jiffies)
                )
    return calls


def lines_in_jiffies(lines: Sequence[KernelLine]) -> int:
    """Return how many lines from the first on have the kernel's own durations in jiffies."""
    switched = next((number for number, line in enumerate(lines) if _SWITCHED.match(line.text)), len(lines))
    told = (_RETURNED.search(line.text) or PROBE.search(line.text) for line in lines[:switched])
    # Where one is no multiple of a jiffy, the log begins after a first switch (to tsc-early, say), or was filtered.
    return 0 if any(found is not None and not _is_jiffies(int(found["usecs"])) for found in told) else switched


def tells_of_a_switch(lines: Sequence[KernelLine]) -> bool:
    """Say whether a line tells when the clocksource was switched, and durations began to be in microseconds."""
    return any(_SWITCHED.match(line.text) for line in lines)


def _is_jiffies(usecs: int) -> bool:
    # Before Linux 5.18 what it calls a microsecond is 1024 ns: 4 ms are 3906.
    ms = -(-usecs * 1024 // 1_000_000)
    return usecs % 1000 == 0 or ms * 1_000_000 // 1024 == usecs


def _function(found: re.Match[str]) -> str:
    return found["symbol"].partition("+")[0]
