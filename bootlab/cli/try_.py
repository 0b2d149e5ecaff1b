"""`bootlab try SYSTEM [TECHNIQUE...]`: what each technique saves, alone and stacked."""

import hashlib
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from bootlab.cli.audit import audited_facts
from bootlab.cli.options.arguments import (
    Json,
    Parallel,
    Runs,
    SystemFile,
    complete_plan,
    complete_technique,
    naming,
    open_cache,
    open_store,
)
from bootlab.cli.terminal.pages import consoles, say_page, write_page
from bootlab.cli.terminal.speech import boot_progress, err, out, print_json, warn_of_doubts
from bootlab.errors import InputError, Interrupted, StoreError
from bootlab.experiments.engine import Engine
from bootlab.experiments.family import DEFAULT_NULLS
from bootlab.experiments.store import Run, Store
from bootlab.experiments.trial.plan import PLANS, find_plan
from bootlab.experiments.trial.result import TryResult
from bootlab.experiments.trial.steps import Trial
from bootlab.measure.record_files import write_json
from bootlab.report.boots import page
from bootlab.report.trial import text as trial_text
from bootlab.system import ClockKind, read_system
from bootlab.techniques.model.catalogue import find_techniques, load_catalogue

_FEWEST_WALL = 5


def try_(
    system: SystemFile,
    technique: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TECHNIQUE]...", help="Techniques to try. [default: the plan's]", autocompletion=complete_technique
        ),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            "--plan",
            help="Which techniques in which order: bootlab techniques --plans. [default: gain]",
            autocompletion=complete_plan,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", min=2, max=99, help="Seeds a side (virtual), boots a side (wall). [default: 3, 10]"),
    ] = None,
    nulls: Annotated[
        int | None,
        typer.Option("--nulls", min=1, max=20, help="Null changes that measure the spread (virtual). [default: 5]"),
    ] = None,
    stack: Annotated[
        bool | None,
        typer.Option(
            "--stack/--no-stack",
            help="Also stack what helped; without, each technique is measured alone and that is all: fewer boots, and "
            "one kernel build for each technique that builds one. [default: stack]",
        ),
    ] = None,
    alone: Annotated[
        bool | None,
        typer.Option(
            "--alone/--no-alone",
            help="Measure each technique alone first; without, only the ladder of a plan that keeps every step is "
            "climbed: half the boots and half the kernel builds. [default: alone]",
        ),
    ] = None,
    ablation: Annotated[
        bool | None,
        typer.Option(
            "--ablation/--no-ablation",
            help="Also leave each technique out of the finished stacks, to see what it saves there: more boots, and a "
            "kernel build for each technique that builds one. [default: no-ablation]",
        ),
    ] = None,
    audit: Annotated[
        str | None,
        typer.Option("--audit", metavar="RUN", help="What bootlab audit found, for techniques that ask for it."),
    ] = None,
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
    difference shown". The recommended stack takes techniques without risk, the second one names what it risks. With
    [storage] in the system file every time includes that of loading kernel and initramfs, by that model.
    """
    value = read_system(system)
    asked = _Asked(
        system=hashlib.sha256(value.model_dump_json().encode()).hexdigest(),
        techniques=technique or [],
        plan=plan or "gain",
        seeds=seeds or (3 if value.clock.kind is ClockKind.VIRTUAL else 10),
        nulls=nulls or DEFAULT_NULLS,
        stack=stack is not False,
        alone=alone is not False,
        ablation=bool(ablation),
        facts=audited_facts(open_store(runs), audit) if audit is not None else {},
    )
    if value.clock.kind is not ClockKind.VIRTUAL and asked.seeds < _FEWEST_WALL:
        raise InputError(f"--seeds {asked.seeds}: a noisy clock needs at least {_FEWEST_WALL} boots a side")
    store = open_store(runs)
    if resume is not None:
        options = [technique, plan, seeds, nulls, alone, stack, ablation, audit]
        run, asked = _resumed(store, resume, value.name, asked, options)
    _expect_sense(asked)
    chosen_plan = find_plan(asked.plan)
    techniques = find_techniques(load_catalogue(), asked.techniques or chosen_plan.techniques)
    if value.check is None and not json:
        err.print("bootlab: warning: this system has no [check]: a technique that breaks its work will not be noticed")
    warn_of_doubts(value)
    if resume is None:
        run = store.start("try", value.name, asked.model_dump(), file=str(system))
    with run.locked(), boot_progress(None, silent=json) as progress:
        engine = Engine(run, parallel=parallel, reuse=True, watcher=lambda done: progress.booted(done.job.label))
        trial = Trial(
            value,
            techniques,
            chosen_plan,
            engine=engine,
            cache=open_cache(),
            seeds=range(1, asked.seeds + 1),
            nulls=asked.nulls,
            alone=asked.alone,
            stack=asked.stack,
            ablation=asked.ablation,
            facts=asked.facts,
            note=progress.note,
        )
        go_on = f"bootlab try {system} --resume {run.path}"
        try:
            with naming(system):
                result = trial.run()
        except (Interrupted, KeyboardInterrupt) as stop:
            raise Interrupted(
                f"interrupted; finished boots and built kernels are kept, in {run.path} and the cache",
                hint=f"go on with: {go_on}",
            ) from stop
        except StoreError as error:
            # A full disk loses the step it interrupts, and nothing before it.
            hint = f"{error.hint}; then go on with: {go_on}" if error.hint else f"then go on with: {go_on}"
            raise StoreError(error.message, hint=hint) from error
        write_json(run.result, result.model_dump(mode="json", by_alias=True))
        return show_try(run, result, json=json)


def show_try(run: Run, result: TryResult, *, json: bool, to: Path | None = None) -> int:
    """Print a trial's result and write its page, with the consoles of the baseline and of each finished stack.

    `to`: where the page goes instead of into the run.
    """
    boots = [("baseline", result.baseline_run)]
    boots += [(stack, finished.run) for stack, finished in result.final.items()]
    path = write_page(run, page.try_page(result, consoles(boots)), to=to)
    if json:
        print_json(result)
    else:
        out.print(trial_text.try_result(result))
        say_page(path)
    return 0


class _Asked(BaseModel):
    """What a trial was asked for; a resumed one goes on with the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    system: str
    """sha256 of the system as a value."""
    techniques: list[str]
    plan: str
    seeds: int
    nulls: int
    alone: bool = True
    stack: bool = True
    ablation: bool = False
    facts: dict[str, str] = {}
    """Older runs lack the last four fields."""


def _expect_sense(asked: _Asked) -> None:
    if asked.ablation and not asked.stack:
        raise InputError(
            "--ablation leaves techniques out of a stack, and --no-stack makes none", hint="give one of them"
        )
    if asked.alone:
        return
    if not asked.stack:
        raise InputError("--no-alone and --no-stack: nothing would be measured", hint="give one of them")
    if not find_plan(asked.plan).keep_all:
        ladders = ", ".join(name for name, plan in sorted(PLANS.items()) if plan.keep_all)
        raise InputError(
            f"--no-alone: plan {asked.plan} stacks what helped alone",
            hint=f"plans that keep every step can do without: {ladders}",
        )


def _resumed(store: Store, name: str, system: str, now: _Asked, options: list[Any]) -> tuple[Run, _Asked]:
    run = store.find(name)
    if run.kind != "try" or run.system != system:
        raise InputError(f"--resume {name}: that run is a {run.kind} of {run.system}, not a try of {system}")
    if any(option is not None for option in options):
        raise InputError(
            f"--resume {name}: goes on as it was asked; "
            "give no technique, plan, seeds, nulls, alone, stack, ablation or audit"
        )
    try:
        asked = _Asked.model_validate(run.asked)
    except ValidationError as error:
        raise InputError(f"--resume {name}: that run does not say what was asked of it") from error
    if asked.system != now.system:
        raise InputError(f"--resume {name}: the system file has changed since", hint="start a new trial")
    return run, asked
