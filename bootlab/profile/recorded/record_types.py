"""The records of a profile as numpy types and values: the Python side of plugin/profile_format.h, name for name.

Times, instructions and counts are signed here: a difference of two is then a difference, and numpy mixes them with
other integers without falling back to floats. None of them comes near 2**63.
"""

from enum import IntEnum, IntFlag
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Records = NDArray[np.void]
"""A structured array; its fields are named as in the header."""
Integers = NDArray[np.int64]

MAGIC: Final = b"bootlab-profile1"
NONE: Final = 0xFFFFFFFF
"""PROFILE_NO_TASK, and the parent of node 0."""


class ChunkKind(IntEnum):
    """What the records of a chunk are."""

    NAME = 1
    NODE = 2
    WEIGHT = 3
    CUT = 4
    TASK = 5
    SWITCH = 6
    WAKE = 7
    IDLE = 8
    SPAN = 9
    CALL = 10
    EVENT = 11
    SYSCALL = 12
    COUNTS = 13
    END = 14
    CHARGED = 15
    TRAP = 16
    PAGE = 17


class Space(IntEnum):
    """Where a function is."""

    KERNEL = -1
    """A line of the functions file."""
    STAGE = 0
    """`[firmware]`, `[decompressor]`: the root of what ran before the kernel."""
    TASK = 1
    """`NAME-PID`: the root of a task's stacks."""
    CODE = 2
    """A call target without a symbol; the name is the place it is in, `decompressor+0x1a40`."""
    MODULE = 3
    """`function [module]`."""
    USER = 4
    """`function [file]`, or `[file]` for a file without symbols."""
    OTHER = 5
    """`[kernel]`, `[user]`: code of which nothing is known."""
    LEAF = 6
    """Not in the file: `[wait]`, `[pruned]` and their like, which a call tree adds."""


class SwitchFlag(IntFlag):
    """What a switch did to the previous task; without SLEEPS it was still runnable."""

    SLEEPS = 1
    STATE_UNKNOWN = 2
    DEAD = 4


class WakeFlag(IntFlag):
    """What is known of one wake-up."""

    IN_INTERRUPT = 1


class CallKind(IntEnum):
    """Which watched function was called."""

    INITCALL = 1
    PROBE = 2
    MODULE = 3


class CallFlag(IntFlag):
    """What is known of one call."""

    UNFINISHED = 1


class EventKind(IntEnum):
    """What happened; the header says what `a`, `b` and the text are."""

    FORK = 1
    EXEC = 2
    EXIT = 3
    DEFER = 4
    BLOCK_ISSUE = 5
    BLOCK_DONE = 6
    MAP = 7
    MODULE = 8
    OPEN = 9
    LOOKUP = 10
    COMMAND = 11


class PageUse(IntEnum):
    """How a page of physical memory was touched first."""

    READ = 1
    WRITTEN = 2
    EXECUTED = 3


class Call(NamedTuple):
    """One call of a watched function, written when it ended; `task_instructions` are its own task's in between."""

    start_ns: int
    end_ns: int
    start_instructions: int
    end_instructions: int
    task_instructions: int
    argument: int
    node: int
    task: int
    kind: int
    flags: int
    text: str


class ProfileEvent(NamedTuple):
    """One event. Instructions are those of all vCPUs; `task` is the current one."""

    t_ns: int
    instructions: int
    a: int
    b: int
    task: int
    node: int
    kind: int
    vcpu: int
    text: str


def _record(*fields: tuple[str, str]) -> np.dtype[Any]:
    return np.dtype([(name, "<" + kind) if kind[0] != "S" else (name, kind) for name, kind in fields])


NAME: Final = _record(("function", "u4"), ("space", "u2"), ("text_size", "u2"), ("address", "u8"))
NODE: Final = _record(("parent", "u4"), ("function", "u4"))
WEIGHT: Final = _record(("node", "u4"), ("calls", "u4"), ("instructions", "i8"))
CUT: Final = _record(("t_ns", "i8"), ("instructions", "i8"), ("text_size", "u8"))
TASK: Final = _record(("t_ns", "i8"), ("task", "u4"), ("parent", "u4"), ("pid", "i4"), ("tgid", "i4"), ("comm", "S16"))
SWITCH: Final = _record(
    ("t_ns", "i8"),
    ("instructions", "i8"),
    ("previous", "u4"),
    ("next", "u4"),
    ("previous_node", "u4"),
    ("vcpu", "u2"),
    ("flags", "u2"),
)
WAKE: Final = _record(("t_ns", "i8"), ("wakee", "u4"), ("waker", "u4"), ("node", "u4"), ("vcpu", "u2"), ("flags", "u2"))
CHARGED: Final = _record(("start_ns", "i8"), ("end_ns", "i8"), ("node", "u4"), ("vcpu", "u2"), ("reserved", "u2"))
IDLE: Final = _record(("start_ns", "i8"), ("end_ns", "i8"), ("node", "u4"), ("vcpu", "u2"), ("reserved", "u2"))
SPAN: Final = _record(("start_ns", "i8"), ("end_ns", "i8"), ("node", "u4"), ("task", "u4"))
CALL: Final = _record(
    ("start_ns", "i8"),
    ("end_ns", "i8"),
    ("start_instructions", "i8"),
    ("end_instructions", "i8"),
    ("task_instructions", "i8"),
    ("argument", "u8"),
    ("node", "u4"),
    ("task", "u4"),
    ("kind", "u2"),
    ("flags", "u2"),
    ("text_size", "u4"),
)
EVENT: Final = _record(
    ("t_ns", "i8"),
    ("instructions", "i8"),
    ("a", "u8"),
    ("b", "u8"),
    ("task", "u4"),
    ("node", "u4"),
    ("kind", "u2"),
    ("vcpu", "u2"),
    ("text_size", "u4"),
)
SYSCALL: Final = _record(
    ("task", "u4"), ("function", "u4"), ("calls", "i8"), ("elapsed_ns", "i8"), ("instructions", "i8")
)
COUNTS: Final = _record(
    ("returns", "i8"),
    ("mismatched_returns", "i8"),
    ("transitions", "i8"),
    ("interrupts", "i8"),
    ("switches", "i8"),
    ("calls", "i8"),
)
TRAP: Final = _record(
    ("node", "u4"), ("kind", "u2"), ("state", "u2"), ("number", "u8"), ("changes", "u4"), ("count", "u4")
)
PAGE: Final = _record(("page", "u8"), ("node", "u4"), ("use", "u2"), ("vcpu", "u2"))
END: Final = _record(("t_ns", "i8"), ("instructions", "i8"), ("idle_ns", "i8"))

RECORD: Final[dict[ChunkKind, np.dtype[Any]]] = {
    ChunkKind.NAME: NAME,
    ChunkKind.NODE: NODE,
    ChunkKind.WEIGHT: WEIGHT,
    ChunkKind.CUT: CUT,
    ChunkKind.TASK: TASK,
    ChunkKind.SWITCH: SWITCH,
    ChunkKind.WAKE: WAKE,
    ChunkKind.IDLE: IDLE,
    ChunkKind.SPAN: SPAN,
    ChunkKind.CALL: CALL,
    ChunkKind.EVENT: EVENT,
    ChunkKind.SYSCALL: SYSCALL,
    ChunkKind.COUNTS: COUNTS,
    ChunkKind.END: END,
    ChunkKind.CHARGED: CHARGED,
    ChunkKind.TRAP: TRAP,
    ChunkKind.PAGE: PAGE,
}
WITH_TEXT: Final = frozenset({ChunkKind.NAME, ChunkKind.CUT, ChunkKind.CALL, ChunkKind.EVENT})
"""Chunks of one record and its text, padded to 8 bytes; all others hold any number of records."""
