"""`bootlab study compression SYSTEM`: which compression is best for which storage."""

from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.workshop import Workshop
from bootlab.cli.options.arguments import Json, Parallel, Runs, SystemFile, naming, open_cache, open_store, open_system
from bootlab.cli.options.places import Cluster, choose_place
from bootlab.cli.options.ranges import parse_speeds, parse_words
from bootlab.cli.resuming import Resume, digest, kept, settle
from bootlab.cli.sweep import expect_csv, write_csv
from bootlab.cli.terminal.doubts import warn_of_doubts
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import boot_progress
from bootlab.document import Document
from bootlab.experiments.compression.result import What
from bootlab.experiments.compression.study import CompressionStudy
from bootlab.experiments.engine import Engine
from bootlab.experiments.store import RunKind
from bootlab.measure.record_files import write_json
from bootlab.report.compression.csv import compression_csv
from bootlab.report.compression.view import compression_view

_SPEEDS = "1,2,5,10,20,50,100,200,500,1000"
_WHATS: tuple[What, ...] = ("kernel", "initramfs")

study = typer.Typer(
    help="Study one choice in all its values: the compressions of kernel and initramfs.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@study.callback()
def _study() -> None:
    """Study one choice in all its values: the compressions of kernel and initramfs."""


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
        int | None, typer.Option("--seeds", metavar="N", min=1, max=99, help="Seeds of each algorithm. [default: 3]")
    ] = None,
    resume: Resume = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the totals as CSV, too.")] = None,
    parallel: Parallel = None,
    cluster: Cluster = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Build and boot a system with each compression of its kernel and initramfs, and find the best for each storage.

    The kernel needs [kernel.build], the initramfs a recipe. Loading is not measured: it is size by speed, and the
    latency of [storage] for each file. Exit code 0: every one was measured; 1: one was not, and it says why.
    """
    expect_csv(csv)
    chosen, value = choose_place(cluster, parallel), open_system(system, silent=json)
    store = open_store(runs)
    now = _StudyRequest(speeds=speeds or _SPEEDS, what=what, seeds=seeds or 3, systems=digest(value))
    question = settle(store, resume, RunKind.STUDY, value.name, now, [speeds, what, seeds])
    asked = question.asked
    question.expect_unchanged(asked.systems, now.systems)
    whats = [one for one in _WHATS if one in parse_words("--what", asked.what, _WHATS)] if asked.what else None
    mb_s = parse_speeds("--speeds", asked.speeds)
    warn_of_doubts(value)
    with boot_progress(None, silent=json) as progress, naming(system):
        job = CompressionStudy(
            Workshop(open_cache(), tell=progress.note), value, mb_s, range(1, asked.seeds + 1), what=whats
        )
        run = question.begin(store, asked)
        with kept(run, system), chosen.open(progress.note) as place:
            engine = Engine(run, place=place, reuse=True, watcher=lambda done: progress.count_boot(done.job.label))
            result = job.run(engine)
            write_json(run.result, result.model_dump(mode="json", by_alias=True))
    if csv is not None:
        write_csv(csv, compression_csv(result))
    return show(run, compression_view(run, result), json=json)


class _StudyRequest(Document):
    """What a study was asked for; a resumed one goes on with the same."""

    of: str = "compression"
    speeds: str
    what: str | None
    seeds: int
    systems: str
    """sha256 of the system as a value."""
