"""`bootlab boot SYSTEM --from SNAPSHOT`: one clone, or many; what is refused is told, and booted cold where asked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bootlab.build.outputs.output import BuildTool
from bootlab.cli.options.arguments import open_store
from bootlab.cli.terminal.showing import print_lines, show
from bootlab.cli.terminal.speech import boot_progress, err, out, print_json
from bootlab.errors import BootlabError, InputError, StoreError
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.snapshot.restoring import FoundSnapshot, find_snapshot, restored_boots
from bootlab.experiments.snapshot.result import clones_result
from bootlab.experiments.store import Run, RunKind, is_run
from bootlab.measure import boot as one_boot
from bootlab.measure.guest.heard_console import OnLine
from bootlab.measure.place import Here
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import write_json
from bootlab.report.boots.view import boot_view
from bootlab.report.snapshot.view import clones_view
from bootlab.snapshot.refusals import claim_clones
from bootlab.system import ClockKind, System
from bootlab.targets.target import Prepared


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """What `bootlab boot` was told of a snapshot, option by option."""

    snapshot: str | None
    clones: int | None
    clone: int | None
    or_cold: bool
    unread: bool
    parallel: int | None

    def expect_options(self, seed: int | None) -> None:
        """Raise InputError for options that do not go together."""
        given = {
            "--clones": self.clones is not None,
            "--clone": self.clone is not None,
            "--or-cold": self.or_cold,
            "--unread": self.unread,
            "--parallel": self.parallel is not None,
        }
        if self.snapshot is None:
            if lone := [name for name, said in given.items() if said]:
                raise InputError(f"{lone[0]}: is for a machine that goes on from a snapshot: --from SNAPSHOT")
            return
        if seed is not None:
            raise InputError(
                "--seed: a snapshot has the seed that it was made with; --clone N is another machine of it"
            )
        if self.clones is not None and self.clone is not None:
            raise InputError("--clone: is one machine, and --clones the first N of them", hint="give one of the two")
        if self.parallel is not None and self.clones is None:
            raise InputError("--parallel: is how many clones run at once: --clones N")
        if self.clones is not None and self.or_cold:
            raise InputError("--or-cold: one machine is booted cold, not --clones of them", hint="give one of the two")

    def expect_no_tool(self, system: Path) -> None:
        """Raise InputError where --from names the build tool that an output folder is of."""
        if self.snapshot in set(BuildTool) and not is_run(Path(self.snapshot)):
            raise InputError(
                f"--from {self.snapshot}: a snapshot goes here, and {self.snapshot} is a build tool",
                hint=f"bootlab boot {system}, or bootlab boot {self.snapshot}:{system}",
            )

    def expect_snapshot(self, system: System, runs: Path | None) -> None:
        """Raise InputError, StoreError, before anything is built, for a snapshot that is none, or beside a power-on."""
        if self.snapshot is None:
            return
        if system.power_on is not None:
            raise InputError(
                f"--from {self.snapshot}: a machine that goes on from a snapshot is not switched on, and finds "
                f'nothing: power_on.kind is "{system.power_on.kind.value}"',
                hint="leave out --from, or --power-on; of a system file that has [power_on]: --power-on cold",
            )
        if not self.or_cold:
            find_snapshot(self.snapshot, open_store(runs))

    @property
    def numbers(self) -> range:
        """Return the clones that are wanted."""
        return range(1, self.clones + 1) if self.clones is not None else range(self.clone or 1, (self.clone or 1) + 1)


@dataclass(frozen=True, slots=True)
class Speech:
    """How to tell: as JSON, where runs are kept, and what is told each console line."""

    json: bool
    runs: Path | None
    on_line: OnLine | None


def restore(prepared: Prepared, system: Path, asked: RestoreRequest, speech: Speech) -> int:
    """Restore what was asked for, show it and return the exit code.

    Raises InputError, StoreError for a snapshot that is refused and no cold boot was asked for.
    """
    assert asked.snapshot is not None
    store = open_store(speech.runs)
    try:
        found = find_snapshot(asked.snapshot, store)
        if not found.manifest.told and len(asked.numbers) > 1:
            raise InputError(
                f"--clones {asked.clones}: two machines of one identity: its clones cannot be told who they are",
                hint="[snapshot] in the system file and clone_agent = true in its recipe: docs/snapshots.md",
            )
        if (asked.parallel or 1) > 1 and prepared.alone is not None:
            raise InputError(f"--parallel {asked.parallel}: {prepared.alone}")
        boots = restored_boots(found, prepared, list(asked.numbers), unread=asked.unread)
    except (InputError, StoreError) as error:
        if not asked.or_cold:
            raise
        run = store.start(RunKind.BOOT, prepared.system.name, _words(system, asked))
        return _show_boot(run, _boot_cold(prepared, run, _reason(error), speech), speech)
    kind = RunKind.BOOT if asked.clones is None else RunKind.CLONES
    run = store.start(kind, prepared.system.name, _words(system, asked))
    with claim_clones(found.folder, asked.numbers):
        if asked.clones is not None:
            return _restore_many(found, boots, run, asked, speech)
        record = one_boot.boot(boots[0], run.boot_directory("1"), on_line=speech.on_line)
    if asked.or_cold and record.outcome is not Outcome.READY:
        record = _boot_cold(prepared, run, f"{record.outcome.value}: {record.detail}", speech)
    return _show_boot(run, record, speech)


def _words(system: Path, asked: RestoreRequest) -> dict[str, object]:
    return {"system": str(system), "from": asked.snapshot, "clones": asked.clones, "clone": asked.clone}


def _reason(error: BootlabError) -> str:
    return " ".join(line.strip() for line in error.message.splitlines())


def _boot_cold(prepared: Prepared, run: Run, reason: str, speech: Speech) -> BootRecord:
    remark = f"not restored: {reason}; booted cold instead"
    if not speech.json:
        err.print(f"bootlab: {remark}", soft_wrap=True)
    files = prepared.files.model_copy(update={"remarks": (*prepared.files.remarks, remark)})
    return one_boot.boot(replace(prepared, files=files), run.boot_directory("cold"), on_line=speech.on_line)


def _restore_many(
    found: FoundSnapshot, boots: Sequence[Prepared], run: Run, asked: RestoreRequest, speech: Speech
) -> int:
    # On the wall clock nothing repeats to the nanosecond, and boots disturb each other unless that is asked for.
    repeats = boots[0].system.clock.kind is ClockKind.VIRTUAL
    with run.locked(), boot_progress(len(boots) + repeats, silent=speech.json) as progress:
        progress.note(f"{boots[0].system.name}: {len(boots)} clones{', and the first once more' if repeats else ''}")
        engine = Engine(
            run,
            place=Here(asked.parallel),
            watcher=lambda done: progress.count_boot(done.job.label),
            side_by_side=asked.parallel is not None,
        )
        jobs = [Job(f"clone-{number:05d}", one) for number, one in zip(asked.numbers, boots, strict=True)]
        records = engine.boot_all(jobs)
        # When the first has ended: two machines of one identity never run at once.
        again = engine.boot_all([Job(f"{jobs[0].label}-again", boots[0])])[0] if repeats else None
    result = clones_result(records, again, str(found.folder), str(run.path))
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return show(run, clones_view(run, result), json=speech.json)


def _show_boot(run: Run, record: BootRecord, speech: Speech) -> int:
    write_json(run.result, record.model_dump(mode="json", by_alias=True))
    if speech.json:
        print_json(record)
    else:
        out.print()
        print_lines(boot_view(run, record))
    return 0 if record.outcome is Outcome.READY else 1
