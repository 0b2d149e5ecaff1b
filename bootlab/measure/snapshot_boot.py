"""One boot that ends in a snapshot: power on, follow the machine to the mark at which it stands still, keep it.

The folder is complete or not there: it is made beside its place, each file flushed, its manifest last, and renamed. So
it is after a power cut, too.
"""

import asyncio
import errno
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.build.formats.sparse import copy_sparse
from bootlab.errors import BootFailed, Interrupted
from bootlab.measure.guest.heard_console import HeardConsole
from bootlab.measure.host.deadline import deadline
from bootlab.measure.record_files import store_error, write_whole
from bootlab.measure.session_events import SessionEvents
from bootlab.profile.recorded.trace import read_trace
from bootlab.snapshot.asked import Beginning, KeepRequest
from bootlab.snapshot.refusals import MANIFEST, RAM, KeptFile, MemoryForm, SnapshotManifest, hash_file
from bootlab.targets.boot_key import boot_values
from bootlab.targets.target import TRACE, ConsoleBytes, Ended, MarkReached, OpenedMachine, Prepared, StandsStill

CONSOLE: Final = "console.log"
"""What the machine said, in the directory of the boot that is kept."""
_LAST_LINES = 160
_LOOK_S = 0.1
_NOT_FOR_FOLDERS: Final = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)


@dataclass(frozen=True, slots=True)
class Places:
    """Where a snapshot goes, and the directory of the boot that it is made in, which is there and empty."""

    folder: Path
    boot: Path


def keep(prepared: Prepared, at: str, form: MemoryForm, places: Places) -> SnapshotManifest:
    """Boot to the mark `at`, keep the machine there and return what was kept.

    Raises BootFailed where the mark is not reached or the machine cannot be kept, with the reason; StoreError. What is
    not whole is removed, on Ctrl-C, too.
    """
    making = places.folder.with_name(f".unfinished-{places.folder.name}")
    try:
        making.mkdir()
        stood = _keep_machine(prepared.kept_at(KeepRequest(at, making, form)), places.boot)
        files = {path.name: _on_disk(path) for path in sorted(making.iterdir())}
        manifest = SnapshotManifest(
            system=prepared.system.name,
            at=at,
            t_ns=stood.t_ns,
            late_ns=stood.late_ns,
            instructions=stood.instructions,
            seed=prepared.system.seed,
            form=form,
            told=prepared.system.snapshot is not None,
            values=boot_values(prepared.system),
            hashes=prepared.hashes,
            host=prepared.kept_with,
            files=files,
        )
        write_whole(making / MANIFEST, manifest.model_dump_json(by_alias=True, indent=1) + "\n")
        _flush_folder(making)
        making.rename(places.folder)
        _flush_folder(places.folder.parent)
    except OSError as error:
        raise store_error(making, error) from error
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return manifest


def _on_disk(path: Path) -> KeptFile:
    """Return size and hash of a file that a power cut no longer changes: sizes are all that `--unread` looks at."""
    _flush(path)
    return hash_file(path)


def _flush_folder(path: Path) -> None:
    try:
        _flush(path)
    except OSError as error:
        # Some file systems (9p, FUSE, CIFS) flush no folder, and what is in it is whole all the same.
        if error.errno not in _NOT_FOR_FOLDERS:
            raise


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def keep_beginning(
    prepared: Prepared, at: str, places: Places, cancelled: Callable[[], bool] = lambda: False
) -> Beginning:
    """Boot to the mark `at`, keep the machine there, and return what others go on from; its folder is the caller's.

    What it has read of its disks is kept as well. Raises BootFailed where the mark is not reached before the boot is
    ready, or the machine cannot be kept; StoreError; Interrupted when `cancelled()` became true.
    """
    try:
        places.folder.mkdir(parents=True)
        request = KeepRequest(at, places.folder, reads=True)
        stood = _keep_machine(prepared.kept_at(request), places.boot, cancelled)
        console = (places.boot / CONSOLE).read_bytes()
        trace = (places.boot / TRACE).read_text(encoding="ascii")
    except BaseException as error:
        shutil.rmtree(places.folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise store_error(places.folder, error) from error
        raise
    return Beginning(places.folder, request.form, at, stood.t_ns, trace, console, places.boot, stood.host_s)


def _keep_machine(prepared: Prepared, boot: Path, cancelled: Callable[[], bool] = lambda: False) -> "_Stood":
    assert prepared.keeping is not None
    stood = asyncio.run(_boot_unless(prepared, boot, cancelled))
    if prepared.keeping.form is not MemoryForm.MAPPED_RAM:
        # It was laid out as a whole, and most of a guest's memory was never touched.
        _leave_zeros_out(prepared.keeping.folder / RAM)
    return stood


def _leave_zeros_out(path: Path) -> None:
    whole = path.with_suffix(".whole")
    path.rename(whole)
    with whole.open("rb") as source, path.open("wb") as target:
        copy_sparse(source, target, 0)
        target.truncate(os.fstat(source.fileno()).st_size)
    whole.unlink()


@dataclass(frozen=True, slots=True)
class _Stood:
    """Where the machine stood: since power-on, and how far past its mark at most. `instructions`: None if uncounted.

    `host_s`: host seconds from power-on to there.
    """

    t_ns: int
    late_ns: int
    instructions: int | None
    host_s: float


async def _boot_unless(prepared: Prepared, directory: Path, cancelled: Callable[[], bool]) -> _Stood:
    boot = asyncio.create_task(_boot(prepared, directory))
    while not (await asyncio.wait({boot}, timeout=_LOOK_S))[0]:
        if cancelled():
            boot.cancel()
    if boot.cancelled():
        raise Interrupted("interrupted")
    return boot.result()


async def _boot(prepared: Prepared, directory: Path) -> _Stood:
    assert prepared.keeping is not None
    heard = HeardConsole(prepared)
    at = prepared.keeping.at
    try:
        async with prepared.open(directory, []) as machine:
            heard.begin(await machine.session.power_on(), machine.session.byte_ns)
            held_ns, host_s = await _follow(prepared, machine, heard)
    finally:
        (directory / CONSOLE).write_bytes(heard.raw)
    if held_ns is not None:
        t_ns = heard.guest.marks[at]
        return _Stood(t_ns, max(0, held_ns - heard.zero_ns - t_ns), None, host_s)
    trace = read_trace(directory / TRACE)
    stood = trace.guest_marks.get(at) or trace.marks.get(at)
    if stood is None:
        raise BootFailed(f"the machine stood still, and its trace has no mark {at}")
    return _Stood(stood.t_ns, 0, stood.instructions, host_s)


async def _follow(prepared: Prepared, machine: OpenedMachine, heard: HeardConsole) -> tuple[int | None, float]:
    # Returns when it was made to stand still, on the host's clock, None where it did so by itself; the host's seconds.
    assert prepared.keeping is not None and machine.keep is not None
    session, at = machine.session, prepared.keeping.at
    events = SessionEvents(session)
    began_s, seconds = time.monotonic(), prepared.system.booted.deadline_s
    held_ns = None
    try:
        async with deadline(seconds, session.withheld_s):
            while not isinstance(event := await events.next(), StandsStill):
                if isinstance(event, ConsoleBytes):
                    heard.feed(event.data, event.t_ns)
                elif isinstance(event, MarkReached):
                    heard.reach(event.name, event.t_ns)
                elif isinstance(event, Ended):
                    raise BootFailed(
                        f"mark {at}: not reached: {event.reason.value} before; {_last_words(heard)}",
                        hint="bootlab boot SYSTEM shows the marks that a boot reaches",
                    )
                if machine.hold is not None and at in heard.guest.marks:
                    await machine.hold()
                    held_ns = time.monotonic_ns()
                    break
        host_s = time.monotonic() - began_s
        await machine.keep()
        await session.stop()
        while events.ended is None:
            event = await events.next()
            if isinstance(event, ConsoleBytes):
                heard.feed(event.data, event.t_ns)
    except TimeoutError as error:
        waited_s = time.monotonic() - began_s
        raise BootFailed(
            f"mark {at}: not reached in {waited_s:.0f} host s; {_last_words(heard)}",
            hint="booted.deadline_s is how long it may take; bootlab boot SYSTEM shows the marks that a boot reaches",
        ) from error
    finally:
        events.close()
    return held_ns, host_s


def _last_words(heard: HeardConsole) -> str:
    line = heard.guest.last_line.strip()
    return f'last console line: "{line[:_LAST_LINES]}"' if line else "the console said nothing"
