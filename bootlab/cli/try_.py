"""`bootlab try SYSTEM [TECHNIQUE...]`: what each technique saves, alone and stacked."""

from typing import Annotated

import typer

from bootlab.build.workshop import Workshop
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
    open_system,
)
from bootlab.cli.options.from_mark import BeginsAtMark, expect_from_mark
from bootlab.cli.options.places import Cluster, choose_place
from bootlab.cli.options.price import PriceModel, absolute_model, with_price
from bootlab.cli.options.settings import Settings
from bootlab.cli.resuming import Resume, digest, kept, settle
from bootlab.cli.terminal.doubts import warn_of_doubts
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import boot_progress, err
from bootlab.document import Document
from bootlab.errors import InputError
from bootlab.experiments.audits import audited_facts
from bootlab.experiments.engine import Engine
from bootlab.experiments.family import DEFAULT_NULLS
from bootlab.experiments.from_mark import beginning_at
from bootlab.experiments.kept_systems import keep_systems
from bootlab.experiments.store import RunKind
from bootlab.experiments.trial.plan import PLANS, require_plan
from bootlab.experiments.trial.procedure import Trial
from bootlab.experiments.trial.task import TrialTask
from bootlab.experiments.verdict import FEWEST_NULLS, FEWEST_SEEDS, FEWEST_WALL
from bootlab.measure.record_files import write_json
from bootlab.report.trial.view import try_view
from bootlab.system import ClockKind
from bootlab.techniques.model.catalogue import load_catalogue, outside_techniques, require_techniques


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
            metavar="NAME",
            help="Which techniques in which order: bootlab techniques --plans. [default: gain]",
            autocompletion=complete_plan,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            metavar="N",
            min=FEWEST_SEEDS,
            max=99,
            help="Seeds a side (virtual), boots a side (wall). [default: 3 virtual, 10 wall]",
        ),
    ] = None,
    nulls: Annotated[
        int | None,
        typer.Option(
            "--nulls",
            metavar="N",
            min=FEWEST_NULLS,
            max=20,
            help="Boots with a word that means nothing, which show how far the system moves for no reason (virtual). "
            "[default: 5]",
        ),
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
    from_mark: BeginsAtMark = None,
    settings: Settings = None,
    price: PriceModel = None,
    resume: Resume = None,
    parallel: Parallel = None,
    cluster: Cluster = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Measure techniques on a system: each alone, then stacked in order of gain, every boot checked.

    A saving counts when it lies outside what seeds and meaningless changes do to this system, and boots with new ones
    confirm it; else the verdict is "no difference shown". The recommended stack takes techniques without risk whose
    effect a boot proves, the second one the others, and names what it risks. With [storage] in the system file every
    time includes that of loading kernel and initramfs, by that model. With --price savings and verdicts are of the
    price under that model, and instructions + idle stand beside.
    """
    chosen, value = choose_place(cluster, parallel), open_system(system, silent=json, settings=settings)
    store = open_store(runs)
    with_price(value, price)
    now = _TrialRequest(
        system=digest(value),
        price=absolute_model(price),
        from_mark=from_mark,
        settings=settings or [],
        techniques=technique or [],
        plan=plan or "gain",
        seeds=seeds or (3 if value.clock.kind is ClockKind.VIRTUAL else 10),
        nulls=nulls or DEFAULT_NULLS,
        stack=stack is not False,
        alone=alone is not False,
        ablation=bool(ablation),
        facts=audited_facts(store, audit) if audit is not None else {},
        outside=outside_techniques(value.extensions),
    )
    if value.clock.kind is not ClockKind.VIRTUAL and now.seeds < FEWEST_WALL:
        raise InputError(f"--seeds {now.seeds}: a noisy clock needs at least {FEWEST_WALL} boots a side")
    options = [technique, plan, seeds, nulls, alone, stack, ablation, audit, price, from_mark, settings]
    question = settle(store, resume, RunKind.TRY, value.name, now, options)
    asked = question.asked
    if asked.settings != now.settings:
        value = open_system(system, silent=True, settings=asked.settings)
    question.expect_unchanged(asked.system, digest(value))
    expect_from_mark(asked.from_mark, chosen)
    _expect_sense(asked)
    value = with_price(value, asked.price)
    chosen_plan = require_plan(asked.plan)
    techniques = require_techniques(load_catalogue(value.extensions), asked.techniques or chosen_plan.techniques)
    for one in techniques:
        if asked.outside.get(one.name) != now.outside.get(one.name):
            raise InputError(
                f"--resume {resume}: the file of {one.name}, which is not bootlab's own, has changed since that run "
                "began",
                hint="start anew, without --resume",
            )
    if value.check is None and not json:
        err.print("bootlab: warning: this system has no [check]: a technique that breaks its work will not be noticed")
    warn_of_doubts(value)
    run = question.begin(store, asked, file=str(system))
    with (
        kept(run, system),
        boot_progress(None, silent=json) as progress,
        chosen.open(progress.note) as place,
        beginning_at(run, asked.from_mark, progress.note) as beginnings,
    ):
        engine = Engine(
            run,
            place=place,
            reuse=True,
            watcher=lambda done: progress.count_boot(done.job.label),
            from_mark=beginnings,
        )
        task = TrialTask(
            techniques=techniques,
            plan=chosen_plan,
            seeds=range(1, asked.seeds + 1),
            nulls=asked.nulls,
            alone=asked.alone,
            stack=asked.stack,
            ablation=asked.ablation,
            facts=asked.facts,
        )
        trial = Trial(Workshop(open_cache(), tell=progress.note), value, task, engine)
        with naming(system):
            result = trial.run()
        keep_systems(run.path, value, trial.reached.items())
        write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return show(run, try_view(run, result), json=json)


class _TrialRequest(Document):
    """What a trial was asked for; a resumed one goes on with the same."""

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
    price: str | None = None
    outside: dict[str, str] = {}
    """Techniques that are not bootlab's own -> the sha256 of the file that each is in."""
    from_mark: str | None = None
    settings: list[str] = []
    """What `--set` sets, as typed. Older runs lack the last eight fields."""


def _expect_sense(asked: _TrialRequest) -> None:
    if asked.ablation and not asked.stack:
        raise InputError(
            "--ablation leaves techniques out of a stack, and --no-stack makes none", hint="give one of them"
        )
    if asked.alone:
        return
    if not asked.stack:
        raise InputError("--no-alone and --no-stack: nothing would be measured", hint="give one of them")
    if not require_plan(asked.plan).keep_all:
        ladders = ", ".join(name for name, plan in sorted(PLANS.items()) if plan.keep_all)
        raise InputError(
            f"--no-alone: plan {asked.plan} stacks what helped alone",
            hint=f"plans that keep every step can do without: {ladders}",
        )
