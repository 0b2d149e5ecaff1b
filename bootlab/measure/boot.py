"""One boot: power on, follow the machine to its end, write the record.

A boot's directory holds record.json, console.log (raw), trace.txt (the plugin's), plugin.conf and qemu.stderr; that of
a profiled boot also profile.bin and the functions it refers to. The record is written last and in one piece, so a
directory with a record is a finished boot and one without is not.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bootlab.errors import BootFailed
from bootlab.measure.causes.ending import Ending
from bootlab.measure.following import follow
from bootlab.measure.guest.heard_console import HeardConsole, OnLine
from bootlab.measure.observed_boot import BootWatcher, ObservedBoot
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_contents import HostRun, fill_record
from bootlab.measure.record_files import store_error, write_whole
from bootlab.measure.screen import keep_pictures
from bootlab.profile.asked.profiling import FUNCTIONS
from bootlab.profile.recorded.about import PROFILE
from bootlab.profile.recorded.compressed import compress_kept
from bootlab.profile.recorded.disk_files import DISK_FILES
from bootlab.profile.recorded.pictures import PICTURES
from bootlab.targets.shell import ANSWERS
from bootlab.targets.target import OpenedMachine, Prepared


def boot(
    prepared: Prepared,
    directory: Path,
    *,
    on_line: OnLine | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    patience: float = 1.0,
    watcher: BootWatcher | None = None,
) -> BootRecord:
    """Boot once and return the record, also written to `directory` (which must exist and be empty).

    `patience` multiplies the system's deadlines, for a slow host or a boot that is profiled. `watcher` looks on.
    A boot that panics, hangs, fails its check or does not start is an outcome in the record, not an error.
    Raises MissingTool when there is no QEMU, Interrupted when `cancelled()` became true, StoreError when the
    record could not be written.
    """
    seen = ObservedBoot(prepared, directory, HeardConsole(prepared, on_line), patience, watcher=watcher)
    try:
        return asyncio.run(boot_observed(seen, cancelled))
    except OSError as error:
        raise store_error(directory, error) from error
    finally:
        # Of a boot that was interrupted nobody reads them, and they are large.
        (directory / PICTURES).unlink(missing_ok=True)


async def boot_observed(seen: ObservedBoot, cancelled: Callable[[], bool] = lambda: False) -> BootRecord:
    """Boot as `boot`, in the loop that runs, beside other boots perhaps. Raises OSError where it cannot be kept."""
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    begun = time.monotonic()
    argv: list[str] = []
    opened: OpenedMachine | None = None
    try:
        async with seen.prepared.open(seen.directory, argv) as machine:
            opened = machine
            ending = await follow(seen, machine, cancelled)
    except BootFailed as error:
        ending = Ending(Outcome.NOT_STARTED, error.message)
    seen.join_beginning()
    (seen.directory / "console.log").write_bytes(seen.heard.raw)
    if seen.prepared.questions is not None:
        (seen.directory / ANSWERS).write_bytes(seen.answers)
    for kept in (PROFILE, FUNCTIONS, DISK_FILES):
        compress_kept(seen.directory / kept)
    run = HostRun(argv, started, time.monotonic() - begun)
    if opened is not None:
        session = opened.session
        remarks = (*session.remarks, *seen.remarks)
        launch = None if opened.launch is None else opened.launch()
        run = replace(run, doubts=session.doubts, remarks=remarks, stamps=session.stamps(), launch=launch)
    pictures = keep_pictures(seen.directory / PICTURES, seen.directory)
    record = fill_record(seen, ending, run, pictures)
    write_whole(seen.directory / "record.json", record.model_dump_json(by_alias=True, indent=1) + "\n")
    return record
