"""`bootlab compare A B`: two systems, or two recorded runs, phase by phase; more of them, step by step."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_lowercase
from typing import Annotated

import typer

from bootlab.cli.measure import boot_series, default_number
from bootlab.cli.options.arguments import (
    Json,
    Parallel,
    Runs,
    complete_system,
    names_system,
    naming,
    open_shop,
    open_store,
    open_system,
)
from bootlab.cli.options.from_mark import BeginsAtMark, expect_from_mark
from bootlab.cli.options.hyperfine import Hyperfine, expect_hyperfine, write_hyperfine
from bootlab.cli.options.places import ChosenPlace, Cluster, choose_place
from bootlab.cli.options.price import PriceModel, absolute_model, with_price
from bootlab.cli.options.settings import Settings, expect_none_set
from bootlab.cli.resuming import Question, Resume, digest, kept, settle
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import BootProgress, boot_progress
from bootlab.document import Document
from bootlab.errors import InputError
from bootlab.experiments.comparing import Compared, compare_series, compare_steps, no_verdict
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.family import DEFAULT_NULLS, Family, judgement
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.from_mark import beginning_at
from bootlab.experiments.series import recorded_boots
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.experiments.verdict import FEWEST_SEEDS, FEWEST_WALL
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord
from bootlab.measure.record_files import write_json
from bootlab.report.boots.view import compare_view
from bootlab.system import System
from bootlab.targets.target import WARM_UP, Prepared

Pair = tuple[Family, Family]
"""A side and the one after it."""

_SIDE = "A system file, or a recorded run: its path, number, or last."
A = Annotated[str, typer.Argument(metavar="A", help=_SIDE, autocompletion=complete_system)]
B = Annotated[str, typer.Argument(metavar="B", help=_SIDE, autocompletion=complete_system)]
More = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[C]...", help="More of them: each is a step from the one before.", autocompletion=complete_system
    ),
]


def compare(
    a: A,
    b: B,
    more: More = None,
    number: Annotated[
        int | None,
        typer.Option(
            "-n", "--number", metavar="N", min=2, max=10000, help="Boots a side. [default: 5 virtual, 15 wall]"
        ),
    ] = None,
    settings: Settings = None,
    price: PriceModel = None,
    from_mark: BeginsAtMark = None,
    resume: Resume = None,
    parallel: Parallel = None,
    cluster: Cluster = None,
    hyperfine: Hyperfine = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Compare two systems (both are booted now) or two recorded runs (nothing is booted), phase by phase.

    Of more than two, each is compared with the one before it: what each step saves, and all of them together. On the
    virtual clock a difference that shows is confirmed by fresh boots of both sides before it is a verdict.
    Exit code 0 whatever the verdict; all sides must be on the same clock.
    """
    store, chosen = open_store(runs), choose_place(cluster, parallel)
    names = [a, b, *(more or [])]
    if len(names) > len(ascii_lowercase):
        raise InputError(f"cannot compare {len(names)} systems: at most {len(ascii_lowercase)} at once")
    sides = [_side(store, name, price, settings) for name in names]
    now = _ComparisonRequest(
        systems=[side.named for side in sides],
        digest=_digest(sides),
        clock=sides[0].clock,
        number=number,
        settings=settings or [],
        price=absolute_model(price),
        from_mark=from_mark,
    )
    between = "-vs-" if len(sides) == 2 else "-to-"
    of = f"{sides[0].name}{between}{sides[-1].name}"
    question = settle(store, resume, RunKind.COMPARE, of, now, [number, settings, price, from_mark])
    asked = question.asked
    if question.resumed is not None:
        sides = [_side(store, name, asked.price, asked.settings) for name in names]
        _expect_same(question, sides, str(resume))
    _refuse_early(sides, asked.number)
    expect_from_mark(asked.from_mark, chosen)
    expect_hyperfine(hyperfine, [side.path for side in sides if side.path is not None])
    prepared = [_prepare(side, chosen, silent=json) for side in sides]
    _expect_beginnings(sides, prepared, asked.from_mark)
    file = shlex.join(asked.systems)
    run = question.begin(store, asked, file=file)
    with kept(run, file) if asked.clock == "virtual" else run.locked():
        if asked.clock == "virtual":
            compared = _virtual(sides, asked.number, run, (chosen, asked.from_mark), silent=json)
        else:
            compared = _wall(sides, prepared, asked.number, run, chosen, silent=json)
    write_json(run.result, compared.result.model_dump(mode="json", by_alias=True))
    named = {
        f"{letter} {side.name}": boots
        for letter, side, boots in zip(ascii_lowercase, sides, compared.series, strict=False)
    }
    write_hyperfine(hyperfine, named)
    return show(run, compare_view(run, compared), json=json)


class _ComparisonRequest(Document):
    """What a comparison was asked for; a resumed one goes on with the same."""

    systems: list[str]
    """Its sides: system files as they were given, and the paths of runs."""
    digest: str
    """sha256 of the systems as values."""
    clock: str
    number: int | None
    settings: list[str] = []
    price: str | None = None
    from_mark: str | None = None


def _expect_same(question: Question[_ComparisonRequest], sides: Sequence["_Side"], resume: str) -> None:
    """Raise InputError where a comparison cannot go on, or is not of these sides."""
    asked = question.asked
    if asked.clock != "virtual":
        raise InputError(
            f"--resume {resume}: on the {asked.clock} clock the sides take turns, from the first boot to the last",
            hint="start anew, without --resume",
        )
    # Of a system file what it says counts, and not where it lies.
    if len(asked.systems) != len(sides) or any(
        then != side.named for then, side in zip(asked.systems, sides, strict=True) if side.recorded is not None
    ):
        raise InputError(f"--resume {resume}: that run compares {', '.join(asked.systems)}, in this order")
    question.expect_unchanged(asked.digest, _digest(sides))


def _digest(sides: Sequence["_Side"]) -> str:
    return digest(*(side.system for side in sides if side.system is not None))


def _compared(families: Sequence[Family], pairs: Sequence[Pair], whole: Pair) -> Compared:
    series = tuple(list(one.members) for one in families)
    return Compared(compare_series(*whole) if len(families) == 2 else compare_steps(pairs, whole), series)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a comparison: a system that will be booted now, or boots on record."""

    name: str
    path: Path | None
    system: System | None
    recorded: Family | None
    run: str = ""
    """The path of the boots on record."""

    @property
    def named(self) -> str:
        """Return what names it, whatever run is the last by then."""
        return str(self.path) if self.recorded is None else self.run

    @property
    def clock(self) -> str:
        if self.system is not None:
            return self.system.clock.kind.value
        assert self.recorded is not None  # a side has the one or the other
        return self.recorded.members[0].clock


def _side(store: Store, name: str, price: str | None, settings: list[str] | None) -> _Side:
    if names_system(name):
        system = with_price(open_system(Path(name), settings=settings), price)
        return _Side(system.name, Path(name), system, None)
    expect_none_set(settings, name)
    if price is not None:
        raise InputError(
            f"--price {price}: {name} is a run: its boots are as they were", hint="name the system that it booted"
        )
    run = store.find(name)
    recorded = recorded_boots(run)
    return _Side(recorded.members[0].system, None, None, recorded, str(run.path.resolve()))


def _refuse_early(sides: list[_Side], number: int | None) -> None:
    one = sides[0]
    for other in sides[1:]:
        if one.clock != other.clock:
            raise InputError(
                f"cannot compare: {one.name} is on the {one.clock} clock, {other.name} on the {other.clock} clock",
                hint="all sides need the same clock.kind",
            )
    booted = any(side.system is not None for side in sides)
    fewest = FEWEST_SEEDS if one.clock == "virtual" else FEWEST_WALL
    if booted and number is not None and number < fewest:
        why = "a verdict" if one.clock == "virtual" else "a noisy clock"
        raise InputError(f"--number {number}: {why} needs at least {fewest} boots a side")


def _prepare(side: _Side, chosen: ChosenPlace, *, silent: bool) -> Prepared | None:
    """Make all that a side boots from, so that nothing is booted before every kernel is built; None if on record."""
    if side.system is None or side.path is None:
        return None
    with naming(side.path):
        return prepare(chosen.furnish(open_shop(silent=silent)), side.system)


def _expect_beginnings(sides: Sequence[_Side], prepared: Sequence[Prepared | None], mark: str | None) -> None:
    """Raise InputError that names the side where a machine cannot be kept at this mark."""
    if mark is None:
        return
    if not any(prepared):
        raise InputError("--from-mark: nothing is booted: all sides are runs on record", hint="name system files")
    for side, one in zip(sides, prepared, strict=True):
        if one is not None and side.path is not None:
            with naming(side.path):
                one.expect_beginning(mark)


def _virtual(
    sides: Sequence[_Side], number: int | None, run: Run, where: tuple[ChosenPlace, str | None], *, silent: bool
) -> Compared:
    """Boot every side that is not on record, then what the verdict on each pair takes beyond that."""
    last, (chosen, mark) = len(sides) - 1, where
    with (
        boot_progress(None, silent=silent) as progress,
        chosen.open(progress.note) as place,
        beginning_at(run, mark, progress.note) as beginnings,
    ):
        engine = Engine(
            run,
            place=place,
            reuse=True,
            watcher=lambda done: progress.count_boot(done.job.label),
            from_mark=beginnings,
        )
        boots = FamilyBoots(engine, open_shop(silent=True), _seeds(sides, number), wall=False)
        asked: dict[str, tuple[System, int]] = {}
        for letter, side in zip(ascii_lowercase, sides, strict=False):
            if side.system is not None:
                # The side after it is compared with it: only the last needs no null changes.
                nulls = DEFAULT_NULLS if side is not sides[last] else 0
                beside = f", and {nulls} with null changes" if nulls else ""
                progress.note(f"{side.name}: {len(boots.seeds)} boots on the virtual clock{beside}")
                asked[letter] = side.system, nulls
        booted = boots.families(asked)
        families = []
        for letter, side in zip(ascii_lowercase, sides, strict=False):
            family = booted.get(letter, side.recorded)
            assert family is not None  # a side is booted, or on record
            families.append(family)
        steps = [(index, index + 1) for index in range(last)]
        pairs = [_confirmed(boots, sides, families, step, progress) for step in steps]
        whole = pairs[0] if last == 1 else _confirmed(boots, sides, families, (0, last), progress)
    compared = _compared(families, pairs, whole)
    told = None if beginnings is None else beginnings.result()
    return replace(compared, result=compared.result.model_copy(update={"from_mark": told}))


def _seeds(sides: Sequence[_Side], number: int | None) -> list[int]:
    """Return the seeds to boot with: those of boots on record, unless the user wants another number of them."""
    for side in sides:
        if side.recorded is not None and number is None:
            # A series with one seed has it several times.
            return list(dict.fromkeys(record.seed for record in side.recorded.members))
    first = next((side.system for side in sides if side.system is not None), None)
    if first is None:
        return [1]
    return list(range(first.seed, first.seed + (number or default_number(first))))


def _confirmed(
    boots: FamilyBoots,
    sides: Sequence[_Side],
    families: Sequence[Family],
    pair: tuple[int, int],
    progress: BootProgress,
) -> Pair:
    """Return two families with the fresh boots that their verdict takes, of sides that are not on record."""
    (before, after), (one, other) = (families[index] for index in pair), (sides[index].system for index in pair)
    if other is None or no_verdict(before, after) is not None:
        return before, after
    wants = judgement(before, after, wall=False).wants
    if any(wants) and (one is not None or not wants[0]):
        progress.note(f"{sides[pair[1]].name} seems to differ: {sum(wants)} fresh boots at least, to confirm it")
    after, before = boots.confirm({after.label: (other, after)}, before, one)[after.label]
    return before, after


def _wall(
    sides: Sequence[_Side],
    prepared: Sequence[Prepared | None],
    number: int | None,
    run: Run,
    chosen: ChosenPlace,
    *,
    silent: bool,
) -> Compared:
    ready = {letter: one for letter, one in zip(ascii_lowercase, prepared, strict=False) if one is not None}
    booted: dict[str, list[BootRecord]] = {}
    if ready:
        count = number or default_number(next(iter(ready.values())).system)
        if len(ready) == len(sides):
            booted = _interleaved(ready, count, run, chosen, silent=silent)
        else:
            for letter, one in ready.items():
                seeds = range(one.system.seed, one.system.seed + count)
                booted[letter] = boot_series(one, seeds, run, chosen=chosen, silent=silent, label=f"{letter}-")
    families = [
        side.recorded or Family(tuple(booted[letter])) for letter, side in zip(ascii_lowercase, sides, strict=False)
    ]
    pairs = list(zip(families, families[1:], strict=False))
    return _compared(families, pairs, (families[0], families[-1]))


def _interleaved(
    prepared: dict[str, Prepared], number: int, run: Run, chosen: ChosenPlace, *, silent: bool
) -> dict[str, list[BootRecord]]:
    # On a noisy clock the sides take turns, so that a slow minute of the host falls on all of them.
    with boot_progress(len(prepared) * number, silent=silent) as progress, chosen.open(progress.note) as place:
        accelerators = " and ".join(dict.fromkeys(one.runs_on for one in prepared.values()))
        progress.note(f"{number} boots a side on the wall clock ({accelerators}), in turns")
        # The first boot of each finds the host's caches cold; it is kept, and not counted.
        Engine(run, place=place).boot_all([Job(f"{letter}-{WARM_UP}", one) for letter, one in prepared.items()])
        engine = Engine(run, place=place, watcher=lambda done: progress.count_boot(done.job.label))
        jobs = [
            Job(f"{letter}-{index:03d}-s{index}", one.with_seed(index))
            for index in range(1, number + 1)
            for letter, one in prepared.items()
        ]
        records = engine.boot_all(jobs)
    return {letter: records[index :: len(prepared)] for index, letter in enumerate(prepared)}
