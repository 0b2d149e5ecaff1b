"""`make bench-init`: one Debian 12 guest booted by six inits (examples/inits): boots, verdicts, and the table of all.

    python -m tests.bench.inits.run [--inits NAME,...] [--seeds N] [--nulls N] [--wall N] [--disks MODEL,...]
        [--only wall|disks] [--new] [--runs DIR]

Four parts: a profile of each, for what its init executes; a family of exact boots of each; boots in turn on the wall
clock with two processors; one boot of each from each modelled disk. It goes on with the last run: what is on record
there is not booted again.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.cli.terminal.speech import BootProgress, boot_progress, err, out
from bootlab.errors import BootlabError, InputError
from bootlab.experiments.engine import Engine, Job, find_finished_boot
from bootlab.experiments.family import Family
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.findings.analysis import read_recorded
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import read_record, write_json
from bootlab.profile.asked.request import ProfileRequest
from bootlab.profile.recorded.about import PROFILE
from bootlab.profile.recorded.compressed import find_kept
from bootlab.system import System, read_system
from bootlab.targets.target import Prepared
from tests.bench.inits.own_cost import Shares, by_program
from tests.bench.inits.table import ALL_READY, GROUPS, Row, disk_page, page, wall_page, wanted_boots

EXAMPLES: Final = Path(__file__).resolve().parents[3] / "examples" / "inits"
INITS: Final = tuple(name for group in GROUPS.values() for name in group)
NAME: Final = "inits"
"""What its runs are called in place of a system."""
DISKS: Final = ("hdd", "emmc", "ssd", "volume")
_PATIENCE: Final = 4.0


class Bench:
    """The boots of all inits, into one run."""

    def __init__(self, systems: dict[str, System], run: Run, cache: Cache, progress: BootProgress) -> None:
        self.systems = systems
        self.run = run
        self._cache = cache
        self._progress = progress

    def profiles(self) -> dict[str, Shares]:
        """Return what each program of each system executed up to all-ready. The boot is the first of its family."""
        found = {}
        for name, system in self.systems.items():
            self._progress.note(f"profile of {name}")
            directory = self.run.path / "boots" / f"{name}-profile"
            prepared = self._prepare(system, ProfileRequest())
            record = find_finished_boot(directory, prepared)
            if record is None or not find_kept(directory / PROFILE).is_file():
                record = boot(prepared, self.run.boot_directory(directory.name), patience=_PATIENCE)
            self._progress.count_boot(directory.name)
            expect_whole(record)
            profile, _ = read_recorded(record, directory)
            found[name] = by_program(profile, record.marks[ALL_READY])
        return found

    def families(self, seeds: int, nulls: int) -> dict[str, Family]:
        """Return the boots of each system: every seed, its null changes, and the fresh ones that verdicts take."""
        self._progress.note(f"{seeds} seeds and {nulls} null changes of each")
        boots = FamilyBoots(self._engine(), self._shop(), range(1, seeds + 1), wall=False)
        found = {name: boots.family(name, system, nulls=nulls) for name, system in self.systems.items()}
        while jobs := {
            name: boots.fresh_jobs(found[name], self.systems[name], number)
            for name, number in wanted_boots(found).items()
        }:
            for name, asked in jobs.items():
                more = self._boot(f"{len(asked)} fresh boots of {name}", asked)
                found[name] = replace(found[name], fresh=(*found[name].fresh, *more.values()))
        for family in found.values():
            for record in family.boots:
                expect_whole(record)
        return found

    def wall(self, turns: int) -> dict[str, list[BootRecord]]:
        """Return boots on the wall clock, two processors, each system in its turn; the first turn warms up."""
        prepared = {
            name: self._prepare(system.with_part("machine", vcpus=2).with_part("clock", kind="wall", accelerator="tcg"))
            for name, system in self.systems.items()
        }
        jobs = [
            Job(f"wall-{turn:02d}-{name}", one.with_seed(1))
            for turn in range(turns + 1)
            for name, one in prepared.items()
        ]
        records = self._boot(f"{turns} turns on the wall clock, two processors", jobs)
        return {name: [records[f"wall-{turn:02d}-{name}"] for turn in range(1, turns + 1)] for name in self.systems}

    def on_disks(self, models: Sequence[str]) -> dict[str, dict[str, BootRecord]]:
        """Return a boot of each system from each disk of docs/disk.md, by system and model."""
        jobs = [
            Job(f"{name}-{model}", self._prepare(on_disk(system, model)))
            for name, system in self.systems.items()
            for model in models
        ]
        records = self._boot(f"a boot of each from {', '.join(models)}", jobs) if jobs else {}
        return {name: {model: records[f"{name}-{model}"] for model in models} for name in self.systems}

    def _prepare(self, system: System, profile: ProfileRequest | None = None) -> Prepared:
        return prepare(self._shop(), system, profile=profile)

    def _shop(self) -> Workshop:
        return Workshop(self._cache, tell=self._progress.note)

    def _engine(self) -> Engine:
        return Engine(self.run, reuse=True, watcher=lambda done: self._progress.count_boot(done.job.label))

    def _boot(self, what: str, jobs: Sequence[Job]) -> dict[str, BootRecord]:
        self._progress.note(what)
        records = self._engine().boot_all(jobs)
        for record in records:
            expect_whole(record)
        return dict(zip((job.label for job in jobs), records, strict=True))


def on_disk(system: System, model: str) -> System:
    """Return `system` with its root on a virtio disk of `model`, or, where that is empty, on one that answers at once.

    finit cannot remount its root, which the word rw mounts for writing at once.
    """
    readahead = read_system(EXAMPLES.parent / "readahead.toml")
    init, modules = (getattr(readahead.initramfs, key) for key in ("init", "modules"))
    changed = system.with_part("initramfs", init=init, modules=modules, packages=[])
    changed = changed.with_part("rootfs", device="virtio-blk", model=model or None)
    return changed.with_cmdline("rw") if system.name == "inits-finit" else changed


def expect_whole(record: BootRecord) -> None:
    """Raise InputError for a boot that did not come to all-ready with its check passed."""
    if record.outcome is not Outcome.READY or ALL_READY not in record.marks:
        raise InputError(
            f"{record.system}: {record.outcome.value}: {record.detail or 'never said all-ready'}",
            hint=f"its console is {record.run}/console.log",
        )


def _run(store: Store, *, new: bool) -> Run:
    # Whatever was asked of it: a boot that is on record there is not booted again.
    earlier = [] if new else [one for one in store.runs() if (one.kind, one.system) == (RunKind.MEASURE, NAME)]
    run = store.find(str(earlier[-1].path)) if earlier else store.start(RunKind.MEASURE, NAME, {})
    err.print(f"  {'going on with' if earlier else 'new run'} {run.path}", soft_wrap=True)
    return run


def _rows(bench: Bench, options: argparse.Namespace) -> list[Row]:
    shares = bench.profiles()
    families = bench.families(options.seeds, options.nulls)
    wall = bench.wall(options.wall) if options.wall else {}
    consoles = {
        name: Path(read_record(bench.run.path / "boots" / f"{name}-profile").run) / "console.log" for name in shares
    }
    return [
        Row(
            name,
            family=families[name],
            shares=shares[name],
            console=consoles[name].read_text(encoding="utf-8", errors="replace"),
            wall=wall.get(name, []),
        )
        for name in shares
    ]


def _measure(bench: Bench, options: argparse.Namespace, models: Sequence[str]) -> str:
    if options.only == "wall":
        return wall_page(bench.wall(options.wall))
    pages = []
    if not options.only:
        rows = _rows(bench, options)
        write_json(bench.run.result, {"rows": [row.as_json() for row in rows]})
        pages.append(page(rows))
    if models:
        pages.append(disk_page(bench.on_disks(models)))
    return "\n\n".join(pages)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inits", default=",".join(INITS), help="which (%(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="exact boots of each (%(default)s)")
    parser.add_argument("--nulls", type=int, default=3, help="null changes of each (%(default)s)")
    parser.add_argument("--wall", type=int, default=5, help="boots of each on the wall clock; 0: none (%(default)s)")
    parser.add_argument("--disks", default=",".join(DISKS), help="models of disks; '': none (%(default)s)")
    parser.add_argument("--only", choices=("wall", "disks"), help="the table of these boots, and nothing else")
    parser.add_argument("--new", action="store_true", help="a new run, instead of going on with the last one")
    parser.add_argument("--runs", type=Path, default=Path(os.environ.get("BOOTLAB_RUNS", "bootlab-runs")))
    options = parser.parse_args()
    names = options.inits.split(",")
    if unknown := [name for name in names if not (EXAMPLES / f"{name}.toml").is_file()]:
        raise InputError(f"--inits: no {unknown[0]}", hint=f"there are {', '.join(INITS)}")
    if options.only == "wall" and options.wall < 1:
        raise InputError(f"--wall {options.wall}: no boots on the wall clock", hint="--only wall takes one or more")
    systems = {name: read_system(EXAMPLES / f"{name}.toml") for name in names}
    models = ["", *options.disks.split(",")] if options.disks and options.only != "wall" else []
    boots = len(names) * len(models)
    if options.only != "disks":
        boots += len(names) * (options.wall + 1 if options.wall else 0)
    if not options.only:
        boots += len(names) * (1 + options.seeds + options.nulls)
    run = _run(Store(options.runs), new=options.new)
    with run.locked(), boot_progress(boots) as progress:
        text = _measure(Bench(systems, run, Cache.default(), progress), options, models)
        (run.path / f"{options.only or 'inits'}.md").write_text(text, encoding="utf-8")
    out.print(text, soft_wrap=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        err.print("bench-init: interrupted; what was measured is kept: make bench-init goes on")
        sys.exit(130)
    except BootlabError as error:
        err.print(f"bench-init: {error.message}", soft_wrap=True)
        if error.hint:
            err.print(f"  {error.hint}", soft_wrap=True)
        sys.exit(error.exit_code)
