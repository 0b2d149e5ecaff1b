"""What is asked of one boot that has to do with a snapshot: to be kept at a mark, or to go on from there."""

from dataclasses import dataclass
from pathlib import Path

from bootlab.snapshot.identity import CloneIdentity
from bootlab.snapshot.refusals import MemoryForm


@dataclass(frozen=True, slots=True)
class KeepRequest:
    """The machine is to stand still at the mark `at`, and to be kept in `folder`, which is there and empty."""

    at: str
    folder: Path
    form: MemoryForm = MemoryForm.FILE


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
