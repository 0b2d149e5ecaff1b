"""Looks for what a system has that it had not: boots both sides with the profile on, and reads the files of both."""

from dataclasses import dataclass, field
from pathlib import Path

from bootlab.cli.options.arguments import open_shop
from bootlab.cli.profile.boots import Subject, prepare_profile, profile_boot, start_run
from bootlab.errors import BootlabError, InputError, Interrupted
from bootlab.experiments.recorded_profiles import AGAINST, LABEL, read_profile_run
from bootlab.experiments.store import RunKind, Store
from bootlab.findings.analysis import Analysis
from bootlab.ledger.commit import Commit
from bootlab.ledger.entry import entry_of
from bootlab.ledger.gate.boots import Held
from bootlab.ledger.gate.figures import GateBaseline
from bootlab.ledger.gate.grown_files import compare_files
from bootlab.ledger.gate.grown_work import BootWork, grown_work, in_order, work_of
from bootlab.ledger.gate.result import GateResult, Grown
from bootlab.ledger.kept_runs import find_kept_runs
from bootlab.measure.record import Outcome
from bootlab.profile.asked.request import ProfileRequest
from bootlab.system import NULL_WORD, System

_NULL = "null"
"""Label of the boot of the judged side with a null change."""


@dataclass(slots=True)
class Growth:
    """What was found. `not_looked_at`: what nobody could look at, and why. `profile`: the run that it is known from."""

    grown: list[Grown] = field(default_factory=list)
    not_looked_at: list[str] = field(default_factory=list)
    profile: str = ""


@dataclass(frozen=True, slots=True)
class GateSides:
    """Both sides of a gate as they were named: a system with its file, or what is on record."""

    before: System | GateBaseline
    before_file: Path
    after: System
    after_file: Path


def find_growth(store: Store, sides: GateSides, held: Held, *, silent: bool) -> Growth:
    """Return what is new or grew from one side to the other: its files, and on the virtual clock what the boots do.

    Whatever becomes of it, the gate's answer stands: what went wrong is in `not_looked_at`. Raises Interrupted.
    """
    found = Growth()
    try:
        found.grown += _files(sides, held)
    except Interrupted:
        raise
    except BootlabError as error:
        found.not_looked_at.append(error.message)
    try:
        found.grown += _work(store, sides, held, found, silent=silent)
    except Interrupted:
        raise
    except BootlabError as error:
        found.not_looked_at.append(f"no profile says what the boots do: {error.message}")
    found.grown = in_order(found.grown)
    return found


def with_growth(result: GateResult, found: Growth) -> GateResult:
    """Return a gate's document with what was found."""
    return result.model_copy(
        update={"grown": found.grown, "not_looked_at": found.not_looked_at, "profile": found.profile}
    )


def _files(sides: GateSides, held: Held) -> list[Grown]:
    if not isinstance(sides.before, System):
        raise InputError("files: what it is held against is on record, without them")
    family = held.before.family
    assert family is not None
    was, now = (one.members[0].hashes for one in (family, held.after))
    apart = {part: was.get(part) != now.get(part) for part in {*was, *now}}
    return compare_files(open_shop(silent=True), sides.before, sides.after, apart=apart)


def _work(store: Store, sides: GateSides, held: Held, found: Growth, *, silent: bool) -> list[Grown]:
    subjects: dict[str, Subject] = {}
    works: dict[str, BootWork] = {}
    after = sides.after
    if isinstance(sides.before, System):
        before = Subject(sides.before, sides.before_file, ProfileRequest())
        subjects = {LABEL: Subject(after, sides.after_file, ProfileRequest()), AGAINST: before}
    else:
        recorded = _on_record(store, sides.before, held)
        works[AGAINST] = work_of(recorded)
        after = after.with_seed(recorded.record.seed)
        subjects = {LABEL: Subject(after, sides.after_file, ProfileRequest())}
    subjects[_NULL] = Subject(after.with_cmdline(f"{NULL_WORD}=1"), sides.after_file, ProfileRequest())
    prepared = {label: prepare_profile(one, silent=silent or label == _NULL) for label, one in subjects.items()}
    run = start_run(store, RunKind.PROFILE, subjects, {})
    found.profile = str(run.path)
    with run.locked():
        for label, subject in subjects.items():
            analysis = profile_boot(subject, prepared[label], run, label, silent=silent)
            if analysis.record.outcome is not Outcome.READY:
                raise InputError(f"{subject.system.name} with the profile on: {analysis.record.outcome.value}")
            works[label] = work_of(analysis)
    return grown_work(works[AGAINST], works[LABEL], works[_NULL])


def _on_record(store: Store, before: GateBaseline, held: Held) -> Analysis:
    """Return the profile of what is on record. Raises InputError where no run has one."""
    entry = before.entry
    if entry is None:
        assert held.before.family is not None
        entry = entry_of(held.before.family, Commit(), "gate")
    kept = find_kept_runs(store, [entry]).profiles.get(entry.key)
    if kept is None:
        raise InputError(f"no run here has a profile of {before.name}'s inputs: bootlab profile makes one")
    return read_profile_run(kept)
