"""Series compared: two phase by phase, with a verdict and the list of what differs between them; several step by step.

With a storage model the times of a side include that of loading its kernel and initramfs; the phases never do.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from bootlab.errors import InputError
from bootlab.experiments.family import Family
from bootlab.experiments.results import read_result
from bootlab.experiments.store import Run
from bootlab.experiments.verdict import virtual_verdict, wall_verdict
from bootlab.measure.record import BootRecord
from bootlab.measure.record_files import read_record
from bootlab.techniques.model.verdict import Verdict

SCHEMA: Final = "bootlab.compare/1"
STEPS_SCHEMA: Final = "bootlab.compare-steps/1"
_FILE_FLAGS = ("-kernel", "-initrd", "-bios")
_FILE_VALUE = re.compile(r"\b(file|mem-path)=(?:[^,]|,,)*")
_VOLATILE = re.compile(r"bootlab-|hostfwd=|config=|out=")


class PhaseDifference(BaseModel):
    """One phase on both sides, of the median boots; None where a side has no such phase."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    before_ns: int | None
    after_ns: int | None


class Comparison(BaseModel):
    """Before against after; `saved_ns` is positive when after is shorter."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)
    schema_: Literal["bootlab.compare/1"] = Field(default=SCHEMA, alias="schema")
    before: str
    after: str
    clock: str
    before_ns: int | None
    after_ns: int | None
    """Power-on to ready, and the load before it where there is a storage model."""
    saved_ns: int | None
    spread_ns: int | None
    verdict: Verdict
    detail: str
    differences: list[str]
    """What is not the same on both sides: a fair comparison differs in what it is about and nothing else."""
    phases: list[PhaseDifference]
    before_runs: list[str]
    """Directories of the boots of this side."""
    after_runs: list[str]


class Steps(BaseModel):
    """Several systems in order, each against the one before it: a waterfall. The steps' savings add up to the whole."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)
    schema_: Literal["bootlab.compare-steps/1"] = Field(default=STEPS_SCHEMA, alias="schema")
    clock: str
    steps: list[Comparison]
    whole: Comparison
    """The last system against the first."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with the boots of each side, in its order."""

    result: Comparison | Steps
    series: tuple[list[BootRecord], ...]


def read_compared(run: Run) -> Compared:
    """Return the comparison on record in a run. Raises as `read_result`, StoreError for a boot that is gone."""
    if len(run.asked.get("systems", ())) > 2:
        steps = read_result(run, Steps)
        sides = [steps.whole.before_runs, *(step.after_runs for step in steps.steps)]
        return Compared(steps, tuple(_records(runs) for runs in sides))
    comparison = read_result(run, Comparison)
    return Compared(comparison, (_records(comparison.before_runs), _records(comparison.after_runs)))


def _records(runs: Sequence[str]) -> list[BootRecord]:
    return [read_record(Path(path)) for path in runs]


def compare_steps(sides: Sequence[tuple[list[BootRecord], list[BootRecord]]]) -> Steps:
    """Return the comparison of each side with the one before it; a side is its series and its null changes.

    Raises InputError when their clocks differ.
    """
    steps = [compare_series(before, after, null) for (before, null), (after, _) in zip(sides, sides[1:], strict=False)]
    (first, null), (last, _) = sides[0], sides[-1]
    return Steps(clock=first[0].clock, steps=steps, whole=compare_series(first, last, null))


def compare_series(before: list[BootRecord], after: list[BootRecord], null: Sequence[BootRecord] = ()) -> Comparison:
    """Return the comparison of two series on one clock; `null` are null changes of the side before.

    Raises InputError when their clocks differ.
    """
    one, other = before[0], after[0]
    if (one.clock, one.ns_per_instruction) != (other.clock, other.ns_per_instruction):
        raise InputError(
            f"cannot compare: {one.system} is on the {one.clock} clock, {other.system} on the {other.clock} clock",
            hint="the two sides need the same clock and ns per instruction",
        )
    left, right = Family(tuple(before), tuple(null)), Family(tuple(after))
    failed = left.failed or right.failed
    saved_ns = spread_ns = None
    if failed is not None:
        verdict = Verdict.NO_VERDICT
        detail = f"a boot of {failed.system} was not ready: {failed.outcome.value}: {failed.detail}"
    elif (why := _no_family(left, right)) is not None:
        verdict, detail = Verdict.NO_VERDICT, why
    elif one.clock == "virtual":
        judged = virtual_verdict(left.null_ns, left.times_ns, right.times_ns)
        verdict, saved_ns, spread_ns = judged.verdict, judged.saved_ns, judged.spread_ns
        detail = f"{saved_ns / 1e6:+.3f} ms saved (instructions + idle)"
        detail += f"; the side before moves by {spread_ns / 1e6:.3f} ms for no reason"
    else:
        judged = wall_verdict(left.times_ns, right.times_ns, seed=1)
        verdict, saved_ns, spread_ns = judged.verdict, judged.saved_ns, judged.spread_ns
        detail = f"{saved_ns / 1e6:+.3f} ms saved, 95 % interval half-width {spread_ns / 1e6:.3f} ms"
    if saved_ns is not None and (loads := [record for record in (one, other) if record.storage is not None]):
        detail += f"; with the load of {one.load_ns / 1e6:.3f} ms before, {other.load_ns / 1e6:.3f} ms after"
        detail += f" ({' and '.join(dict.fromkeys(record.storage.words for record in loads if record.storage))})"
    return Comparison(
        before=one.system,
        after=other.system,
        clock=one.clock,
        before_ns=left.median.total_ns if left.times_ns else None,
        after_ns=right.median.total_ns if right.times_ns else None,
        saved_ns=saved_ns,
        spread_ns=spread_ns,
        verdict=verdict,
        detail=detail,
        differences=_differences(one, other),
        phases=_phases(left, right),
        before_runs=[record.run for record in before],
        after_runs=[record.run for record in after],
    )


def _no_family(left: Family, right: Family) -> str | None:
    boots = f"{len(left.members)} and {len(right.members)} boots"
    if left.members[0].clock != "virtual":
        fewest = min(len(left.members), len(right.members))
        return f"{boots}: a noisy clock needs 5 a side at least" if fewest < 5 else None
    if min(len(left.members), len(right.members)) < 3 or not left.null:
        return f"{boots}, {len(left.null)} null changes: needs 3 seeds a side, and null changes"
    if {record.seed for record in left.members} != {record.seed for record in right.members}:
        return "the sides have different seeds"
    return None


def _differences(one: BootRecord, other: BootRecord) -> list[str]:
    found = []
    for name in sorted({*one.hashes, *other.hashes}):
        if one.hashes.get(name) != other.hashes.get(name):
            found.append(f"{name}: {_short(one.hashes.get(name))} -> {_short(other.hashes.get(name))}")
    if one.board_model_label != other.board_model_label:
        found.append(f"board model: {one.board_model_label} -> {other.board_model_label}")
    for what, left, right in (
        ("kernel command line", _cmdline(one.argv), _cmdline(other.argv)),
        ("QEMU command line", _options(one.argv), _options(other.argv)),
    ):
        for mark, words in (
            ("only before", [word for word in left if word not in right]),
            ("only after", [word for word in right if word not in left]),
        ):
            if words:
                found.append(f"{what}, {mark}: {' '.join(words)}")
    return found


def _cmdline(argv: Sequence[str]) -> list[str]:
    return argv[argv.index("-append") + 1].split() if "-append" in argv else []


def _options(argv: Sequence[str]) -> list[str]:
    # What a file holds is compared by its hash; where it lies decides nothing, nor do the names of sockets and ports.
    words = []
    for flag, word in zip(["", *argv], argv, strict=False):
        if flag in _FILE_FLAGS or flag == "-append" or _VOLATILE.search(word):
            continue
        words.append(_FILE_VALUE.sub(r"\1=", word))
    return words


def _short(digest: str | None) -> str:
    return digest[:12] if digest else "none"


def _phases(left: Family, right: Family) -> list[PhaseDifference]:
    one = {phase.name: phase.duration_ns for phase in left.median.phases} if left.times_ns else {}
    other = {phase.name: phase.duration_ns for phase in right.median.phases} if right.times_ns else {}
    names = [*one, *(name for name in other if name not in one)]
    return [PhaseDifference(name=name, before_ns=one.get(name), after_ns=other.get(name)) for name in names]
