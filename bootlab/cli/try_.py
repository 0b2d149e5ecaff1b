"""`bootlab try SYSTEM [TECHNIQUE...]`: what each technique saves, alone and stacked."""

from typing import Annotated

import typer

from bootlab.cli.arguments import Json, Parallel, Runs, SystemFile, complete_technique, naming, open_cache, open_store
from bootlab.cli.pages import consoles, write_page
from bootlab.cli.terminal import boot_progress, err, out, print_json, warn_of_doubts
from bootlab.errors import InputError, Interrupted
from bootlab.experiments.engine import Engine
from bootlab.experiments.plan import PLANS, find_plan
from bootlab.experiments.store import Run, Store
from bootlab.experiments.trial import TryResult
from bootlab.experiments.trying import Trial
from bootlab.measure.boot import write_json
from bootlab.report import page, text
from bootlab.system import ClockKind, read_system
from bootlab.techniques.catalogue import find_techniques, load_catalogue


def try_(
    system: SystemFile,
    technique: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TECHNIQUE]...", help="Techniques to try. [default: the plan's]", autocompletion=complete_technique
        ),
    ] = None,
    plan: Annotated[
        str, typer.Option("--plan", help="Which techniques in which order: bootlab techniques --plans.")
    ] = "gain",
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", min=2, max=99, help="Seeds a side (virtual), boots a side (wall). [default: 3, 10]"),
    ] = None,
    nulls: Annotated[
        int, typer.Option("--nulls", min=1, max=20, help="Null changes that measure the spread (virtual).")
    ] = 3,
    resume: Annotated[
        str | None,
        typer.Option("--resume", metavar="RUN", help="Go on with an interrupted run: its path, number, or last."),
    ] = None,
    parallel: Parallel = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Measure techniques on a system: each alone, then stacked in order of gain, every boot checked.

    A saving counts when it lies outside what seeds and meaningless changes do to this system; else the verdict is "no
    difference shown". The recommended stack takes techniques without risk, the second one names what it risks.
    """
    value = read_system(system)
    chosen_plan = find_plan(plan)
    catalogue = load_catalogue()
    techniques = find_techniques(catalogue, technique or chosen_plan.techniques)
    if value.check is None and not json:
        err.print("bootlab: warning: this system has no [check]: a technique that breaks its work will not be noticed")
    warn_of_doubts(value)
    store = open_store(runs)
    count = seeds or (3 if value.clock.kind is ClockKind.VIRTUAL else 10)
    asked = {
        "system": str(system),
        "techniques": [one.name for one in techniques],
        "plan": plan,
        "seeds": count,
        "nulls": nulls,
    }
    run = _resumed(store, resume, value.name) if resume else store.start("try", value.name, asked)
    with boot_progress(None, silent=json) as progress:
        engine = Engine(run, parallel=parallel, reuse=True, watcher=lambda done: progress.booted(done.job.label))
        trial = Trial(
            value,
            techniques,
            chosen_plan,
            engine=engine,
            cache=open_cache(),
            seeds=range(1, count + 1),
            nulls=nulls,
            note=progress.note,
        )
        try:
            with naming(system):
                result = trial.run()
        except Interrupted as stop:
            raise Interrupted(stop.message, hint=f"go on with: bootlab try {system} --resume {run.path.name}") from stop
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return show_try(run, result, json=json)


def show_try(run: Run, result: TryResult, *, json: bool) -> int:
    """Print a trial's result and write its page, with the consoles of the baseline and of each finished stack."""
    boots = [("baseline", result.baseline_run)]
    boots += [(stack, finished.run) for stack, finished in result.final.items()]
    path = write_page(run, page.try_page(result, consoles(boots)))
    if json:
        print_json(result)
    else:
        out.print(text.try_result(result))
        out.print(f"report: {path}", soft_wrap=True)
    return 0


def _resumed(store: Store, name: str, system: str) -> Run:
    run = store.find(name)
    if run.kind != "try" or run.system != system:
        raise InputError(f"--resume {name}: that run is a {run.kind} of {run.system}, not a try of {system}")
    return run


def complete_plan(incomplete: str) -> list[str]:
    """Return the plans that begin with what was typed."""
    return [name for name in sorted(PLANS) if name.startswith(incomplete)]
