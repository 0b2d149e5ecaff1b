"""`bootlab snapshot SYSTEM`: boot to a mark, and keep the machine there for `bootlab boot --from`."""

import time
from typing import Annotated

import typer

from bootlab.cli.options.arguments import Json, Runs, SystemFile, naming, open_shop, open_store, open_system
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import err
from bootlab.errors import InputError
from bootlab.experiments.snapshot.restoring import SNAPSHOT
from bootlab.experiments.snapshot.result import kept_result
from bootlab.experiments.store import RunKind
from bootlab.measure.prepare import prepare
from bootlab.measure.record_files import write_json
from bootlab.measure.snapshot_boot import Places, keep
from bootlab.report.snapshot.view import snapshot_view
from bootlab.snapshot.refusals import MemoryForm
from bootlab.system.part import MARK


def snapshot(
    system: SystemFile,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="MARK", help="The mark to keep it at. [default: snapshot.at, else 'snapshot']"),
    ] = None,
    memory: Annotated[
        MemoryForm,
        typer.Option(
            "--memory",
            help="How its memory is kept: as a file that each clone maps; in one file with the rest (QEMU); as a file "
            "of the pages that were written to alone (Firecracker).",
        ),
    ] = MemoryForm.FILE,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Boot a system up to a mark, and keep the whole machine there: memory, devices, disks, clock.

    `bootlab boot SYSTEM --from RUN` goes on from it, any number of times. The machine stands still at the very
    instruction that makes the mark, so each clone starts at the same nanosecond; under Firecracker and Cloud
    Hypervisor, on the wall clock, it waits there for the host to stop it. Takes as much disk as the guest has memory,
    less what it never touched.
    """
    value = open_system(system, silent=json)
    default = value.snapshot.at if value.snapshot is not None else "snapshot"
    mark = default if at is None else at
    _expect_mark(mark)
    with naming(system):
        # Before the run is on record: what cannot be kept is a mistake of the file.
        prepared = prepare(open_shop(silent=json), value, keeps=True)
        # Of the targets that keep no machine at all, which ask nothing ahead of their files.
        prepared.expect_keepable()
        if memory not in prepared.memory_forms:
            forms = ", ".join(form.value for form in prepared.memory_forms)
            raise InputError(f"--memory {memory.value}: such a machine's memory is kept as one of: {forms}")
    run = open_store(runs).start(RunKind.SNAPSHOT, value.name, {"system": str(system), "at": mark, "memory": memory})
    if not json:
        err.print(f"booting {value.name} up to mark {mark}", soft_wrap=True)
    began_s = time.monotonic()
    places = Places((run.path / SNAPSHOT).absolute(), run.boot_directory("1"))
    manifest = keep(prepared, mark, memory, places)
    on_disk = sum(path.stat().st_blocks * 512 for path in places.folder.iterdir())
    result = kept_result(manifest, on_disk, time.monotonic() - began_s, str(places.folder), str(run.path))
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return show(run, snapshot_view(run, result), json=json)


def _expect_mark(mark: str) -> None:
    try:
        MARK.func(mark)  # type: ignore[call-arg]
    except ValueError as error:
        raise InputError(f"--at {mark!r}: {error}", hint="for example --at ready") from error
