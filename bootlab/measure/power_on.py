"""What a power-on finds: a boot before it is made once, what it left is kept in the cache, and spoilt where asked for.

A boot that finds something is as exact as any: what it finds is a file of known content, and part of its key.
"""

import asyncio
import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.build.boot_files import root_entries_of
from bootlab.build.formats.sparse import copy_sparse
from bootlab.build.root.kept_changes import spoil_changes
from bootlab.build.root.kept_region import copy_kept_memory, spoil
from bootlab.build.root.left_disks import MEMORY, disk_file, place_of, spoil_disks
from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed, InputError
from bootlab.measure.guest.heard_console import HeardConsole
from bootlab.measure.host.deadline import deadline
from bootlab.measure.session_events import SessionEvents
from bootlab.profile.recorded.trace import read_trace
from bootlab.system import KEEPS_RAM, Fault, PowerOn, PowerOnKind, System, sleep_word, without_null
from bootlab.targets.boot_key import boot_key
from bootlab.targets.target import TRACE, ConsoleBytes, Ended, EndReason, OpenedMachine, Prepared

_FORMAT: Final = 1
_CUT_OFF: Final[Mapping[Fault | None, PowerOnKind]] = {
    Fault.HANG: PowerOnKind.SELF_REFRESH,
    Fault.SAVE_CUT: PowerOnKind.SELF_REFRESH,
    Fault.IMAGE_TAKEN: PowerOnKind.HIBERNATED,
}
"""A fault of a start that found something itself -> the kind of that start."""
_SHOWN: Final = 160
_HINT: Final = "docs/persistence.md says what the guest has to start once it is ready"


@dataclass(frozen=True, slots=True)
class Left:
    """What a power-on finds, in `folder`; `identity`: of all that decided it."""

    folder: Path
    identity: str


def system_before(system: System) -> System:
    """Return the system as it is switched on before: cold, or from what was left well where that start is cut off."""
    asked = system.power_on
    assert asked is not None
    before = PowerOn(kind=kind) if (kind := _CUT_OFF.get(asked.fault)) else None
    if system.hibernated_by_loader and asked.kind is PowerOnKind.HIBERNATED:
        # A board's command line is on its card.
        system = system.with_cmdline(sleep_word(system))
    if asked.kind in KEEPS_RAM and without_null(system.kernel.cmdline) != system.kernel.cmdline:
        # A null change is one of the boot that is measured: what lies in the region is the same, made once for all.
        system = system.with_part("kernel", cmdline=without_null(system.kernel.cmdline))
    return system.model_copy(update={"power_on": before})


def leave(shop: Workshop, prepared: Prepared, system: System) -> Left:
    """Make the boot before a power-on of `system`, and return what that finds; at once where it was made before.

    `prepared`: of `system_before`. Raises BootFailed where that boot does not come to its end, InputError.
    """
    asked = system.power_on
    assert asked is not None
    config = prepared.leaving(Path(), system).plugin_config
    key = json.dumps([_FORMAT, boot_key(prepared.system, prepared.hashes, config)])
    file_content = _content(shop, system, asked.fault_file)  # ahead of the boot: a path that is none is said at once

    def make(out: Path) -> None:
        shop.tell(f"{system.name}: the boot that leaves what a {asked.kind.value} finds")
        out.mkdir()
        asyncio.run(_boot(prepared.leaving(out, system), out))
        if (memory := out / MEMORY).exists():
            _leave_zeros_out(memory)

    folder = shop.cache.make("left", key, make)
    found_key = json.dumps([_FORMAT, key, asked.model_dump(mode="json")])
    found = shop.cache.make("found", found_key, lambda out: _make_found(prepared, system, folder, file_content, out))
    return Left(found, hashlib.sha256(found_key.encode()).hexdigest())


def _make_found(before: Prepared, system: System, left: Path, file_content: bytes, out: Path) -> None:
    assert system.power_on is not None
    fault = system.power_on.fault
    out.mkdir()
    if system.power_on.kind in KEEPS_RAM:
        region, memory = system.kept_span, out / MEMORY
        assert region is not None  # the system's own check
        copy_kept_memory(left / MEMORY, memory, region if system.power_on.kind is PowerOnKind.SELF_REFRESH else None)
        if fault is not None:
            spoil(memory, region, fault, file_content)
        if system.changes_device is None:
            return
    disks = before.files.written
    overlays = [shutil.copyfile(left / disk_file(index), out / disk_file(index)) for index in range(len(disks))]
    if fault is None:
        return
    if system.changes_device is not None:
        changes = place_of(system, "changes")
        spoil_changes(overlays[changes], disks[changes], fault)
    elif system.card is not None and system.card.swap_mib is not None:
        size = disks[0].stat().st_size
        spoil_disks(overlays[0], range(size - (system.card.swap_mib << 20), size), None, fault)
    else:
        swap = place_of(system, "swap")
        root = (overlays[0], disks[0]) if system.rootfs is not None else None
        spoil_disks(overlays[swap], range(disks[swap].stat().st_size), root, fault)


def _content(shop: Workshop, system: System, path: str | None) -> bytes:
    if path is None:
        return b""
    for entry in root_entries_of(shop, system, "rootfs"):
        if f"/{entry.path.strip('/')}" == path and entry.data:
            return entry.data
    raise InputError(f"power_on.fault_file: {path} is no file in [rootfs], or an empty one")


def _leave_zeros_out(path: Path) -> None:
    whole = path.with_suffix(".whole")
    path.rename(whole)
    with whole.open("rb") as source, path.open("wb") as target:
        target.truncate(whole.stat().st_size)
        copy_sparse(source, target, 0)
    whole.unlink()


async def _boot(prepared: Prepared, folder: Path) -> None:
    heard = HeardConsole(prepared)
    try:
        async with prepared.open(folder, []) as machine:
            heard.begin(await machine.session.power_on(), machine.session.byte_ns)
            ended = await _follow(prepared, machine, heard)
    finally:
        (folder / "console.log").write_bytes(heard.raw)
    # Its last word: behind it a machine is off, or was cut off.
    made = list(read_trace(folder / TRACE).guest_marks)
    if made[-1:] != [prepared.left_at] or ended.reason is EndReason.DIED:
        raise BootFailed(
            f"power_on: the boot before did not come to its mark {prepared.left_at} and end: "
            f"{ended.detail or ended.reason.value}, {_last_words(heard)}",
            hint=_HINT,
        )


async def _follow(prepared: Prepared, machine: OpenedMachine, heard: HeardConsole) -> Ended:
    events, seconds = SessionEvents(machine.session), prepared.system.booted.deadline_s
    try:
        async with deadline(seconds, machine.session.withheld_s):
            while not isinstance(event := await events.next(), Ended):
                if isinstance(event, ConsoleBytes):
                    heard.feed(event.data, event.t_ns)
        return event
    except TimeoutError as error:
        raise BootFailed(
            f"power_on: the boot before did not come to its mark {prepared.left_at} in {seconds:g} s of this host's, "
            f"{_last_words(heard)}",
            hint=_HINT,
        ) from error
    finally:
        events.close()


def _last_words(heard: HeardConsole) -> str:
    line = heard.guest.last_line.strip()
    return f'last console line: "{line[:_SHOWN]}"' if line else "the console said nothing"
