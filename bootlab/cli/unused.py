"""`bootlab unused SYSTEM`: the files of the initramfs and the root file system that a boot never opens, proved."""

import json as json_module
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.boot_files import root_entries_of
from bootlab.build.formats.cpio import Entry
from bootlab.build.outputs.origin import find_origin
from bootlab.build.outputs.package_files import read_package_files
from bootlab.cli.options.arguments import Json, Runs, SystemFile, naming, open_shop, open_store, open_system
from bootlab.cli.profile.boots import expect_started
from bootlab.cli.terminal.doubts import warn_of_doubts
from bootlab.cli.terminal.files import expect_file, inputs_of
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import err
from bootlab.errors import InputError
from bootlab.experiments.real_unused import machine_to_ask, unread_of_machine
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.findings.unused_files import Unused, find_unused, read_paths
from bootlab.findings.unused_packages import unused_packages
from bootlab.findings.unused_result import UnusedResult, unused_part
from bootlab.measure import boot as one_boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import store_error, write_json
from bootlab.profile.asked.request import ProfileRequest
from bootlab.profile.recorded.about import PROFILE
from bootlab.report.findings.view import unused_view
from bootlab.system import System
from bootlab.targets.registry import target_of
from bootlab.targets.shell import Telling
from bootlab.targets.target import Prepared

_PARTS = ("initramfs", "rootfs")
_PATIENCE = 4.0


def unused(
    system: SystemFile,
    verify: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Boot once more without these files, with the check.")
    ] = True,
    to: Annotated[
        Path | None, typer.Option("--to", "-o", metavar="FILE", help="Where to write the list. [default: into the run]")
    ] = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """List the files of a system's initramfs and root file system that a boot never opens.

    One boot is profiled until ready and through the check; every path that the kernel is asked for counts as used.
    The rest becomes a `without` list for the recipe; of what Buildroot or Yocto built, packages without an opened file
    become a list in that builder's form. Of a board or a host its shell is asked ([target.shell]) for the access times
    that its own file system keeps. Exit code 0: found, and it boots without them; 1: it does not.
    """
    value = open_system(system, silent=json)
    telling = target_of(value).telling(value)
    if telling is not None:
        return _of_machine(value, telling, system, to, open_store(runs), silent=json)
    parts = [part for part in _PARTS if getattr(value, part) is not None]
    if not parts:
        raise InputError(f"{system}: neither [initramfs] nor [rootfs]: there are no files to look at")
    if to is not None:
        expect_file("--to", to, inputs_of(value, system), example="without.toml")
    shop = open_shop(silent=json)
    if not json:
        err.print(f"preparing {value.name}")
        warn_of_doubts(value)
        if value.check is None:
            err.print("bootlab: warning: no [check]: what the system needs after ready is not seen", soft_wrap=True)
    with naming(system):
        trees = {part: root_entries_of(shop, value, part) for part in parts}
        prepared = prepare(shop, value, profile=ProfileRequest(paths=True))
    run = open_store(runs).start(RunKind.UNUSED, value.name, {"system": str(system)})
    before = _boot(prepared, run, "recorded", "booting with every path recorded", silent=json, patience=_PATIENCE)
    if before.outcome is not Outcome.READY:
        raise InputError(
            f"{system}: {before.outcome.value}: {before.detail}", hint="bootlab boot shows what the console said"
        )
    paths = read_paths(Path(before.run) / PROFILE)
    found = {part: find_unused(entries, paths) for part, entries in trees.items()}
    after = None
    sizes: dict[str, int] = {}
    pruned = _pruned(value, found)
    if verify and pruned is not None:
        with naming(system):
            ready = prepare(shop, pruned)
        sizes = ready.sizes
        after = _boot(ready, run, "without", "booting without them", silent=json)
    written = _write(to or run.path / "without.toml", value, found)
    packages, packages_list = _packages(value, trees, found, run)
    result = UnusedResult(
        system=value.name,
        checked=value.check is not None,
        parts={part: unused_part(one, before.sizes.get(part), sizes.get(part)) for part, one in found.items()},
        ready_ns=before.ready_ns,
        ready_without_ns=after.ready_ns if after is not None else None,
        outcome_without=after.outcome if after is not None else None,
        detail_without=after.detail if after is not None else None,
        written=str(written),
        packages=packages,
        packages_list=packages_list,
        run=str(run.path),
    )
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return show(run, unused_view(run, result), json=json)


def _of_machine(value: System, telling: Telling, file: Path, to: Path | None, store: Store, *, silent: bool) -> int:
    if to is not None:
        expect_file("--to", to, inputs_of(value, file), example="unused.txt")
    shop = open_shop(silent=silent)
    with naming(file):
        machine = machine_to_ask(shop, value, telling)
    run = store.start(RunKind.UNUSED, value.name, {"system": str(file)})
    if not silent:
        err.print("a boot, then its shell is asked which files were read")
    with naming(file):
        result = unread_of_machine(machine, run, to or run.path / "unused.txt")
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return show(run, unused_view(run, result), json=silent)


def _boot(prepared: Prepared, run: Run, label: str, words: str, *, silent: bool, patience: float = 1.0) -> BootRecord:
    if not silent:
        err.print(words)
    record = one_boot.boot(prepared, run.boot_directory(label), patience=patience)
    expect_started(record)
    return record


def _pruned(system: System, found: dict[str, Unused]) -> System | None:
    """Return the system without the files; None when there is no recipe to leave any out of."""
    changed = system
    for part, unused in found.items():
        recipe = getattr(system, part)
        if recipe.path is None and unused.without:
            changed = changed.with_part(part, without=(*recipe.without, *unused.without))
    return changed if changed != system else None


def _packages(
    system: System, trees: Mapping[str, Sequence[Entry]], found: Mapping[str, Unused], run: Run
) -> tuple[list[str], str | None]:
    """Return the packages without an opened file, and the file that leaves them out, where a build lists its files."""
    origin = find_origin(system)
    listed = read_package_files(origin) if origin is not None else None
    if listed is None:
        return [], None
    there = {f"/{entry.path}" for entries in trees.values() for entry in entries if not stat.S_ISDIR(entry.mode)}
    left = {file.path for one in found.values() for file in one.unused}
    names = unused_packages(listed.files, there, left, listed.kept)
    if not names:
        return [], None
    path = run.path / listed.name
    try:
        path.write_text(
            f"# Packages of which {system.name} opened no file, up to ready and in its check; what needs one of them "
            f"brings it back.\n{listed.leave_out(names)}",
            encoding="utf-8",
        )
    except OSError as error:
        raise store_error(path, error) from error
    return names, str(path)


def _write(path: Path, system: System, found: dict[str, Unused]) -> Path:
    lines = [f"# Never opened by {system.name}, up to ready and in its check: for its system file."]
    for part, unused in found.items():
        earlier = getattr(system, part).without
        lines += [f"[{part}]", "without = ["]
        lines += [f"    {json_module.dumps(name, ensure_ascii=False)}," for name in (*earlier, *unused.without)]
        lines += ["]", ""]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise store_error(path, error) from error
    return path
