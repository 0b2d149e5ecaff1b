"""Kernel log text, from `dmesg`, a journal, syslog or a serial console -> stamped lines and initcalls.

The prefix varies with the tool and the kernel's configuration, and a serial console mixes in what firmware and programs
write, so every line is read for itself and a line without a stamp is kept without a time rather than guessed at.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.timeline import Timeline

PRINTK: Final = Clock("printk", 1_000)
"""The kernel's own stamps: local_clock(), printed in microseconds."""

# Terminal control that SeaBIOS and getty send: ESC c, ESC [ ... letter.
_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|c)")
# What stands before the kernel's own prefix:
#   > > [   17.318429][    T1] calling  ...                             quoted in a mail
#   Nov 20 10:00:00 host kernel: [    0.000000] Linux version ...       syslog, journalctl -k (then without a stamp)
#   2026-11-20T10:00:00.123456+00:00 host kernel: Linux version ...     journalctl -o short-iso-precise
#   kern  :info  : [    0.000000] Linux version ...                     dmesg -x
_AROUND = re.compile(
    r"(?:> ?)*"
    r"(?:(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}(?:\.\d+)?|\d{4}-\d\d-\d\dT[\d:.,]+(?:Z|[+-]\d\d:?\d\d)?) \S+ kernel: ?)?"
    r"(?:\w+ *:(?P<word>emerg|alert|crit|err|warn|notice|info|debug) *: )?"
)
# printk's prefix (kernel/printk/printk.c, print_syslog, print_time, print_caller):
#   <6>[    0.051384][    T1] calling  ...
_STAMP = r"\[(?P<seconds>(?=[ \d]{5,10}\.) *\d{1,10})\.(?P<micros>\d{6})\](?:\[ *(?P<caller>[TC]\d+)\])?"
_PREFIX = re.compile(r"<(?P<priority>\d{1,3})>(?P<seconds>)(?P<micros>)(?P<caller>)")
_STAMPED = re.compile(rf"(?:<(?P<priority>\d{{1,3}})>)?{_STAMP} ?")
_LEVELS = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")

# calling  con_init+0x0/0x22c @ 0                        (two blanks; address only without KALLSYMS; [MOD] for a module)
# Other messages may stand before it on the line; a PCI quirk says `pci 0000:00:1f.0: calling  quirk_x+0x0/0xe0 @ 1`.
_CALLING = re.compile(r"(?<!: )calling  (?P<symbol>\S+)(?: \[(?P<module>[\w-]+)\])? @ (?P<pid>\d{1,10})\s*$")
# initcall con_init+0x0/0x22c returned 0 after 0 usecs
_RETURNED = re.compile(
    r"initcall (?P<symbol>\S+)(?: \[(?P<module>[\w-]+)\])? "
    r"returned (?P<result>-?\d{1,12}) after (?P<usecs>\d{1,15}) usecs"
)
_HOSTED = re.compile(r"(?P<host>\S+) (?P<program>[^\s:\[]+)(?:\[\d+\])?: ?")
_BANNER = re.compile(r"Linux version \d")
SWITCHED: Final = "clocksource: Switched to clocksource"
"""From this line on the kernel's own durations are in microseconds; before it, in jiffies."""


@dataclass(frozen=True, slots=True)
class KernelLine:
    """One message. `t_ns` is ns on the PRINTK clock; None when the line has no stamp.

    Without a stamp in a stamped log: not from the kernel, or the tail of a message that an old kernel printed in parts.
    """

    t_ns: int | None
    level: int | None
    """0 (emerg) to 7 (debug); None when the log does not say."""
    caller: str | None
    """`T1` (task 1) or `C0` (interrupt on CPU 0), with CONFIG_PRINTK_CALLER."""
    text: str
    """Without prefix; a message of several lines holds line feeds."""


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
        """The time between the two lines' stamps, which includes printing the first one."""
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
    received: bool = False
    """Stamps are a journal's: when it received a line, for early ones seconds after the kernel wrote them."""

    @property
    def stamped(self) -> bool:
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
    messages = list(_messages(text))
    unhosted = _without_host(messages)
    lines = _joined(unhosted)
    banners = [index for index, line in enumerate(lines) if _BANNER.match(line.text)]
    if len(banners) > 1:
        lines = lines[: banners[1]]
    return KernelLog(
        tuple(lines),
        tuple(_initcalls(lines)),
        wrapped=not banners,
        later_boots=max(0, len(banners) - 1),
        received=unhosted is not messages,
    )


def is_kernel_line(row: str) -> bool:
    """Return whether a line of any file bears printk's stamp or is the kernel's banner."""
    return _STAMPED.search(row) is not None or _BANNER.search(row) is not None


def find_stamp(row: str) -> int | None:
    """Return the ns of the first stamp of printk's in a line; None without one."""
    found = _STAMPED.search(row)
    return None if found is None else _time(found)


def _messages(text: str) -> Iterator[KernelLine]:
    for row in text.split("\n"):
        row = _CONTROL.sub("", row.rstrip("\r"))
        if row:
            yield from _read(row)


def _read(row: str) -> Iterator[KernelLine]:
    around = _AROUND.match(row)
    start = around.end() if around else 0
    prefix = _STAMPED.match(row, start) or _PREFIX.match(row, start)
    if prefix is None and (prefix := _STAMPED.search(row, start)) is not None:
        # Firmware or a program wrote no line end before the kernel wrote its line.
        yield KernelLine(None, None, None, row[start : prefix.start()])
        around = None
    named = around["word"] if around else None
    level = _LEVELS.index(named) if named else None
    if prefix is None:
        banner = _BANNER.search(row, start)
        if banner is not None and banner.start() > start:
            yield KernelLine(None, None, None, row[start : banner.start()])
            start = banner.start()
        yield KernelLine(None, level, None, row[start:])
        return
    if prefix["priority"] is not None:
        # The facility is in the bits above.
        level = int(prefix["priority"]) & 7
    yield KernelLine(_time(prefix), level, prefix["caller"] or None, row[prefix.end() :])


def _time(prefix: re.Match[str]) -> int | None:
    if not prefix["seconds"]:
        return None
    return (int(prefix["seconds"]) * 1_000_000 + int(prefix["micros"])) * 1_000


def _without_host(lines: list[KernelLine]) -> list[KernelLine]:
    # journalctl -o short-monotonic puts host and program between stamp and text, on every line:
    #   [    0.000000] host kernel: Linux version ...
    stamped = [line for line in lines if line.t_ns is not None]
    hosts = {found["host"] for line in stamped if (found := _HOSTED.match(line.text)) is not None}
    if len(hosts) != 1 or any(_HOSTED.match(line.text) is None for line in stamped):
        return lines
    return [replace(line, text=_unhosted(line.text)) if line.t_ns is not None else line for line in lines]


def _unhosted(text: str) -> str:
    # Of a program its name stays: systemd[1]: Starting ...
    found = _HOSTED.match(text)
    return text if found is None else text[found.end() if found["program"] == "kernel" else found.end("host") + 1 :]


def _joined(lines: list[KernelLine]) -> list[KernelLine]:
    # dmesg prints the further lines of one message without a stamp, indented below its first line.
    joined: list[KernelLine] = []
    for line in lines:
        before = joined[-1] if joined else None
        if line.t_ns is None and line.text[:1] in (" ", "\t") and before is not None and before.t_ns is not None:
            joined[-1] = replace(before, text=f"{before.text}\n{line.text.strip()}")
        else:
            joined.append(line)
    return joined


def _initcalls(lines: list[KernelLine]) -> list[LoggedInitcall]:
    calls: list[LoggedInitcall] = []
    # Static functions of the same name exist, so a return belongs to the oldest call that is still open.
    open_calls: dict[tuple[str, str | None], list[int]] = {}
    in_jiffies = True
    for line in lines:
        if SWITCHED in line.text:
            in_jiffies = False
        elif (found := _CALLING.search(line.text)) is not None:
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
    if any((call.reported_us or 0) % 1000 for call in calls if call.reported_in_jiffies):
        # The log begins after a first switch (to tsc-early, say), and the one that it holds is a later one.
        return [replace(call, reported_in_jiffies=False) for call in calls]
    return calls


def _function(found: re.Match[str]) -> str:
    return found["symbol"].partition("+")[0]
