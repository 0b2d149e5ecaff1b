"""`bootlab unused SYSTEM`: the files of the initramfs and the root file system that a boot never opens, proved."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from bootlab.build.boot_files import root_entries_of
from bootlab.cli.options.arguments import Json, Runs, SystemFile, naming, open_cache, open_store
from bootlab.cli.profile.boots import expect_started
from bootlab.cli.terminal.files import expect_file, inputs_of
from bootlab.cli.terminal.speech import err, out, print_json, teller, warn_of_doubts
from bootlab.errors import InputError
from bootlab.experiments.store import Run
from bootlab.findings.unused_files import Unused, find_unused, read_paths
from bootlab.measure import boot as one_boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import store_error, write_json
from bootlab.profile.asked.request import ProfileRequest
from bootlab.profile.recorded.about import PROFILE
from bootlab.report.parts.figures import count, ms, percent, visible
from bootlab.system import System, read_system
from bootlab.targets.target import Prepared

SCHEMA = "bootlab.unused/1"
KIND = "unused"
_PARTS = ("initramfs", "rootfs")
_PATIENCE = 4.0
_LARGEST = 12
"""How many folders and files are shown; the list that is written has all."""


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
    The rest becomes a `without` list for the recipe. Exit code 0: found, and it boots without them; 1: it does not.
    """
    value = read_system(system)
    parts = [part for part in _PARTS if getattr(value, part) is not None]
    if not parts:
        raise InputError(f"{system}: neither [initramfs] nor [rootfs]: there are no files to look at")
    if to is not None:
        expect_file("--to", to, inputs_of(value, system), example="without.toml")
    cache, tell = open_cache(), teller(silent=json)
    if not json:
        err.print(f"preparing {value.name}")
        warn_of_doubts(value)
        if value.check is None:
            err.print("bootlab: warning: no [check]: what the system needs after ready is not seen", soft_wrap=True)
    with naming(system):
        trees = {part: root_entries_of(value, part, cache, tell=tell) for part in parts}
        prepared = prepare(value, cache, profile=ProfileRequest(paths=True), tell=tell)
    run = open_store(runs).start(KIND, value.name, {"system": str(system)})
    before = _boot(prepared, run, "recorded", "booting with every path recorded", silent=json, patience=_PATIENCE)
    if before.outcome is not Outcome.READY:
        raise InputError(
            f"{system}: {before.outcome.value}: {before.detail}", hint="bootlab boot shows what the console said"
        )
    paths = read_paths(Path(before.run) / PROFILE)
    found = {part: find_unused(entries, paths) for part, entries in trees.items()}
    after, sizes = None, {}
    pruned = _pruned(value, found)
    if verify and pruned is not None:
        with naming(system):
            ready = prepare(pruned, cache, tell=tell)
        sizes = ready.sizes
        after = _boot(ready, run, "without", "booting without them", silent=json)
    written = _write(to or run.path / "without.toml", value, found)
    document = _document(value, found, before, after, sizes, written, run)
    write_json(run.result, document)
    if json:
        print_json(document)
    else:
        _print(document)
    return 0 if after is None or after.outcome is Outcome.READY else 1


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


def _write(path: Path, system: System, found: dict[str, Unused]) -> Path | None:
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


def _document(
    system: System,
    found: dict[str, Unused],
    before: BootRecord,
    after: BootRecord | None,
    sizes: dict[str, int],
    written: Path | None,
    run: Run,
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "system": system.name,
        "checked": system.check is not None,
        "parts": {
            part: {
                "files": unused.files,
                "bytes": unused.size,
                "unused_files": len(unused.unused),
                "unused_bytes": unused.unused_size,
                "unused": [{"path": file.path, "bytes": file.size} for file in unused.unused],
                "without": list(unused.without),
                "size": before.sizes.get(part),
                "size_without": sizes.get(part),
            }
            for part, unused in found.items()
        },
        "ready_ns": before.ready_ns,
        "ready_without_ns": after.ready_ns if after is not None else None,
        "outcome_without": after.outcome.value if after is not None else None,
        "detail_without": after.detail if after is not None else None,
        "list": str(written) if written is not None else None,
        "run": str(run.path),
    }


def _print(document: dict[str, Any]) -> None:
    lines = []
    for part, one in document["parts"].items():
        share = percent(one["unused_bytes"], one["bytes"])
        head = f"{part}: {one['unused_files']} of {one['files']} files were never opened"
        lines.append(f"{head}, {count(one['unused_bytes'])} of {count(one['bytes'])} bytes ({share or '0.0'} %)")
        lines += [f"  {count(size):>14}  {visible(name)}" for name, size in _largest(one)]
    out.print("\n".join(lines), soft_wrap=True)
    if document["outcome_without"] is not None:
        for part, one in document["parts"].items():
            if one["size"] is not None and one["size_without"] is not None:
                less = percent(one["size_without"] - one["size"], one["size"], sign=True)
                out.print(f"{part} {count(one['size'])} -> {count(one['size_without'])} bytes ({less or '0.0'} %)")
        checked = ", check passed" if document["checked"] else ""
        if document["ready_without_ns"] is None or document["outcome_without"] != Outcome.READY.value:
            why = visible(document["detail_without"] or "")
            out.print(f"without them: {document['outcome_without']} {why}", soft_wrap=True)
        else:
            out.print(
                f"ready {ms(document['ready_ns'])} -> {ms(document['ready_without_ns'])} ms without them{checked}"
            )
    out.print(f"list: {document['list']}", soft_wrap=True)


def _largest(one: dict[str, Any]) -> list[tuple[str, int]]:
    # Both are sorted by path, but a folder's files need not follow it at once.
    sizes = dict.fromkeys(one["without"], 0)
    for file in one["unused"]:
        path = file["path"]
        while path and path not in sizes:
            path = path.rpartition("/")[0]
        if path:
            sizes[path] += file["bytes"]
    return sorted(sizes.items(), key=lambda item: -item[1])[:_LARGEST]
