"""`bootlab techniques`: the catalogue, the plans, and our own figures beside the published ones."""

import json
from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.options.arguments import Extensions, Json, Runs, complete_technique, extension_folders, open_store
from bootlab.cli.terminal.showing import answer
from bootlab.cli.terminal.speech import out, print_json
from bootlab.errors import InputError, StoreError
from bootlab.experiments.read_result import read_result
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.experiments.trial.catalogue_figures import figures
from bootlab.experiments.trial.plan import PLANS
from bootlab.experiments.trial.result import TryResult
from bootlab.measure.record_files import read_record, write_whole
from bootlab.report.catalogue import catalogue_document, full_view, list_view, plans_view
from bootlab.sources import MEASURED
from bootlab.techniques.model.catalogue import load_catalogue, require_techniques
from bootlab.techniques.page.measured_figures import MeasuredFigure, merge_measured, read_measured


def techniques(
    name: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TECHNIQUE]...",
            help="Show these in full. [default: a line for each]",
            autocompletion=complete_technique,
        ),
    ] = None,
    plans: Annotated[bool, typer.Option("--plans", help="List the named plans instead.")] = False,
    measured: Annotated[
        list[str] | None,
        typer.Option(
            "--measured",
            metavar="RUN",
            help="Put what this `try` measured of each technique alone beside the published figures. May be repeated.",
        ),
    ] = None,
    figures_file: Annotated[
        Path | None,
        typer.Option(
            "--figures",
            metavar="FILE",
            help="The file of measured figures to show, or for --measured to add to. [default: bootlab's own]",
        ),
    ] = None,
    extensions: Extensions = None,
    runs: Runs = None,
    as_json: Json = False,
) -> int:
    """List the techniques bootlab can try, or show some in full: mechanism, knob, cost, published and measured figures.

    --measured RUN writes the figures (bootlab's docs/measured.json) from a trial on record; `make golden` then writes
    docs/techniques.md anew.
    """
    if measured:
        if name or plans:
            raise InputError("--measured takes runs, and no technique or --plans", hint="name each run with --measured")
        return _record(open_store(runs), measured, figures_file or MEASURED, as_json=as_json)
    if plans and name:
        raise InputError("--plans lists every plan, and takes no technique", hint="leave one of them out")
    if figures_file is not None and not name:
        raise InputError(
            "--figures names a file of figures to show or to add to, and there is no TECHNIQUE or --measured"
        )
    catalogue = load_catalogue(extension_folders(extensions))
    chosen = require_techniques(catalogue, name) if name else catalogue
    known = read_measured(figures_file or MEASURED).results
    document = catalogue_document(chosen, known, PLANS)
    view = plans_view(document) if plans else full_view(document) if name else list_view(document)
    return answer(view, json=as_json)


def _record(store: Store, names: list[str], path: Path, *, as_json: bool) -> int:
    new = [figure for name in names for figure in _figures(store.find(name))]
    merged = merge_measured(read_measured(path), new)
    try:
        write_whole(path, json.dumps(merged.model_dump(mode="json", by_alias=True), indent=2) + "\n")
    except OSError as error:
        raise StoreError(
            f"{path}: cannot write the figures: {error.strerror or error}", hint="name another file with --figures FILE"
        ) from error
    if as_json:
        print_json(merged)
    else:
        out.print(f"{path}: {len(new)} figures from {len(names)} runs, {len(merged.results)} in all", soft_wrap=True)
    return 0


def _figures(run: Run) -> list[MeasuredFigure]:
    if run.kind is not RunKind.TRY:
        raise InputError(f"{run.path}: a {run.kind}, not a try: only a trial measures techniques alone")
    result = read_result(run, TryResult)
    return figures(result, read_record(Path(result.baseline_run)), run)
