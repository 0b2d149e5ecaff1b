"""A boot's profile as values: what the plugin recorded, with nothing interpreted."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bootlab.profile.recorded.record_types import CHARGED, PAGE, TRAP, Call, ProfileEvent, Records
from bootlab.profile.tree.shape import TreeShape

LAST_SLICE = "end"
"""Name of the slice that the profile's own end, or the end of a file that was cut off, closes."""


@dataclass(frozen=True, slots=True)
class Task:
    """A process's thread or a kernel thread; `number` is the plugin's own, an index into `Profile.tasks`.

    `parent`: number of the task that made it, None if unknown. `pid`, `tgid`: the last known, -1 if never.
    `names`: (ns, comm) from the first to the last. `started_ns`: when the plugin first saw it, which for a forked task
    is when it could first run. `exited_ns`: when it left its CPU for good, or where that was not seen its
    entry of do_exit(); None while it lives.
    """

    number: int
    parent: int | None
    pid: int
    tgid: int
    names: tuple[tuple[int, str], ...]
    started_ns: int
    exited_ns: int | None

    @property
    def name(self) -> str:
        """Its last name."""
        return self.names[-1][1]

    @property
    def label(self) -> str:
        """`NAME-PID`, as the root of its stacks is called."""
        return f"{self.name}-{self.pid}"

    def name_at(self, t_ns: int) -> str:
        """Return the name it had at a time; the first one before there was any."""
        return next((name for since, name in reversed(self.names) if since <= t_ns), self.names[0][1])


@dataclass(frozen=True, slots=True)
class Slice:
    """What ran between two marks: `name` is the mark that ended it, LAST_SLICE for what the file's end did.

    `weights`: fields node, calls, instructions; a node may occur several times. Slices follow each other without gaps,
    so in a sound profile the instructions of a slice's weights are exactly `end_instructions - start_instructions`.
    """

    name: str
    start_ns: int
    end_ns: int
    start_instructions: int
    end_instructions: int
    weights: Records


@dataclass(frozen=True, eq=False)
class Profile:
    """One boot's profile. Structured arrays have the fields of the header's structs, in the order they were written.

    `names`: function number -> name; `spaces`: function number -> record_types.Space. `nodes`: fields parent,
    function; a parent comes before its children, node 0 is the root. `syscalls`, `counts`, `traps`, `pages`:
    with one more field `slice`, the index of the slice they belong to (counts: that they end).
    `shift`: one instruction is 2**shift ns. `complete`: the plugin wrote its end. Without it the last slice ends with
    the last time in the file, and `dropped` counts records that refer to something the file did not get to.
    """

    names: list[str]
    spaces: NDArray[np.int8]
    addresses: NDArray[np.uint64]
    """Function number -> run-time address; 0 where unknown, and for lines of the functions file."""
    nodes: Records
    slices: list[Slice]
    tasks: list[Task]
    switches: Records
    wakes: Records
    idles: Records
    spans: Records
    calls: list[Call]
    events: list[ProfileEvent]
    syscalls: Records
    counts: Records
    end_ns: int
    end_instructions: int
    """QEMU's own count at the end."""
    idle_ns: int
    """Sum of all idle stretches, as the plugin counted it."""
    kernel_functions: int
    """Functions below this number are lines of the functions file."""
    shift: int
    complete: bool
    dropped: int = 0
    charges: Records = field(default_factory=lambda: np.zeros(0, dtype=CHARGED))
    """What was added to the clock for events, as stretches like `idles`: each of the node that it was charged for."""
    traps: Records = field(default_factory=lambda: np.zeros(0, dtype=[*TRAP.descr, ("slice", "<i8")]))
    """What may leave a guest of KVM, counted by node and slice; only of a boot that was asked for it."""
    pages: Records = field(default_factory=lambda: np.zeros(0, dtype=[*PAGE.descr, ("slice", "<i8")]))
    """Pages of physical memory in the order in which they were touched first; the same."""

    @cached_property
    def shape(self) -> TreeShape:
        """Depths, roots and order of the nodes."""
        return TreeShape(self.nodes["parent"])

    def path(self, node: int) -> list[str]:
        """Return the names from a task or stage down to `node`; empty for node 0."""
        return [self.names[self.nodes["function"][step]] for step in self.shape.path(node)]

    def slice_index(self, name: str) -> int | None:
        """Return the index of the first slice that the mark `name` ended; None when it was never reached."""
        return next((number for number, piece in enumerate(self.slices) if piece.name == name), None)

    def up_to(self, name: str) -> range:
        """Return the indexes of the slices from power-on to the mark `name`; all of them when it was never reached."""
        index = self.slice_index(name)
        return range(len(self.slices) if index is None else index + 1)
