"""`bootlab sweep SYSTEM`: boot time against vCPUs, memory, host page size and kernel."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from bootlab.cli.options.arguments import Json, Parallel, Runs, SystemFile, naming, open_cache, open_store
from bootlab.cli.options.ranges import LEAST_MIB, MOST_MIB, MOST_VCPUS, parse_numbers, parse_sizes, parse_words
from bootlab.cli.resuming import asked_of, digest, find_resumed
from bootlab.cli.terminal.pages import say_page, write_page
from bootlab.cli.terminal.speech import boot_progress, err, out, print_json, warn_of_doubts
from bootlab.errors import InputError, Interrupted, StoreError
from bootlab.experiments.engine import Engine
from bootlab.experiments.store import Run
from bootlab.experiments.sweep.boots import BootSweep
from bootlab.experiments.sweep.grid import SweepAxes
from bootlab.experiments.sweep.result import SweepResult
from bootlab.measure.record_files import write_json
from bootlab.report.sweep import text as sweep_text
from bootlab.report.sweep.csv import sweep_csv
from bootlab.report.sweep.page import sweep_page
from bootlab.system import ClockKind, Kernel, PageSize, System, read_system
from bootlab.targets.registry import target_of

KIND = "sweep"
_VIRTUAL_REPEATS, _WALL_REPEATS = 3, 10


def sweep(
    system: SystemFile,
    vcpus: Annotated[
        str | None, typer.Option("--vcpus", metavar="N[,N...]", help="Numbers of vCPUs: 1,2,4,8 or 1..4.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE[,SIZE...]", help="Sizes of memory: 128M,1G,2G.")
    ] = None,
    page_size: Annotated[
        str | None,
        typer.Option(
            "--page-size",
            metavar="SIZE[,SIZE...]",
            help="Host pages behind the guest's memory: 4K,2M (or auto: as QEMU does). Shows on the wall clock only.",
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option("--kernel", metavar="FILE[,FILE...]", help="System files whose [kernel] is booted, in turn."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", min=1, max=99, help="Seeds of each (virtual), boots of each (wall). [default: 3, 10]"),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option("--resume", metavar="RUN", help="Go on with an interrupted run: its path, number, or last."),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write every boot as a line of CSV, too.")
    ] = None,
    parallel: Parallel = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Boot a system with every combination of the listed values, and show what one more of each costs.

    Options that are not given stay as the system has them. Each figure is a median over seeds (virtual clock) or over
    boots that take turns (clock.kind = "wall"), with its spread; where a straight line does not fit, that is said.
    Exit code 0: every place was ready; 1: one was not.
    """
    expect_csv(csv)
    value = read_system(system)
    if (why := target_of(value).fixed_machine) is not None:
        raise InputError(f"{system}:target: {why}")
    store = open_store(runs)
    if resume is not None:
        run = find_resumed(store, resume, KIND, value.name, _Asked, [vcpus, memory, page_size, kernel, seeds])
        asked = asked_of(run, _Asked)
    else:
        repeats = _VIRTUAL_REPEATS if value.clock.kind is ClockKind.VIRTUAL else _WALL_REPEATS
        asked = _Asked(vcpus=vcpus, memory=memory, page_size=page_size, kernel=kernel, seeds=seeds or repeats)
    wanted, systems = _wanted(asked)
    marked = digest(value, *systems)
    if resume is not None and asked.systems != marked:
        raise InputError(f"--resume {resume}: a system file has changed since", hint="start a new sweep")
    with boot_progress(None, silent=json) as progress, naming(system):
        job = BootSweep(value, wanted, asked.seeds, cache=open_cache(), note=progress.note)
        progress.expect(job.boots)
        if not json:
            err.print(
                f"{value.name}: {len(job.places)} places, {job.boots} boots on the {value.clock.kind.value} clock"
            )
        warn_of_doubts(value)
        if resume is None:
            run = store.start(KIND, value.name, {**asked.model_dump(), "systems": marked})
        if PageSize.HUGE.value in wanted.page_size:
            # Each boot at once would need huge pages of its own.
            parallel = 1
        with run.locked():
            engine = Engine(run, parallel=parallel, reuse=True, watcher=lambda done: progress.booted(done.job.label))
            try:
                result = job.run(engine)
            except (Interrupted, KeyboardInterrupt) as stop:
                raise Interrupted(
                    f"interrupted; finished boots are kept in {run.path}",
                    hint=f"go on with: bootlab sweep {system} --resume {run.path}",
                ) from stop
            write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return show_boot_sweep(run, result, json=json, csv=csv)


def read_boot_sweep(run: Run) -> SweepResult:
    """Return the sweep on record in a run. Raises StoreError when it is damaged or was interrupted."""
    try:
        return SweepResult.model_validate_json(run.result_text())
    except FileNotFoundError as error:
        raise StoreError(
            f"{run.path}: this sweep has not finished", hint=f"go on with: bootlab sweep SYSTEM --resume {run.path}"
        ) from error
    except (OSError, ValidationError) as error:
        raise StoreError(f"{run.result}: no whole sweep: {str(error).splitlines()[0]}") from error


def show_boot_sweep(
    run: Run, result: SweepResult, *, json: bool, csv: Path | None = None, to: Path | None = None
) -> int:
    """Print a sweep, write its page (to `to` instead of into the run) and its CSV, and return the exit code."""
    path = write_page(run, sweep_page(result), to=to)
    if csv is not None:
        write_csv(csv, sweep_csv(result))
    if json:
        print_json(result)
    else:
        out.print(sweep_text.sweep(result))
        say_page(path)
    return 0 if all(cell.ready is not None for cell in result.cells) else 1


def expect_csv(path: Path | None) -> None:
    """Raise InputError where the CSV file could not be written after all the boots."""
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise InputError(f"--csv {path}: not a place for a file", hint="name a file in a folder that is there")


def write_csv(path: Path, table: str) -> None:
    """Write a table where the user asked for it. Raises StoreError."""
    try:
        path.write_text(table, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"--csv {path}: {error.strerror or error}", hint="name a file that you may write") from error


class _Asked(BaseModel):
    """What a sweep was asked for, as it was typed; a resumed one goes on with the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    vcpus: str | None
    memory: str | None
    page_size: str | None
    kernel: str | None
    seeds: int
    systems: str = ""
    """sha256 of the system, and of those that give kernels, as values."""


def _wanted(asked: _Asked) -> tuple[SweepAxes, list[System]]:
    kernels: dict[str, Kernel] = {}
    systems = []
    for word in asked.kernel.split(",") if asked.kernel else []:
        file = Path(word.strip())
        one = read_system(file)
        systems.append(one)
        # The name of a system says most about its kernel, unless two files have the same.
        name = one.name if one.name not in kernels else file.stem
        if name in kernels:
            raise InputError(f"--kernel {asked.kernel}: two systems are called {name!r}", hint="give one another name")
        kernels[name] = one.kernel
    return (
        SweepAxes(
            vcpus=tuple(parse_numbers("--vcpus", asked.vcpus, 1, MOST_VCPUS)) if asked.vcpus else (),
            memory_mib=tuple(parse_sizes("--memory", asked.memory, LEAST_MIB, MOST_MIB)) if asked.memory else (),
            page_size=tuple(parse_words("--page-size", asked.page_size, PageSize)) if asked.page_size else (),
            kernels=kernels or None,
        ),
        systems,
    )
