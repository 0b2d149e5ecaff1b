"""The rows of FreeBSD's TSLOG, parsed: what the kernel and its loader recorded, and how each process went.

Formats: sys/kern/kern_tslog.c of FreeBSD 14.3, `sysctl -b debug.tslog` and `sysctl -b debug.tslog_user`. Neither says
how fast the counter ran; `sysctl machdep.tsc_freq` does, and its line may stand in the same file.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from bootlab.importers.reading.tally import Tally

LOADER: Final = 0
"""The thread of the boot loader, which has none."""

# 0xffffffff8251db00 17700314 ENTER relocate_file1 ef->rela         thread, counter, kind, function, what for
_RECORD = re.compile(
    r"(?P<thread>0x[0-9a-f]{1,16}) (?P<tsc>\d{1,20}) (?P<kind>ENTER|EXIT|THREAD|EVENT) (?P<what>.*)", re.ASCII
)
# 16 15 1163932152 1166735050 "hostname" "/rescue/hostname"         pid, parent, fork, exit, exec, first name looked up
_PROCESS = re.compile(
    r"(?P<pid>\d{1,6}) (?P<parent>\d{1,6}) (?P<forked>\d{1,20}) (?P<exited>\d{1,20}) "
    r'"(?P<program>[^"]*)" "(?P<looked>.*)"',
    re.ASCII,
)
_RATE = re.compile(
    r"(?:machdep\.tsc_freq|kern\.timecounter\.tc\.ARM MPCore Timecounter\.frequency)[:=] ?(?P<hertz>\d{1,12})"
)
_LONGEST_NAME = 200


class RecordKind(StrEnum):
    """What a record says; an event's name begins with WAIT, UNWAIT, HOLD or RELEASE, or says what it wants."""

    ENTER = "ENTER"
    EXIT = "EXIT"
    THREAD = "THREAD"
    EVENT = "EVENT"


@dataclass(frozen=True, slots=True)
class Record:
    """One row of the kernel's log. `name` is the function with what it was called for: `SYSINIT announce`."""

    thread: int
    tsc: int
    kind: RecordKind
    name: str


@dataclass(frozen=True, slots=True)
class TslogProcess:
    """One process. `exited` is 0 while it runs; `program` is empty before exec; `looked` is what it looked up first."""

    pid: int
    parent: int
    forked: int
    exited: int
    program: str
    looked: str


@dataclass(slots=True)
class Dump:
    """What one file holds, in the order of its rows."""

    records: list[Record] = field(default_factory=list)
    processes: list[TslogProcess] = field(default_factory=list)
    tsc_hz: int | None = None
    foreign: int = 0
    """Rows that are neither, and not empty: console output among them, or a damaged dump."""
    first_foreign: int | None = None
    """The number of the first of them."""


def is_record(row: str) -> bool:
    """Say whether a row is one of the kernel's log."""
    return _RECORD.match(row) is not None


def is_process(row: str) -> bool:
    """Say whether a row is one of the table of processes."""
    return _PROCESS.match(row) is not None


def parse_rows(rows: Iterable[tuple[int, str]], tally: Tally) -> Dump:
    """Return what numbered rows say, in any order of the two tables. Unused pids, all of them zeros, are left out."""
    dump = Dump()
    for number, row in rows:
        if (found := _RECORD.match(row)) is not None:
            tally.used("records")
            name = found["what"][:_LONGEST_NAME] or "(null)"
            dump.records.append(Record(int(found["thread"], 16), int(found["tsc"]), RecordKind(found["kind"]), name))
        elif (process := _PROCESS.match(row)) is not None:
            tally.aside("unused process ids")
            if int(process["forked"]) or int(process["exited"]) or process["program"]:
                tally.used("processes")
                dump.processes.append(_process(process))
        elif (rate := _RATE.search(row)) is not None:
            tally.used("the counter's rate")
            dump.tsc_hz = int(rate["hertz"]) or dump.tsc_hz
        elif row.strip():
            dump.foreign += 1
            dump.first_foreign = dump.first_foreign or number
    return dump


def _process(found: re.Match[str]) -> TslogProcess:
    pid, parent, forked, exited = (int(found[name]) for name in ("pid", "parent", "forked", "exited"))
    return TslogProcess(pid, parent, forked, exited, found["program"][:_LONGEST_NAME], found["looked"][:_LONGEST_NAME])
