"""`bootlab storm SYSTEM`: many machines of one system at once, and what makes them wait for each other."""

import os
from typing import Annotated

import typer

from bootlab.cli.options.arguments import Json, Runs, SystemFile, naming, open_shop, open_store, open_system
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import boot_progress
from bootlab.errors import InputError
from bootlab.experiments.store import RunKind
from bootlab.experiments.storm.result import storm_result
from bootlab.measure.host.process_use import read_available_kib
from bootlab.measure.prepare import prepare
from bootlab.measure.record_files import write_json
from bootlab.measure.storm import run_storm
from bootlab.report.storm.view import storm_view
from bootlab.system import ClockKind, System


def storm(
    system: SystemFile,
    number: Annotated[int, typer.Option("-n", "--number", metavar="N", min=2, max=1000, help="Machines.")] = 50,
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate", metavar="N", min=0.01, max=10000, help="Machines launched each second. [default: all at once]"
        ),
    ] = None,
    overcommit: Annotated[
        bool,
        typer.Option(
            "--overcommit", help="Launch them although their memory together is more than this host has left."
        ),
    ] = False,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Launch many machines of a system, keep each until all are up, and say how long they took and what held them up.

    A time is from when a machine was due to ready: p50, p99, and to the last. Machines wait for CPUs, for locks of the
    host's kernel, for pages; what they were seen to wait for is named. Exit code 0: all were ready; 1: not all.
    """
    value = open_system(system, silent=json)
    _expect_possible(value, number, overcommit=overcommit)
    with naming(system):
        prepared = prepare(open_shop(silent=json), value)
        if prepared.alone is not None:
            raise InputError(prepared.alone, hint="a storm launches machines side by side")
        machines = [prepared.numbered(index + 1).with_seed(value.seed + index) for index in range(number)]
    asked = {"system": str(system), "number": number, "rate": rate}
    run = open_store(runs).start(RunKind.STORM, value.name, asked)
    cores = len(os.sched_getaffinity(0))
    with run.locked(), boot_progress(number, silent=json) as progress:
        progress.note(f"{value.name}: {number} machines on {cores} CPUs ({prepared.runs_on})")
        storm = run_storm(
            machines,
            lambda one: run.boot_directory(f"{one:04d}"),
            rate=rate,
            # A machine that stands in a queue of many is not hung.
            patience=max(1.0, number / cores),
            watcher=lambda machine: progress.count_boot(f"machine {machine.number}"),
        )
    result = storm_result(storm, value.name, rate, cores, str(run.path))
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return show(run, storm_view(run, result), json=json)


def _expect_possible(system: System, number: int, *, overcommit: bool) -> None:
    if system.clock.kind is not ClockKind.WALL:
        raise InputError(
            f"clock.kind: a storm takes this host's time, and {system.name} is on the {system.clock.kind.value} clock",
            hint='clock.kind = "wall" in the system file',
        )
    need_kib, have_kib = number * (system.machine.memory_mib << 10), read_available_kib()
    if need_kib > have_kib and not overcommit:
        raise InputError(
            f"--number {number}: of {system.machine.memory_mib} MiB each, {need_kib >> 10} MiB in all; this host has "
            f"{have_kib >> 10} MiB left",
            hint="fewer machines, less machine.memory_mib; --overcommit, where guests touch only a part of it",
        )
