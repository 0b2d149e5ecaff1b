"""The account that bootlab-init keeps of a boot -> timeline: what each unit did, when.

guest/init/state/account_format.h says what the account looks like.
"""

import base64
import binascii
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Final

from bootlab.errors import InputError
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.timeline import Timeline

BOOTTIME: Final = Clock("boottime", 1)
"""CLOCK_BOOTTIME: ns since the kernel started its clocks."""

_MAGIC = b"BLINIT1\0"
_HEADER = struct.Struct("<8s4I3q")
_RECORD = struct.Struct("<qQIHBB")
_LINE = "bootlab: account "
_END = "end"
_NO_UNIT = 0xFFFF


class AccountEventKind(IntEnum):
    """What happened to a unit, by the numbers of guest/init/state/account_format.h."""

    WAITING = 1
    ELIGIBLE = 2
    SPAWN = 3
    EXEC = 4
    READY = 5
    EXIT = 6
    FAILED = 7
    STOPPING = 8
    DOWN = 9
    BLOCKED = 10
    GOAL = 11
    RELOAD = 12


_KINDS = frozenset(int(kind) for kind in AccountEventKind)


@dataclass(frozen=True, slots=True)
class AccountRecord:
    """One thing that happened. `t_ns` is on the BOOTTIME clock; `unit` is empty for the boot as a whole."""

    t_ns: int
    kind: AccountEventKind
    unit: str
    pid: int
    detail: int
    value: int

    @property
    def cpu_us(self) -> int:
        """Processor time of an EXIT's process and of the children it waited for."""
        return self.value & 0xFFFFFFFF

    @property
    def memory_kib(self) -> int:
        """The most that an EXIT's process had in memory."""
        return self.value >> 32


@dataclass(frozen=True, slots=True)
class InitAccount:
    """The whole account. `goal_ns` is None while the goal has not been reached."""

    begun_ns: int
    goal_ns: int | None
    lost: int
    """Records that there was no room for."""
    units: tuple[str, ...]
    records: tuple[AccountRecord, ...]

    def first_ns(self, kind: AccountEventKind) -> dict[str, int]:
        """Return when each unit first had a record of this kind."""
        found: dict[str, int] = {}
        for record in self.records:
            if record.kind is kind:
                found.setdefault(record.unit, record.t_ns)
        return found

    def most_starting(self) -> int:
        """Return how many units were starting at once, at most."""
        starting: set[str] = set()
        most = 0
        for record in self.records:
            if record.kind is AccountEventKind.SPAWN:
                starting.add(record.unit)
            elif record.kind in (AccountEventKind.READY, AccountEventKind.FAILED, AccountEventKind.DOWN):
                starting.discard(record.unit)
            most = max(most, len(starting))
        return most

    def timeline(self) -> Timeline:
        """Return a span from the first process of each unit to ready, and events for what else happened to it."""
        spawned = self.first_ns(AccountEventKind.SPAWN)
        spans = [
            Span(spawned[unit], ready_ns, "init", unit)
            for unit, ready_ns in self.first_ns(AccountEventKind.READY).items()
            if spawned.get(unit, ready_ns + 1) <= ready_ns
        ]
        events = [
            Event(record.t_ns, "init", f"{record.unit} {record.kind.name.lower()}".strip())
            for record in self.records
            if record.kind not in (AccountEventKind.SPAWN, AccountEventKind.READY)
        ]
        return Timeline.of(BOOTTIME, events, spans)


def parse_account(data: bytes) -> InitAccount:
    """Return the account that `bootlab-ctl account` has written. Raises InputError for anything else."""
    if len(data) < _HEADER.size or not data.startswith(_MAGIC):
        raise InputError("not an account of bootlab-init", hint="bootlab-ctl account > FILE writes one, in the guest")
    _, n_units, n_records, names_size, lost, begun_ns, goal_ns, _ = _HEADER.unpack_from(data)
    names_end = _HEADER.size + names_size
    if len(data) != names_end + n_records * _RECORD.size:
        raise InputError(
            f"account of bootlab-init: {len(data):,} bytes, its header says "
            f"{names_end + n_records * _RECORD.size:,}: it is cut short or damaged"
        )
    names = tuple(name.decode(errors="replace") for name in data[_HEADER.size : names_end].split(b"\0")[:n_units])
    if len(names) != n_units:
        raise InputError(f"account of bootlab-init: {len(names)} names, its header says {n_units}")
    records = tuple(_record(row, names) for row in _RECORD.iter_unpack(data[names_end:]))
    if any(later.t_ns < record.t_ns for record, later in pairwise(records)):
        raise InputError("account of bootlab-init: its records are not in the order of their times: it is damaged")
    return InitAccount(begun_ns, goal_ns or None, lost, names, records)


def _record(row: tuple[int, int, int, int, int, int], names: Sequence[str]) -> AccountRecord:
    t_ns, value, pid, unit, kind, detail = row
    if kind not in _KINDS or (unit >= len(names) and unit != _NO_UNIT):
        raise InputError(f"account of bootlab-init: a record of kind {kind} about unit {unit}, which it does not name")
    return AccountRecord(t_ns, AccountEventKind(kind), names[unit] if unit != _NO_UNIT else "", pid, detail, value)


def require_account(console: str) -> InitAccount:
    """Return the last whole account that `bootlab-ctl account --console` has written among other lines.

    Raises InputError when there is none.
    """
    whole, parts = None, list[str]()
    for line in console.splitlines():
        at = line.find(_LINE)
        if at < 0:
            continue
        word = line[at + len(_LINE) :].strip()
        if word == _END:
            whole, parts = parts, []
        else:
            parts.append(word)
    if whole is None:
        raise InputError(
            "no account of bootlab-init on the console", hint="bootlab-ctl account --console writes it there"
        )
    try:
        return parse_account(b"".join(base64.b64decode(part, validate=True) for part in whole))
    except binascii.Error as error:
        raise InputError(f"account of bootlab-init on the console: {error}") from error
