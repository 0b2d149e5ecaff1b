"""What is asked of one boot that has to do with a snapshot: to be kept at a mark, or to go on from there.

It goes on as a clone, whose times are since then (`Restored`), or as the rest of a boot whose beginning is the other's
(`Beginning`).
"""

from dataclasses import dataclass
from pathlib import Path

from bootlab.snapshot.identity import CloneIdentity
from bootlab.snapshot.refusals import MemoryForm


@dataclass(frozen=True, slots=True)
class KeepRequest:
    """The machine is to stand still at the mark `at`, and to be kept in `folder`, which is there and empty.

    `reads`: what it has read of its disks is kept as well, in the files of what it has written: so these tell which
    blocks it knows.
    """

    at: str
    folder: Path
    form: MemoryForm = MemoryForm.FILE
    reads: bool = False


@dataclass(frozen=True, slots=True)
class Restored:
    """The machine goes on from what `folder` holds, where it stood at this time of its clock.

    `instructions`: run up to there; None where nobody counts them.
    `identity`: who it is to be; None for a system that cannot be told, all of whose clones are one machine.
    """

    folder: Path
    form: MemoryForm
    t_ns: int
    instructions: int | None
    identity: CloneIdentity | None


@dataclass(frozen=True, slots=True)
class Beginning:
    """A boot up to a mark, where its machine was kept in `folder`: other boots go on from there as if it were theirs.

    `trace`, `console`: all that the plugin and the console had said of it; `boot`: its directory. `t_ns`: of its clock
    where it stood; `host_s`: host seconds that it took to there. Nobody is told who he is: whatever goes on is the
    machine that was kept.
    """

    folder: Path
    form: MemoryForm
    mark: str
    t_ns: int
    trace: str
    console: bytes
    boot: Path
    host_s: float
    identity: None = None
