"""`bootlab compare A B`: two systems, or two recorded runs, phase by phase."""

from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.arguments import Json, Parallel, Runs, complete_system, open_store
from bootlab.cli.measure import series
from bootlab.cli.pages import consoles, write_page
from bootlab.cli.terminal import out, print_json
from bootlab.errors import InputError
from bootlab.experiments.comparing import Comparison, compare_series
from bootlab.experiments.store import Run, Store
from bootlab.measure.boot import read_record, write_json
from bootlab.measure.record import BootRecord
from bootlab.report import page, text
from bootlab.system import ClockKind, System, read_system

Side = Annotated[
    str,
    typer.Argument(help="A system file, or a recorded run: its path, number, or last.", autocompletion=complete_system),
]


def compare(
    a: Side,
    b: Side,
    number: Annotated[
        int | None, typer.Option("-n", "--number", min=2, help="Boots a side. [default: 5 virtual, 15 wall]")
    ] = None,
    parallel: Parallel = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Compare two systems (both are booted now) or two recorded runs (nothing is booted), phase by phase.

    Exit code 0 whatever the verdict; the two sides must be on the same clock.
    """
    store = open_store(runs)
    sides = [_records_or_system(store, name) for name in (a, b)]
    run = store.start("compare", "-vs-".join(_name(side) for side in sides), {"a": a, "b": b, "number": number})
    if all(isinstance(side, System) for side in sides):
        before, after = _boot_both(sides[0], sides[1], number, run, parallel, json)  # type: ignore[arg-type]
    else:
        before, after = [
            _boot_one(side, number, run, parallel, json, label) if isinstance(side, System) else side
            for side, label in zip(sides, ("a-", "b-"), strict=True)
        ]
    comparison = compare_series(before, after)
    document = comparison.model_dump(mode="json", by_alias=True)
    write_json(run.result, document)
    path = write_page(
        run, page.compare_page(before, after, comparison.verdict, consoles([(a, before[0].run), (b, after[0].run)]))
    )
    if json:
        print_json(document)
    else:
        _print(comparison, before, after)
        out.print(f"report: {path}", soft_wrap=True)
    return 0


def _print(comparison: Comparison, before: list[BootRecord], after: list[BootRecord]) -> None:
    out.print(text.comparison(before, after))
    for difference in comparison.differences:
        out.print(f"  differs: {difference}", soft_wrap=True, markup=False)
    out.print(f"verdict: {comparison.verdict}: {comparison.detail}", soft_wrap=True)


def _records_or_system(store: Store, name: str) -> System | list[BootRecord]:
    if name.endswith(".toml"):
        return read_system(Path(name))
    return recorded(store.find(name))


def recorded(run: Run) -> list[BootRecord]:
    """Return the finished boots of a run, in the order of their labels. Raises InputError when there is none."""
    if run.kind == "try":
        labels = sorted(run.path.glob("boots/baseline-s*/record.json"))
    else:
        labels = sorted(run.path.glob("boots/*/record.json"))
    records = [read_record(path.parent) for path in labels]
    if not records:
        raise InputError(f"{run.path}: holds no finished boot")
    return records


def _name(side: System | list[BootRecord]) -> str:
    return side.name if isinstance(side, System) else side[0].system


def _boot_one(
    side: System, number: int | None, run: Run, parallel: int | None, silent: bool, label: str
) -> list[BootRecord]:
    return series(side, number or _default(side), side.seed, False, run, parallel, silent=silent, label=label)


def _boot_both(
    a: System, b: System, number: int | None, run: Run, parallel: int | None, silent: bool
) -> tuple[list[BootRecord], list[BootRecord]]:
    if a.clock.kind is ClockKind.VIRTUAL:
        return (
            _boot_one(a, number, run, parallel, silent, "a-"),
            _boot_one(b, number, run, parallel, silent, "b-"),
        )
    # On a noisy clock the sides take turns, so that a slow minute of the host falls on both.
    before: list[BootRecord] = []
    after: list[BootRecord] = []
    for index in range(1, (number or _default(a)) + 1):
        before += series(a, 1, index, False, run, parallel, silent=silent, label=f"a-{index:03d}-")
        after += series(b, 1, index, False, run, parallel, silent=silent, label=f"b-{index:03d}-")
    return before, after


def _default(system: System) -> int:
    return 5 if system.clock.kind is ClockKind.VIRTUAL else 15
