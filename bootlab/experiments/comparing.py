"""Series compared: two phase by phase, with a verdict and the list of what differs between them; several step by step.

With a storage model the times of a side include that of loading its kernel and initramfs; the phases never do.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from bootlab.document import Document
from bootlab.errors import InputError, StoreError
from bootlab.experiments.chance import Chance, chances_by_seed
from bootlab.experiments.family import Family, execution_judgement, judgement
from bootlab.experiments.from_mark import FromMarkResult
from bootlab.experiments.read_result import read_result
from bootlab.experiments.series import PartRecord, part_records
from bootlab.experiments.store import Run
from bootlab.experiments.verdict import FEWEST_NULLS, FEWEST_SEEDS, FEWEST_WALL, WRONG, Judgement
from bootlab.kept_file import damaged
from bootlab.measure.line_and_card_cost import modelled_load_ns
from bootlab.measure.price import judged_view
from bootlab.measure.record import BootRecord, PriceRecord
from bootlab.measure.record_files import read_record
from bootlab.measure.statistics.series import median_ns
from bootlab.techniques.model.verdict import Verdict, in_words_of_the_clock

SCHEMA: Final = "bootlab.compare/1"
STEPS_SCHEMA: Final = "bootlab.compare-steps/1"
_FILE_FLAGS = ("-kernel", "-initrd", "-bios")
_FILE_VALUE = re.compile(r"\b(file|filename|mem-path)=(?:[^,]|,,)*")
_VOLATILE = re.compile(r"bootlab-|hostfwd=|config=|out=")


class PhaseDifference(Document):
    """One phase on both sides, of the median boots; None where a side has no such phase."""

    name: str
    before_ns: int | None
    after_ns: int | None


class Comparison(Document):
    """Before against after; `saved_ns` is positive when after is shorter."""

    schema_: Literal["bootlab.compare/1"] = Field(default=SCHEMA, alias="schema")
    before: str
    after: str
    clock: str
    before_ns: int | None
    after_ns: int | None
    """Power-on to ready, or its price where `price` says so, and the load before it where there is a storage model."""
    price: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """The host model that both sides are priced under; every figure here but the next two is then a price."""
    counted_before_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    counted_after_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Where there is a price: the median of instructions + idle, power-on to ready."""
    saved_ns: int | None
    spread_ns: int | None
    verdict: Verdict
    load_saved_ns: int | None = None
    """Of `saved_ns`, what loading smaller files saves by the storage or board model; None where a side has none."""
    execution: Verdict | None = None
    """The verdict on the rest; None where a side has no model."""
    wrong: float | None = None
    """Of changes that do nothing, the share that gets a verdict, at most. None in older results."""
    detail: str
    differences: list[str]
    """What is not the same on both sides: a fair comparison differs in what it is about and nothing else."""
    phases: list[PhaseDifference]
    parts: dict[str, list[PartRecord]] = Field(default={}, exclude_if=lambda value: not value)
    """`before` and `after`, each from its VMM's start to ready; left out where the host's time counts nothing."""
    chances: dict[str, list[Chance]] = Field(default={}, exclude_if=lambda value: not value)
    """`before` and `after`: steps that take another time with every seed, by what the boots said."""
    before_runs: list[str]
    """Directories of the boots of this side."""
    after_runs: list[str]
    null_runs: list[str] = []
    """Directories of the null changes of the side before. Empty in older results, as are the next two."""
    fresh_before_runs: list[str] = []
    """Directories of boots with other seeds and null changes, that a difference had to be confirmed by."""
    fresh_after_runs: list[str] = []
    from_mark: FromMarkResult | None = Field(default=None, exclude_if=lambda value: value is None)
    """How many of its boots began at a mark; left out where none was to, and of the steps of several systems."""

    @model_validator(mode="before")
    @classmethod
    def _verdict_of_the_clock(cls, data: Any) -> Any:
        return in_words_of_the_clock(data, data.get("clock") if isinstance(data, dict) else None)


class Steps(Document):
    """Several systems in order, each against the one before it: a waterfall. The steps' savings add up to the whole."""

    schema_: Literal["bootlab.compare-steps/1"] = Field(default=STEPS_SCHEMA, alias="schema")
    clock: str
    steps: list[Comparison]
    whole: Comparison
    """The last system against the first."""
    from_mark: FromMarkResult | None = Field(default=None, exclude_if=lambda value: value is None)
    """How many boots of all began at a mark; left out where none was to."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with the boots of each side, in its order."""

    result: Comparison | Steps
    series: tuple[list[BootRecord], ...]


def read_compared(run: Run) -> Compared:
    """Return the comparison on record in a run. Raises as `read_result`, StoreError for a boot that is gone."""
    systems = run.asked.get("systems", [])
    if not isinstance(systems, list):
        raise damaged(run.path / "run.json", ValueError("asked.systems: is not a list"))
    if len(systems) > 2:
        steps = read_result(run, Steps)
        sides = [steps.whole.before_runs, *(step.after_runs for step in steps.steps)]
        return Compared(steps, tuple(read_boots(run, runs) for runs in sides))
    comparison = read_result(run, Comparison)
    return Compared(comparison, (read_boots(run, comparison.before_runs), read_boots(run, comparison.after_runs)))


def read_boots(run: Run, boots: Sequence[str]) -> list[BootRecord]:
    """Return the boots of a side of a run's comparison. Raises StoreError for one that is gone."""
    try:
        return [read_record(Path(path)) for path in boots]
    except StoreError as error:
        raise StoreError(f"{run.result}: a boot that it compares: {error.message}", hint=error.hint) from error


def compare_steps(pairs: Sequence[tuple[Family, Family]], whole: tuple[Family, Family]) -> Steps:
    """Return the comparison of each side with the one before it, and of the last with the first.

    A pair has the boots that its own verdict takes. Raises InputError when their clocks differ.
    """
    return Steps(
        clock=pairs[0][0].members[0].clock,
        steps=[compare_series(*pair) for pair in pairs],
        whole=compare_series(*whole),
    )


def compare_series(before: Family, after: Family) -> Comparison:
    """Return the comparison of two series on one clock. Raises InputError when their clocks differ."""
    one, other = before.members[0], after.members[0]
    if (one.clock, one.ns_per_instruction) != (other.clock, other.ns_per_instruction):
        raise InputError(
            f"cannot compare: {one.system} is on the {one.clock} clock, {other.system} on the {other.clock} clock",
            hint="the two sides need the same clock and ns per instruction",
        )
    _expect_one_price(before, after)
    saved_ns = spread_ns = load_saved_ns = execution = None
    if (why := no_verdict(before, after)) is not None:
        verdict, detail = Verdict.NO_VERDICT, why
    else:
        judged = judgement(before, after, wall=one.clock != "virtual")
        verdict, spread_ns = judged.verdict, judged.spread_ns
        # Of all seeds: only so do the steps of a waterfall add up to the whole.
        saved_ns = median_ns(before.times_ns) - median_ns(after.times_ns)
        detail = _detail(judged, saved_ns, wall=one.clock != "virtual", price=one.price)
        if (executed := execution_judgement(before, after)) is not None:
            execution = executed.verdict
            loads = [modelled_load_ns(family.median) or 0 for family in (before, after)]
            load_saved_ns = loads[0] - loads[1]
            detail += f"; of it {load_saved_ns / 1e6:+.3f} ms of loading by {_models(one, other)}, and without that: "
            detail += f"{execution} ({(saved_ns - load_saved_ns) / 1e6:+.3f} ms)"
    if _moved(before) and _moved(after):
        detail += "; each boot has its kernel's ticks moved (clock.tick_us)"
    return Comparison(
        before=one.system,
        after=other.system,
        clock=one.clock,
        before_ns=before.median.total_ns if before.times_ns else None,
        after_ns=after.median.total_ns if after.times_ns else None,
        price=one.price.model if one.price is not None else None,
        counted_before_ns=_counted_ns(before),
        counted_after_ns=_counted_ns(after),
        saved_ns=saved_ns,
        spread_ns=spread_ns,
        verdict=verdict,
        load_saved_ns=load_saved_ns,
        execution=execution,
        wrong=WRONG["virtual" if one.clock == "virtual" else "wall"],
        detail=detail,
        differences=[*_differences(one, other), *_other_ticks(before, after)],
        phases=_phases(before, after),
        parts=_parts(before, after),
        chances=_chances(before, after),
        before_runs=[record.run for record in before.members],
        after_runs=[record.run for record in after.members],
        null_runs=[record.run for record in before.null],
        fresh_before_runs=[record.run for record in before.fresh],
        fresh_after_runs=[record.run for record in after.fresh],
    )


def _chances(before: Family, after: Family) -> dict[str, list[Chance]]:
    sides = {"before": chances_by_seed(before.members), "after": chances_by_seed(after.members)}
    return {side: found for side, found in sides.items() if found}


def _parts(before: Family, after: Family) -> dict[str, list[PartRecord]]:
    sides = {"before": part_records(before.members), "after": part_records(after.members)}
    return sides if any(sides.values()) else {}


def _expect_one_price(before: Family, after: Family) -> None:
    """Raise InputError where the one side has a price that the other has not: a figure of both would mix two things."""
    named = [
        {record.price.identity: record.price.model if record.price else "" for record in side.boots if record.price}
        for side in (before, after)
    ]
    # A boot that was not ready has none, and no verdict either.
    if no_verdict(before, after) is None and named[0].keys() != named[1].keys():
        words = [", ".join(one.values()) or "no host model" for one in named]
        raise InputError(
            f"cannot compare: {before.members[0].system} is priced under {words[0]}, {after.members[0].system} under "
            f"{words[1]}",
            hint="price both sides under one model: --price MODEL",
        )


def _counted_ns(family: Family) -> int | None:
    known = [one.counted_ns for one in family.members if one.price is not None and one.counted_ns is not None]
    return median_ns(known) if known else None


def no_verdict(before: Family, after: Family) -> str | None:
    """Return why two series cannot be judged; None when they can."""
    failed = before.failed or after.failed
    if failed is not None:
        return f"a boot of {failed.system} was not ready: {failed.outcome.value}: {failed.detail}"
    boots = f"{len(before.members)} and {len(after.members)} boots"
    if before.members[0].clock != "virtual":
        fewest = min(len(before.members), len(after.members))
        return f"{boots}: a noisy clock needs {FEWEST_WALL} a side at least" if fewest < FEWEST_WALL else None
    seeds = [{record.seed for record in side.members} for side in (before, after)]
    if min(map(len, seeds)) < FEWEST_SEEDS:
        return f"{boots}, of {len(seeds[0])} and {len(seeds[1])} seeds: a verdict needs {FEWEST_SEEDS} seeds a side"
    if (had := len(before.null)) < FEWEST_NULLS:
        return (
            f"nothing says how far {before.members[0].system} moves for no reason: that takes {FEWEST_NULLS} boots "
            f"with null changes (a word on the command line that means nothing), and on record {_are(had)}; compare "
            "its system file, or a run of bootlab try"
        )
    if seeds[0] != seeds[1]:
        return "the sides have different seeds"
    return None


def _are(number: int) -> str:
    return {0: "are none", 1: "is one"}.get(number, f"are {number}")


def _models(*sides: BootRecord) -> str:
    """Return the words of the models that loading took its time from."""
    storages = [one.storage.words for one in sides if one.storage is not None]
    boards = [f"board model {one.board_model.label}" for one in sides if one.board_model is not None]
    return " and ".join(dict.fromkeys([*storages, *boards]))


def _detail(judged: Judgement, saved_ns: int, *, wall: bool, price: PriceRecord | None) -> str:
    if wall:
        return f"{saved_ns / 1e6:+.3f} ms saved, 95 % interval half-width {judged.spread_ns / 1e6:.3f} ms"
    what = "instructions + idle" if price is None else f"price under {price.model}"
    detail = f"{saved_ns / 1e6:+.3f} ms saved ({what})"
    detail += f"; the side before moves by {judged.spread_ns / 1e6:.3f} ms for no reason"
    if any(judged.wants):
        own, other = judged.wants
        detail += f"; not confirmed: wants {own} fresh boots before and {other} after, boots on record have no more"
    return detail


def _moved(family: Family) -> bool:
    return any(record.ticks_moved_ns for record in family.boots)


def _other_ticks(before: Family, after: Family) -> list[str]:
    if _moved(before) == _moved(after):
        return []
    return [f"kernel's ticks moved (clock.tick_us), only {'before' if _moved(before) else 'after'}"]


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
    one, other = (_durations(side.median) if side.times_ns else {} for side in (left, right))
    names = [*one, *(name for name in other if name not in one)]
    return [PhaseDifference(name=name, before_ns=one.get(name), after_ns=other.get(name)) for name in names]


def _durations(record: BootRecord) -> dict[str, int]:
    shown = judged_view(record)
    return {phase.name: phase.duration_ns for phase in shown.phases}
