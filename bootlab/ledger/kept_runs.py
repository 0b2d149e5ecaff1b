"""Which run an entry was made from, and which has its profile, where those runs are still kept.

An entry says nothing of a run's place: a ledger is read on other machines, too. A run is known by what it measured:
when its first boot began, and the hashes of all that it booted.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bootlab.errors import BootlabError
from bootlab.experiments.importing import read_import
from bootlab.experiments.recorded_profiles import LABEL
from bootlab.experiments.series import recorded_boots
from bootlab.experiments.store import Run, RunKind, Store, read_run
from bootlab.kept_file import damaged
from bootlab.ledger.entry import LedgerEntry
from bootlab.measure.record import BootRecord
from bootlab.measure.record_files import read_record

_PROFILES: Final = (RunKind.PROFILE, RunKind.AUDIT)
_BOOTS: Final = (RunKind.BOOT, RunKind.MEASURE, RunKind.TRY)
_Content = tuple[object, ...]


@dataclass(slots=True)
class KeptRuns:
    """What a store has of a ledger's entries. `remarks`: runs that could not be read, and why."""

    runs: dict[str, Run] = field(default_factory=dict)
    """Key of an entry -> the run that it was made from."""
    profiles: dict[str, Run] = field(default_factory=dict)
    """Key of an entry -> a profile of the same inputs, the latest of several."""
    remarks: list[str] = field(default_factory=list)


def find_kept_runs(store: Store, entries: Sequence[LedgerEntry]) -> KeptRuns:
    """Return the runs of a store that entries were made from, and those with their profiles. Raises StoreError."""
    found = KeptRuns()
    measured = defaultdict[str, list[LedgerEntry]](list)
    content = defaultdict[_Content, list[LedgerEntry]](list)
    for entry in entries:
        measured[entry.measured].append(entry)
        content[_content(entry)].append(entry)
    kinds = {*_PROFILES, *_BOOTS, RunKind.IMPORT}
    for listed in store.runs():
        if listed.kind not in kinds:
            continue
        try:
            run = read_run(listed.path)
            if run.kind is RunKind.IMPORT:
                _note_import(run, measured[run.started], found)
            elif run.kind in _PROFILES:
                _note_profile(run, measured, content, found)
            elif run.records():
                _note_boots(run, measured, found)
        except BootlabError as error:
            found.remarks.append(error.message)
    return found


def content_key(entry: LedgerEntry) -> str:
    """Return the hash of what an entry booted and on which clock: a profile of the same is a profile of the entry."""
    return hashlib.sha256(repr(_content(entry)).encode()).hexdigest()


def hash_run(run: Run, form: str) -> str:
    """Return a hash that changes when a run's files do, or what is made of them. Raises StoreError."""
    said: list[object] = [form, run.path.name]
    try:
        for path in (run.path / "run.json", run.result, run.audit, *(one / "record.json" for one in run.records())):
            if path.exists():
                status = path.stat()
                said.append((path.name, status.st_size, status.st_mtime_ns))
    except OSError as error:
        raise damaged(run.path, error) from error
    return hashlib.sha256(repr(said).encode()).hexdigest()


def _note_import(run: Run, entries: Sequence[LedgerEntry], found: KeptRuns) -> None:
    if not entries:
        return
    hashes = {Path(one.name).name: one.sha256 for one in read_import(run).imported[0].files}
    found.runs |= {one.key: run for one in entries if one.clock == "recorded" and one.inputs == hashes}


def _note_boots(run: Run, measured: dict[str, list[LedgerEntry]], found: KeptRuns) -> None:
    family = recorded_boots(run)
    began = min(one.started for one in family.boots)
    hashes = family.members[0].hashes
    found.runs |= {
        one.key: run for one in measured.get(began, []) if one.origin == run.kind.value and one.inputs == hashes
    }


def _note_profile(
    run: Run, measured: dict[str, list[LedgerEntry]], content: dict[_Content, list[LedgerEntry]], found: KeptRuns
) -> None:
    directory = run.path / "boots" / LABEL
    if directory not in run.records():
        # Of a sweep, or interrupted.
        return
    record = read_record(directory)
    found.profiles |= {one.key: run for one in content.get(_content_of(record), [])}
    found.runs |= {
        one.key: run
        for one in measured.get(record.started, [])
        if one.origin == run.kind.value and one.inputs == record.hashes
    }


def _content(entry: LedgerEntry) -> _Content:
    inputs = sorted((name, digest) for name, digest in entry.inputs.items() if name != "plugin")
    # What another tool recorded has no inputs of ours, and no profile.
    return (entry.clock, entry.accelerator, entry.ns_per_instruction, entry.cpu, *(inputs or [("", entry.key)]))


def _content_of(record: BootRecord) -> _Content:
    inputs = sorted((name, digest) for name, digest in record.hashes.items() if name != "plugin")
    return (record.clock, record.accelerator, record.ns_per_instruction, record.cpu, *inputs)
