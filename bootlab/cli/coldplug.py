"""`bootlab coldplug SYSTEM`: the devices that a boot finds, the modules for them, and those that none of them needs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.boot_files import module_tree_of, root_entries_of
from bootlab.build.cache import Cache
from bootlab.build.modules.aliases import read_aliases
from bootlab.build.modules.package import ModuleTree, module_name
from bootlab.build.workshop import Workshop
from bootlab.cli.options.arguments import Json, Runs, SystemFile, naming, open_shop, open_store, open_system
from bootlab.cli.profile.boots import expect_started
from bootlab.cli.terminal.doubts import warn_of_doubts
from bootlab.cli.terminal.files import expect_file, inputs_of
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import err
from bootlab.errors import InputError
from bootlab.experiments.store import Run, RunKind
from bootlab.findings.coldplug_result import ColdplugResult, sized_modules
from bootlab.findings.device_modules import (
    Device,
    devices_text,
    find_modules,
    read_devices,
)
from bootlab.measure import boot as one_boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import store_error, write_json
from bootlab.report.findings.view import coldplug_view
from bootlab.system import Coldplug, System

_PARTS = ("initramfs", "rootfs")
_MOST_BOOTS = 6
"""A device behind more buses than this, each a module's, is given up on."""


def coldplug(
    system: SystemFile,
    to: Annotated[
        Path | None,
        typer.Option("--to", "-o", metavar="FILE", help="Where to write the devices. [default: into the run]"),
    ] = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Boot a system once and list its devices, the modules for them, and modules of the image that no device needs.

    The guest's init must run /sbin/bootlab-facts when its devices are there. The list that is written is what
    `coldplug.devices` of a recipe takes: the image then loads the modules for these devices, and no others.
    """
    value = open_system(system, silent=json)
    if to is not None:
        expect_file("--to", to, inputs_of(value, system), example="devices")
    parts = [part for part in _PARTS if (one := getattr(value, part)) is not None and one.path is None]
    if not parts:
        raise InputError(f"{system}: no recipe: bootlab-coldplug must be put into [initramfs] or [rootfs]")
    shop = open_shop(silent=json)
    if not json:
        err.print(f"preparing {value.name}")
        warn_of_doubts(value)
    with naming(system):
        kernel_tree = module_tree_of(shop, value)
        if kernel_tree is None:
            raise InputError(
                f"{system}: kernel.image: modules come from a kernel package or a kernel that is built",
                hint="kernel.package or [kernel.build]",
            )
        tree, aliases = ModuleTree(kernel_tree), read_aliases(shop, kernel_tree)
    run = open_store(runs).start(RunKind.COLDPLUG, value.name, {"system": str(system)})
    record, devices, image = _record(shop, value, system, parts, run, silent=json)
    found = find_modules(devices, tree, aliases, _never(value, parts), image)
    written = _write(to or run.path / "devices", devices_text(devices, value.name))
    result = ColdplugResult(
        system=value.name,
        kernel=tree.release,
        outcome=record.outcome,
        devices=devices,
        wanted=sized_modules(found.wanted, tree),
        at_work=list(found.at_work),
        image=len(image),
        idle=sized_modules(found.idle, tree),
        written=written,
        run=str(run.path),
    )
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return show(run, coldplug_view(run, result), json=json)


def _record(
    shop: Workshop, value: System, file: Path, parts: Sequence[str], run: Run, *, silent: bool
) -> tuple[BootRecord, list[Device], list[str]]:
    """Return the last boot, the devices it found, and the modules of its image.

    Behind a bus that only a module drives, devices show when it is loaded: so boots follow each other, each with the
    modules for what the one before it has found, until one finds nothing new.
    """
    known: list[Device] = []
    listed = run.path / "recorded"
    for number in range(1, _MOST_BOOTS + 1):
        recording = _recording(value, parts, listed if known else None)
        with naming(file):
            prepared = prepare(shop, recording)
        if not silent:
            err.print(
                f"booting, {number}: {f'with modules for {len(known)} devices' if known else 'to list the devices'}"
            )
        record = one_boot.boot(prepared, run.boot_directory(f"recorded-{number}"))
        expect_started(record)
        found = read_devices(record.facts)
        if not found:
            why = "" if record.outcome is Outcome.READY else f" ({record.outcome.value}: {record.detail})"
            raise InputError(
                f"{file}: the guest named no device{why}",
                hint="its init must run /sbin/bootlab-facts, with /sys mounted, when the devices are there",
            )
        new = {one.modalias for one in found} - {one.modalias for one in known}
        known = found
        if not new:
            break
        _write(listed, devices_text(known, value.name))
    image = sorted({name for part in parts for name in _modules_in(recording, part, shop.cache)})
    return record, known, image


def _recording(system: System, parts: Sequence[str], devices: Path | None) -> System:
    for part in parts:
        plan = getattr(system, part).coldplug or Coldplug()
        # Nothing in the background: what it loads later would not be seen.
        changes = {"record": True, "background": False, "devices": devices or plan.devices}
        system = system.with_part(part, coldplug=plan.model_copy(update=changes))
    return system


def _never(system: System, parts: Sequence[str]) -> frozenset[str]:
    plans = [plan for part in parts if (plan := getattr(system, part).coldplug) is not None]
    return frozenset(module_name(name) for plan in plans for name in plan.never)


def _modules_in(system: System, part: str, cache: Cache) -> list[str]:
    names = (Path(entry.path).name for entry in root_entries_of(Workshop(cache), system, part))
    return [module_name(name) for name in names if name.endswith((".ko", ".ko.xz", ".ko.zst", ".ko.gz"))]


def _write(path: Path, text: str) -> str:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise store_error(path, error) from error
    return str(path)
