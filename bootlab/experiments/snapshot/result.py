"""What `bootlab snapshot` kept, and what its clones showed: whether they differ, and whether one of them repeats."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.experiments.series import are_identical
from bootlab.measure.record import BootRecord, Outcome
from bootlab.snapshot.refusals import SnapshotManifest

FACT: Final = "clone"
"""The fact that the clone agent says of itself: its number, 16 random bytes that it was given, its host name."""


class SnapshotResult(Document):
    """A machine that was kept."""

    schema_: Literal["bootlab.kept/1"] = Field(default="bootlab.kept/1", alias="schema")
    system: str
    at: str
    kept_ns: int
    """Time of the machine's clock from power-on to the mark: what each clone need not do."""
    late_ns: int = Field(default=0, exclude_if=lambda value: not value)
    """How far past the mark it may have run before it stood still, on the wall clock."""
    instructions: int | None
    bytes: dict[str, int]
    """Of each file."""
    bytes_on_disk: int
    """What all of them take, holes not counted."""
    told: bool
    wall_s: float
    snapshot: str
    run: str


class ClonesResult(Document):
    """Clones of one snapshot."""

    schema_: Literal["bootlab.clones/1"] = Field(default="bootlab.clones/1", alias="schema")
    system: str
    snapshot: str
    boots: list[BootRecord]
    again: BootRecord | None
    """The first of them, restored once more."""
    alike: list[str]
    """What two clones have in common that they must not, in words; empty when all are machines of their own."""
    repeats: bool | None
    """Whether the one that was restored twice did the same, to the instruction; None on the wall clock."""
    run: str

    @property
    def good(self) -> bool:
        """Whether every clone was ready, all differ, and one repeats."""
        ready = all(record.outcome is Outcome.READY for record in self.boots)
        return ready and self.repeats is not False and not self.alike


def kept_result(manifest: SnapshotManifest, on_disk: int, wall_s: float, snapshot: str, run: str) -> SnapshotResult:
    """Return what a run of `bootlab snapshot` has on record."""
    return SnapshotResult(
        system=manifest.system,
        at=manifest.at,
        kept_ns=manifest.t_ns,
        late_ns=manifest.late_ns,
        instructions=manifest.instructions,
        bytes={name: file.bytes for name, file in manifest.files.items()},
        bytes_on_disk=on_disk,
        told=manifest.told,
        wall_s=round(wall_s, 3),
        snapshot=snapshot,
        run=run,
    )


def clones_result(boots: Sequence[BootRecord], again: BootRecord | None, snapshot: str, run: str) -> ClonesResult:
    """Return what clones showed; `again`: the first of them, restored once more; None where no clone repeats."""
    repeats = None if again is None else (are_identical([boots[0], again]) and boots[0].facts == again.facts)
    return ClonesResult(
        system=boots[0].system,
        snapshot=snapshot,
        boots=list(boots),
        again=again,
        alike=_in_common(boots),
        repeats=repeats,
        run=run,
    )


def _in_common(boots: Sequence[BootRecord]) -> list[str]:
    ready = [record for record in boots if record.outcome is Outcome.READY and record.restored is not None]
    found = []
    by_value: dict[tuple[str, str], list[int]] = defaultdict(list)
    for record in ready:
        assert record.restored is not None
        number, words = record.restored.clone or 0, record.facts.get(FACT, "").split()
        if len(words) < 2:
            found.append(f"clone {number} does not say who it is: nothing in it was changed")
            continue
        by_value["random bytes", words[1]].append(number)
        if len(words) > 2:
            by_value["host name", words[2]].append(number)
        for name, value in record.facts.items():
            if name == "session":
                by_value["session key", value].append(number)
    for (what, value), numbers in by_value.items():
        if len(numbers) > 1:
            some = ", ".join(map(str, numbers[:8]))
            found.append(f"clones {some} have the same {what}: {value}")
    return found
