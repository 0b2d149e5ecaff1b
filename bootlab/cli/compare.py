"""`bootlab compare A B`: two systems, or two recorded runs, phase by phase; more of them, step by step."""

from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_lowercase
from typing import Annotated

import typer

from bootlab.cli.measure import default_number, series
from bootlab.cli.options.arguments import Json, Parallel, Runs, complete_system, naming, open_shop, open_store
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import boot_progress
from bootlab.errors import InputError
from bootlab.experiments.comparing import Compared, compare_series, compare_steps
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.family import NULL_WORD
from bootlab.experiments.series import WARM_UP, recorded_boots
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord
from bootlab.measure.record_files import write_json
from bootlab.report.boots.view import compare_view
from bootlab.system import System, read_system
from bootlab.targets.target import Prepared

_FEWEST_WALL = 5
_NULLS = 3

_Booted = dict[str, tuple[list[BootRecord], list[BootRecord]]]
"""Letter of a side -> its boots and its null changes."""

Side = Annotated[
    str,
    typer.Argument(help="A system file, or a recorded run: its path, number, or last.", autocompletion=complete_system),
]
More = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[C]...", help="More of them: each is a step from the one before.", autocompletion=complete_system
    ),
]


def compare(
    a: Side,
    b: Side,
    more: More = None,
    number: Annotated[
        int | None, typer.Option("-n", "--number", min=2, max=10000, help="Boots a side. [default: 5 virtual, 15 wall]")
    ] = None,
    parallel: Parallel = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Compare two systems (both are booted now) or two recorded runs (nothing is booted), phase by phase.

    Of more than two, each is compared with the one before it: what each step saves, and all of them together.
    Exit code 0 whatever the verdict; all sides must be on the same clock.
    """
    store = open_store(runs)
    names = [a, b, *(more or [])]
    if len(names) > len(ascii_lowercase):
        raise InputError(f"cannot compare {len(names)} systems: at most {len(ascii_lowercase)} at once")
    sides = [_side(store, name) for name in names]
    _refuse_early(sides, number)
    prepared = [_prepare(side, silent=json) for side in sides]
    between = "-vs-" if len(sides) == 2 else "-to-"
    asked = {"systems": names, "number": number}
    run = store.start(RunKind.COMPARE, f"{sides[0].name}{between}{sides[-1].name}", asked)
    with run.locked():
        booted = _boot(sides, prepared, number, run, parallel, json)
    compared = _compared(booted)
    write_json(run.result, compared.result.model_dump(mode="json", by_alias=True))
    return show(run, compare_view(run, compared), json=json)


def _compared(sides: list["_Side"]) -> Compared:
    records = tuple(one.records for one in sides)
    if len(sides) > 2:
        return Compared(compare_steps([(one.records, one.null) for one in sides]), records)
    before, after = records
    return Compared(compare_series(before, after, sides[0].null), records)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a comparison: a system that will be booted now, or boots on record."""

    name: str
    path: Path | None
    system: System | None
    records: list[BootRecord]
    null: list[BootRecord]

    @property
    def clock(self) -> str:
        return self.system.clock.kind.value if self.system is not None else self.records[0].clock


def _side(store: Store, name: str) -> _Side:
    if name.endswith(".toml"):
        system = read_system(Path(name))
        return _Side(system.name, Path(name), system, [], [])
    records, null = recorded_boots(store.find(name))
    return _Side(records[0].system, None, None, records, null)


def _refuse_early(sides: list[_Side], number: int | None) -> None:
    one = sides[0]
    for other in sides[1:]:
        if one.clock != other.clock:
            raise InputError(
                f"cannot compare: {one.name} is on the {one.clock} clock, {other.name} on the {other.clock} clock",
                hint="all sides need the same clock.kind",
            )
    booted = any(side.system is not None for side in sides)
    if booted and one.clock != "virtual" and number is not None and number < _FEWEST_WALL:
        raise InputError(f"--number {number}: a noisy clock needs at least {_FEWEST_WALL} boots a side")


def _prepare(side: _Side, *, silent: bool) -> Prepared | None:
    """Make all that a side boots from, so that nothing is booted before every kernel is built; None if on record."""
    if side.system is None or side.path is None:
        return None
    with naming(side.path):
        return prepare(open_shop(silent=silent), side.system)


def _boot(
    sides: list[_Side],
    prepared: list[Prepared | None],
    number: int | None,
    run: Run,
    parallel: int | None,
    silent: bool,
) -> list[_Side]:
    ready = {letter: one for letter, one in zip(ascii_lowercase, prepared, strict=False) if one is not None}
    if not ready:
        return sides
    count = number or default_number(next(iter(ready.values())).system)
    if sides[0].clock == "virtual":
        booted = _families(ready, len(sides), count, run, parallel, silent)
    elif len(ready) == len(sides):
        booted = _interleaved(ready, count, run, silent)
    else:
        booted = {}
        for letter, one in ready.items():
            seeds = range(one.system.seed, one.system.seed + count)
            records = series(one, seeds, run, parallel=parallel, silent=silent, label=f"{letter}-")
            booted[letter] = (records, [])
    return [
        replace(side, records=booted[letter][0], null=booted[letter][1]) if letter in booted else side
        for letter, side in zip(ascii_lowercase, sides, strict=False)
    ]


def _families(
    prepared: dict[str, Prepared], sides: int, number: int, run: Run, parallel: int | None, silent: bool
) -> _Booted:
    # Every side but the last has null changes: the one after it is compared with it.
    last = ascii_lowercase[sides - 1]
    jobs: list[Job] = []
    for letter, one in prepared.items():
        for index in range(1, _NULLS + 1 if letter != last else 1):
            changed = prepare(open_shop(silent=True), one.system.with_cmdline(f"{NULL_WORD}={index}"))
            jobs.append(Job(f"{letter}-null{index}-001-s{index}", changed.with_seed(index)))
        seeds = range(one.system.seed, one.system.seed + number)
        jobs += [Job(f"{letter}-{index:03d}-s{seed}", one.with_seed(seed)) for index, seed in enumerate(seeds, 1)]
    with boot_progress(len(jobs), silent=silent) as progress:
        progress.note(f"{len(jobs)} boots on the virtual clock: {number} a side, and null changes")
        engine = Engine(run, parallel=parallel, watcher=lambda done: progress.booted(done.job.label))
        records = list(zip((job.label for job in jobs), engine.boot_all(jobs), strict=True))
    return {
        letter: (
            [record for label, record in records if label.startswith(f"{letter}-") and "-null" not in label],
            [record for label, record in records if label.startswith(f"{letter}-null")],
        )
        for letter in prepared
    }


def _interleaved(prepared: dict[str, Prepared], number: int, run: Run, silent: bool) -> _Booted:
    # On a noisy clock the sides take turns, so that a slow minute of the host falls on all of them.
    with boot_progress(len(prepared) * number, silent=silent) as progress:
        accelerators = " and ".join(dict.fromkeys(one.runs_on for one in prepared.values()))
        progress.note(f"{number} boots a side on the wall clock ({accelerators}), in turns")
        # The first boot of each finds the host's caches cold; it is kept, and not counted.
        Engine(run).boot_all([Job(f"{letter}-{WARM_UP}", one) for letter, one in prepared.items()])
        engine = Engine(run, watcher=lambda done: progress.booted(done.job.label))
        jobs = [
            Job(f"{letter}-{index:03d}-s{index}", one.with_seed(index))
            for index in range(1, number + 1)
            for letter, one in prepared.items()
        ]
        records = engine.boot_all(jobs)
    return {letter: (records[index :: len(prepared)], []) for index, letter in enumerate(prepared)}
