"""`bootlab compare A B`: two systems, or two recorded runs, phase by phase."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.arguments import Json, Parallel, Runs, complete_system, naming, open_cache, open_store
from bootlab.cli.measure import WARM_UP, default_number, series
from bootlab.cli.pages import consoles, say_page, write_page
from bootlab.cli.terminal import boot_progress, out, print_json
from bootlab.errors import InputError
from bootlab.experiments.comparing import Comparison, compare_series
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.family import NULL_WORD
from bootlab.experiments.store import Run, Store
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord
from bootlab.measure.record_files import read_record, write_json
from bootlab.report import page, text
from bootlab.system import System, read_system

_FEWEST_WALL = 5

Side = Annotated[
    str,
    typer.Argument(help="A system file, or a recorded run: its path, number, or last.", autocompletion=complete_system),
]


def compare(
    a: Side,
    b: Side,
    number: Annotated[
        int | None, typer.Option("-n", "--number", min=2, max=10000, help="Boots a side. [default: 5 virtual, 15 wall]")
    ] = None,
    parallel: Parallel = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Compare two systems (both are booted now) or two recorded runs (nothing is booted), phase by phase.

    Exit code 0 whatever the verdict; the two sides must be on the same clock.
    """
    store = open_store(runs)
    sides = [_side(store, name) for name in (a, b)]
    _refuse_early(sides, number)
    run = store.start("compare", "-vs-".join(side.name for side in sides), {"a": a, "b": b, "number": number})
    with run.locked():
        before, after, null = _boot(sides, number, run, parallel, json)
    comparison = compare_series(before, after, null)
    write_json(run.result, comparison.model_dump(mode="json", by_alias=True))
    return show_comparison(run, comparison, before, after, json=json)


def show_comparison(
    run: Run,
    comparison: Comparison,
    before: list[BootRecord],
    after: list[BootRecord],
    *,
    json: bool,
    to: Path | None = None,
) -> int:
    """Print a comparison and write its page, into the run or to the file `to`."""
    shown = consoles([("before", before[0].run), ("after", after[0].run)])
    html = page.compare_page(before, after, f"{comparison.verdict}: {comparison.detail}", shown)
    path = write_page(run, html, to=to)
    if json:
        print_json(comparison)
        return 0
    out.print(text.comparison(before, after))
    for difference in comparison.differences:
        out.print(f"  differs: {difference}", soft_wrap=True)
    out.print(f"verdict: {comparison.verdict}: {comparison.detail}", soft_wrap=True)
    say_page(path)
    return 0


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
    records, null = recorded(store.find(name))
    return _Side(records[0].system, None, None, records, null)


def _refuse_early(sides: list[_Side], number: int | None) -> None:
    one, other = sides
    if one.clock != other.clock:
        raise InputError(
            f"cannot compare: {one.name} is on the {one.clock} clock, {other.name} on the {other.clock} clock",
            hint="the two sides need the same clock.kind",
        )
    booted = any(side.system is not None for side in sides)
    if booted and one.clock == "wall" and number is not None and number < _FEWEST_WALL:
        raise InputError(f"--number {number}: a noisy clock needs at least {_FEWEST_WALL} boots a side")


def recorded(run: Run) -> tuple[list[BootRecord], list[BootRecord]]:
    """Return the finished boots of a run and its null changes, in the order of their labels; of a trial, its baseline.

    A warm-up boot is on record and does not count. Raises InputError when there is no finished boot.
    """
    directories = [path for path in run.records() if not path.name.endswith(WARM_UP)]
    if run.kind == "try":
        directories = [path for path in directories if path.name.startswith("baseline-")]
    elif run.kind == "compare":
        raise InputError(f"{run.path}: is a comparison; name one of the runs or systems that it compared")
    null = [read_record(path) for path in directories if "-null" in path.name]
    records = [read_record(path) for path in directories if "-null" not in path.name]
    if not records:
        raise InputError(f"{run.path}: holds no finished boot")
    return records, null


def _boot(
    sides: list[_Side], number: int | None, run: Run, parallel: int | None, silent: bool
) -> tuple[list[BootRecord], list[BootRecord], list[BootRecord]]:
    one, other = sides
    if one.system is not None and other.system is not None and one.clock == "wall":
        return *_interleaved(sides, number or default_number(one.system), run, silent), []
    null = one.null
    if one.system is not None and one.clock == "virtual":
        null = [
            record
            for index in (1, 2, 3)
            for record in _boot_side(
                replace(one, system=one.system.with_cmdline(f"{NULL_WORD}={index}").with_seed(index)),
                1, run, parallel, silent, f"a-null{index}-",
            )
        ]  # fmt: skip
    before, after = [
        side.records or _boot_side(side, number, run, parallel, silent, label)
        for side, label in zip(sides, ("a-", "b-"), strict=True)
    ]
    return before, after, null


def _boot_side(
    side: _Side, number: int | None, run: Run, parallel: int | None, silent: bool, label: str
) -> list[BootRecord]:
    assert side.system is not None and side.path is not None
    count = number or default_number(side.system)
    with naming(side.path):
        return series(side.system, count, side.system.seed, False, run, parallel, silent=silent, label=label)


def _interleaved(sides: list[_Side], number: int, run: Run, silent: bool) -> tuple[list[BootRecord], list[BootRecord]]:
    # On a noisy clock the sides take turns, so that a slow minute of the host falls on both.
    prepared = []
    for side in sides:
        assert side.system is not None and side.path is not None
        with naming(side.path):
            prepared.append(prepare(side.system, open_cache()))
    with boot_progress(2 * number, silent=silent) as progress:
        accelerators = " and ".join(dict.fromkeys(one.accelerator.value for one in prepared))
        progress.note(f"{number} boots a side on the wall clock ({accelerators}), in turns")
        # The first boot of each finds the host's caches cold; it is kept, and not counted.
        Engine(run).boot_all([Job(f"{side}-{WARM_UP}", one) for side, one in zip("ab", prepared, strict=True)])
        engine = Engine(run, watcher=lambda done: progress.booted(done.job.label))
        jobs = [
            Job(f"{side}-{index:03d}-s{index}", one.with_seed(index))
            for index in range(1, number + 1)
            for side, one in zip("ab", prepared, strict=True)
        ]
        records = engine.boot_all(jobs)
    return records[::2], records[1::2]
