"""Profiles of one system with more and more vCPUs or memory: booted one after the other, shown as slopes."""

from collections.abc import Mapping
from pathlib import Path

from bootlab.cli.profile.boots import Subject, prepare_profile, profile_boot, start_run
from bootlab.cli.terminal.pages import say_page, write_page
from bootlab.cli.terminal.speech import err, out, print_json
from bootlab.errors import BootFailed, InputError, StoreError
from bootlab.experiments.store import Run, Store
from bootlab.experiments.sweep.profiles import Axis, Sample, Sweep, failed_point, make_point, make_sweep
from bootlab.measure.record_files import write_json
from bootlab.report.profile import sides_text as profile_sides_text
from bootlab.report.profile.sweep_page import profile_sweep_page
from bootlab.targets.target import Prepared


def run_sweep(store: Store, subjects: Mapping[str, Subject], axis: Axis, *, json: bool) -> int:
    """Boot each subject with the profile on and show what more of the axis costs. The label of each is its boot's.

    Only points that were ready count for the slopes; what became of the others is said. What there is so far is on
    record after every boot. Exit code 0: all were ready; 1 otherwise.
    """
    prepared = {label: prepare_profile(subject, silent=json) for label, subject in subjects.items()}
    run = start_run(store, subjects, {"axis": axis})
    with run.locked():
        samples: list[Sample] = []
        for label, subject in subjects.items():
            samples.append(_sample(axis, subject, prepared[label], run, label, silent=json))
            if not json:
                err.print(f"  {label}: {samples[-1].point.outcome}")
            sweep = make_sweep(subject.system.name, axis, samples, asked=len(subjects), run=str(run.path))
            write_json(run.result, sweep.model_dump(mode="json", by_alias=True))
        return show_sweep(run, sweep, json=json)


def _sample(axis: Axis, subject: Subject, prepared: Prepared, run: Run, label: str, *, silent: bool) -> Sample:
    # A profile in memory is a hundred MB; of each only the sums are kept.
    try:
        return make_point(axis, profile_boot(subject, prepared, run, label, silent=silent))
    except (BootFailed, InputError) as error:
        # One that cannot start, for want of memory say, is no reason to lose the others.
        return failed_point(axis, subject.system, error.message, run=str(run.path / "boots" / label))


def read_sweep(run: Run) -> Sweep:
    """Return the sweep on record in a run, of the boots that ended.

    Raises InputError when none did, StoreError when it is damaged.
    """
    try:
        return Sweep.model_validate_json(run.result_text())
    except FileNotFoundError as error:
        raise InputError(f"{run.path}: this run was interrupted before its first boot ended") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{run.result}: damaged: {str(error).splitlines()[0]}") from error


def show_sweep(run: Run, sweep: Sweep, *, json: bool, to: Path | None = None) -> int:
    """Print a sweep, write its page (to `to` instead of into the run), and return the exit code."""
    path = write_page(run, profile_sweep_page(sweep), to=to)
    if json:
        print_json(sweep)
    else:
        out.print(profile_sides_text.sweep(sweep))
        say_page(path)
    return 0 if sweep.whole else 1
