"""`bootlab sweep SYSTEM`: boot time against vCPUs, memory, host page size, kernel, and any key of the system file."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.workshop import Workshop
from bootlab.cli.options.arguments import (
    Json,
    Parallel,
    Runs,
    SystemFile,
    naming,
    open_cache,
    open_store,
    open_system,
    settable,
)
from bootlab.cli.options.places import Cluster, choose_place
from bootlab.cli.options.price import PriceModel, absolute_model, with_price
from bootlab.cli.options.ranges import LEAST_MIB, MOST_MIB, MOST_VCPUS, parse_numbers, parse_sizes, parse_words
from bootlab.cli.resuming import Resume, digest, kept, settle
from bootlab.cli.terminal.doubts import warn_of_doubts
from bootlab.cli.terminal.files import expect_path
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import boot_progress, err
from bootlab.document import Document
from bootlab.errors import InputError, StoreError
from bootlab.experiments.engine import Engine
from bootlab.experiments.store import RunKind
from bootlab.experiments.sweep.boots import BootSweep
from bootlab.experiments.sweep.machines import SweepAxes
from bootlab.measure.record_files import write_json
from bootlab.report.sweep.csv import sweep_csv
from bootlab.report.sweep.view import sweep_view
from bootlab.system import ClockKind, Kernel, PageSize, System
from bootlab.system.setting import OPTION, KeySetting, parse_setting, system_with
from bootlab.targets.registry import target_of

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
            help="Host pages behind the guest's memory: 4K,2M (or auto: as QEMU does). Shows on the wall clock, and in "
            "a price.",
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option("--kernel", metavar="FILE[,FILE...]", help="System files whose [kernel] is booted, in turn."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            OPTION,
            metavar="KEY=VALUE[,VALUE...]",
            help="A key of the system file and the values it takes in turn: rootfs.model=hdd,ssd. An empty value "
            "leaves the key out; KEY+=VALUE adds to the file's text or list; paths are relative to the current "
            "directory. May be repeated.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            metavar="N",
            min=1,
            max=99,
            help="Seeds of each (virtual), boots of each (wall). [default: 3 virtual, 10 wall]",
        ),
    ] = None,
    price: PriceModel = None,
    resume: Resume = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write every boot as a line of CSV, too.")
    ] = None,
    parallel: Parallel = None,
    cluster: Cluster = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Boot a system with every combination of the listed values, and show what one more of each costs.

    Options that are not given stay as the system has them. Each figure is a median over seeds (virtual clock) or over
    boots that take turns (clock.kind = "wall"), with its spread; where a straight line does not fit, that is said.
    Exit code 0: every place was ready; 1: one was not.
    """
    expect_csv(csv)
    chosen, value = choose_place(cluster, parallel), open_system(system, silent=json)
    if (vcpus or memory or page_size) and (why := target_of(value).fixed_machine) is not None:
        raise InputError(f"{system}:target: {why}")
    store = open_store(runs)
    repeats = _VIRTUAL_REPEATS if value.clock.kind is ClockKind.VIRTUAL else _WALL_REPEATS
    with_price(value, price)
    now = _SweepRequest(
        price=absolute_model(price),
        vcpus=vcpus,
        memory=memory,
        page_size=page_size,
        kernel=kernel,
        settings=settings or [],
        seeds=seeds or repeats,
    )
    given = [vcpus, memory, page_size, kernel, settings, seeds, price]
    question = settle(store, resume, RunKind.SWEEP, value.name, now, given)
    asked = question.asked
    wanted, systems = _wanted(asked, system, value)
    base = value
    value = with_price(value, asked.price)
    with boot_progress(None, silent=json) as progress, naming(system):
        job = BootSweep(Workshop(open_cache(), tell=progress.note), value, wanted, asked.seeds)
        # With keys set each place is a system of its own, and the files that they name may be others since.
        marked = digest(base, *systems, *(job.systems.values() if asked.settings else ()))
        question.expect_unchanged(asked.systems, marked)
        progress.expect(job.boots)
        if not json:
            err.print(
                f"{value.name}: {len(job.places)} places, {job.boots} boots on the {value.clock.kind.value} clock"
            )
        warn_of_doubts(value)
        run = question.begin(store, asked.model_copy(update={"systems": marked}))
        if PageSize.HUGE.value in wanted.page_size and value.clock.host_model is None:
            # Each boot at once would need huge pages of its own.
            chosen = replace(chosen, parallel=1)
        with kept(run, system), chosen.open(progress.note) as place:
            engine = Engine(run, place=place, reuse=True, watcher=lambda done: progress.count_boot(done.job.label))
            result = job.run(engine)
            write_json(run.result, result.model_dump(mode="json", by_alias=True))
    if csv is not None:
        write_csv(csv, sweep_csv(result))
    return show(run, sweep_view(run, result), json=json)


def expect_csv(path: Path | None) -> None:
    """Raise InputError where the CSV file could not be written after all the boots."""
    if path is None:
        return
    expect_path("--csv", path)
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir():
        raise InputError(f"--csv {path}: not a place for a file", hint="name a file in a folder that is there")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(f"--csv {path}: may not be written to", hint="name a place that is yours")


def write_csv(path: Path, table: str) -> None:
    """Write a table where the user asked for it. Raises StoreError."""
    try:
        path.write_text(table, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise StoreError(f"--csv {path}: {error.strerror or error}", hint="name a file that you may write") from error


class _SweepRequest(Document):
    """What a sweep was asked for, as it was typed; a resumed one goes on with the same."""

    vcpus: str | None
    memory: str | None
    page_size: str | None
    kernel: str | None
    settings: list[str] = []
    seeds: int
    price: str | None = None
    systems: str = ""
    """sha256 of the system, and of those that give kernels, as values."""


def _wanted(asked: _SweepRequest, path: Path, value: System) -> tuple[SweepAxes, list[System]]:
    kernels: dict[str, Kernel] = {}
    systems = []
    for word in asked.kernel.split(",") if asked.kernel else []:
        file = Path(word.strip())
        one = open_system(file)
        systems.append(one)
        # The name of a system says most about its kernel, unless two files have the same.
        name = one.name if one.name not in kernels else file.stem
        if name in kernels:
            raise InputError(f"--kernel {asked.kernel}: two systems are called {name!r}", hint="give one another name")
        kernels[name] = one.kernel
    settings: dict[str, list[KeySetting]] = {}
    for typed in asked.settings:
        key, values = parse_setting(typed)
        if key in settings:
            raise InputError(f"{OPTION} {key}: given twice", hint=f"{OPTION} {key}=VALUE,VALUE")
        settings[key] = values
    return (
        SweepAxes(
            vcpus=tuple(parse_numbers("--vcpus", asked.vcpus, 1, MOST_VCPUS)) if asked.vcpus else (),
            memory_mib=tuple(parse_sizes("--memory", asked.memory, LEAST_MIB, MOST_MIB)) if asked.memory else (),
            page_size=tuple(parse_words("--page-size", asked.page_size, PageSize)) if asked.page_size else (),
            kernels=kernels or None,
            settings=settings,
            made=_maker(asked, path, value) if settings else None,
        ),
        systems,
    )


def _maker(asked: _SweepRequest, path: Path, value: System) -> Callable[[Sequence[KeySetting]], System]:
    data = settable(path, value)
    return lambda settings: with_price(system_with(data, path, settings), asked.price)
