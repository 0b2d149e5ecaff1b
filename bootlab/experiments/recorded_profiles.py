"""Profiles on record, by the name that a user gives: a run of one boot, or one boot of a run of several."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from bootlab.errors import InputError, StoreError
from bootlab.experiments.read_result import read_result
from bootlab.experiments.store import Run, RunKind, Store, read_run
from bootlab.experiments.sweep.profiles import Sweep
from bootlab.findings.analysis import Analysis, analyse
from bootlab.kept_file import damaged
from bootlab.measure.record_files import read_record
from bootlab.price.host_model import HostModel
from bootlab.profile.recorded.about import PROFILE
from bootlab.profile.recorded.compressed import find_kept
from bootlab.system import System

_KINDS = (RunKind.PROFILE, RunKind.AUDIT, RunKind.PACKAGES)
"""The kinds of run that hold profiled boots."""
LABEL = "1"
AGAINST = "against"
_BOOTS = "boots"


@dataclass(frozen=True, slots=True)
class Profiled:
    """A profiled boot, and the one that it is compared with, if any."""

    analysis: Analysis
    before: Analysis | None = None


def read_profiled(run: Run) -> Profiled | Sweep:
    """Return what a run of `bootlab profile` has on record: one boot, with the other of the run, or a sweep.

    Raises InputError for a run that was interrupted, StoreError for a damaged one.
    """
    if "axis" in run.asked:
        return read_result(run, Sweep)
    against = AGAINST in _systems(run)
    return Profiled(read_profile_run(run), read_profile_run(run, AGAINST) if against else None)


def require_profile(store: Store, name: str) -> tuple[Run, str]:
    """Return the run and the label of the boot that `name` means: a run as `Store.find` takes it, or RUN/boots/LABEL.

    Raises InputError for what is no run, and for a run of several boots without saying which.
    """
    path = Path(name)
    if path.parent.name == _BOOTS and (path.parent.parent / "run.json").is_file():
        return read_run(path.parent.parent), path.name
    if len(path.parts) > 1 and not (path / "run.json").is_file():
        owner = path.parent.parent if path.parent.name == _BOOTS else path.parent
        return store.find(str(owner)), path.name
    run = store.find(name)
    if run.kind is RunKind.PROFILE and "axis" in run.asked:
        raise InputError(
            f"{run.path}: several boots, and this takes one: {_finished(run) or 'none of them ended'}",
            hint=f"{run.path}/boots/{next(iter(_systems(run)), 'LABEL')} names one; "
            f"bootlab report {run.path} shows the slopes",
        )
    return run, LABEL


def read_profile_run(run: Run, label: str = LABEL, models: Sequence[HostModel] = ()) -> Analysis:
    """Return what the profile of a finished boot says. `models`: instead of those that it was priced under then.

    Raises InputError for a run of another kind or without this boot, StoreError for a damaged one.
    """
    if run.kind not in _KINDS:
        raise InputError(
            f"{run.path}: a run of bootlab {run.kind} has no profile", hint="bootlab profile SYSTEM makes one"
        )
    directory = run.path / _BOOTS / label
    record = read_record(directory) if directory in run.records() else None
    if record is None or not os.path.isfile(find_kept(directory / PROFILE)):
        there = _finished(run)
        raise InputError(
            f"{run.path}: holds no finished boot with a profile called {label!r}",
            hint=f"there are {there}" if there else "it was interrupted before its boot ended; profile the system anew",
        )
    try:
        system = System.model_validate_json(json.dumps(_systems(run).get(label)))
    except ValidationError as error:
        raise StoreError(f"{run.path / 'run.json'}: damaged: it does not say which system was profiled") from error
    return analyse(system, record, directory, run=str(run.path), models=models or _models(run))


def _systems(run: Run) -> dict[str, object]:
    systems = run.asked.get("systems", {})
    if not isinstance(systems, dict):
        raise damaged(run.path / "run.json", ValueError("asked.systems: is not a table"))
    return systems


def _models(run: Run) -> list[HostModel]:
    try:
        return [HostModel.model_validate(one) for one in run.asked.get("price", [])]
    except (ValidationError, TypeError) as error:
        raise StoreError(f"{run.path / 'run.json'}: damaged: asked.price: holds no host models") from error


def place_of(analysis: Analysis) -> str:
    """Return where in its run a boot's document, page and exports go: `` for the run's own, else the boot's folder."""
    label = analysis.directory.name
    return "" if label == LABEL else f"{_BOOTS}/{label}/"


def _finished(run: Run) -> str:
    return ", ".join(path.name for path in run.records() if os.path.isfile(find_kept(path / PROFILE)))
