"""Profiles of one system with more and more vCPUs or memory: booted one after the other, shown as slopes."""

from collections.abc import Mapping
from pathlib import Path

from bootlab.cli.pages import say_page, write_page
from bootlab.cli.profiled_boots import Subject, profile_boot, start_run
from bootlab.cli.terminal import err, out, print_json
from bootlab.errors import StoreError
from bootlab.experiments.profile_sweep import Axis, Sweep, make_point, make_sweep
from bootlab.experiments.store import Run, Store
from bootlab.measure.record_files import write_json
from bootlab.report import profile_sides_text
from bootlab.report.profile_sweep_page import profile_sweep_page


def run_sweep(store: Store, subjects: Mapping[str, Subject], axis: Axis, *, json: bool) -> int:
    """Boot each subject with the profile on and show what more of the axis costs. The label of each is its boot's.

    Only points that were ready count for the slopes. Exit code 0: all were; 1 otherwise.
    """
    run = start_run(store, subjects, {"axis": axis})
    with run.locked():
        points = []
        for label, subject in subjects.items():
            analysis = profile_boot(subject, run, label, silent=json)
            points.append(make_point(axis, analysis))
            if not json:
                err.print(f"  {label}: {points[-1].point.outcome}")
            # A profile in memory is a hundred MB; of each only the sums are kept.
            del analysis
        sweep = make_sweep(next(iter(subjects.values())).system.name, axis, points, run=str(run.path))
        write_json(run.result, sweep.model_dump(mode="json", by_alias=True))
        return show_sweep(run, sweep, json=json)


def read_sweep(run: Run) -> Sweep:
    """Return the sweep on record in a run. Raises StoreError when it is damaged or was interrupted."""
    try:
        return Sweep.model_validate_json(run.result.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{run.result}: no whole sweep: {str(error).splitlines()[0]}") from error


def show_sweep(run: Run, sweep: Sweep, *, json: bool, to: Path | None = None) -> int:
    """Print a sweep, write its page (to `to` instead of into the run), and return the exit code."""
    path = write_page(run, profile_sweep_page(sweep), to=to)
    if json:
        print_json(sweep)
    else:
        out.print(profile_sides_text.sweep(sweep))
        say_page(path)
    return 0 if all(point.ready_ns is not None for point in sweep.points) else 1
