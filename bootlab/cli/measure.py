"""`bootlab measure SYSTEM`: a series of boots of one system."""

from collections.abc import Sequence
from typing import Annotated

import typer

from bootlab.cli.options.arguments import Json, Parallel, Runs, SystemFile, naming, open_shop, open_store, open_system
from bootlab.cli.options.hyperfine import Hyperfine, expect_hyperfine, write_hyperfine
from bootlab.cli.options.lives import LifeSeconds, Lives, LivesRequest, boot_lives, expect_lives
from bootlab.cli.options.places import ChosenPlace, Cluster, choose_place
from bootlab.cli.options.power_on import PowerOnWords, with_power_on
from bootlab.cli.options.price import PriceModel, with_price
from bootlab.cli.options.settings import Settings, set_in
from bootlab.cli.terminal.doubts import tell_not_identical, warn_of_doubts
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import boot_progress
from bootlab.errors import InputError
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.series import series_of
from bootlab.experiments.store import Run, RunKind
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import write_json
from bootlab.report.boots.view import series_view
from bootlab.system import ClockKind, System
from bootlab.targets.target import WARM_UP, Prepared


def measure(
    system: SystemFile,
    number: Annotated[
        int | None,
        typer.Option("-n", "--number", metavar="N", min=1, max=10000, help="Boots. [default: 5 virtual, 15 wall]"),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=1, help="First seed; the boots take it and those after it.")
    ] = 1,
    same_seed: Annotated[
        bool, typer.Option("--same-seed", help="Every boot with the same seed: do they repeat exactly?")
    ] = False,
    lives: Lives = None,
    life_s: LifeSeconds = None,
    settings: Settings = None,
    price: PriceModel = None,
    power_on: PowerOnWords = None,
    parallel: Parallel = None,
    cluster: Cluster = None,
    hyperfine: Hyperfine = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Boot a system several times and show median, spread and every value.

    On the virtual clock the boots differ in their seed, which shows how far the system moves for no reason; with
    --same-seed they must be identical, and the exit code is 1 if they are not. With --lives each life of a disk image
    is a series, and a step that chance makes longer is named (docs/images.md).
    """
    chosen = choose_place(cluster, parallel)
    value = with_price(with_power_on(open_system(system, silent=json, settings=settings), power_on), price)
    count = number or default_number(value)
    seeds = [seed if same_seed else seed + index for index in range(count)]
    expect_hyperfine(hyperfine, [system])
    if hyperfine is not None and lives is not None:
        raise InputError("--hyperfine: lives are several series, and not of one system", hint="leave out --lives")
    expect_lives(value, lives, life_s)
    if lives is not None:
        return boot_lives(value, LivesRequest(system, lives, life_s, seeds), chosen, json=json, runs=runs)
    warn_of_doubts(value)
    with naming(system):
        prepared = prepare(chosen.furnish(open_shop(silent=json)), value)
    run = open_store(runs).start(
        RunKind.MEASURE, value.name, {"system": str(system), "number": count, "seed": seed, **set_in(settings)}
    )
    with run.locked():
        records = boot_series(prepared, seeds, run, chosen=chosen, silent=json)
    result = series_of(run, records)
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    write_hyperfine(hyperfine, {value.name: records})
    show(run, series_view(run, result), json=json)
    differ = same_seed and value.clock.kind is ClockKind.VIRTUAL and not result.identical
    if differ:
        tell_not_identical(value)
    return 1 if differ or any(record.outcome is not Outcome.READY for record in records) else 0


def boot_series(
    prepared: Prepared,
    seeds: Sequence[int],
    run: Run,
    *,
    chosen: ChosenPlace,
    silent: bool,
    label: str = "",
) -> list[BootRecord]:
    """Boot the members of a series into `run`, one for each of `seeds`."""
    value, count = prepared.system, len(seeds)
    with boot_progress(count, silent=silent) as progress, chosen.open(progress.note) as place:
        progress.note(f"{value.name}: {count} boots on the {value.clock.kind.value} clock ({prepared.runs_on})")
        engine = Engine(run, place=place, watcher=lambda done: progress.count_boot(done.job.label))
        if value.clock.kind is not ClockKind.VIRTUAL:
            # The first boot finds the host's caches cold; it is kept, and not counted.
            engine.boot_all([Job(f"{label}{WARM_UP}", prepared.with_seed(seeds[0]))])
        jobs = [Job(f"{label}{index:03d}-s{one}", prepared.with_seed(one)) for index, one in enumerate(seeds, 1)]
        return engine.boot_all(jobs)


def default_number(system: System) -> int:
    """Return how many boots a series has unless the user says otherwise."""
    return 5 if system.clock.kind is ClockKind.VIRTUAL else 15
