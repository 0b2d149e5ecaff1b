"""`bootlab study compression SYSTEM`: which compression is best for which storage."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from bootlab.cli.options.arguments import Json, Parallel, Runs, SystemFile, naming, open_cache, open_store
from bootlab.cli.options.ranges import parse_speeds, parse_words
from bootlab.cli.resuming import asked_of, digest, find_resumed
from bootlab.cli.sweep import expect_csv, write_csv
from bootlab.cli.terminal.pages import say_page, write_page
from bootlab.cli.terminal.speech import boot_progress, out, print_json, warn_of_doubts
from bootlab.errors import InputError, Interrupted, StoreError
from bootlab.experiments.compression.result import CompressionResult, What
from bootlab.experiments.compression.study import CompressionStudy
from bootlab.experiments.engine import Engine
from bootlab.experiments.store import Run
from bootlab.measure.record_files import write_json
from bootlab.report.compression import text as compression_text
from bootlab.report.compression.csv import compression_csv
from bootlab.report.compression.page import compression_page
from bootlab.system import read_system

KIND = "study"
_SPEEDS = "1,2,5,10,20,50,100,200,500,1000"
_WHATS: tuple[What, ...] = ("kernel", "initramfs")

study = typer.Typer(help="Study one choice in all its values.", rich_markup_mode=None, no_args_is_help=True)


@study.callback()
def _study() -> None:
    """Study one choice in all its values."""


@study.command("compression")
def compression(
    system: SystemFile,
    speeds: Annotated[
        str | None,
        typer.Option("--speeds", metavar="MB/S[,MB/S...]", help=f"Storage speeds in MB/s. [default: {_SPEEDS}]"),
    ] = None,
    what: Annotated[
        str | None,
        typer.Option(
            "--what", metavar="kernel,initramfs", help="What to compress. [default: both, of those that can be]"
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, max=99, help="Seeds of each algorithm. [default: 3]")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option("--resume", metavar="RUN", help="Go on with an interrupted study: its path, number, or last."),
    ] = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the totals as CSV, too.")] = None,
    parallel: Parallel = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Build and boot a system with each compression of its kernel and initramfs, and find the best for each storage.

    The kernel needs [kernel.build], the initramfs a recipe. Loading is not measured: it is size by speed, and the
    latency of [storage] for each file. Exit code 0: every one was measured; 1: one was not, and it says why.
    """
    expect_csv(csv)
    value = read_system(system)
    store = open_store(runs)
    if resume is not None:
        run = find_resumed(store, resume, KIND, value.name, _Asked, [speeds, what, seeds])
        asked = asked_of(run, _Asked)
        if asked.systems != digest(value):
            raise InputError(f"--resume {resume}: the system file has changed since", hint="start a new study")
    else:
        asked = _Asked(speeds=speeds or _SPEEDS, what=what, seeds=seeds or 3, systems=digest(value))
    whats = [one for one in _WHATS if one in parse_words("--what", asked.what, _WHATS)] if asked.what else None
    mb_s = parse_speeds("--speeds", asked.speeds)
    warn_of_doubts(value)
    with boot_progress(None, silent=json) as progress, naming(system):
        job = CompressionStudy(
            value, mb_s, range(1, asked.seeds + 1), cache=open_cache(), what=whats, note=progress.note
        )
        if resume is None:
            run = store.start(KIND, value.name, asked.model_dump())
        with run.locked():
            engine = Engine(run, parallel=parallel, reuse=True, watcher=lambda done: progress.booted(done.job.label))
            try:
                result = job.run(engine)
            except (Interrupted, KeyboardInterrupt) as stop:
                raise Interrupted(
                    f"interrupted; finished boots are kept in {run.path}",
                    hint=f"go on with: bootlab study compression {system} --resume {run.path}",
                ) from stop
            write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return show_study(run, result, json=json, csv=csv)


def read_study(run: Run) -> CompressionResult:
    """Return the study on record in a run. Raises StoreError when it is damaged or was interrupted."""
    try:
        return CompressionResult.model_validate_json(run.result_text())
    except FileNotFoundError as error:
        raise StoreError(
            f"{run.path}: this study has not finished",
            hint=f"go on with: bootlab study compression SYSTEM --resume {run.path}",
        ) from error
    except (OSError, ValidationError) as error:
        raise StoreError(f"{run.result}: no whole study: {str(error).splitlines()[0]}") from error


def show_study(
    run: Run, result: CompressionResult, *, json: bool, csv: Path | None = None, to: Path | None = None
) -> int:
    """Print a study, write its page (to `to` instead of into the run) and its CSV, and return the exit code."""
    path = write_page(run, compression_page(result), to=to)
    if csv is not None:
        write_csv(csv, compression_csv(result))
    if json:
        print_json(result)
    else:
        out.print(compression_text.compression(result))
        say_page(path)
    return 0 if all(option.boot is not None for table in result.tables for option in table.options) else 1


class _Asked(BaseModel):
    """What a study was asked for; a resumed one goes on with the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    of: str = "compression"
    speeds: str
    what: str | None
    seeds: int
    systems: str
    """sha256 of the system as a value."""
