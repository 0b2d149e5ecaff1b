"""Profiles of one system with more and more vCPUs or memory: booted one after the other, shown as slopes."""

from collections.abc import Mapping, Sequence

from bootlab.cli.options.settings import set_in
from bootlab.cli.profile.boots import Subject, prepare_profile, profile_boot, start_run
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import err
from bootlab.errors import BootFailed, InputError
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.experiments.sweep.profiles import Axis, Sample, failed_point, make_point, make_sweep
from bootlab.measure.record_files import write_json
from bootlab.report.profile.view import profile_sweep_view
from bootlab.targets.target import Prepared


def run_sweep(
    store: Store, subjects: Mapping[str, Subject], axis: Axis, settings: Sequence[str] | None, *, json: bool
) -> int:
    """Boot each subject with the profile on and show what more of the axis costs. The label of each is its boot's.

    Only points that were ready count for the slopes; what became of the others is said. What there is so far is on
    record after every boot. Exit code 0: all were ready; 1 otherwise.
    """
    prepared = {label: prepare_profile(subject, silent=json) for label, subject in subjects.items()}
    run = start_run(store, RunKind.PROFILE, subjects, {"axis": axis, **set_in(settings)})
    with run.locked():
        samples: list[Sample] = []
        for label, subject in subjects.items():
            samples.append(_sample(axis, subject, prepared[label], run, label, silent=json))
            if not json:
                err.print(f"  {label}: {samples[-1].point.outcome}")
            sweep = make_sweep(subject.system.name, axis, samples, asked=len(subjects), run=str(run.path))
            write_json(run.result, sweep.model_dump(mode="json", by_alias=True))
        return show(run, profile_sweep_view(run, sweep), json=json)


def _sample(axis: Axis, subject: Subject, prepared: Prepared, run: Run, label: str, *, silent: bool) -> Sample:
    # A profile in memory is a hundred MB; of each only the sums are kept.
    try:
        return make_point(axis, profile_boot(subject, prepared, run, label, silent=silent))
    except (BootFailed, InputError) as error:
        # One that cannot start, for want of memory say, is no reason to lose the others.
        return failed_point(axis, subject.system, error.message, run=str(run.path / "boots" / label))
