"""One line of a kernel log -> its stamp, level and message, whatever tool, journal or vendor put before it.

    <6>[    0.051384][    T1] calling  ...                     printk's own, with CONFIG_PRINTK_CALLER
    Mär 06 13:18:23 host kernel: initcall ...                  a journal's, in any language
    [    0.412345@1] ...    [    0.412345] -(0)[1:swapper/0]... [    0.412345] [1:    swapper/0:    1] ...    vendors'

A serial console mixes in what firmware and programs write, so every line is read for itself.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from bootlab.importers.reading.source import Head

# Terminal control that SeaBIOS and getty send: ESC c, ESC [ ... letter.
_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|c)")
# What stands before the kernel's own prefix:
#   > > [   17.318429][    T1] calling  ...                             quoted in a mail
#   Nov 20 10:00:00 host kernel: [    0.000000] Linux version ...       syslog, journalctl -k (then without a stamp)
#   3月 06 13:18:23 host kernel: ...                                     the same where months are named otherwise
#   Fri 2026-11-20 10:00:00 UTC host kernel: ...                        journalctl -o short-full
#   1795168800.123456 host kernel: ...                                  journalctl -o short-unix
#   2026-11-20T10:00:00.123456+00:00 host kernel: Linux version ...     journalctl -o short-iso-precise
#   kern  :info  : [    0.000000] Linux version ...                     dmesg -x
_DATE: Final = (
    r"(?:(?:\d{1,2}[月월]|[^\W\d_]{2,6}\.?) {1,2}\d{1,2}[日일.]? \d\d:\d\d:\d\d(?:\.\d{1,9})?"
    r"|[^\W\d_]{1,5}\.? \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})? \S{1,12}|\d{9,10}\.\d{6}"
    r"|\d{4}-\d\d-\d\dT[\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)"
)
_AROUND = re.compile(
    rf"(?:> ?)*(?: ?{_DATE} \S+ kernel: ?)?"
    r"(?:\w+ *:(?P<word>emerg|alert|crit|err|warn|notice|info|debug) *: )?"
)
# printk's prefix (kernel/printk/printk.c, print_syslog, print_time, print_caller):
#   <6>[    0.051384][    T1] calling  ...
# Behind the stamp vendors write the processor (Amlogic: @1), a comma and it (Motorola), a unit (Huawei), the date.
_STAMP: Final = (
    r"\[(?P<seconds>(?=[ \d]{5,10}\.) *\d{1,10})\.(?P<micros>\d{6})"
    r"(?:@[CT]?\d{1,3}|,\d{1,3}|s| / [\d :.-]{5,30})?\](?: ?\[ *(?P<caller>[TC]\d+)\])?"
)
_PREFIX = re.compile(r"<(?P<priority>\d{1,3})>(?P<seconds>)(?P<micros>)(?P<caller>)")
_STAMPED = re.compile(rf"(?:<(?P<priority>\d{{1,3}})>)?{_STAMP} ?")
# Who printed it, behind the stamp:
#   -(0)[1:swapper/0]     <0>.(0)[1:swapper/0]        MediaTek: (processor)[pid:name]
#   [0:      swapper/0:    1] I[0: swapper: 0]        Samsung: [processor: name: pid]
#   [pid:1,cpu0,swapper/0]   (CPU:0-pid:1:swapper/0)  Huawei, OnePlus
_TASK = re.compile(
    r"(?:<\d>)?[ .-]{0,3}(?:\(\d{1,2}\)\[ *(?P<mediatek>\d{1,7}): ?[^\]\[]{1,32}\]"
    r"|[A-Z]?\[ *\d{1,3}: *[^\]:\[]{1,32}: *(?P<samsung>\d{1,7})\]"
    r"|\[pid:(?P<huawei>\d{1,7}),cpu\d{1,3},?[^\]\[]{0,32}\]|\(CPU:\d{1,3}-pid:(?P<oneplus>\d{1,7}):[^)]{0,32}\)) ?"
)
_LEVELS: Final = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")
_HOSTED = re.compile(r"(?P<host>\S+) (?P<program>[^\s:\[]+)(?:\[\d+\])?: ?")
BANNER: Final = re.compile(r"Linux version \d")
# What boot loaders alone write. Some stamp it as the kernel does: [    0.014592] Hit any key to stop autoboot:  0
_LOADERS = re.compile(
    r"(?:Hit any key to stop autoboot|## (?:Booting|Loading) kernel from |Starting kernel \.\.\."
    r"|U-Boot (?:[ST]PL )?\d{4}\.)"
)


@dataclass(frozen=True, slots=True)
class KernelLine:
    """One message. `t_ns` is ns on the PRINTK clock; None when the line has no stamp.

    Without a stamp in a stamped log: not from the kernel, or the tail of a message that an old kernel printed in parts.
    """

    t_ns: int | None
    level: int | None
    """0 (emerg) to 7 (debug); None when the log does not say."""
    caller: str | None
    """`T1` (task 1) or `C0` (interrupt on CPU 0), with CONFIG_PRINTK_CALLER or a vendor's like of it."""
    text: str
    """Without prefix; a message of several lines holds line feeds."""
    rows: int = field(default=1, compare=False)
    """How many lines of the file it is made of; 0 for what stood before another message on its line."""


def parse_row(row: str) -> Iterator[KernelLine]:
    """Yield the message of one line, and before it what firmware or a program left on that line; nothing if empty."""
    row = without_control(row.rstrip("\r"))
    if row:
        yield from _read(row)


def is_kernel_line(row: str) -> bool:
    """Return whether a line of any file bears printk's stamp or is the kernel's banner."""
    return _STAMPED.search(row) is not None or BANNER.search(row) is not None


def stamped_by_loader(head: Head) -> str:
    """Return the first line that tells that the stamps are a boot loader's own, on a console without a kernel."""
    stamped = ((row, _STAMPED.search(row)) for row in head.rows)
    told = next((row for row, found in stamped if found is not None and _LOADERS.match(row, found.end())), "")
    return told if told and not any(map(BANNER.search, (*head.rows, *head.further_rows))) else ""


def has_kernel_line(head: Head) -> bool:
    """Return whether a kernel writes on the console that begins so, be it long after its loaders."""
    if stamped_by_loader(head):
        return False
    return any(map(is_kernel_line, head.rows)) or any(map(is_kernel_line, head.further_rows))


def find_stamp(row: str) -> int | None:
    """Return the ns of the first stamp of printk's in a line; None without one."""
    found = _STAMPED.search(row)
    return None if found is None else _time(found)


def without_control(text: str) -> str:
    """Return text without what steers a terminal."""
    return _CONTROL.sub("", text)


def without_quoting(row: str) -> str:
    """Return a line without the marks of a mail that quotes it."""
    return row.lstrip("> ")


def without_host(lines: list[KernelLine]) -> list[KernelLine]:
    """Return lines without the host and the word `kernel` of `journalctl -o short-monotonic`; the same list if none.

    It puts them between stamp and text, on every line: `[    0.000000] host kernel: Linux version ...`.
    """
    stamped = [line for line in lines if line.t_ns is not None]
    hosts = {found["host"] for line in stamped if (found := _HOSTED.match(line.text)) is not None}
    if len(hosts) != 1 or any(_HOSTED.match(line.text) is None for line in stamped):
        return lines
    return [replace(line, text=_unhosted(line.text)) if line.t_ns is not None else line for line in lines]


def _read(row: str) -> Iterator[KernelLine]:
    around = _AROUND.match(row)
    start = around.end() if around else 0
    prefix = _STAMPED.match(row, start) or _PREFIX.match(row, start)
    if prefix is None and (prefix := _STAMPED.search(row, start)) is not None:
        # Firmware or a program wrote no line end before the kernel wrote its line.
        yield KernelLine(None, None, None, row[start : prefix.start()], rows=0)
        around = None
    named = around["word"] if around else None
    level = _LEVELS.index(named) if named else None
    if prefix is None:
        banner = BANNER.search(row, start)
        if banner is not None and banner.start() > start:
            yield KernelLine(None, None, None, row[start : banner.start()], rows=0)
            start = banner.start()
        yield KernelLine(None, level, None, row[start:])
        return
    if prefix["priority"] is not None:
        # The facility is in the bits above.
        level = int(prefix["priority"]) & 7
    end, caller = prefix.end(), prefix["caller"] or None
    if prefix["seconds"] and (task := _TASK.match(row, end)) is not None:
        end, caller = task.end(), f"T{int(next(filter(None, task.groups())))}"
    yield KernelLine(_time(prefix), level, caller, row[end:])


def _time(prefix: re.Match[str]) -> int | None:
    if not prefix["seconds"]:
        return None
    return (int(prefix["seconds"]) * 1_000_000 + int(prefix["micros"])) * 1_000


def _unhosted(text: str) -> str:
    # Of a program its name stays: systemd[1]: Starting ...
    found = _HOSTED.match(text)
    return text if found is None else text[found.end() if found["program"] == "kernel" else found.end("host") + 1 :]
