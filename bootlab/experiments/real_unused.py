"""The files of a real machine's root that its boot never read: booted once, then asked for its access times."""

from dataclasses import dataclass
from pathlib import Path

from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed
from bootlab.experiments.store import Run
from bootlab.findings.access_times import QUESTIONS, find_unread
from bootlab.findings.unused_result import UnusedResult, unused_part
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.measure.record_files import store_error
from bootlab.process import require_program
from bootlab.system import System, words_of
from bootlab.targets.shell import ANSWERS, ShellQuestions, Telling, read_answers
from bootlab.targets.target import Prepared

_LABEL = "asked"


@dataclass(frozen=True, slots=True)
class MachineToAsk:
    """A machine that is ready to be booted and asked."""

    system: System
    prepared: Prepared
    questions: ShellQuestions


def machine_to_ask(shop: Workshop, system: System, telling: Telling) -> MachineToAsk:
    """Return a real machine, prepared to be asked. Raises InputError for one without a shell, MissingTool."""
    access = telling.require_access("which files a real machine's boot read, its own file system alone can tell")
    if access.command is not None:
        # A boot takes longer than to find out.
        require_program(words_of(access.command)[0])
    questions = ShellQuestions(QUESTIONS, access)
    return MachineToAsk(system, prepare(shop, system).asking(questions), questions)


def unread_of_machine(machine: MachineToAsk, run: Run, list_to: Path) -> UnusedResult:
    """Boot the machine, ask it, and return what its boot never read; the paths are written to `list_to`, a line each.

    Raises InputError where its root keeps no access times, BootFailed for a boot that is not ready and well,
    StoreError.
    """
    directory = run.boot_directory(_LABEL)
    record = boot(machine.prepared, directory)
    if record.outcome is not Outcome.READY:
        raise BootFailed(f"{record.outcome.value}: {record.detail}", hint=f"its console is {directory / 'console.log'}")
    answers = read_answers(machine.questions, (directory / ANSWERS).read_bytes())
    read = find_unread(answers.said, answers.missing)
    part = unused_part(read.unused, None, None).model_copy(update={"unsure_files": read.unsure})
    try:
        list_to.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{path}\n" for path in read.unused.without)
        list_to.write_text(text, encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise store_error(list_to, error) from error
    return UnusedResult(
        system=machine.system.name,
        checked=machine.system.check is not None,
        parts={"root": part},
        ready_ns=record.ready_ns,
        ready_without_ns=None,
        outcome_without=None,
        detail_without=None,
        written=str(list_to),
        notes=[
            *record.remarks,
            *read.notes,
            "a boot without them was not tried: leave them out where the root is built",
        ],
        run=str(run.path),
    )
