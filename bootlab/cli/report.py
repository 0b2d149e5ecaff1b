"""`bootlab report RUN`: show a recorded run again, on the terminal and as a page."""

import json as json_module
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from bootlab.cli import study, sweep, tailor
from bootlab.cli.compare import recorded, show_comparison, show_steps
from bootlab.cli.import_ import show_import
from bootlab.cli.measure import series_document
from bootlab.cli.options.arguments import Json, Runs, open_store
from bootlab.cli.profile.boots import show_profile
from bootlab.cli.profile.recorded import KIND, read_profile_run
from bootlab.cli.profile.sweeps import read_sweep, show_sweep
from bootlab.cli.terminal.pages import consoles, say_page, write_page
from bootlab.cli.terminal.speech import out, print_json
from bootlab.cli.try_ import show_try
from bootlab.errors import InputError, StoreError
from bootlab.experiments import importing
from bootlab.experiments.comparing import Comparison, Steps
from bootlab.experiments.store import Run, Store
from bootlab.experiments.trial.result import TryResult
from bootlab.measure.record import BootRecord
from bootlab.measure.record_files import read_record
from bootlab.report.boots import page, text

Result = TypeVar("Result", TryResult, Comparison, Steps)


def report(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="A run: its path, directory name, number, or last.")
    ] = "last",
    list_: Annotated[bool, typer.Option("--list", help="List the runs there are instead.")] = False,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Where to write the page. [default: into the run]")
    ] = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Show a recorded run again and write its page anew.

    Where the run cannot be written to, its figures are shown all the same; --to writes the page elsewhere.
    """
    store = open_store(runs)
    if list_:
        return _list(store, json)
    found = store.find(run)
    if found.kind == "try":
        return show_try(found, _result(found, TryResult), json=json, to=to)
    if found.kind == "compare" and len(found.asked.get("systems", ())) > 2:
        steps = _result(found, Steps)
        series = [_records(runs) for runs in (steps.whole.before_runs, *(step.after_runs for step in steps.steps))]
        return show_steps(found, steps, series, json=json, to=to)
    if found.kind == "compare":
        comparison = _result(found, Comparison)
        sides = [_records(runs) for runs in (comparison.before_runs, comparison.after_runs)]
        return show_comparison(found, comparison, sides[0], sides[1], json=json, to=to)
    if found.kind == KIND:
        if "axis" in found.asked:
            return show_sweep(found, read_sweep(found), json=json, to=to)
        return show_profile(found, read_profile_run(found), None, {}, json=json, to=to)
    if found.kind == sweep.KIND:
        return sweep.show_boot_sweep(found, sweep.read_boot_sweep(found), json=json, to=to)
    if found.kind == study.KIND:
        return study.show_study(found, study.read_study(found), json=json, to=to)
    if found.kind == tailor.KIND:
        return tailor.show_recorded(found, json=json)
    if found.kind == importing.KIND:
        return show_import(found, json=json, to=to)
    records, _ = recorded(found)
    html = page.boot_page(records[0], consoles([("console", records[0].run)]))
    if found.kind != "boot":
        html = page.series_page(records, consoles([("last boot", records[-1].run)]))
    path = write_page(found, html, to=to)
    if json:
        print_json(records[0] if found.kind == "boot" else series_document(found, records))
    else:
        out.print(text.boot(records[0]) if found.kind == "boot" else text.series(records))
        say_page(path)
    return 0


def _records(runs: list[str]) -> list[BootRecord]:
    return [read_record(Path(path)) for path in runs]


def _result(run: Run, kind: type[Result]) -> Result:
    try:
        return kind.model_validate_json(run.result_text())
    except FileNotFoundError as error:
        hint = f"go on with: bootlab try SYSTEM --resume {run.path}" if run.kind == "try" else None
        raise InputError(f"{run.path}: this run was interrupted and has no result yet", hint=hint) from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{run.result}: damaged: {str(error).splitlines()[0]}") from error


def _list(store: Store, json: bool) -> int:
    found = store.runs()
    if json:
        rows = [{"run": str(run.path), "kind": run.kind, "system": run.system, "started": run.started} for run in found]
        print_json({"schema": "bootlab.runs/1", "runs": json_module.loads(json_module.dumps(rows))})
        return 0
    for run in found:
        state = "" if run.result.exists() else "  (unfinished)"
        out.print(f"{run.path.name:<44} {run.started}{state}", soft_wrap=True)
    if not found:
        out.print(f"no runs in {store.root}", soft_wrap=True)
    return 0
