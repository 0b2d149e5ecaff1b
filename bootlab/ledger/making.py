"""An entry made from a run: of boots, of a trial's baseline, of a profile, or of what another tool has recorded."""

from dataclasses import dataclass
from pathlib import Path

from bootlab.errors import InputError
from bootlab.experiments.family import Family
from bootlab.experiments.importing import read_import
from bootlab.experiments.recorded_profiles import read_profile_run
from bootlab.experiments.series import recorded_boots
from bootlab.experiments.store import Run, RunKind
from bootlab.findings.analysis import Analysis
from bootlab.ledger.commit import Commit
from bootlab.ledger.entry import EntryPhase, LedgerEntry, entry_of
from bootlab.ledger.known_issues import NAME, KnownIssue, cost_of_issues, issues_of, not_seen

_BOOTS = (RunKind.BOOT, RunKind.MEASURE, RunKind.TRY)


@dataclass(frozen=True, slots=True)
class MadeEntry:
    """An entry, and what its maker should know of it, a sentence each."""

    entry: LedgerEntry
    cautions: tuple[str, ...] = ()


def make_entry(
    run: Run, commit: Commit, issues: list[KnownIssue], *, profile: Run | None = None, system: str = "", note: str = ""
) -> MadeEntry:
    """Return the entry of a run. `profile`: a run whose profile says what the known issues cost.

    `system`: what to call it in the place of the run's own name, which a recording of another tool does not have.
    Raises InputError for a kind of run that is of no one system, and for a profile of another system.
    """
    if run.kind is RunKind.IMPORT and profile is not None:
        raise InputError("--profile: is of boots, and this run is what another tool recorded", hint="leave it out")
    if run.kind is RunKind.IMPORT:
        return MadeEntry(_recorded(run, commit, system, note))
    analysis = read_profile_run(profile if profile is not None else run) if profile or _is_profile(run) else None
    if _is_profile(run):
        assert analysis is not None
        family = Family((analysis.record,))
    elif run.kind in _BOOTS:
        family = recorded_boots(run)
    else:
        raise InputError(
            f"{run.path}: a run of bootlab {run.kind} is of several systems, or boots none",
            hint=f"add one of {', '.join(_BOOTS)}, {RunKind.PROFILE} or {RunKind.IMPORT}",
        )
    if analysis is not None:
        _expect_same_system(family, analysis, run)
    name = system or family.members[0].system
    costs, cautions = {}, []
    if analysis is not None:
        known = issues_of(name, issues)
        costs = cost_of_issues(known, analysis)
        cautions = [
            f"{NAME}: {one.title}: no function {one.function} ran in this profile: it is gone, or has another name"
            for one in not_seen(known, analysis)
        ]
    entry = entry_of(family, commit, run.kind.value, issues_ns=costs, note=note)
    return MadeEntry(entry.model_copy(update={"system": name}), tuple(cautions))


def _is_profile(run: Run) -> bool:
    return run.kind in (RunKind.PROFILE, RunKind.AUDIT)


def _expect_same_system(family: Family, analysis: Analysis, run: Run) -> None:
    theirs, ours = analysis.record.hashes, family.members[0].hashes
    other = [name for name in ours if name != "plugin" and theirs.get(name) != ours[name]]
    if other:
        raise InputError(
            f"--profile: is of another {other[0]} than {run.path}", hint="profile the system that was measured"
        )


def _recorded(run: Run, commit: Commit, system: str, note: str) -> LedgerEntry:
    imported = read_import(run).imported
    if len(imported) > 1:
        raise InputError(f"{run.path}: two recordings, before and after", hint="import one of them and add that run")
    recording = imported[0].recording
    if recording.series:
        raise InputError(
            f"{run.path}: a series of figures, and an entry is of one boot",
            hint="add the boots one by one, each with its date",
        )
    if not system:
        raise InputError("--system: names the system that the recording is of", hint="--system camera-board")
    phases = [EntryPhase(name=one.name, duration_ns=max(0, one.end_ns - one.start_ns)) for one in recording.phases]
    total_ns = recording.end_ns - recording.start_ns
    return LedgerEntry(
        system=system,
        commit=commit.name,
        commit_time=commit.time,
        dirty=commit.dirty,
        measured=run.started,
        origin=recording.format,
        clock="recorded",
        inputs={Path(one.name).name: one.sha256 for one in imported[0].files},
        seeds=[0],
        seeds_ns=[total_ns],
        phases=phases,
        note=note,
    )
